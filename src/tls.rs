//! The certificates that the webhook shows: where they come from, how they are renewed while it
//! serves, and on which terms a connection is taken.
//!
//! ```text
//! files ----------.                          accept, once a connection
//! self_signed ----+--> Identity + Terms --> Certificates::server_config()
//! self_managed ---'    (checked whole)       one swap of the whole rustls::ServerConfig
//! ```
//!
//! Invariants: what is served was checked as a whole, certificate against key, before it replaced
//! what was served before; what cannot be used is reported and never served; nothing of a key is in
//! a text, a log or a `Debug`. Each `ServerConfig` has session storage of its own, so a session of
//! an earlier one is never resumed.
//!
//! What held a key is wiped when it is dropped: what was read from a file, DER, what is stored. Not
//! within reach are what ring and `serde_json` keep inside, and what the kernel has of a file.

mod certificates;
mod client;
mod error;
pub mod files;
mod leaf;
pub mod self_managed;
#[cfg(test)]
mod tests;
mod trust;

pub use certificates::{Certificates, MinVersion, TlsConfig, self_signed};
pub use client::ClientCa;
pub use error::TlsError;
pub use leaf::{Leaf, ServerIdentity, Unfit, is_for, utc};
pub use trust::{Authorities, Distrust};

use std::fmt::Debug;
use std::time::SystemTime;

// === The time of day, from outside ===

/// What tells the time of day.
pub trait Clock: Debug + Send + Sync {
    /// The time of day, now.
    fn now(&self) -> SystemTime;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads it: certificates and windows of policies begin and end by the time of day"
    )]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

// === Who is told what becomes of the certificates, for counting ===

/// Is told of each change; this module has logged it already.
pub trait Observer: Send + Sync + 'static {
    /// Something new is served from now on.
    fn reloaded(&self, leaf: &Leaf);

    /// What was found cannot be used, or nothing can be had: what was served before still is, at the
    /// start nothing. Told once a change.
    fn refused(&self, error: &TlsError);
}

/// Nobody.
impl Observer for () {
    fn reloaded(&self, _: &Leaf) {}

    fn refused(&self, _: &TlsError) {}
}
