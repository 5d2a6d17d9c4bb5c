//! Answers with status 200 that are not catalogs, or are truncated.

use futures_util::future::join_all;

use super::*;

/// The bundles that are loaded before: three, so that losing two of them is losing most.
fn whole() -> String {
    package("p", &["p.1", "p.2", "p.3"]) + &package("q", &["q.1"])
}

/// The bundles that catalogd should serve next.
fn next() -> String {
    package("p", &["p.1", "p.2", "p.3", "p.4"]) + &package("q", &["q.1"])
}

const BEFORE: [&str; 3] = ["p.1", "p.2", "p.3"];
const AFTER: [&str; 4] = ["p.1", "p.2", "p.3", "p.4"];

/// Bodies that are not catalogs, with their faults.
const NO_CATALOG: [(&str, &str); 11] = [
    (r#"{"error":"unauthorized"}"#, FOREIGN),
    (
        r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}"#,
        FOREIGN,
    ),
    ("null", EMPTY),
    ("# comment\n", EMPTY),
    ("  \n\n  ", EMPTY),
    ("---\n", EMPTY),
    ("", EMPTY),
    (r#"{"schema":"x"}"#, EMPTY),
    (r#"{"schema":"olm.package","name":"p"}"#, EMPTY),
    ("<!DOCTYPE html><html><body>502</body></html>", "expected"),
    ("upstream connect error\n", "expected an object"),
];

const FOREIGN: &str = "held back: its first value has no schema";
const EMPTY: &str = "held back: it has no bundle";

/// A follower of catalog `hub` with the content of [`whole`], which is in the cache.
async fn guarding(world: &World) -> Guarding {
    world.served.shelf.put("hub", &whole());
    world.api.put(CATALOGS, world.object("hub", "a"));
    let guard = world.guard().await;
    guard
        .until_state("hub", |state| bundles(state) == BEFORE)
        .await;
    world.until_kept(&["a"]).await;
    guard
}

impl Guarding {
    /// Waits until probes report this about the catalogs.
    async fn until_told(&self, part: &str) {
        let words = || self.board.catalogs().unwrap_or_else(|words| words);
        let told = async {
            while !words().contains(part) {
                yield_now().await;
            }
        };
        let told = timeout(DEADLINE, told).await;
        told.unwrap_or_else(|_| panic!("never told: {part}; {}", words()));
    }

    /// Checks that edits are judged by the previous content, and that newer content is known to
    /// exist.
    #[track_caller]
    fn judges_by_what_was_good(&self, body: &str) {
        let snapshot = self.snapshot.load();
        let state = snapshot.catalog("hub").unwrap();
        assert_eq!(bundles(state), BEFORE, "{body:?}");
        assert_eq!(state.currency, Currency::Superseded, "{body:?}");
        assert_eq!(state.loaded().unwrap().counts().packages, 2, "{body:?}");
    }

    /// Checks that the metrics report whether content is held back.
    #[track_caller]
    fn counts_held_back(&self, is_held_back: bool) {
        let (text, value) = (self.metrics.render(), u8::from(is_held_back));
        let line = format!("olmguard_catalog_held_back{{catalog=\"hub\"}} {value}\n");
        assert!(text.contains(&line), "{text}");
        let never = r#"olmguard_catalog_load_errors_total{catalog="hub",class="implausible"} 0"#;
        assert_eq!(text.contains(never), !is_held_back, "{text}");
    }

    /// Waits for the next content, which must directly follow the previous one.
    async fn until_next(&self) {
        self.until_state("hub", |state| {
            let found = bundles(state);
            assert!(found == BEFORE || found == AFTER, "{found:?}");
            found == AFTER
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_no_catalog_replaces_none_however_often_it_comes() {
    join_all(NO_CATALOG.map(async |(body, said)| {
        let world = World::begin().await;
        let guard = guarding(&world).await;
        let asked = world.served.shelf.asked();
        world.served.shelf.put("hub", body);
        world.api.put(CATALOGS, world.object("hub", "b"));
        guard.until_told(said).await;
        world.until_asked(asked + 3).await;
        guard.judges_by_what_was_good(body);
        if said.starts_with("held back") {
            guard.counts_held_back(true);
            let counts = guard.board.loading().1;
            assert_eq!((counts.faulty, counts.held_back), (1, 1));
        }
        assert_eq!(files(&world.cache()), [file("a")], "{body:?}");

        world.served.shelf.put("hub", &next());
        guard.until_next().await;
        world.until_kept(&["a", "b"]).await;
        assert_eq!(guard.board.catalogs(), Ok("1 of 1 loaded".to_owned()));
    }))
    .await;
}

#[tokio::test]
async fn what_is_no_catalog_is_not_found_after_a_restart() {
    join_all(NO_CATALOG.map(async |(body, said)| {
        let world = World::begin().await;
        let guard = guarding(&world).await;
        world.served.shelf.put("hub", body);
        world.api.put(CATALOGS, world.object("hub", "b"));
        guard.until_told(said).await;
        guard.end().await;

        let asked = world.served.shelf.asked();
        let again = world.guard().await;
        again.until_told(said).await;
        world.until_asked(asked + 3).await;
        let snapshot = again.snapshot.load();
        assert!(
            snapshot.catalog("hub").unwrap().loaded().is_none(),
            "{body:?}"
        );
        assert_eq!(files(&world.cache()), [file("a")], "{body:?}");

        world.served.shelf.put("hub", &next());
        again
            .until_state("hub", |state| bundles(state) == AFTER)
            .await;
        world.until_kept(&["a", "b"]).await;
    }))
    .await;
}

/// A body that is served once; the next one is right.
async fn comes_once(body: &str) {
    let world = World::begin().await;
    let guard = guarding(&world).await;
    let (shelf, times) = (world.served.shelf.clone(), world.served.shelf.asked());
    world.served.shelf.put("hub", body);
    world.served.shelf.before_each(move || {
        if shelf.asked() > times + 1 {
            shelf.put("hub", &next());
        }
    });
    world.api.put(CATALOGS, world.object("hub", "b"));
    guard.until_next().await;
    world.until_kept(&["a", "b"]).await;
    assert_eq!(world.served.shelf.asked(), times + 2, "{body:?}");
}

#[tokio::test]
async fn another_catalog_that_comes_once_replaces_none() {
    comes_once(&package("other", &["other.1"])).await;
    comes_once(&package("p", &["p.1"])).await;
}

#[tokio::test]
async fn content_that_was_cut_at_a_line_end_once_replaces_none() {
    let whole = next();
    let ends = whole.match_indices('\n').map(|(at, _)| at + 1);
    // Between two packages, a truncation is visible only by the missing part. Of two packages and
    // five bundles, one and four remain, which does not count as a fall.
    let between = package("p", &AFTER).len();
    let cuts = ends.filter(|end| *end != between && *end != whole.len());
    join_all(cuts.map(|end| comes_once(&whole[..end]))).await;
}

#[tokio::test]
async fn a_fall_that_repeats_itself_is_real() {
    let world = World::begin().await;
    let guard = guarding(&world).await;
    guard.counts_held_back(false);
    let asked = world.served.shelf.asked();
    world.served.shelf.put("hub", &package("p", &["p.9"]));
    world.api.put(CATALOGS, world.object("hub", "b"));
    guard.until_judged_by("hub", "9").await;
    world.until_kept(&["a", "b"]).await;
    assert_eq!(world.served.shelf.asked(), asked + 2);
    assert_eq!(guard.board.catalogs(), Ok("1 of 1 loaded".to_owned()));
}

/// The first fetch returned a part that is complete in itself.
#[tokio::test]
async fn two_fetches_that_differ_at_the_start_are_settled_by_a_third() {
    let world = World::begin().await;
    world.served.shelf.put("hub", &package("p", &BEFORE));
    world.api.put(CATALOGS, world.object("hub", "a"));
    let shelf = world.served.shelf.clone();
    world.served.shelf.before_each(move || {
        if shelf.asked() > 1 {
            shelf.put("hub", &next());
        }
    });
    let guard = world.guard().await;
    guard
        .until_state("hub", |state| bundles(state) == BEFORE)
        .await;
    guard
        .until_state("hub", |state| bundles(state) == AFTER)
        .await;
    world.until_kept(&["a"]).await;
    assert_eq!(world.served.shelf.asked(), 3);
    guard.end().await;
    world.served.end();
    let again = world.guard().await;
    again
        .until_state("hub", |state| bundles(state) == AFTER)
        .await;
}
