//! What is made of a catalogd that answers, and of one that does everything but.
//!
//! The server is scripted (`tests/catalogd`): over real TLS on loopback, it sends what a test says,
//! byte by byte. What a real catalogd can be made to show is tested with a real one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod bodies;
mod life;
mod limits;
mod protocol;
mod scene;
mod trust;
