//! Making catalogs: templates rendered, a z-stream released, a bundle promoted.
//!
//! ```text
//! template + bundles --template--> Written --yaml, json--> a file-based catalog
//! catalog --zstream, promote--> the same with one channel changed --'
//! ```
//!
//! Everything here works on catalogs *as written* ([`CatalogText`]): what is not understood is kept.
//! Bundles that a template names by image are not pulled; they come from catalogs at hand
//! ([`Shelf`]).
//!
//! Upstream: operator-registry, `alpha/template` and [`alpha/declcfg/write.go`]. The z-stream generator
//! has no counterpart there: its rule, and the properties that hold of it, stand in [`zstream`].
//!
//! [`alpha/declcfg/write.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/write.go

mod blob;
pub mod channel;
mod forms;
pub mod promote;
pub mod reach;
pub mod template;
pub mod words;
mod written;
pub mod zstream;

pub use crate::author::blob::{WrittenMembers, WrittenValue};
pub use blob::BlobText;
pub use written::{CatalogText, Format, Shelf, ShelfError, WrittenError};
