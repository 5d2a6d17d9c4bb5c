//! Certificates from a self-managed CA, for clusters in which nothing else issues certificates.
//!
//! ```text
//!          made, stored      published       + PROPAGATION         + LEAF_LIFE + MARGIN
//! new  CA  |---- in the bundle ----------------|== signs =================================
//! old  CA  ================= signs ============|---- in the bundle --------| marked --| gone
//! ```
//!
//! Every replica runs the same procedure: it loads the stored content, computes from that and the time what is due
//! (`renewal`), writes it over the version that it has read, publishes the bundle, and signs a leaf for itself. A
//! replica that comes second gets a version conflict and starts over, so no leader is needed.
//!
//! Invariants:
//! - The key of an authority is in the store and in memory, the key of a leaf only in memory.
//! - Whatever the store does, the served certificate stays in use. Without the store no leaf is signed, because another
//!   replica may have retired the authority that this one remembers.
//! - At the start, a replica waits for the store without a limit. Only permanent faults end the wait.
//! - A bundle counts as published only when every client has it. Clients that do not exist yet trust nothing, so a leaf
//!   is signed anyway, by the oldest authority: clients that come back unchanged know that one best. As soon as
//!   they exist, they get all authorities.
//! - A replica with a wrong clock cannot break another one. Stamps only propose; each replica decides by what it has
//!   seen by its own monotonic clock (`AuthorityHistory`). Nothing leaves the bundle unannounced.
//! - Stored content that cannot be read is never overwritten, because other replicas may still serve with it. Empty
//!   content counts as nothing stored. If the content was deleted, a replica that remembers it restores it, immediately
//!   if it can watch the store, so a deletion breaks nothing. To replace all authorities immediately, stop every
//!   replica, delete the content, and start the replicas again.

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

/// The validity of a leaf; short, because leaves cannot be revoked.
const LEAF_LIFE: Duration = Duration::from_hours(7 * 24);

/// The validity of an authority.
const AUTHORITY_LIFE: Duration = Duration::from_hours(365 * 24);

/// The time by which the validity of a certificate starts before it is made. If the clock of a pod is ahead, API
/// servers with the right time must still accept its certificates. A clock that is set to local time is at most 14
/// hours ahead.
const BACKDATE: Duration = Duration::from_hours(24);

/// The time until every API server has a published bundle. API servers watch the webhook configurations, and one that
/// lost its watch lists them again within a few minutes.
const PROPAGATION: Duration = Duration::from_mins(5);

/// The time for which a replaced authority is kept for replicas that have not noticed its replacement: clocks differ,
/// and a renewal in progress ends with the content that it has loaded.
const MARGIN: Duration = Duration::from_mins(10);

// === The store of the authorities, which all replicas share ===

/// The storage that every replica reads and writes. The content is secret and opaque to the store.
pub trait Store: Send + Sync + 'static {
    /// Returns the stored content, if any.
    fn load(&self) -> impl Future<Output = Result<Option<StoredContent>, StoreError>> + Send;

    /// Stores the content if nothing is stored; otherwise returns a conflict.
    fn create(
        &self,
        content: &[u8],
    ) -> impl Future<Output = Result<StoreVersion, StoreError>> + Send;

    /// Stores the content if this version is still stored; otherwise returns a conflict.
    fn replace(
        &self,
        version: &StoreVersion,
        content: &[u8],
    ) -> impl Future<Output = Result<StoreVersion, StoreError>> + Send;

    /// Makes clients trust these authorities, as PEM. It is often called with the same bundle, and must then be cheap
    /// and write nothing. Clients that do not exist yet are not a failure: they get the bundle once they exist.
    fn publish(
        &self,
        bundle: &str,
    ) -> impl Future<Output = Result<BundleReaders, StoreError>> + Send;

    /// Waits until the stored or published content may have changed. This is only a hint: it can come without a change,
    /// and it can be missing.
    fn changed(&self) -> impl Future<Output = ()> + Send;
}

/// The clients that have a bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BundleReaders {
    /// All expected clients have the bundle.
    All,
    /// The existing clients have the bundle. Others do not exist yet, and trust nothing so far.
    NotAll,
}

/// Stored content with its version.
pub struct StoredContent {
    /// The content as it was stored.
    pub content: Zeroizing<Vec<u8>>,
    /// The version, which differs after each write.
    pub version: StoreVersion,
}

/// The version of the stored content, in the notation of the store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoreVersion(pub String);

/// The reason why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another replica has written in the meantime.
    #[error("written by another replica meanwhile")]
    Conflict,
    /// The store cannot be reached, or rejects the request.
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

/// The reason why a renewal failed. The texts never contain stored content.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// There is no name to issue a certificate for.
    #[error("a self-managed certificate has no name: expected the names that clients use")]
    NoName,
    /// The store failed.
    #[error("the store of the certificate authority: {0}")]
    Store(#[from] StoreError),
    /// The store did not answer in time.
    #[error("the store of the certificate authority: no answer within {seconds} s")]
    Slow {
        /// The time that was waited.
        seconds: u64,
    },
    /// Other replicas wrote first at each attempt.
    #[error("the store of the certificate authority: written by others {tries} times in a row")]
    Contended {
        /// The number of attempts.
        tries: usize,
    },
    /// The stored content is not what a replica wrote.
    #[error("the stored certificate authority is damaged: {why}; delete it to have a new one made")]
    Damaged {
        /// The cause, and its position.
        why: String,
    },
    /// The number of authorities is at its limit, and none of them is valid at the current time.
    #[error(
        "no stored CA certificate is valid now, and there is no space for another: is the clock \
         right? One that no replica needs is removed within minutes. To get a new one immediately, \
         stop every replica, delete the stored ones, and start the replicas again"
    )]
    NoSigner,
    /// No certificate can be generated.
    #[error("cannot make a certificate: {0}")]
    Made(#[from] rcgen::Error),
    /// The clock shows a time that a certificate cannot contain.
    #[error("cannot make a certificate: the clock is outside of the years 1970 to 9999")]
    Clock,
}

// === One renewal: from the stored content to the served certificate ===

/// The state of one replica.
struct Keeper<S> {
    store: S,
    clock: Arc<dyn Clock>,
    names: Vec<String>,
    terms: TlsConfig,
    /// The content that was stored when the replica last read it.
    remembered: StoredAuthorities,
    history: AuthorityHistory,
    leaf: Option<SignedLeaf>,
    /// The last usable CA certificates for clients.
    client: Option<PemFile>,
}

/// A leaf, with the authority that signed it.
struct SignedLeaf {
    identity: ServerIdentity,
    by: Authority,
}

impl<S: Store> Keeper<S> {
    /// Does what is due, and returns a new certificate to serve, if any.
    async fn renew(&mut self) -> Result<Option<ServedCertificate>, TlsError> {
        let agreed = tokio::time::timeout(PATIENCE, self.agree()).await;
        let (state, told) = agreed.map_err(|_| AuthorityError::Slow {
            seconds: PATIENCE.as_secs(),
        })??;
        self.history.stored(state.authorities(), Instant::now());
        // The propagation time starts only when all clients have the bundle.
        if told == BundleReaders::All {
            self.history.published(Instant::now());
        }
        self.remembered = state;
        self.signed()
    }

    /// Repeats until the stored content is up to date and published.
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
        // First, because another replica may have removed a mark.
        self.history.stored(state.authorities(), Instant::now());
        let advanced = state.advanced(self.view())?;
        if advanced.is_some() || !is_stored {
            state = advanced.unwrap_or(state);
            version = Some(self.write(version.as_ref(), &state).await?);
        }
        let told = self.store.publish(&state.bundle()).await?;
        // Only now, because a replica that signs with an authority counts from when clients could have it.
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

    /// Checks that the version is still stored. Publishing has no version, so a slow replica may have published a
    /// bundle that another replica had already replaced. It then starts over.
    async fn is_still(&self, version: Option<&StoreVersion>) -> Result<(), AuthorityError> {
        let stored = self.store.load().await?;
        if stored.map(|stored| stored.version).as_ref() == version {
            return Ok(());
        }
        Err(StoreError::Conflict.into())
    }

    /// Returns the stored content, if any, and the version to replace. Empty content has a version too.
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

    /// Signs a leaf if one is due, and returns the new certificate to serve.
    fn signed(&mut self) -> Result<Option<ServedCertificate>, TlsError> {
        if self.leaf.as_ref().is_some_and(|leaf| self.is_good(leaf)) {
            return Ok(None);
        }
        let (identity, by) = self.sign()?;
        let served = ServedCertificate::new(&identity, &self.terms, self.client.as_ref())?;
        self.leaf = Some(SignedLeaf { identity, by });
        Ok(Some(served))
    }

    /// Reads the CA certificates for clients, which needs no store, and returns a new certificate to serve if they
    /// differ. If they cannot be used, the old ones stay in use.
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

    /// Returns how long API servers may still not know the authority that signs. An authority that any replica made
    /// just now was also published just now. An authority that another version of olmguard made, with another
    /// [`BACKDATE`], counts as old.
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

/// Waits for a random time, because replicas that conflicted once would conflict again if all waited equally long.
async fn pause() {
    let millis = fastrand::u64(..CONFLICT_PAUSE_MILLIS);
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// The time in which an API server applies a changed webhook configuration; a tenth of a second is typical.
const NEWS: Duration = Duration::from_secs(2);
const TRIES: usize = 10;
const CONFLICT_PAUSE_MILLIS: u64 = 200;
/// The limit for one renewal: what it writes must have been computed recently.
const PATIENCE: Duration = Duration::from_secs(30);
