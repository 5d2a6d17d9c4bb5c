//! A certificate of our own CA, for clusters in which nothing else issues certificates.
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
mod keeper;
mod renewal;
mod stage;
mod state;
#[cfg(test)]
pub(crate) mod tests;

pub use renewal::{SelfManaged, serve};

use std::future::Future;
use std::time::Duration;

use zeroize::Zeroizing;

/// How long a leaf is valid; short, as nothing revokes one.
const LEAF_LIFE: Duration = Duration::from_hours(7 * 24);

/// How long an authority is valid.
const AUTHORITY_LIFE: Duration = Duration::from_hours(365 * 24);

/// How long before its making a certificate is valid. A pod whose clock is ahead makes certificates for API servers whose
/// clock is right. A clock that is set to local time is ahead by 14 hours at most.
const BACKDATE: Duration = Duration::from_hours(24);

/// From when a bundle is published until every API server has it: they watch the webhook
/// configurations, and one that lost its watch lists them again within a few minutes.
const PROPAGATION: Duration = Duration::from_mins(5);

/// How long an authority that has been replaced is kept for replicas that have not noticed: clocks
/// differ, and a renewal that is under way ends with what it has loaded.
const MARGIN: Duration = Duration::from_mins(10);

// === The store of the authorities, which all replicas share ===

/// What every replica reads and writes. The content is a secret, and ours alone to understand.
pub trait Store: Send + Sync + 'static {
    /// What is stored, if anything is.
    fn load(&self) -> impl Future<Output = Result<Option<StoredContent>, StoreError>> + Send;

    /// Stores it where nothing is stored; else a conflict.
    fn create(
        &self,
        content: &[u8],
    ) -> impl Future<Output = Result<StoreVersion, StoreError>> + Send;

    /// Stores it where this version is still stored; else a conflict.
    fn replace(
        &self,
        version: &StoreVersion,
        content: &[u8],
    ) -> impl Future<Output = Result<StoreVersion, StoreError>> + Send;

    /// Makes clients trust these authorities, PEM. Called often with the same: that must be cheap, and
    /// do nothing. Clients that are not there yet are no failure: they are told once they are.
    fn publish(
        &self,
        bundle: &str,
    ) -> impl Future<Output = Result<BundleReaders, StoreError>> + Send;

    /// Waits until somebody may have changed what is stored or published; a hint, which may come
    /// without a change, and may stay away.
    fn changed(&self) -> impl Future<Output = ()> + Send;
}

/// The clients that have a bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BundleReaders {
    /// All clients that there are to be.
    All,
    /// The existing ones; others do not exist yet, and trust nothing so far.
    NotAll,
}

/// Content, and the version that it is.
pub struct StoredContent {
    /// What was stored.
    pub content: Zeroizing<Vec<u8>>,
    /// Differs after each write.
    pub version: StoreVersion,
}

/// A version of what is stored, as the store calls it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoreVersion(pub String);

/// Why a store does not do what it is asked to.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another replica was faster.
    #[error("written by another replica meanwhile")]
    Conflict,
    /// The store cannot be reached, or refuses.
    #[error("{0}")]
    Unavailable(Box<dyn std::error::Error + Send + Sync>),
}

/// Debug output without the content.
impl std::fmt::Debug for StoredContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stored")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

// === Reasons why our own CA has no certificate for the server ===

/// Why renewing did not come to its end. Texts hold nothing of what is stored.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// No name to make a certificate for.
    #[error("a self-managed certificate has no name: expected the names that clients use")]
    NoName,
    /// The store does not do its part.
    #[error("the store of the certificate authority: {0}")]
    Store(#[from] StoreError),
    /// The store takes too long.
    #[error("the store of the certificate authority: no answer within {seconds} s")]
    Slow {
        /// How long was waited.
        seconds: u64,
    },
    /// Others were faster, each time.
    #[error("the store of the certificate authority: written by others {tries} times in a row")]
    Contended {
        /// How often it was tried.
        tries: usize,
    },
    /// What is stored is not what was written.
    #[error("the stored certificate authority is damaged: {why}; delete it to have a new one made")]
    Damaged {
        /// What is wrong, and where.
        why: String,
    },
    /// There are as many authorities as may be, and all are of another time than the clock shows.
    #[error(
        "no stored CA certificate is valid now, and there is no space for another: is the clock \
         right? One that no replica needs is removed within minutes. To get a new one immediately, \
         stop every replica, delete the stored ones, and start the replicas again"
    )]
    NoSigner,
    /// No certificate can be made here.
    #[error("cannot make a certificate: {0}")]
    Made(#[from] rcgen::Error),
    /// The clock shows a time that no certificate can hold.
    #[error("cannot make a certificate: the clock is outside of the years 1970 to 9999")]
    Clock,
}
