//! The whole task, with a scripted loader, in virtual time.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{content, loaded, no_connection, observed, packages};
use crate::cluster::catalogs::{CatalogsError, NamelessObject, ObservedCatalog};
use crate::cluster::follow::job::{Job, LoadOutcome, LoadedContent, Task};
use crate::cluster::follow::load::Load;
use crate::cluster::follow::run::{FollowConfig, run};
use crate::cluster::follow::{AgeLimit, StatusBoard, StatusListener};
use crate::cluster::{FaultClass, WatchEvent, WatchFault};
use crate::source::digest::Sha256;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{Currency, Snapshot};
use olmguard_server::telemetry::Metrics;
use olmguard_server::tls::SystemClock;
use olmguard_views::readiness::CatalogCounts;

/// The results of loading each digest, one for each attempt; content by default.
#[derive(Clone, Debug, Default)]
struct Script(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    next: BTreeMap<String, Vec<Does>>,
    begun: Vec<String>,
    kept: Vec<String>,
    forgotten: Vec<String>,
    /// The SHA-256 of all content, if it is the same for all.
    sha256: Option<Sha256>,
    /// Whether content is fetched again to confirm it.
    is_confirmed_later: bool,
}

#[derive(Clone, Debug)]
enum Does {
    Fails,
    Hangs,
    Panics,
}

impl Script {
    fn next(&self, digest: &str, does: &[Does]) {
        let mut does = does.to_vec();
        does.reverse();
        self.0
            .lock()
            .unwrap()
            .next
            .insert(format!("sha256:{digest}"), does);
    }

    fn begun(&self) -> Vec<String> {
        self.0.lock().unwrap().begun.clone()
    }
}

impl Told {
    fn told(&self) -> (Option<Sha256>, bool) {
        (self.sha256, self.is_confirmed_later)
    }
}

impl Load for Script {
    async fn load(self, job: Job) -> LoadOutcome {
        let digest = job.want.key.digest.clone();
        let does = {
            let mut told = self.0.lock().unwrap();
            told.begun.push(digest.clone());
            told.next.get_mut(&digest).and_then(Vec::pop)
        };
        let told = self.0.lock().unwrap().told();
        match does {
            None if matches!(job.task, Task::Confirm(_)) => LoadOutcome::Confirmed,
            None => {
                let content = content(digest.strip_prefix("sha256:").unwrap());
                let loaded = loaded(content, told.0);
                LoadOutcome::Loaded(Arc::new(LoadedContent {
                    is_confirmed: !told.1,
                    ..LoadedContent::clone(&loaded)
                }))
            }
            Some(Does::Fails) => LoadOutcome::Failed(no_connection("no route to host")),
            Some(Does::Hangs) => pending().await,
            Some(Does::Panics) => panic!("as scripted"),
        }
    }

    fn forget(&self, digest: &str) {
        self.0.lock().unwrap().forgotten.push(digest.to_owned());
    }

    fn keep(&self, in_use: Vec<(String, String)>) {
        let mut kept: Vec<_> = in_use.into_iter().map(|(_, digest)| digest).collect();
        kept.sort();
        kept.dedup();
        self.0.lock().unwrap().kept = kept;
    }
}

/// A follower that runs.
struct World {
    script: Script,
    events: mpsc::Sender<WatchEvent<Result<ObservedCatalog, NamelessObject>>>,
    rules: mpsc::Sender<Rules>,
    snapshot: Arc<ArcSwap<Snapshot>>,
    board: Arc<StatusBoard>,
    metrics: Metrics,
}

impl World {
    async fn begin(script: Script) -> Self {
        Self::judging(script, Arc::default()).await
    }

    /// Starts with what was published before.
    async fn judging(script: Script, snapshot: Arc<ArcSwap<Snapshot>>) -> Self {
        let (events, event_receiver) = mpsc::channel(8);
        let (rules, rules_receiver) = mpsc::channel(8);
        let world = Self {
            script: script.clone(),
            events,
            rules,
            snapshot,
            board: Arc::default(),
            metrics: Metrics::new(),
        };
        tokio::spawn(run(
            script,
            FollowConfig {
                limit: AgeLimit::default(),
                events: event_receiver,
                rules: rules_receiver,
                contents: mpsc::channel(1).1,
                snapshot: Arc::clone(&world.snapshot),
                listener: StatusListener {
                    board: Arc::clone(&world.board),
                    catalogs: Arc::clone(&world.metrics.catalogs),
                    watches: Arc::clone(&world.metrics.watches),
                    clock: Arc::new(SystemClock),
                },
            },
        ));
        world.rules.send(Rules::default()).await.unwrap();
        world
    }

    async fn tell(&self, event: WatchEvent<Result<ObservedCatalog, NamelessObject>>) {
        self.events.send(event).await.unwrap();
    }

    /// Waits, in virtual time, until edits are judged by this.
    async fn until(&self, what: &str, is_so: impl Fn(&Snapshot) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.snapshot.load()) {
            assert!(begun.elapsed() < Duration::from_mins(10), "never: {what}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn until_judged_by(&self, name: &str, package: &str) {
        let is_so = |snapshot: &Snapshot| {
            let state = snapshot.catalog(name);
            state.is_some_and(|state| packages(state) == Ok(vec![package]))
        };
        self.until(&format!("{name} by {package}"), is_so).await;
    }
}

#[tokio::test(start_paused = true)]
async fn it_goes_from_the_list_to_the_snapshot() {
    let world = World::begin(Script::default()).await;
    assert_eq!(world.board.watch(), Err("being listed".to_owned()));
    assert_eq!(world.board.catalogs(), Err("0 of 0 loaded".to_owned()));
    world
        .tell(WatchEvent::Listed(vec![
            Ok(observed("hub", "a")),
            Ok(observed("more", "b")),
        ]))
        .await;
    world.until_judged_by("hub", "a").await;
    world.until_judged_by("more", "b").await;
    assert_eq!(world.board.watch(), Ok("watched".to_owned()));
    assert_eq!(world.board.catalogs(), Ok("2 of 2 loaded".to_owned()));
    assert_eq!(
        world.script.0.lock().unwrap().kept,
        ["sha256:a", "sha256:b"]
    );
}

#[tokio::test(start_paused = true)]
async fn it_tries_again_later_and_later_and_says_why() {
    let script = Script::default();
    script.next("a", &vec![Does::Fails; 6]);
    let world = World::begin(script).await;
    let begun = Instant::now();
    world
        .tell(WatchEvent::Listed(vec![Ok(observed("hub", "a"))]))
        .await;
    let failed = |snapshot: &Snapshot| {
        snapshot.catalog("hub").is_some_and(|state| {
            packages(state) == Err("cannot connect to catalogd.example: no route to host")
        })
    };
    world.until("failed", failed).await;
    let words =
        "0 of 1 loaded; hub: not loaded: cannot connect to catalogd.example: no route to host";
    let counts = CatalogCounts {
        available: 1,
        loaded: 0,
        faulty: 1,
        held_back: 0,
    };
    assert_eq!(world.board.loading(), (Err(words.to_owned()), counts));
    world.until_judged_by("hub", "a").await;
    assert!(
        begun.elapsed() > Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(world.script.begun().len(), 7);
    assert!(world.board.catalogs().is_ok());
}

/// After a bug, the tasks start again.
#[tokio::test(start_paused = true)]
async fn contents_from_before_a_restart_stay_until_the_start_is_over() {
    let before = World::begin(Script::default()).await;
    let listed = || WatchEvent::Listed(vec![Ok(observed("hub", "a"))]);
    before.tell(listed()).await;
    before.until_judged_by("hub", "a").await;
    drop(before.events);
    before.rules.closed().await;
    let script = Script::default();
    script.next("a", &[Does::Fails]);
    let world = World::judging(script, before.snapshot).await;
    world.tell(listed()).await;
    while world.board.catalogs().is_err() {
        let judged = world.snapshot.load();
        let state = judged.catalog("hub").expect("it was published");
        assert_eq!(packages(state), Ok(vec!["a"]));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(world.script.begun().len(), 2, "it was loaded again");
    world.until_judged_by("hub", "a").await;
    world.tell(WatchEvent::Listed(Vec::new())).await;
    let is_empty = |snapshot: &Snapshot| snapshot.catalogs().is_empty();
    world.until("empty", is_empty).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_wanted_any_more_is_not_waited_for() {
    let script = Script::default();
    script.next("a", &[Does::Hangs]);
    let world = World::begin(script).await;
    world
        .tell(WatchEvent::Listed(vec![Ok(observed("hub", "a"))]))
        .await;
    world
        .until("begun", |_| !world.script.begun().is_empty())
        .await;
    world
        .tell(WatchEvent::Applied(Ok(observed("hub", "b"))))
        .await;
    world.until_judged_by("hub", "b").await;
}

#[tokio::test(start_paused = true)]
async fn a_loader_that_panics_is_a_failure_like_another() {
    let script = Script::default();
    script.next("a", &[Does::Panics]);
    let world = World::begin(script).await;
    world
        .tell(WatchEvent::Listed(vec![Ok(observed("hub", "a"))]))
        .await;
    world.until_judged_by("hub", "a").await;
    assert_eq!(world.script.begun().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn bytes_that_came_too_early_are_not_kept_under_the_old_digest() {
    let script = Script::default();
    script.0.lock().unwrap().sha256 = Some(Sha256::of(&[7]));
    let world = World::begin(script).await;
    world
        .tell(WatchEvent::Listed(vec![Ok(observed("hub", "a"))]))
        .await;
    world.until_judged_by("hub", "a").await;
    world
        .tell(WatchEvent::Applied(Ok(observed("hub", "b"))))
        .await;
    let is_current = |snapshot: &Snapshot| {
        let state = snapshot.catalog("hub");
        state.is_some_and(|state| state.digest() == Some("sha256:b"))
    };
    world.until("current", is_current).await;
    assert_eq!(world.script.0.lock().unwrap().forgotten, ["sha256:a"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_lost_takes_nothing_away() {
    let script = Script::default();
    script.next("b", &vec![Does::Fails; 1000]);
    let world = World::begin(script).await;
    let fault = |words: &str| {
        WatchEvent::Lost(WatchFault {
            class: FaultClass::Server,
            words: words.to_owned(),
        })
    };
    world.tell(fault("forbidden")).await;
    world
        .until("told", |_| {
            world.board.watch() == Err("forbidden".to_owned())
        })
        .await;
    world
        .tell(WatchEvent::Listed(vec![Ok(observed("hub", "a"))]))
        .await;
    world.until_judged_by("hub", "a").await;
    world.tell(fault("no route")).await;
    world
        .until("told", |_| world.board.watch() != Ok("watched".to_owned()))
        .await;
    tokio::time::sleep(Duration::from_secs(90)).await;
    assert_eq!(
        world.board.watch(),
        Ok("not known for 90s: no route".to_owned())
    );
    let again = WatchEvent::Listed(vec![Ok(observed("hub", "a"))]);
    world.tell(again).await;
    world
        .tell(WatchEvent::Applied(Ok(observed("hub", "b"))))
        .await;
    let superseded = |snapshot: &Snapshot| {
        snapshot
            .catalog("hub")
            .is_some_and(|state| state.currency == Currency::Superseded)
    };
    world.until("superseded", superseded).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    let words = world.board.catalogs().unwrap();
    let expected = "1 of 1 loaded; hub: newer content cannot be loaded for 60s: \
        cannot connect to catalogd.example: no route to host";
    assert_eq!(words, expected);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_without_the_kind_is_a_watch_that_is_lost() {
    let world = World::begin(Script::default()).await;
    world.tell(WatchEvent::Absent).await;
    let not_served = CatalogsError::not_served().words;
    world
        .until("told", |_| world.board.watch() == Err(not_served.clone()))
        .await;
    world.tell(WatchEvent::Found).await;
    world
        .tell(WatchEvent::Listed(vec![Ok(observed("hub", "a"))]))
        .await;
    world.until_judged_by("hub", "a").await;
}

#[tokio::test(start_paused = true)]
async fn it_is_known_while_newer_content_is_being_loaded() {
    let script = Script::default();
    script.next("b", &[Does::Fails, Does::Hangs]);
    let world = World::begin(script.clone()).await;
    let newer = world.board.loads_newer();
    world
        .tell(WatchEvent::Listed(vec![Ok(observed("hub", "a"))]))
        .await;
    world.until_judged_by("hub", "a").await;
    assert!(!*newer.borrow(), "the first content supersedes none");
    world
        .tell(WatchEvent::Applied(Ok(observed("hub", "b"))))
        .await;
    let failed = |_: &Snapshot| script.begun().len() == 2;
    world.until("failed", failed).await;
    world.until("given up for now", |_| !*newer.borrow()).await;
    let hangs = |_: &Snapshot| script.begun().len() == 3 && *newer.borrow();
    world.until("loading again", hangs).await;
    world
        .tell(WatchEvent::Applied(Ok(observed("hub", "c"))))
        .await;
    world.until_judged_by("hub", "c").await;
    world.until("loaded", |_| !*newer.borrow()).await;
}

/// No answer waits for an aborted load.
#[tokio::test(start_paused = true)]
async fn a_load_that_is_not_wanted_any_more_is_not_waited_for() {
    for (wanted, fails) in [("a", false), ("c", true)] {
        let script = Script::default();
        script.next("b", &[Does::Hangs]);
        script.next("c", &vec![Does::Fails; 9]);
        let world = World::begin(script).await;
        let mut newer = world.board.loads_newer();
        for digest in ["a", "b"] {
            let listed = WatchEvent::Listed(vec![Ok(observed("hub", digest))]);
            world.tell(listed).await;
            world.until_judged_by("hub", "a").await;
        }
        newer.wait_for(|is_loading| *is_loading).await.unwrap();
        let begun = Instant::now();
        world
            .tell(WatchEvent::Applied(Ok(observed("hub", wanted))))
            .await;
        newer.wait_for(|is_loading| !is_loading).await.unwrap();
        assert_eq!(begun.elapsed(), Duration::ZERO, "{wanted}");
        assert_eq!(world.script.begun().contains(&"sha256:c".to_owned()), fails);
    }
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_nobody_tells_it_anything() {
    let world = World::begin(Script::default()).await;
    drop(world.events);
    world.rules.closed().await;
}

/// The second fetch comes later, after the first of all others, and its failure removes nothing.
#[tokio::test(start_paused = true)]
async fn what_was_fetched_once_is_fetched_again() {
    let script = Script::default();
    {
        let mut told = script.0.lock().unwrap();
        (told.sha256, told.is_confirmed_later) = (Some(Sha256::of(&[7])), true);
    }
    script.next("b", &[Does::Fails]);
    let world = World::begin(script).await;
    let (a, b) = (observed("hub", "a"), observed("more", "b"));
    world.tell(WatchEvent::Listed(vec![Ok(a), Ok(b)])).await;
    world
        .until("confirmed", |_| world.script.begun().len() == 5)
        .await;
    let mut begun = world.script.begun();
    begun[2..].sort();
    let expected = ["a", "b", "a", "b", "b"].map(|digest| format!("sha256:{digest}"));
    assert_eq!(begun, expected, "b failed once");
    assert!(world.board.catalogs().is_ok());
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert_eq!(world.script.begun().len(), 5, "once confirmed it is over");
}
