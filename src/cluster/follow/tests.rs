//! Followed catalogs, without a cluster.

mod catalog_table;
mod live;
mod running;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use arc_swap::ArcSwap;
use serde_json::json;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::*;
use crate::cluster::catalogs::ObservedCatalog;
use crate::cluster::follow::job::{ContentOrigin, Failure, LoadedContent};
use crate::source::digest::Sha256;
use crate::source::http::FetchError;
use crate::source::{Progress, read_from};
use live::{CATALOGS, Guarding, World};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_engine::snapshot::{CatalogState, Content, Labels, ServingState, Snapshot};
use olmguard_fixtures::moved::Moved;

/// Returns a catalog that serves the content of `digest`.
fn observed(name: &str, digest: &str) -> ObservedCatalog {
    let mut state = CatalogState::named(name, Content::Missing);
    state.image_ref = Some(format!("registry.example/{name}@sha256:{digest}"));
    state.last_unpacked = Some(format!("unpacked {digest}"));
    ObservedCatalog {
        state,
        base: Some(format!("https://catalogd.example/catalogs/{name}")),
    }
}

/// The same catalog, which does not serve.
fn unserving(observed: &ObservedCatalog) -> ObservedCatalog {
    let mut observed = observed.clone();
    observed.state.serving = ServingState::KnownNot;
    observed
}

fn labelled(observed: &ObservedCatalog, key: &str, value: &str) -> ObservedCatalog {
    let mut observed = observed.clone();
    let labels = BTreeMap::from([(key.to_owned(), value.to_owned())]);
    observed.state.labels = Labels::with_name(&observed.state.name, labels);
    observed
}

/// Returns content with one package of this name.
fn content(package: &str) -> Arc<Catalog> {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    let text = format!(r#"{{"schema": "olm.package", "name": "{package}"}}"#);
    read_from("c", text.as_bytes(), &Progress::default(), &mut builder).unwrap();
    Arc::new(builder.finish().expect("no bound"))
}

/// Returns content in the form that a loader returns.
pub(super) fn loaded(content: Arc<Catalog>, sha256: Option<Sha256>) -> Arc<LoadedContent> {
    Arc::new(LoadedContent {
        resident_bytes: content.resident_bytes(),
        content,
        sha256,
        is_confirmed: true,
        from: ContentOrigin::Catalogd { bytes: 10 },
        at: UNIX_EPOCH,
        took: Duration::from_secs(1),
    })
}

fn no_connection(why: &str) -> Failure {
    Failure::Fetch(FetchError::Connect {
        host: "catalogd.example".into(),
        why: why.into(),
    })
}

/// Returns the packages of a catalog that edits are judged by; the error is the reason why it is
/// not loaded.
fn packages(state: &CatalogState) -> Result<Vec<&str>, &str> {
    match &state.content {
        Content::Loaded(catalog) => Ok(catalog.package_names().collect()),
        Content::Missing => Err("missing"),
        Content::Unfetched(why) | Content::Unreadable(why) => Err(why),
    }
}

fn snapshot(priority: i32) -> Snapshot {
    let mut state = CatalogState::named("hub", Content::Missing);
    state.priority = priority;
    Snapshot::new(Rules::default(), [state])
}

#[test]
fn the_same_again_is_not_published() {
    let mut stage = SnapshotStore::new(Arc::default());
    assert!(!stage.publish(Snapshot::default()));
    assert!(stage.publish(snapshot(1)) && !stage.publish(snapshot(1)));
    assert!(stage.publish(snapshot(2)));
    assert_eq!(stage.done().len(), 2);
}

/// If all replicas stopped being ready, none would be left to say why.
#[test]
fn a_start_that_is_over_stays_over() {
    let board = StatusBoard::default();
    for (is_ready, expected) in [(false, false), (true, true), (false, true)] {
        board.put(is_ready, Vec::new());
        assert_eq!(board.catalogs().is_ok(), expected);
    }
}

#[test]
fn an_old_snapshot_ends_when_nobody_reads_it() {
    let current = Arc::new(ArcSwap::from_pointee(Snapshot::default()));
    let mut stage = SnapshotStore::new(Arc::clone(&current));
    let read = current.load();
    stage.publish(snapshot(1));
    stage.publish(snapshot(2));
    assert_eq!(stage.done().len(), 1, "the one between was read by nobody");
    assert!(stage.is_waiting() && stage.done().is_empty());
    drop(read);
    assert_eq!(stage.done().len(), 1);
    assert!(!stage.is_waiting());
}

// === Every metric of catalogs and their watch, as they change in a cluster ===

/// Returns a package with this number of bundles.
fn content_of_bundles(bundles: usize) -> String {
    let bundle = |number: usize| {
        format!(
            "{{\"schema\":\"olm.bundle\",\"package\":\"p\",\"name\":\"p.v{number}\",\"properties\":[{{\"type\":\
             \"olm.package\",\"value\":{{\"packageName\":\"p\",\"version\":\"{number}.0.0\"}}}}]}}\n"
        )
    };
    let entries = (0..bundles).map(|number| format!("{{\"name\":\"p.v{number}\"}}"));
    let entries = entries.collect::<Vec<_>>().join(",");
    let bundles: String = (0..bundles).map(bundle).collect();
    format!(
        "{{\"schema\":\"olm.package\",\"name\":\"p\"}}\n\
         {{\"schema\":\"olm.channel\",\"package\":\"p\",\"name\":\"c\",\"entries\":[{entries}]}}\n{bundles}"
    )
}

/// Returns another package, whose content makes the catalog larger.
fn other(name: &str) -> String {
    content_of_bundles(1).replace("\"p", &format!("\"{name}"))
}

struct Watching<'w> {
    guard: &'w Guarding,
    moved: Moved,
}

impl Watching<'_> {
    /// Waits until the metrics have this line.
    async fn until(&mut self, line: &str) {
        let wait = async {
            loop {
                let text = self.guard.metrics.render();
                self.moved.look(&text);
                if text.lines().any(|one| one == line) {
                    return;
                }
                yield_now().await;
            }
        };
        timeout(DEADLINE, wait)
            .await
            .unwrap_or_else(|_| panic!("never: {line}\n{}", self.guard.metrics.render()));
    }

    async fn until_all_moved(&mut self, rows: &str) {
        let wait = async {
            while !self.moved.still(rows).is_empty() {
                self.moved.look(&self.guard.metrics.render());
                yield_now().await;
            }
        };
        let ended = timeout(DEADLINE, wait).await;
        assert!(ended.is_ok(), "still: {:?}", self.moved.still(rows));
    }
}

#[tokio::test]
async fn every_metric_of_catalogs_and_watches_moves() {
    let world = World::begin().await;
    let guard = world.guard().await;
    let mut watching = Watching {
        guard: &guard,
        moved: Moved::default(),
    };
    watching
        .until("olmguard_watch_connected{resource=\"clustercatalogs\"} 0")
        .await;
    watching
        .until("olmguard_watch_connected{resource=\"clustercatalogs\"} 1")
        .await;
    // catalogd has no content for it yet.
    world.api.put(CATALOGS, world.object("hub", "a"));
    watching
        .until("olmguard_catalog_load_errors_total{catalog=\"hub\",class=\"status\"} 1")
        .await;
    world.served.shelf.put("hub", &content_of_bundles(1));
    world.api.put(CATALOGS, world.object("hub", "b"));
    watching
        .until("olmguard_catalog_packages{catalog=\"hub\"} 1")
        .await;
    world
        .served
        .shelf
        .put("hub", &(content_of_bundles(2) + &other("q")));
    world.api.put(CATALOGS, world.object("hub", "c"));
    watching
        .until("olmguard_catalog_packages{catalog=\"hub\"} 2")
        .await;
    world
        .served
        .shelf
        .put("hub", "{\"error\":\"unauthorized\"}\n");
    world.api.put(CATALOGS, world.object("hub", "e"));
    watching
        .until("olmguard_catalog_held_back{catalog=\"hub\"} 1")
        .await;
    // After the first object, only JSON is expected.
    let broken = content_of_bundles(3) + "{\"schema\": oops}\n";
    world.served.shelf.put("hub", &broken);
    world.api.put(CATALOGS, world.object("hub", "d"));
    watching
        .until("olmguard_catalog_newer_known{catalog=\"hub\"} 1")
        .await;
    watching
        .until("olmguard_catalog_load_errors_total{catalog=\"hub\",class=\"content\"} 1")
        .await;
    let mut away = world.object("hub", "d");
    away["status"]["conditions"] = json!([{"type": "Serving", "status": "False"}]);
    world.api.put(CATALOGS, away);
    watching
        .until("olmguard_catalog_serving{catalog=\"hub\"} 0")
        .await;
    // The resource version that the watch saw last expires, so the watch starts again.
    world.api.end_watches();
    world.api.compact();
    watching
        .until_all_moved(include_str!(
            "../../../tests/server/telemetry/moved/cluster.txt"
        ))
        .await;
}

/// Far longer than any wait takes, even on a busy machine.
pub(super) const DEADLINE: Duration = Duration::from_mins(2);

// === Publishing of snapshots, from the start on ===

#[test]
fn owners_of_crds_are_news_though_no_image_is_read() {
    let nothing = || BundleContents::ahead(11, [], None);
    assert!(is_same_contents(&nothing(), &nothing()));
    let owners = Arc::new(BTreeMap::from([("a.example.com".to_owned(), json!({}))]));
    let known = BundleContents::ahead(11, [], Some(&owners));
    assert!(!is_same_contents(&nothing(), &known));
    assert!(!is_same_contents(&known, &nothing()));
}
