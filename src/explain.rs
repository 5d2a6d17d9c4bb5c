//! Puts verdicts and ranges into words: no other room says anything about an edit.
//!
//! Texts here are part of the interface; tests pin them.

mod answer;
mod exempt;
mod guardrail;
mod message;
pub mod page;
pub mod path;
pub mod plain;
pub mod range;
mod range_report;
mod refusal;
pub mod see;
pub mod step;
mod table;
mod text;
mod tone;
mod unanswered;
mod upstream;
pub mod versions;
mod warning;

pub use answer::{
    Answer, Cause, ResolvedBundle, answer, answer_until, exempted, not_judged, unanswered,
};
pub use guardrail::{Author, ForbiddenReport, GuardrailReport};
pub(crate) use guardrail::{Gathered, Places, Reasons};
pub use message::{LINE_1, MESSAGE};
pub use range_report::{Grammar, RangeJson, RangeReport, Subject};
pub(crate) use text::one_line;
pub use tone::{Tone, Toned};
pub use warning::{
    base_without_bundle, let_through, only_observed, renamed, warn_first, warn_last,
};
