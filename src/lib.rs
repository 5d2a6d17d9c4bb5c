//! olmguard: says at once whether OLM v1 will carry out an edit of a `ClusterExtension`.

#[cfg(feature = "program")]
pub mod manifest;
pub mod yaml_scalar;
