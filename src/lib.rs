//! olmguard: says at once whether OLM v1 will carry out an edit of a `ClusterExtension`.

pub mod yaml_scalar;
