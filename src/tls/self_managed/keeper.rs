//! One renewal: from the stored content to the served certificate.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::pem_file::PemFile;
use crate::tls::certificates::ServedCertificate;
use crate::tls::self_managed::authority::Authority;
use crate::tls::self_managed::stage::{AuthorityHistory, ReplicaView, is_past_two_thirds};
use crate::tls::self_managed::state::StoredAuthorities;
use crate::tls::self_managed::{
    AuthorityError, BACKDATE, BundleReaders, Store, StoreError, StoreVersion,
};
use crate::tls::{Clock, ServerIdentity, TlsConfig, TlsError};

/// What one replica remembers.
pub(super) struct Keeper<S> {
    pub(super) store: S,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) names: Vec<String>,
    pub(super) terms: TlsConfig,
    /// What was stored when it was last seen.
    pub(super) remembered: StoredAuthorities,
    pub(super) history: AuthorityHistory,
    pub(super) leaf: Option<SignedLeaf>,
    /// The authorities of clients that were good last.
    pub(super) client: Option<PemFile>,
}

/// A leaf, and who signed it.
pub(super) struct SignedLeaf {
    identity: ServerIdentity,
    by: Authority,
}

impl<S: Store> Keeper<S> {
    /// Does what is due, and returns what is new to be served.
    pub(super) async fn renew(&mut self) -> Result<Option<ServedCertificate>, TlsError> {
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
    pub(super) fn follow_clients(&mut self) -> Result<Option<ServedCertificate>, TlsError> {
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
    pub(super) fn until_known(&self) -> Duration {
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
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
