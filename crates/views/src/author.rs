//! Generates catalogs: renders templates, adds z-stream releases, and promotes bundles.
//!
//! ```text
//! template + bundles --template--> Written --yaml, json--> a file-based catalog
//! catalog --zstream, promote--> the same with one channel changed --'
//! ```
//!
//! Catalogs are edited *as written* ([`CatalogText`]): unknown parts are kept. Bundles that a template names by image
//! are not pulled. They come from given catalogs ([`Shelf`]).
//!
//! Upstream: operator-registry, `alpha/template` and [`alpha/declcfg/write.go`]. The z-stream generator
//! has no counterpart there. [`zstream`] describes its rule and its invariants.
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
