//! Another OLM, which reads everything anew.

use super::*;

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
