//! Catalogs: what their blobs say, and the index that answers from them.

pub mod blob;
pub mod fbc;
