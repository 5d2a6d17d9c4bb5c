//! Puts verdicts and ranges into words: the only room that writes sentences of our own.
//!
//! Texts here are part of the interface; tests pin them.

mod answer;
mod message;
pub mod plain;
pub mod range;
mod refusal;
mod text;
mod upstream;
mod warning;

pub use answer::{Answer, Cause, ResolvedBundle, answer, not_judged};
pub use message::{LINE_1, MESSAGE};
pub use warning::{let_through, warn_first};
