//! A certificate of our own authority, for clusters with nothing that issues any.
//!
//! ```text
//!          made, stored      published       + PROPAGATION         + LEAF_LIFE + MARGIN
//! new  CA  |---- in the bundle ----------------|== signs =================================
//! old  CA  ================= signs ============|---- in the bundle --------| marked --| gone
//! ```
//!
//! Every replica does the same: it loads what is stored, computes from that and the time what is due
//! (`stage`), writes it under the version that it has read, publishes the bundle, and signs a leaf
//! for itself. Whoever comes second finds its version taken and starts over, so there is no leader.
//!
//! Invariants:
//! - A key of an authority is in the store and in memory, the key of a leaf in memory alone.
//! - Whatever the store does, what is served goes on being served. Without the store no leaf is
//!   signed: another replica may have retired the authority that we remember.
//! - At the start the store is waited for without end: only what cannot pass ends that.
//! - Only what every client was told of counts as published. Clients that are not there yet trust
//!   nothing, so a leaf is signed all the same, by the authority that was there first: should they come
//!   back as they were, they know that one best. Once they are there they are told of all authorities.
//! - No replica breaks another one with a clock that is wrong: stamps propose, and what each has seen
//!   itself, by a clock that nobody sets, decides (`authority_history`); nothing leaves the bundle unannounced.
//! - What is stored and cannot be read is never written over: it may be the authority that others
//!   still serve with. Content of no bytes at all counts as none stored. If nothing is stored any
//!   more, whoever remembers what was puts it back, at once where it may watch, so that deleting it
//!   breaks nothing; to have new authorities at once, end every replica, delete it, and start them again.

mod authority;
mod authority_history;
mod error;
mod keeper;
mod renewal;
mod stage;
mod state;
mod store;

pub use error::AuthorityError;
pub use renewal::{SelfManaged, serve};
pub use store::{BundleReaders, Store, StoreError, StoredContent, Version};

use std::time::Duration;

/// How long a leaf is valid; short, as nothing revokes one.
const LEAF_LIFE: Duration = Duration::from_hours(7 * 24);
/// How long an authority is valid.
const AUTHORITY_LIFE: Duration = Duration::from_hours(365 * 24);
/// How long before its making a certificate is valid already, for clients whose clock is behind.
const BACKDATE: Duration = Duration::from_mins(10);
/// From when a bundle is published until every API server has it: they watch the webhook
/// configurations, and one that lost its watch lists them again within a few minutes.
const PROPAGATION: Duration = Duration::from_mins(5);
/// How long an authority that has been replaced is kept for replicas that have not noticed: clocks
/// differ, and a renewal that is under way ends with what it has loaded.
const MARGIN: Duration = Duration::from_mins(10);

#[cfg(test)]
pub(crate) mod tests;
