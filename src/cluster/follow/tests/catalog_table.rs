//! The jobs and the snapshot after each possible event.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{content, labelled, loaded, no_connection, observed, packages, unserving};
use crate::cluster::catalogs::ObservedCatalog;
use crate::cluster::follow::AgeLimit;
use crate::cluster::follow::catalog_table::CatalogTable;
use crate::cluster::follow::job::{Failure, Job};
use crate::source::digest::Sha256;
use olmguard_catalog::Catalog;
use olmguard_catalog::olm::{Gates, Rules};
use olmguard_engine::snapshot::{Age, Availability, CatalogState, Content, Currency, OnOldCatalog};

/// A table, with the time.
struct World {
    table: CatalogTable,
    now: Instant,
}

impl World {
    fn empty() -> Self {
        Self::with(AgeLimit::default())
    }

    fn with(limit: AgeLimit) -> Self {
        let mut table = CatalogTable::new(limit);
        table.rules(Rules::default());
        let now = Instant::now();
        Self { table, now }
    }

    /// Returns a table with all of these loaded, each with a package named like its digest.
    fn loaded(all: Vec<ObservedCatalog>) -> Self {
        let mut world = Self::empty();
        world.table.listed(all, world.now);
        world.load_all();
        world
    }

    fn due(&self) -> Vec<Job> {
        self.table.due(&[], self.now)
    }

    /// Returns `NAME DIGEST` of all due jobs.
    fn wanted(&self) -> Vec<String> {
        self.due().iter().map(words).collect()
    }

    /// Loads one after another until nothing is due.
    fn load_all(&mut self) {
        while let Some(job) = self.due().first() {
            let digest = job.want.key.digest.strip_prefix("sha256:").unwrap();
            self.load(job, content(digest));
        }
    }

    fn load(&mut self, job: &Job, content: Arc<Catalog>) {
        self.table.loaded(job, loaded(content, None));
    }

    fn fail(&mut self, after: Duration) {
        let job = self.due().remove(0);
        self.table
            .failed(&job, no_connection("no route to host"), self.now + after);
    }

    fn apply(&mut self, observed: ObservedCatalog) {
        self.table.applied(observed, self.now);
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    fn state(&self, name: &str) -> CatalogState {
        self.table.snapshot(self.now).catalog(name).unwrap().clone()
    }

    #[track_caller]
    fn judges(&self, name: &str, expected: Result<&str, &str>) {
        let state = self.state(name);
        let expected = expected.map(|package| vec![package]);
        assert_eq!(packages(&state), expected, "{name}");
    }
}

fn words(job: &Job) -> String {
    format!("{} {}", job.want.name, job.want.key.digest)
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn what_is_listed_is_loaded() {
    let world = World::loaded(vec![observed("hub", "a"), observed("community", "b")]);
    world.judges("hub", Ok("a"));
    world.judges("community", Ok("b"));
    assert!(world.due().is_empty());
}

#[test]
fn one_digest_is_loaded_once() {
    let mut world = World::empty();
    world
        .table
        .listed(vec![observed("one", "a"), observed("two", "a")], world.now);
    assert_eq!(world.wanted(), ["one sha256:a"]);
    world.load_all();
    let (Content::Loaded(one), Content::Loaded(two)) =
        (world.state("one").content, world.state("two").content)
    else {
        panic!("both are loaded");
    };
    assert!(Arc::ptr_eq(&one, &two));
    world.apply(observed("three", "a"));
    assert!(world.due().is_empty());
    world.judges("three", Ok("a"));
    assert_eq!(
        world.state("three").last_unpacked.as_deref(),
        Some("unpacked a")
    );
}

#[test]
fn the_same_bytes_under_two_digests_are_one_content() {
    let mut world = World::empty();
    world
        .table
        .listed(vec![observed("one", "a"), observed("two", "b")], world.now);
    for job in world.due() {
        world
            .table
            .loaded(&job, loaded(content("p"), Some(Sha256::of(&[7]))));
    }
    let (Content::Loaded(one), Content::Loaded(two)) =
        (world.state("one").content, world.state("two").content)
    else {
        panic!("both are loaded");
    };
    assert!(Arc::ptr_eq(&one, &two));
}

#[test]
fn labels_priority_and_availability_load_nothing() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    let mut changed = labelled(&observed("hub", "a"), "team", "x");
    changed.state.priority = 7;
    world.apply(changed.clone());
    assert!(world.due().is_empty());
    assert_eq!(world.state("hub").priority, 7);
    assert_eq!(world.state("hub").labels, changed.state.labels);
    changed.state.availability = Availability::Unavailable;
    changed.state.image_ref = None;
    changed.base = None;
    world.apply(changed);
    assert!(world.due().is_empty());
    assert_eq!(world.state("hub").availability, Availability::Unavailable);
    world.apply(observed("hub", "a"));
    assert!(world.due().is_empty(), "it was kept for its return");
    world.judges("hub", Ok("a"));
}

#[test]
fn a_catalog_that_stops_serving_keeps_its_content_and_is_not_judged_on() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    world.apply(unserving(&observed("hub", "a")));
    assert!(world.state("hub").loaded().is_none());
    world.apply(observed("hub", "a"));
    assert!(world.due().is_empty() && world.state("hub").loaded().is_some());
}

#[test]
fn newer_content_is_judged_on_once_it_is_there() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    world.apply(observed("hub", "b"));
    assert_eq!(world.wanted(), ["hub sha256:b"]);
    let state = world.state("hub");
    assert_eq!(
        (packages(&state), state.currency),
        (Ok(vec!["a"]), Currency::Superseded)
    );
    assert_eq!(state.digest(), Some("sha256:a"));
    assert_eq!(state.last_unpacked.as_deref(), Some("unpacked a"));
    world.load_all();
    let state = world.state("hub");
    assert_eq!(
        (packages(&state), state.currency),
        (Ok(vec!["b"]), Currency::Current)
    );
    assert_eq!(state.digest(), Some("sha256:b"));
}

#[test]
fn a_digest_that_returns_is_not_loaded_again() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    world.apply(observed("hub", "b"));
    let job = world.due().remove(0);
    world.apply(observed("hub", "a"));
    assert!(world.due().is_empty() && !world.table.is_wanted(&job));
    assert_eq!(world.state("hub").currency, Currency::Current);
}

#[test]
fn an_object_without_a_digest_is_not_judged_by_what_it_was() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    let mut replaced = observed("hub", "a");
    replaced.state.image_ref = None;
    world.apply(replaced);
    world.judges(
        "hub",
        Err("its status.resolvedSource names no image with a digest yet"),
    );
    world.apply(observed("hub", "a"));
    world.judges("hub", Ok("a"));
}

#[test]
fn content_that_was_unpacked_again_says_when() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    let mut again = observed("hub", "a");
    again.state.last_unpacked = Some("later".to_owned());
    world.apply(again);
    world.apply(observed("hub", "b"));
    assert_eq!(world.state("hub").last_unpacked.as_deref(), Some("later"));
}

#[test]
fn a_catalog_that_is_made_anew_is_another_one() {
    let mut world = World::loaded(vec![observed("hub", "a"), observed("other", "o")]);
    world.table.deleted("hub", world.now);
    assert!(world.table.snapshot(world.now).catalog("hub").is_none());
    world.apply(observed("hub", "a"));
    assert_eq!(world.wanted(), ["hub sha256:a"]);
    world.table.listed(vec![observed("hub", "a")], world.now);
    assert!(
        world.table.snapshot(world.now).catalog("other").is_none(),
        "missed while nobody watched"
    );
}

#[test]
fn one_catalog_at_a_time_is_held_twice() {
    let mut world = World::loaded(vec![observed("one", "a"), observed("two", "b")]);
    world.apply(observed("one", "c"));
    world.apply(observed("two", "d"));
    world.apply(observed("three", "e"));
    world.apply(observed("four", "f"));
    let wanted = world.wanted();
    assert_eq!(
        wanted,
        ["four sha256:f", "one sha256:c"],
        "two at once, one of them a replacement"
    );
    let running = world.due();
    assert!(world.table.due(&running, world.now).is_empty());
    world.load(&running[0], content("f"));
    let beside = world.table.due(&running[1..], world.now);
    let beside: Vec<_> = beside.iter().map(words).collect();
    assert_eq!(beside, ["three sha256:e"]);
}

#[test]
fn an_object_that_cannot_be_read_says_so_whatever_is_held() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    let mut broken = observed("hub", "a");
    broken.state.content = Content::Unreadable("spec.priority is \"x\"".to_owned());
    world.apply(broken);
    world.judges("hub", Err("spec.priority is \"x\""));
    assert!(world.due().is_empty());
    world.apply(observed("hub", "a"));
    world.judges("hub", Ok("a"));
}

#[test]
fn an_object_that_names_nothing_to_fetch_says_what_is_missing() {
    let mut world = World::empty();
    let mut young = observed("hub", "a");
    young.base = None;
    world.apply(young.clone());
    world.judges(
        "hub",
        Err("its status.urls.base names no address to fetch it from yet"),
    );
    young.state.image_ref = None;
    world.apply(young);
    world.judges(
        "hub",
        Err("its status.resolvedSource names no image with a digest yet"),
    );
    assert!(world.due().is_empty());
}

// === The age of content, and its consequences ===

#[test]
fn age_is_the_time_since_it_was_known_to_be_current() {
    let limit = AgeLimit {
        max: Some(SECOND * 60),
        on_old: OnOldCatalog::Undecided,
    };
    let mut world = World::with(limit);
    world.table.listed(vec![observed("hub", "a")], world.now);
    world.load_all();
    let old = Age::Old(OnOldCatalog::Undecided);

    world.pass(SECOND * 3600);
    assert_eq!(
        world.state("hub").age,
        Age::Allowed,
        "watched all the while"
    );

    world.table.alive(world.now);
    world.pass(SECOND * 4);
    world.table.lost(world.now);
    world.pass(SECOND * 6);
    world.table.lost(world.now);
    let turns = world.table.wake(world.now).unwrap();
    assert_eq!(turns - world.now, SECOND * 50 + Duration::from_millis(1));
    world.now = turns;
    assert_eq!(world.state("hub").age, old);

    world.table.listed(vec![observed("hub", "b")], world.now);
    assert_eq!(
        world.state("hub").age,
        old,
        "nobody knows since when it is another"
    );
    world.table.listed(vec![observed("hub", "a")], world.now);
    assert_eq!(world.state("hub").age, Age::Allowed);

    world.apply(observed("hub", "b"));
    world.pass(SECOND * 61);
    assert_eq!(
        (world.state("hub").age, world.state("hub").currency),
        (old, Currency::Superseded)
    );
    world.apply(observed("hub", "c"));
    assert_eq!(
        world.state("hub").age,
        old,
        "another successor is no news about what is held"
    );
    world.load_all();
    assert_eq!(world.state("hub").age, Age::Allowed);
}

#[test]
fn content_that_comes_too_late_is_better_than_none() {
    let mut world = World::empty();
    world.table.listed(vec![observed("hub", "a")], world.now);
    let job = world.due().remove(0);
    world.apply(observed("hub", "b"));
    world.pass(SECOND);
    world.load(&job, content("a"));
    let state = world.state("hub");
    assert_eq!(
        (packages(&state), state.currency),
        (Ok(vec!["a"]), Currency::Superseded)
    );
    assert_eq!(world.table.report(world.now)[0].age, Some(SECOND));
    assert_eq!(world.wanted(), ["hub sha256:b"]);
}

#[test]
fn no_age_is_too_old_unless_one_is_given() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    world.table.lost(world.now);
    world.pass(SECOND * 1_000_000);
    assert_eq!(world.state("hub").age, Age::Allowed);
    assert_eq!(world.table.wake(world.now), None);
    assert_eq!(
        world.table.report(world.now)[0].age,
        Some(SECOND * 1_000_000)
    );
}

// === Another OLM version, for which everything is read again ===

#[test]
fn nothing_is_loaded_before_it_is_known_which_olm_there_is() {
    let mut table = CatalogTable::new(AgeLimit::default());
    let now = Instant::now();
    table.listed(vec![observed("hub", "a")], now);
    assert!(table.due(&[], now).is_empty() && !table.is_ready());
    table.rules(Rules::default());
    assert_eq!(table.due(&[], now).len(), 1);
}

/// The rules of an older OLM.
fn older() -> Rules {
    let olm = "1.0".parse().unwrap();
    Rules::new(olm, Gates::parse([], olm).unwrap())
}

#[test]
fn another_olm_is_judged_for_once_everything_was_read_for_it() {
    let mut world = World::loaded(vec![observed("one", "a"), observed("two", "b")]);
    world.table.rules(Rules::default());
    assert!(world.due().is_empty(), "the same OLM, told twice");
    world.table.rules(older());
    assert_eq!(
        world.wanted(),
        ["one sha256:a"],
        "one at a time is held twice"
    );
    let job = world.due().remove(0);
    assert_eq!(job.rules, older());
    world.load(&job, content("a again"));
    assert_eq!(*world.table.snapshot(world.now).rules(), Rules::default());
    world.judges("one", Ok("a"));
    let job = world.due().remove(0);
    world.load(&job, content("b again"));
    assert_eq!(*world.table.snapshot(world.now).rules(), older());
    world.judges("one", Ok("a again"));
    world.judges("two", Ok("b again"));
    assert!(world.due().is_empty());
}

#[test]
fn content_that_cannot_be_read_for_another_olm_is_not_judged_by() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    world.table.rules(older());
    for _ in 0..4 {
        world.judges("hub", Ok("a"));
        world.fail(SECOND);
        world.pass(SECOND);
    }
    assert_eq!(*world.table.snapshot(world.now).rules(), older());
    world.judges(
        "hub",
        Err("cannot connect to catalogd.example: no route to host"),
    );
    world.load_all();
    world.judges("hub", Ok("a"));
}

#[test]
fn a_catalog_that_returns_after_another_olm_came_is_read_anew() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    world.apply(unserving(&observed("hub", "a")));
    world.table.rules(older());
    world.apply(observed("hub", "a"));
    assert!(world.state("hub").loaded().is_none());
    assert_eq!(world.wanted(), ["hub sha256:a"]);
    world.load_all();
    world.judges("hub", Ok("a"));
}

// === Loads that fail, are late or change too fast ===

#[test]
fn what_failed_is_tried_again_when_it_is_time() {
    let mut world = World::empty();
    world.table.listed(vec![observed("hub", "a")], world.now);
    world.judges("hub", Err("missing"));
    world.fail(SECOND);
    assert!(world.due().is_empty());
    world.judges(
        "hub",
        Err("cannot connect to catalogd.example: no route to host"),
    );
    assert_eq!(world.table.wake(world.now), Some(world.now + SECOND));
    world.pass(SECOND);
    assert_eq!(world.wanted(), ["hub sha256:a"]);
    world.load_all();
    world.judges("hub", Ok("a"));
}

#[test]
fn a_failure_takes_nothing_away() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    world.apply(observed("hub", "b"));
    world.fail(SECOND);
    world.judges("hub", Ok("a"));
    assert_eq!(world.state("hub").currency, Currency::Superseded);
}

#[test]
fn another_digest_is_tried_at_once() {
    let mut world = World::empty();
    world.table.listed(vec![observed("hub", "a")], world.now);
    world.fail(SECOND * 60);
    world.apply(labelled(&observed("hub", "a"), "team", "x"));
    assert!(world.due().is_empty(), "a label is no news to catalogd");
    world.apply(observed("hub", "b"));
    assert_eq!(world.wanted(), ["hub sha256:b"]);
    world.load_all();
    assert_eq!(world.table.failures_since_news("hub"), 0);
}

#[test]
fn content_that_is_unpacked_anew_is_tried_at_once() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    let mut moved = observed("hub", "b");
    world.apply(moved.clone());
    world.fail(SECOND * 60);
    assert!(world.due().is_empty());
    moved.state.last_unpacked = Some("after a restart".to_owned());
    world.apply(moved);
    assert_eq!(world.wanted(), ["hub sha256:b"]);
    world.load_all();
    world.judges("hub", Ok("b"));
}

/// After a change of the object, delays start again as after the first failure. At the start, this does not make the
/// catalog awaited for longer.
#[test]
fn news_begin_the_pauses_anew_and_not_the_tries() {
    let elsewhere = ObservedCatalog {
        base: Some("https://elsewhere".to_owned()),
        ..observed("hub", "b")
    };
    let mut unpacked_anew = elsewhere.clone();
    unpacked_anew.state.last_unpacked = Some("after a restart".to_owned());
    let mut world = World::empty();
    world.table.listed(vec![observed("hub", "a")], world.now);
    for news in [observed("hub", "b"), elsewhere, unpacked_anew] {
        world.fail(SECOND);
        assert_eq!(world.table.failures_since_news("hub"), 1);
        world.apply(news);
        assert_eq!(world.table.failures_since_news("hub"), 0);
        assert!(!world.table.is_ready());
    }
    world.fail(SECOND);
    assert!(world.table.is_ready(), "after four tries");
}

#[test]
fn content_whose_digest_moved_is_fetched_when_the_watch_says_so_or_later() {
    let mut world = World::empty();
    world.table.listed(vec![observed("hub", "a")], world.now);
    let job = world.due().remove(0);
    let retry = world.now + SECOND;
    assert!(world.table.failed(&job, Failure::Moved, retry));
    world.judges("hub", Err("its digest changed while it was fetched"));
    assert!(world.due().is_empty());
    world.apply(observed("hub", "b"));
    assert_eq!(world.wanted(), ["hub sha256:b"]);
    world.load_all();
    world.judges("hub", Ok("b"));
    assert!(
        !world.table.failed(&job, no_connection("late"), retry),
        "nobody waits for it"
    );
    assert_eq!(world.table.failures_since_news("hub"), 0);
}

#[test]
fn what_comes_too_late_takes_nothing_away() {
    let mut world = World::loaded(vec![observed("hub", "a")]);
    world.apply(observed("hub", "b"));
    let job = world.due().remove(0);
    world.apply(observed("hub", "a"));
    world.load(&job, content("b"));
    world.judges("hub", Ok("a"));
    world.table.deleted("hub", world.now);
    world.load(&job, content("b"));
    assert!(world.table.snapshot(world.now).catalogs().is_empty());
}

#[test]
fn a_catalog_that_changes_faster_than_it_loads_is_not_waited_for() {
    let mut world = World::empty();
    world.table.listed(vec![observed("hub", "a")], world.now);
    for digest in ["b", "c", "d", "e"] {
        assert!(!world.table.is_ready(), "before {digest}");
        let job = world.due().remove(0);
        world.apply(observed("hub", digest));
        assert!(!world.table.is_wanted(&job));
        world.table.overtaken(&job);
    }
    assert!(world.table.is_ready());
    assert_eq!(world.wanted(), ["hub sha256:e"]);
}

#[test]
fn who_fails_again_and_again_waits_for_the_others() {
    let mut world = World::empty();
    let names = ["a", "b", "c"];
    world
        .table
        .listed(names.map(|name| observed(name, name)).to_vec(), world.now);
    for job in world.due() {
        world.table.failed(&job, no_connection("slow"), world.now);
    }
    assert_eq!(world.wanted(), ["c sha256:c", "a sha256:a"]);
}

#[test]
fn the_start_is_over_when_all_are_loaded_or_out_of_tries() {
    let mut world = World::empty();
    assert!(!world.table.is_ready(), "nothing is known yet");
    let idle = unserving(&observed("idle", "i"));
    world.table.listed(
        vec![observed("hub", "a"), observed("slow", "s"), idle],
        world.now,
    );
    world.apply(observed("later", "l"));
    let hub = world.due().remove(0);
    world.load(&hub, content("a"));
    for tries in 0..4 {
        assert!(!world.table.is_ready(), "after {tries} tries");
        let jobs = world.due();
        let slow = jobs.iter().find(|job| job.want.name == "slow").unwrap();
        world
            .table
            .failed(slow, no_connection("slow"), world.now + SECOND);
        world.pass(SECOND);
    }
    assert!(world.table.is_ready());
    world.table.deleted("hub", world.now);
    world.apply(observed("hub", "b"));
    assert!(world.table.is_ready(), "once over it is over");
}

#[test]
fn a_cluster_without_catalogs_is_ready() {
    let mut world = World::empty();
    world.table.listed(Vec::new(), world.now);
    assert!(world.table.is_ready());
}
