//! A catalog that needs more memory than it can use fails alone: at a change, at every start, and from
//! the cache.

use super::{CATALOGS, World, bundles, name_of, package};
use olmguard_catalog::memory::Pool;
use olmguard_engine::snapshot::Currency;

/// Content of so many packages: each a few bytes on the wire, and kilobytes in memory.
fn large(packages: usize) -> String {
    let packages = (0..packages).map(|n| package(&format!("p{n}"), &["b"]));
    super::content("c") + &packages.collect::<String>()
}

const WHY: &str = "the catalog needs more than 4 MiB of memory, the most that one catalog can use; make \
                   it smaller, or raise the memory limit";

#[tokio::test]
async fn under_a_higher_limit_the_same_catalog_is_loaded() {
    let mut world = World::begin().await;
    world.memory = Pool::new(64 << 20, 128 << 20);
    world.publish("hub", "b");
    let guard = world.guard().await;
    guard.until_judged_by("hub", "b").await;
    world.served.shelf.put("hub", &large(5_000));
    world.api.put(CATALOGS, world.object("hub", "c"));
    guard.until_judged_by("hub", "c").await;
}

#[tokio::test]
async fn a_catalog_that_is_too_large_keeps_what_was_loaded_and_the_others() {
    let mut world = World::begin().await;
    world.memory = Pool::new(4 << 20, 8 << 20);
    world.publish("good", "a");
    world.publish("hub", "b");
    let guard = world.guard().await;
    guard.until_judged_by("good", "a").await;
    guard.until_judged_by("hub", "b").await;
    let taken = world.memory.taken();

    world.served.shelf.put("hub", &large(5_000));
    world.api.put(CATALOGS, world.object("hub", "c"));
    let begin = "2 of 2 loaded; hub: newer content cannot be loaded for ";
    let refused = |words: String| words.starts_with(begin) && words.ends_with(WHY);
    let refused = |_: &_| guard.board.catalogs().is_ok_and(refused);
    guard.until("it is refused", refused).await;
    let rendered = guard.metrics.render();
    let series = "olmguard_catalog_load_errors_total{catalog=\"hub\",class=\"too_large\"} ";
    let counted = rendered.lines().find_map(|line| line.strip_prefix(series));
    assert!(counted.is_some_and(|count| count != "0"), "{rendered}");
    let kept = |state: &_| bundles(state) == [name_of("b")];
    guard.until_state("hub", kept).await;
    assert_eq!(world.memory.taken(), taken, "what was refused is returned");

    world.publish("good", "d");
    guard.until_judged_by("good", "d").await;
    world.publish("hub", "e");
    guard.until_judged_by("hub", "e").await;
    guard.end().await;
}

#[tokio::test]
async fn at_every_start_the_others_are_loaded() {
    let mut world = World::begin().await;
    world.publish("good", "a");
    world.served.shelf.put("hub", &large(5_000));
    world.api.put(CATALOGS, world.object("hub", "c"));
    let unbounded = world.guard().await;
    unbounded
        .until_state("hub", |state| {
            state.currency == Currency::Current && state.loaded().is_some()
        })
        .await;
    unbounded.until_judged_by("good", "a").await;
    world.until_kept(&["a", "c"]).await;
    unbounded.end().await;

    world.memory = Pool::new(4 << 20, 8 << 20);
    let words = format!("1 of 2 loaded; hub: not loaded: hub: {WHY}");
    for start in ["with the cache", "and again"] {
        let guard = world.guard().await;
        guard.until_judged_by("good", "a").await;
        let refused = |_: &_| guard.board.catalogs() == Ok(words.clone());
        guard.until(start, refused).await;
        guard.end().await;
    }
}
