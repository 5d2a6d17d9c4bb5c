//! Puts verdicts and ranges into words: no other module says anything about an edit.
//!
//! Texts here are part of the interface; tests pin them.

mod answer;
mod facts;
mod guardrail;
mod manifests;
mod message;
pub mod plain;
mod policy;
pub mod range;
mod refusal;
pub mod text;
mod upstream;
pub mod warning;

pub use crate::explain::message::OneEditReport;
pub use crate::explain::plain::{Renderer, Unrendered};
pub use answer::{
    Answer, CitedCatalog, ExemptionReport, PulledImage, ResolvedBundle, answer, answer_unasked,
    answer_until, answer_with_successors, exemption, installed_images, line, message, not_judged,
    reason, unknown,
};
pub use guardrail::{
    Author, ForbiddenReport, GuardrailReport, Places, ReasonTable, Reasons, hindrance,
};
pub use manifests::{CRD_PANIC, of_crd_change, of_validator, of_webhook_name};
pub use message::MESSAGE;
pub use policy::{PolicyReport, RequesterFact, denial};
pub use refusal::Cause;
pub use text::{LINE_1, counted, cut_end, in_quotes, label, list, one_line};
pub use warning::{
    let_through, of_catalog, of_preflight, only_observed, only_observed_of_catalog, renamed,
    too_costly_together, warn_first, warn_last, warn_of_base,
};
