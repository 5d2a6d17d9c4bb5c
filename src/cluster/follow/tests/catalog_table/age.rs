//! How old content is, and what comes of it.

use super::*;

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
