//! What operator-controller checks after it has chosen a bundle and before its objects are on the cluster.
//!
//! ```text
//! support, configuration ──> registry+v1 validators ──> rendering ──> CRD upgrade safety
//! ```
//!
//! Each check is a function from facts to findings. A finding carries the text of operator-controller where that is
//! the same in every run; the words for people are the engine's.

pub mod bundle;
mod check;
pub mod config;
pub mod content;
pub mod crd;
pub mod kubernetes;
pub mod owner;
pub mod support;
mod types;

pub use check::PreflightCheck;

/// The most characters of the name of an extension with a Helm release. Helm itself takes 53, but the release is kept in a
/// Secret with a label `sh.helm.release.v1.NAME.v1`, which can have 63. The tenth revision has one character less.
///
/// Upstream: helm-operator-plugins, [`pkg/storage/labels.go`].
///
/// [`pkg/storage/labels.go`]: https://github.com/operator-framework/helm-operator-plugins/blob/v0.9.1/pkg/storage/labels.go
pub const LONGEST_RELEASE_NAME: usize = 41;
