//! Puts verdicts and ranges into words: no other module says anything about an edit.
//!
//! Texts here are part of the interface; tests pin them.

mod answer;
mod exempt;
mod guardrail;
mod message;
mod one_edit;
pub mod plain;
mod policy;
pub mod range;
mod refusal;
mod successors;
pub mod text;
mod unanswered;
mod unrendered;
mod upstream;
pub mod warning;
mod words;

pub use answer::{
    Answer, Cause, ResolvedBundle, answer, answer_until, exempted, not_judged, unanswered,
};
pub use guardrail::{Author, ForbiddenReport, GuardrailReport, Places, ReasonTable, Reasons};
pub use message::{LINE_1, MESSAGE};
pub use one_edit::OneEditReport;
pub use policy::{PolicyReport, RequesterFact};
pub use refusal::guardrail::hindrance;
pub use refusal::policy::denial;
pub use successors::answer_with_successors;
pub use text::{counted, cut_end, in_quotes, label, one_line};
pub use unrendered::{Renderer, Unrendered};
pub use warning::{
    let_through, of_catalog, only_observed, renamed, too_costly_together, warn_first, warn_last,
    warn_of_base,
};
pub use words::{exemption, line, message, reason, unknown};
