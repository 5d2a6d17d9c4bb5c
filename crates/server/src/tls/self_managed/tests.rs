//! Replicas that share a store, and clients that trust the published bundle.

mod rollover;

use std::future::Future;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::tls::self_managed::{
    BundleReaders as Heard, SelfManaged, Store, StoreError, StoreVersion, StoredContent, serve,
};
use crate::tls::test_util::{TestClock, client};
use crate::tls::tests::{Told, ca, file, link};
use crate::tls::{Certificates, ClientCa, Clock, TlsConfig, TlsError};

// === A store in memory, a clock that can be set, and clients that use both ===

/// The state that all replicas share.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Mutex<Shelf>>);

pub(crate) struct Shelf {
    content: Option<(u64, Vec<u8>)>,
    writes: u64,
    /// Each bundle, with the time of the runtime from which it is published.
    bundles: Vec<(Instant, String)>,
    is_away: bool,
    /// Whether the next access panics.
    is_broken: bool,
    /// Whether no client exists that could get a bundle.
    is_deserted: bool,
    /// The number of writes that get a conflict.
    conflicts: usize,
    /// The delay of the next bundle.
    stall: Option<Duration>,
}

pub(crate) struct World {
    pub(crate) clock: Arc<TestClock>,
    pub(crate) store: Memory,
    pub(crate) terms: TlsConfig,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            clock: Arc::new(TestClock::ahead(0)),
            store: Memory(Arc::new(Mutex::new(Shelf {
                content: None,
                writes: 0,
                bundles: Vec::new(),
                is_away: false,
                is_broken: false,
                is_deserted: false,
                conflicts: 0,
                stall: None,
            }))),
            terms: TlsConfig::default(),
        }
    }

    async fn replica(&self) -> Result<(Certificates, Told), TlsError> {
        self.replica_with(&self.clock).await
    }

    /// Returns a replica with a clock of its own.
    async fn replica_with(&self, clock: &Arc<TestClock>) -> Result<(Certificates, Told), TlsError> {
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

    /// Returns a clock that is ahead by this many seconds or, if negative, behind.
    fn other_clock(&self, ahead: i64) -> Arc<TestClock> {
        Arc::new(self.clock.other(ahead))
    }

    pub(crate) async fn three(&self) -> [Certificates; 3] {
        let all = tokio::join!(self.replica(), self.replica(), self.replica());
        [all.0.unwrap().0, all.1.unwrap().0, all.2.unwrap().0]
    }

    /// Connects to each replica with a client that has the latest bundle, and with one that is as far behind as a
    /// client may be.
    async fn all_connect(&self, replicas: &[Certificates], what: &str) {
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

    /// Returns a client that trusts this bundle, with this clock.
    pub(crate) fn client(&self, bundle: &str) -> Arc<ClientConfig> {
        client(bundle, &self.clock)
    }
}

impl Memory {
    fn with<T>(&self, act: impl FnOnce(&mut Shelf) -> T) -> T {
        act(&mut self.0.lock().unwrap())
    }

    /// Returns the published bundle.
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

    /// Returns the number of published authorities.
    pub(crate) fn authorities(&self) -> usize {
        self.bundle().matches("BEGIN CERTIFICATE").count()
    }

    /// Waits a random time, so that replicas conflict.
    async fn reach(&self) -> Result<(), StoreError> {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(1..20))).await;
        assert!(!self.with(|shelf| mem::take(&mut shelf.is_broken)), "a bug");
        if self.with(|shelf| shelf.is_away) {
            return Err(StoreError::Unavailable("the store is away".into()));
        }
        Ok(())
    }

    async fn write(
        &self,
        over: Option<&StoreVersion>,
        content: &[u8],
    ) -> Result<StoreVersion, StoreError> {
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
            Ok(StoreVersion(shelf.writes.to_string()))
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
                    version: StoreVersion(version.to_string()),
                })
        }))
    }

    fn create(
        &self,
        content: &[u8],
    ) -> impl Future<Output = Result<StoreVersion, StoreError>> + Send {
        self.write(None, content)
    }

    fn replace(
        &self,
        version: &StoreVersion,
        content: &[u8],
    ) -> impl Future<Output = Result<StoreVersion, StoreError>> + Send {
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

    /// Reports no changes, so each replica has to check on its own.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }
}

/// A little less than the time that an authority waits after it is published.
const BEHIND: Duration = Duration::from_mins(4);

// === One replica has a wrong clock, and no other replica is affected ===

const DAY: i64 = 24 * 60 * 60;

const OFTEN: Duration = Duration::from_secs(20);

/// Keeps connecting clients to these replicas, for this long.
async fn connect_for(minutes: u64, world: &World, replicas: &[Certificates], what: &str) {
    for at in 0..minutes * 3 {
        tokio::time::sleep(OFTEN).await;
        let minute = at / 3;
        let what = format!("{what}, minute {minute}");
        world.all_connect(replicas, &what).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_ahead_takes_nothing_away_that_others_serve() {
    let world = World::new();
    let (first, second) = (
        world.replica().await.unwrap(),
        world.replica().await.unwrap(),
    );
    let ahead = world.other_clock(0);
    let _third = world.replica_with(&ahead).await.unwrap();
    let mut right = vec![first.0, second.0];
    for clock in [&world.clock, &ahead] {
        clock.jump(244 * DAY);
    }
    // The served certificates have expired immediately.
    tokio::time::sleep(Duration::from_mins(1)).await;
    connect_for(3, &world, &right, "both are there").await;
    assert_eq!(world.store.authorities(), 2);
    ahead.jump(8 * DAY);
    connect_for(20, &world, &right, "one is ahead").await;
    right.push(world.replica().await.unwrap().0);
    // The new replica knows only the old authority yet, and objects to its removal. The objection counts for an hour.
    connect_for(80, &world, &right, "one has started").await;
    assert_eq!(world.store.authorities(), 1, "it was announced");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_to_local_time_makes_certificates_that_are_valid_now() {
    for first in [-14, 0, 14] {
        let world = World::new();
        let clocks = [first, 14, -14].map(|hours| world.other_clock(hours * 60 * 60));
        for clock in &clocks {
            let (replica, _) = world.replica_with(clock).await.unwrap();
            let what = format!("made by a clock {first} hours ahead first");
            world.all_connect(&[replica], &what).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_behind_makes_no_other_sign_too_early() {
    let world = World::new();
    let mut right = vec![world.replica().await.unwrap().0];
    connect_for(10, &world, &right, "alone").await;
    let behind = world.other_clock(-8 * DAY);
    let _wrong = world.replica_with(&behind).await.unwrap();
    assert_eq!(world.store.authorities(), 2, "it has one of its own");
    right.push(world.replica().await.unwrap().0);
    connect_for(40, &world, &right, "one is behind").await;
    behind.jump(8 * DAY);
    connect_for(40, &world, &right, "none is behind").await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_leaves_the_others_what_they_sign_with() {
    const JUMPS: [i64; 7] = [8, 8, 400, 400, 800, -30, -400];
    for seed in 0..2 {
        let mut random = fastrand::Rng::with_seed(seed);
        let world = World::new();
        let mut right = vec![world.replica().await.unwrap().0];
        right.push(world.replica().await.unwrap().0);
        let jumping = world.other_clock(0);
        let (wrong, _) = world.replica_with(&jumping).await.unwrap();
        let (mut ahead, mut most) = (0, 0);
        for step in 0..40 {
            let jump = JUMPS[random.usize(..JUMPS.len())];
            jumping.jump(jump * DAY);
            ahead += jump;
            connect_for(6, &world, &right, &format!("seed {seed} step {step}")).await;
            most = most.max(world.store.authorities());
        }
        assert_eq!(most, 8, "there was no more room");
        jumping.jump(-ahead * DAY);
        connect_for(40, &world, &right, "mended").await;
        right.push(wrong);
        world.all_connect(&right, "mended").await;
    }
}

// === A store that is unavailable, contended, emptied or damaged ===

const A_WHILE: Duration = Duration::from_mins(10);

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_stops_nothing_that_is_served() {
    let world = World::new();
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    world.store.with(|shelf| shelf.is_away = true);
    world.clock.jump(6 * DAY);
    tokio::time::sleep(A_WHILE).await;
    let refused = "the store of the certificate authority: the store is away";
    assert_eq!(told.all(), [Err(refused.to_owned())], "once");
    assert_eq!(replica.leaf(), before);
    world
        .all_connect(std::slice::from_ref(&replica), "away")
        .await;
    world.store.with(|shelf| shelf.is_away = false);
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(told.all()[1..], [Ok(replica.leaf().serial.clone())]);
    assert_ne!(replica.leaf(), before, "it was past two thirds");
    world.all_connect(&[replica], "back").await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_does_not_end_the_renewals() {
    let world = World::new();
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    world.store.with(|shelf| shelf.is_broken = true);
    world.clock.jump(6 * DAY);
    tokio::time::sleep(A_WHILE).await;
    assert!(!world.store.with(|shelf| shelf.is_broken));
    assert_eq!(told.all(), [Ok(replica.leaf().serial.clone())]);
    assert_ne!(replica.leaf(), before, "it was past two thirds");
    world.all_connect(&[replica], "after the panic").await;
}

/// If the process ended, it would only be restarted again and again.
#[tokio::test(start_paused = true)]
async fn a_start_waits_for_the_store_as_long_as_it_takes() {
    let world = World::new();
    world.store.with(|shelf| shelf.is_away = true);
    let back = async {
        tokio::time::sleep(A_WHILE).await;
        world.store.with(|shelf| shelf.is_away = false);
    };
    let (replica, ()) = tokio::join!(world.replica(), back);
    let (replica, told) = replica.unwrap();
    let away = "the store of the certificate authority: the store is away";
    assert_eq!(told.all(), [Err(away.to_owned())], "once");
    world.all_connect(&[replica], "started").await;
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_tried_again_and_told_where_it_lasts() {
    let world = World::new();
    world.store.with(|shelf| shelf.conflicts = 3);
    let (replica, told) = world.replica().await.unwrap();
    assert!(told.all().is_empty());
    world.all_connect(&[replica], "after conflicts").await;
    let world = World::new();
    world.store.with(|shelf| shelf.conflicts = usize::MAX);
    let calm = async {
        tokio::time::sleep(A_WHILE).await;
        world.store.with(|shelf| shelf.conflicts = 0);
    };
    let (replica, ()) = tokio::join!(world.replica(), calm);
    let expected = "the store of the certificate authority: written by others 10 times in a row";
    assert_eq!(replica.unwrap().1.all(), [Err(expected.to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn with_nobody_to_tell_it_serves_and_renews_and_tells_once_somebody_is_there() {
    let world = World::new();
    world.store.with(|shelf| shelf.is_deserted = true);
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    world.clock.jump(6 * DAY);
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(told.all(), [Ok(replica.leaf().serial.clone())]);
    assert_ne!(replica.leaf(), before, "it was past two thirds");
    world.store.with(|shelf| shelf.is_deserted = false);
    tokio::time::sleep(A_WHILE / 10).await;
    world.all_connect(&[replica], "somebody is there").await;
}

/// Clients that come back unchanged trust what they trusted before.
#[tokio::test(start_paused = true)]
async fn an_authority_that_nobody_was_told_of_does_not_sign() {
    let world = World::new();
    let (replica, _) = world.replica().await.unwrap();
    tokio::time::sleep(A_WHILE).await;
    world.store.with(|shelf| shelf.is_deserted = true);
    world.clock.jump(244 * DAY);
    tokio::time::sleep(A_WHILE * 3).await;
    world
        .all_connect(std::slice::from_ref(&replica), "as they were")
        .await;
    world.store.with(|shelf| shelf.is_deserted = false);
    for _ in 0..20 {
        tokio::time::sleep(A_WHILE / 20).await;
        world
            .all_connect(std::slice::from_ref(&replica), "back")
            .await;
    }
    assert_eq!(world.store.authorities(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_damaged_is_told_and_never_written_over() {
    let world = World::new();
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    let damaged = Some((77, b"{}".to_vec()));
    world.store.with(|shelf| shelf.content.clone_from(&damaged));
    world.clock.jump(5 * DAY);
    tokio::time::sleep(A_WHILE).await;
    let all = told.all();
    assert_eq!(all.len(), 1, "{all:?}");
    let error = all[0].as_ref().unwrap_err();
    assert!(error.contains("is damaged: expected JSON"), "{error}");
    assert!(world.store.with(|shelf| shelf.content == damaged));
    assert_eq!(replica.leaf(), before);
    let error = world.replica().await.unwrap_err().to_string();
    assert!(error.contains("is damaged"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_was_deleted_or_emptied_is_put_back() {
    let world = World::new();
    let (replica, told) = world.replica().await.unwrap();
    let before = (world.store.bundle(), replica.leaf());
    for emptied in [None, Some((99, Vec::new()))] {
        world.store.with(|shelf| shelf.content.clone_from(&emptied));
        tokio::time::sleep(A_WHILE).await;
        assert!(world.store.with(|shelf| shelf.content != emptied));
        assert_eq!((world.store.bundle(), replica.leaf()), before);
    }
    assert!(told.all().is_empty());
    let (second, _) = world.replica().await.unwrap();
    world.all_connect(&[replica, second], "put back").await;
}

#[tokio::test(start_paused = true)]
async fn clients_that_cannot_be_judged_anew_hold_up_no_leaf() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new();
    world.terms.client_ca = Some(ClientCa {
        file: file(folder.path(), "ca.crt", ca("clients").pem()),
        allowed: std::iter::empty().collect(),
    });
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    file(folder.path(), "ca.crt", "");
    world.clock.jump(5 * DAY);
    tokio::time::sleep(A_WHILE).await;
    let all = told.all();
    assert_ne!(replica.leaf(), before, "it was past two thirds");
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.contains(&Ok(replica.leaf().serial.clone())));
    let error = all.iter().find_map(|told| told.as_ref().err()).unwrap();
    assert!(error.contains("ca.crt: no certificate in it"), "{error}");
    world.store.with(|shelf| shelf.is_away = true);
    file(folder.path(), "ca.crt", ca("others").pem());
    tokio::time::sleep(A_WHILE).await;
    let last = told.all().into_iter().rfind(Result::is_ok);
    assert_eq!(last, Some(Ok(replica.leaf().serial.clone())));
    assert_eq!(told.all().len(), 4, "taken over without the store");
}
