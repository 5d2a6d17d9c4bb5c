//! Four packages and what their authors want, asked about at every door: to pass through a minor
//! version, the last patch first, waypoints over the semver rules, one minor version at a time.
//!
//! With `OLMGUARD_BLESS=1` what the doors say is written anew instead of compared.
#![cfg(feature = "program")]
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there"
)]

#[path = "guardrails/doors/bypass.rs"]
mod bypass;
#[path = "guardrails/doors/example.rs"]
mod example;
#[path = "guardrails/doors/hops.rs"]
mod hops;
#[path = "guardrails/doors/many.rs"]
mod many;
#[path = "guardrails/doors/plans.rs"]
mod plans;
#[path = "guardrails/doors/said.rs"]
mod said;
#[path = "guardrails/doors/served.rs"]
mod served;

mod common {
    pub(crate) mod committed;
    pub(crate) mod https;
    #[expect(dead_code, reason = "nothing is run under another program here")]
    pub(crate) mod process;
    pub(crate) mod schema;
}
