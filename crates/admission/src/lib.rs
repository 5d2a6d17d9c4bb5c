//! `AdmissionReview` v1: from the request of an API server to an [`Answer`](olmguard_engine::explain::Answer) and
//! back.
//!
//! ```text
//! bytes --decode--> JSON --Review::read--> Review --answer--> Answer --reply(Enforcement)--> Reply
//! ```
//!
//! Upstream: Kubernetes, [`staging/src/k8s.io/api/admission/v1/types.go`]; the API server reads a reply in
//! [`apiserver/pkg/admission/plugin/webhook/request/admissionreview.go`].
//!
//! Invariants: a reply has the uid of its review. The installed bundle is read only from the old object, which an edit
//! of the spec cannot change. This crate does no I/O.
//!
//! [`apiserver/pkg/admission/plugin/webhook/request/admissionreview.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/request/admissionreview.go
//! [`staging/src/k8s.io/api/admission/v1/types.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/api/admission/v1/types.go

mod alike;
mod catalog_review;
mod decode;
mod fields;
mod keep;
mod kept;
mod object_review;
mod reply;
mod review;
#[cfg(test)]
mod tests;

pub use crate::reply::{Enforcement, Mode, OnUndecided, ReviewOutcome};
pub use catalog_review::{CatalogReview, CatalogSubject};
pub use decode::ReviewError;
pub use keep::kept_extension;
pub use object_review::{ObjectKind, ObjectReview};
pub use reply::{Reply, annotations};
pub use review::{Review, ReviewOperation};
