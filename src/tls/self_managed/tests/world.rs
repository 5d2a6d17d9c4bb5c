//! A store in memory, a clock that can be set, and clients that believe both.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::tls::self_managed::{
    BundleReaders as Heard, SelfManaged, Store, StoreError, StoredContent, Version, serve,
};
use crate::tls::tests::link::link;
use crate::tls::tests::pairs::Told;
use crate::tls::{Certificates, Clock, TlsConfig, TlsError};

/// Follows the time of the runtime, and jumps.
#[derive(Debug)]
pub(crate) struct TestClock {
    begun: Instant,
    ahead: Mutex<i64>,
}

/// Shared by all replicas.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Mutex<Shelf>>);

pub(crate) struct Shelf {
    pub(super) content: Option<(u64, Vec<u8>)>,
    writes: u64,
    /// Each bundle, with the moment of the runtime from which it holds.
    bundles: Vec<(Instant, String)>,
    pub(super) is_away: bool,
    /// No client is there that could be told.
    pub(super) is_deserted: bool,
    /// So many writes meet another one.
    pub(super) conflicts: usize,
    /// So long the next bundle is under way.
    pub(super) stall: Option<Duration>,
}

pub(crate) struct World {
    pub(crate) clock: Arc<TestClock>,
    pub(crate) store: Memory,
    pub(crate) terms: TlsConfig,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            clock: Arc::new(TestClock {
                begun: Instant::now(),
                ahead: Mutex::new(0),
            }),
            store: Memory(Arc::new(Mutex::new(Shelf {
                content: None,
                writes: 0,
                bundles: Vec::new(),
                is_away: false,
                is_deserted: false,
                conflicts: 0,
                stall: None,
            }))),
            terms: TlsConfig::default(),
        }
    }

    pub(super) async fn replica(&self) -> Result<(Certificates, Told), TlsError> {
        self.replica_with(&self.clock).await
    }

    /// One with a clock of its own.
    pub(super) async fn replica_with(
        &self,
        clock: &Arc<TestClock>,
    ) -> Result<(Certificates, Told), TlsError> {
        let told = Told::default();
        let managed = SelfManaged {
            store: self.store.clone(),
            names: vec![ServerName::try_from("localhost").unwrap()],
            terms: self.terms.clone(),
            clock: Arc::clone(clock) as Arc<dyn Clock>,
        };
        let certificates = serve(managed, Arc::new(told.clone())).await?;
        Ok((certificates, told))
    }

    /// A clock that goes as ours does, so many seconds ahead or, below zero, behind.
    pub(super) fn other_clock(&self, ahead: i64) -> Arc<TestClock> {
        let ours = *self.clock.ahead.lock().unwrap();
        Arc::new(TestClock {
            begun: self.clock.begun,
            ahead: Mutex::new(ours + ahead),
        })
    }

    pub(crate) async fn three(&self) -> [Certificates; 3] {
        let all = tokio::join!(self.replica(), self.replica(), self.replica());
        [all.0.unwrap().0, all.1.unwrap().0, all.2.unwrap().0]
    }

    /// A client that has heard of the latest bundle connects to each, and so does one that is as far
    /// behind as a client may be.
    pub(super) async fn all_connect(&self, replicas: &[Certificates], what: &str) {
        let now = Instant::now();
        let behind = self.store.bundle_at(now.checked_sub(BEHIND).unwrap_or(now));
        let trusted = [Some(self.store.bundle()), behind];
        for (at, replica) in replicas.iter().enumerate() {
            for bundle in trusted.iter().flatten() {
                let linked = link(replica.server_config(), &self.client(bundle)).await;
                assert!(linked.is_ok(), "{what}: replica {at}: {:?}", linked.err());
            }
            assert_eq!(replica.fitness(self.clock.now()), Ok(()), "{what}");
        }
    }

    /// A client that trusts this bundle, by this clock.
    pub(crate) fn client(&self, bundle: &str) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
            roots.add(certificate.unwrap()).unwrap();
        }
        let provider = Arc::new(ring::default_provider());
        let time = Arc::clone(&self.clock) as Arc<dyn TimeProvider>;
        let config = ClientConfig::builder_with_details(provider, time)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Arc::new(config)
    }
}

impl TestClock {
    /// Sets it forwards or, below zero, back.
    pub(crate) fn jump(&self, seconds: i64) {
        *self.ahead.lock().unwrap() += seconds;
    }
}

impl Clock for TestClock {
    fn now(&self) -> SystemTime {
        let ahead = *self.ahead.lock().unwrap();
        let seconds = (1 << 31) + ahead;
        UNIX_EPOCH + Duration::from_secs(seconds.try_into().unwrap()) + self.begun.elapsed()
    }
}

impl TimeProvider for TestClock {
    fn current_time(&self) -> Option<UnixTime> {
        let since = self.now().duration_since(UNIX_EPOCH).ok()?;
        Some(UnixTime::since_unix_epoch(since))
    }
}

impl Memory {
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Shelf) -> T) -> T {
        act(&mut self.0.lock().unwrap())
    }

    /// What is published.
    pub(crate) fn bundle(&self) -> String {
        self.with(|shelf| shelf.bundles.last().unwrap().1.clone())
    }

    fn bundle_at(&self, moment: Instant) -> Option<String> {
        self.with(|shelf| {
            let mut all = shelf.bundles.iter().rev();
            all.find(|(from, _)| *from <= moment)
                .map(|(_, bundle)| bundle.clone())
        })
    }

    /// How many authorities are published.
    pub(crate) fn authorities(&self) -> usize {
        self.bundle().matches("BEGIN CERTIFICATE").count()
    }

    /// Takes a while, so that replicas meet.
    async fn reach(&self) -> Result<(), StoreError> {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(1..20))).await;
        if self.with(|shelf| shelf.is_away) {
            return Err(StoreError::Unavailable("the store is away".into()));
        }
        Ok(())
    }

    async fn write(&self, over: Option<&Version>, content: &[u8]) -> Result<Version, StoreError> {
        self.reach().await?;
        self.with(|shelf| {
            let stored = shelf
                .content
                .as_ref()
                .map(|(version, _)| version.to_string());
            if stored.as_ref() != over.map(|version| &version.0) || shelf.conflicts > 0 {
                shelf.conflicts = shelf.conflicts.saturating_sub(1);
                return Err(StoreError::Conflict);
            }
            shelf.writes += 1;
            shelf.content = Some((shelf.writes, content.to_vec()));
            Ok(Version(shelf.writes.to_string()))
        })
    }
}

impl Store for Memory {
    async fn load(&self) -> Result<Option<StoredContent>, StoreError> {
        self.reach().await?;
        Ok(self.with(|shelf| {
            shelf
                .content
                .as_ref()
                .map(|(version, content)| StoredContent {
                    content: Zeroizing::new(content.clone()),
                    version: Version(version.to_string()),
                })
        }))
    }

    fn create(&self, content: &[u8]) -> impl Future<Output = Result<Version, StoreError>> + Send {
        self.write(None, content)
    }

    fn replace(
        &self,
        version: &Version,
        content: &[u8],
    ) -> impl Future<Output = Result<Version, StoreError>> + Send {
        self.write(Some(version), content)
    }

    async fn publish(&self, bundle: &str) -> Result<Heard, StoreError> {
        self.reach().await?;
        if self.with(|shelf| shelf.is_deserted) {
            return Ok(Heard::NotAll);
        }
        if let Some(stall) = self.with(|shelf| shelf.stall.take()) {
            tokio::time::sleep(stall).await;
        }
        self.with(|shelf| {
            if shelf.bundles.last().is_none_or(|(_, last)| last != bundle) {
                shelf.bundles.push((Instant::now(), bundle.to_owned()));
            }
        });
        Ok(Heard::All)
    }

    /// Nobody tells of a change: each has to look.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }
}

/// A little less than what an authority waits for after it was published.
const BEHIND: Duration = Duration::from_mins(4);
