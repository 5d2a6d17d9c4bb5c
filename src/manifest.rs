//! Manifests as a user writes them: many documents a file, YAML or JSON, each value with its place
//! in the source.
//!
//! ```text
//! paths --Inputs--> bytes --documents--> Document --into_objects--> ManifestObject, Positions
//! ```
//!
//! Mirrors how kubectl reads `-f`: the decoder of k8s.io/apimachinery ([`pkg/util/yaml/decoder.go`]),
//! which cuts a stream at lines that begin with `---` and tells JSON by its first letter, and
//! sigs.k8s.io/yaml behind it. Stricter than those: a key written twice is an error, where Go takes
//! one of the two.
//!
//! Invariants: a broken document costs nothing but itself; whatever the bytes are, memory stays
//! within a small multiple of their number, and no value is nested deeper than [`MAX_DEPTH`].
//!
//! [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

mod documents;
mod error;
mod field;
mod inputs;
mod meant;
mod object;
mod placeholder;
mod position;
#[cfg(test)]
mod tests;
mod tree;
mod yaml;

pub use self::documents::{Document, Documents, documents};
pub use self::error::{DocumentError, DocumentErrorKind};
pub(crate) use self::field::{FieldError, FieldFault};
pub use self::inputs::{Input, InputError, Inputs, MAX_BYTES};
pub(crate) use self::inputs::{has_manifest_name, kustomizations, manifest_files, read_file};
pub(crate) use self::meant::MeantKind;
pub use self::object::ManifestObject;
pub(crate) use self::placeholder::{name, placeholder, placeholder_in};
pub use self::position::{Position, Positions, ValueStep};
pub use self::tree::{MAX_DEPTH, MAX_NODES, MAX_TEXT};
pub use error::DocumentFormat;
pub(crate) use field::DocumentField;
