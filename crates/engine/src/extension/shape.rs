//! The API shapes of an extension: which kind in which version, and with it which field paths.
//!
//! Source: the CRDs of operator-controller from v0.0.1 on. Only [`Shape::V1`] is still served.

/// An API shape in which an extension can be written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Shape {
    /// `olm.operatorframework.io/v1` `ClusterExtension` (v1.0 and later).
    V1,
    /// `olm.operatorframework.io/v1alpha1` `ClusterExtension` with `spec.source.catalog` (v0.14 to
    /// v0.18): with `channel` or `channels`, in both vocabularies of the policy.
    V1Alpha1Nested,
    /// `olm.operatorframework.io/v1alpha1` `ClusterExtension` with `spec.packageName` (v0.9 to
    /// v0.13).
    V1Alpha1Flat,
    /// `operators.operatorframework.io/v1alpha1` `Operator` (up to v0.8).
    Operator,
}
