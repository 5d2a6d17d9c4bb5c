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

mod authorizer;
mod edit_events;
pub mod log;
pub mod metrics;

pub use authorizer::{Authorizer, Authorizing, ScrapeDenied};
pub use edit_events::{EditEvent, EditEvents, EditedObject};
pub use metrics::Metrics;
