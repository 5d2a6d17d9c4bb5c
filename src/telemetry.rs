//! Sight: what the program counts, and what it writes about itself.
//!
//! ```text
//! server, tls, cluster, cli --> metrics --> registry --render--> GET /metrics
//!                         '---> log --> a queue --> stderr, one line an event
//!         '---> edit_events --> a queue --> cluster, one Event of an extension
//! ```
//!
//! Mirrors the rules of Prometheus for names, units and the text format, as `promtool check metrics`
//! checks them.
//!
//! Invariants: the label values are closed sets, so the number of series does not depend on what is
//! asked; no object, package, version or user is ever a label.

mod edit_events;
pub mod log;
pub mod metrics;

pub use edit_events::{EditEvent, EditEvents, EditedObject};
pub use metrics::Metrics;

use std::fmt;
use std::pin::Pin;

use crate::telemetry::metrics::FaultClass;

// === Who can read the metrics, where not everyone can: the question, and the answers that there are ===

/// Decides who can read the metrics.
pub trait Authorizer: fmt::Debug + Send + Sync + 'static {
    /// Whether the bearer of this token can. It answers in bounded time, whatever the token is.
    fn authorize<'a>(&'a self, token: &'a str) -> Authorizing<'a>;
}

/// An answer that may have to be asked for elsewhere.
pub type Authorizing<'a> = Pin<Box<dyn Future<Output = Result<(), ScrapeDenied>> + Send + 'a>>;

/// Why a request gets no metrics. Its text is for the client; no token is in it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ScrapeDenied {
    /// There is no token, or the cluster does not know whose it is.
    #[error(
        "unauthorized: expected the header \"Authorization: Bearer TOKEN\" with a valid token of this cluster"
    )]
    Unauthenticated,
    /// Its user is known, and has no such right.
    #[error("forbidden: user {user:?} cannot get the nonResourceURL /metrics")]
    Forbidden {
        /// The name of the user, as the cluster has it.
        user: String,
    },
    /// The cluster could not be asked.
    #[error(
        "cannot check the token: no answer from the API server ({}); the log of olmguard has the details",
        class.as_str()
    )]
    Unavailable {
        /// The kind of fault.
        class: FaultClass,
    },
}
