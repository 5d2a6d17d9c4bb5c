//! Four packages and what their authors want, asked about at every command: to pass through a minor
//! version, the last patch first, waypoints over the semver rules, one minor version at a time.
//!
//! With `OLMGUARD_BLESS=1` what the commands say is written anew instead of compared.
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
