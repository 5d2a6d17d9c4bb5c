//! A `ClusterExtension` in every API shape in which one can be written.

pub mod schema;
pub mod shape;
