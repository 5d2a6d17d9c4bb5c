//! Certificates made for the occasion, and what clients make of them.

mod clients;
mod fit;
mod handshakes;
mod identities;
pub(super) mod link;
pub(super) mod pairs;
