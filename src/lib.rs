//! olmguard: says at once whether OLM v1 will carry out an edit of a `ClusterExtension`.

mod dns1123;
pub mod explain;
pub mod extension;
pub mod json_type;
pub mod selector;
pub mod version;
