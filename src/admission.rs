//! `AdmissionReview` v1 in and out: from what an API server sends to an [`Answer`](crate::explain::Answer) and back.
//!
//! ```text
//! bytes --decode--> JSON --Review::read--> Review --answer--> Answer --Review::reply--> Reply
//! ```
//!
//! Upstream: Kubernetes, `staging/src/k8s.io/api/admission/v1/types.go`, and how the API server reads
//! a reply: `apiserver/pkg/admission/plugin/webhook/request/admissionreview.go`.
//!
//! Invariants: a reply has the uid of its review; what is installed is read from the old object only,
//! which an edit of the spec cannot change; nothing here reads or writes anything.

mod annotations;
mod decode;
mod error;
mod fields;
mod operation;
mod reply;
mod review;

pub use annotations::annotations;
pub use decode::decode;
pub use error::ReviewError;
pub use operation::Operation;
pub use reply::{OnUndecided, Reply};
pub use review::Review;

#[cfg(test)]
mod tests;
