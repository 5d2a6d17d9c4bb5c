//! olmguard: says at once whether OLM v1 will carry out an edit of a `ClusterExtension`.

#[cfg(feature = "program")]
pub mod admission;
pub mod catalog;
#[cfg(feature = "program")]
pub mod cli;
mod dns1123;
pub mod explain;
pub mod extension;
pub mod json_type;
pub mod judge;
#[cfg(feature = "program")]
pub mod manifest;
pub mod nearest;
pub mod olm;
pub mod resolve;
pub mod selector;
pub mod snapshot;
#[cfg(feature = "program")]
pub mod source;
pub mod version;
pub mod yaml_scalar;
