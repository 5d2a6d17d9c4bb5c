//! The decision engine: from facts to a verdict, and from a verdict to text.
//!
//! ```text
//! catalogs --> snapshot::Snapshot      extension::Extension (Filter, Installed)
//!                    |                      |
//!                    '-------> judge <------'     the decision table; resolve says what
//!                                |                operator-controller would do
//!                           Judgement (data, with its evidence)
//!                                |
//!                             explain             the only module that words them
//! ```
//!
//! No I/O, no clock, no environment, no threads, and nothing that depends on the order of a hash map. The same facts
//! give the same bytes, on every replica and offline.

pub mod audit;
pub mod explain;
pub mod extension;
pub mod inquiry;
pub mod json_values;
pub mod judge;
pub mod nearest;
pub mod resolve;
pub mod snapshot;
