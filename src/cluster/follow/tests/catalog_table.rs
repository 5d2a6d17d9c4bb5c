//! What is to be loaded, and what is judged by, after each thing that can happen.

mod age;
mod olm;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{content, labelled, loaded, no_connection, observed, packages, unserving};
use crate::cluster::catalogs::ObservedCatalog;
use crate::cluster::follow::AgeLimit;
use crate::cluster::follow::catalog_table::CatalogTable;
use crate::cluster::follow::job::Job;
use olmguard_catalog::Catalog;
use olmguard_catalog::olm::{Gates, Rules};
use olmguard_engine::snapshot::{Age, Availability, CatalogState, Content, Currency, OnOldCatalog};

/// A table, and the time.
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

    /// All of these are loaded, each with a package named like its digest.
    fn loaded(all: Vec<ObservedCatalog>) -> Self {
        let mut world = Self::empty();
        world.table.listed(all, world.now);
        world.load_all();
        world
    }

    fn due(&self) -> Vec<Job> {
        self.table.due(&[], self.now)
    }

    /// `NAME DIGEST` of everything that is due.
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
            .loaded(&job, loaded(content("p"), Some([7; 32])));
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
