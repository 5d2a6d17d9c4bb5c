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
mod clock;
mod error;
pub mod files;
mod fitness;
mod identity;
mod leaf;
mod observer;
mod pem;
pub mod self_managed;
mod self_signed;
mod terms;
mod trust;

pub use certificates::Certificates;
pub use client::ClientCa;
pub use clock::{Clock, SystemClock};
pub use error::TlsError;
pub use fitness::{Unfit, is_for, utc};
pub use identity::Identity;
pub use leaf::Leaf;
pub use observer::Observer;
pub use self_signed::self_signed;
pub use terms::{MinVersion, TlsConfig};
pub use trust::{Authorities, Distrust};

#[cfg(test)]
mod tests;
