//! A certificate of our own CA, for clusters in which nothing else issues certificates.
//!
//! ```text
//!          made, stored      published       + PROPAGATION         + LEAF_LIFE + MARGIN
//! new  CA  |---- in the bundle ----------------|== signs =================================
//! old  CA  ================= signs ============|---- in the bundle --------| marked --| gone
//! ```
//!
//! Every replica does the same: it loads what is stored, computes from that and the time what is due
//! (`renewal`), writes it under the version that it has read, publishes the bundle, and signs a leaf
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

mod renewal;
mod state;
#[cfg(test)]
pub(crate) mod tests;

pub use renewal::{SelfManaged, serve};

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::pem_file::PemFile;
use crate::tls::{Clock, ServedCertificate, ServerIdentity, TlsConfig, TlsError};
use renewal::{AuthorityHistory, ReplicaView, is_past_two_thirds};
use state::{Authority, StoredAuthorities};

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

// === One renewal: from the stored content to the served certificate ===

/// What one replica remembers.
struct Keeper<S> {
    store: S,
    clock: Arc<dyn Clock>,
    names: Vec<String>,
    terms: TlsConfig,
    /// What was stored when it was last seen.
    remembered: StoredAuthorities,
    history: AuthorityHistory,
    leaf: Option<SignedLeaf>,
    /// The authorities of clients that were good last.
    client: Option<PemFile>,
}

/// A leaf, and who signed it.
struct SignedLeaf {
    identity: ServerIdentity,
    by: Authority,
}

impl<S: Store> Keeper<S> {
    /// Does what is due, and returns what is new to be served.
    async fn renew(&mut self) -> Result<Option<ServedCertificate>, TlsError> {
        let agreed = tokio::time::timeout(PATIENCE, self.agree()).await;
        let (state, told) = agreed.map_err(|_| AuthorityError::Slow {
            seconds: PATIENCE.as_secs(),
        })??;
        self.history.stored(state.authorities(), Instant::now());
        // What somebody could not learn of yet does not begin to be known.
        if told == BundleReaders::All {
            self.history.published(Instant::now());
        }
        self.remembered = state;
        self.signed()
    }

    /// Repeats until the stored content is the due one, and published.
    async fn agree(&mut self) -> Result<(StoredAuthorities, BundleReaders), AuthorityError> {
        for _ in 0..TRIES {
            match self.try_to_agree().await {
                Err(AuthorityError::Store(StoreError::Conflict)) => pause().await,
                ended => return ended,
            }
        }
        Err(AuthorityError::Contended { tries: TRIES })
    }

    async fn try_to_agree(&mut self) -> Result<(StoredAuthorities, BundleReaders), AuthorityError> {
        let (stored, mut version) = self.stored().await?;
        let is_stored = stored.is_some();
        let mut state = stored.unwrap_or_else(|| self.remembered.clone());
        // Before anything is decided: another replica may have taken a mark away.
        self.history.stored(state.authorities(), Instant::now());
        let advanced = state.advanced(self.view())?;
        if advanced.is_some() || !is_stored {
            state = advanced.unwrap_or(state);
            version = Some(self.write(version.as_ref(), &state).await?);
        }
        let told = self.store.publish(&state.bundle()).await?;
        // Only now: whoever signs with it counts from when clients could learn of it.
        let published = match told {
            BundleReaders::All => state.published(self.clock.now()),
            BundleReaders::NotAll => None,
        };
        if let Some(published) = published {
            self.write(version.as_ref(), &published).await?;
            return Ok((published, told));
        }
        self.is_still(version.as_ref()).await?;
        Ok((state, told))
    }

    /// Publishing knows no version: whoever was slow may have put back what another replica had
    /// already replaced, and starts over.
    async fn is_still(&self, version: Option<&StoreVersion>) -> Result<(), AuthorityError> {
        let stored = self.store.load().await?;
        if stored.map(|stored| stored.version).as_ref() == version {
            return Ok(());
        }
        Err(StoreError::Conflict.into())
    }

    /// What is stored, if anything is, and the version to write over: content of no bytes has one.
    async fn stored(
        &self,
    ) -> Result<(Option<StoredAuthorities>, Option<StoreVersion>), AuthorityError> {
        let Some(stored) = self.store.load().await? else {
            return Ok((None, None));
        };
        let state = if stored.content.is_empty() {
            None
        } else {
            Some(StoredAuthorities::read(&stored.content)?)
        };
        Ok((state, Some(stored.version)))
    }

    async fn write(
        &self,
        version: Option<&StoreVersion>,
        state: &StoredAuthorities,
    ) -> Result<StoreVersion, AuthorityError> {
        let content = state.write();
        Ok(match version {
            None => self.store.create(&content).await?,
            Some(version) => self.store.replace(version, &content).await?,
        })
    }

    /// Signs a leaf if one is due, and says what is to be served if it differs.
    fn signed(&mut self) -> Result<Option<ServedCertificate>, TlsError> {
        if self.leaf.as_ref().is_some_and(|leaf| self.is_good(leaf)) {
            return Ok(None);
        }
        let (identity, by) = self.sign()?;
        let served = ServedCertificate::new(&identity, &self.terms, self.client.as_ref())?;
        self.leaf = Some(SignedLeaf { identity, by });
        Ok(Some(served))
    }

    /// Reads the authorities of clients, which need no store, and returns what is to be served if
    /// they differ. While they cannot be used the old ones are.
    fn follow_clients(&mut self) -> Result<Option<ServedCertificate>, TlsError> {
        let client = self.terms.client_file()?;
        let is_same =
            client.as_ref().map(PemFile::bytes) == self.client.as_ref().map(PemFile::bytes);
        let Some(leaf) = self.leaf.as_ref().filter(|_| !is_same) else {
            return Ok(None);
        };
        let served = ServedCertificate::new(&leaf.identity, &self.terms, client.as_ref())?;
        self.client = client;
        Ok(Some(served))
    }

    fn is_good(&self, signed: &SignedLeaf) -> bool {
        let (leaf, now) = (signed.identity.leaf(), self.clock.now());
        leaf.not_before <= now
            && !is_past_two_thirds(leaf.not_before, leaf.not_after, now)
            && self.signer().is_some_and(|signer| signer.is(&signed.by))
    }

    fn sign(&self) -> Result<(ServerIdentity, Authority), TlsError> {
        let signer = self.signer().ok_or(AuthorityError::NoSigner)?;
        let identity = signer.sign(&self.names, self.clock.now())?;
        Ok((identity, signer.clone()))
    }

    fn signer(&self) -> Option<&Authority> {
        self.remembered.signer(self.view())
    }

    /// How long API servers may still not know the authority that signs: one that was made just now, by
    /// whichever replica, was published just now. An authority that another version of olmguard made, with another
    /// [`BACKDATE`], counts as an old one.
    fn until_known(&self) -> Duration {
        let made = self.signer().map(|signer| signer.validity().0 + BACKDATE);
        let age = made.and_then(|made| self.clock.now().duration_since(made).ok());
        age.map_or(Duration::ZERO, |age| NEWS.saturating_sub(age))
    }

    fn view(&self) -> ReplicaView<'_> {
        ReplicaView {
            now: self.clock.now(),
            at: Instant::now(),
            history: &self.history,
            own: self.leaf.as_ref().map(|leaf| &leaf.by),
        }
    }
}

/// Replicas that met once would meet again if all waited as long.
async fn pause() {
    let millis = fastrand::u64(..CONFLICT_PAUSE_MILLIS);
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// An API server takes a webhook configuration over within a tenth of a second.
const NEWS: Duration = Duration::from_secs(2);
const TRIES: usize = 10;
const CONFLICT_PAUSE_MILLIS: u64 = 200;
/// How long one renewal waits for the store: what is written was computed a short time ago.
const PATIENCE: Duration = Duration::from_secs(30);
