//! Guardrails of authors and administrators on upgrade steps, through the whole judgement.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod both;
mod bounds;
mod imposed;
mod laws;
pub(crate) mod oracle;
mod pools;
mod reading;
mod texts;
mod worked;
