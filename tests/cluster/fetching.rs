//! Fetches from a catalogd that answers, and from one that misbehaves in every way.
//!
//! The server is scripted (`tests/support`): it sends the bytes of a test over real TLS on
//! loopback. Everything that a real catalogd can show is tested with a real one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod bodies;
mod life;
mod limits;
mod protocol;
mod scene;
mod trust;
