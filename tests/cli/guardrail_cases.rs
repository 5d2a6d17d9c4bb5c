//! Four packages with the guardrails of their authors, in every command: passing through a minor
//! version, the last patch first, waypoints over the semver rules, and one minor version at a time.
//!
//! With `OLMGUARD_BLESS=1`, the output of the commands is written instead of compared.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there"
)]

mod bypass;
mod example;
mod hops;
mod many;
mod plans;
mod said;
mod served;
