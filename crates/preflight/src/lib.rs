//! What operator-controller checks after it has chosen a bundle and before its objects are on the cluster.
//!
//! ```text
//! image reference ──> support, configuration ──> registry+v1 validators ──> rendering ──> CRD upgrade safety
//! ```
//!
//! Each check is a function from facts to findings. A finding carries the text of operator-controller where that is
//! the same in every run; the words for people are the engine's.

pub mod bundle;
mod check;
pub mod config;
pub mod content;
pub mod crd;
pub mod owner;
pub mod reference;
pub mod support;

pub use check::PreflightCheck;
