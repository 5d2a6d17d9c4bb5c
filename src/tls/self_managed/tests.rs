//! Replicas that share a store, and clients that trust what is published.

mod clocks;
mod faults;
mod rollover;
pub(crate) mod world;
