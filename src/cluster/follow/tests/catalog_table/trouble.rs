//! What fails, comes too late or changes too fast.

use super::*;
use crate::cluster::follow::job::Failure;

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

/// Whoever says something new is waited for as if nothing had failed yet; at the start nobody waits for
/// it any longer for that.
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
