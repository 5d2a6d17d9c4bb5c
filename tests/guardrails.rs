//! Guardrails: what authors and administrators forbid of upgrade steps, through the whole judgement.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "guardrails/catalog.rs"]
mod catalog;
#[path = "guardrails/imposed.rs"]
mod imposed;
#[path = "guardrails/laws.rs"]
mod laws;
#[path = "guardrails/linted.rs"]
mod linted;
#[path = "guardrails/reading.rs"]
mod reading;
#[path = "guardrails/schema.rs"]
mod schema;
#[path = "guardrails/texts.rs"]
mod texts;
#[path = "guardrails/worked.rs"]
mod worked;
