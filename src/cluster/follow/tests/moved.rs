//! Every metric of catalogs and their watch, as they change in a cluster.

use std::time::Duration;

use serde_json::json;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::live::{CATALOGS, Guarding, World};
use olmguard_support::moved::Moved;

/// A package with this many bundles.
fn content(bundles: usize) -> String {
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

/// Another package, whose content makes the catalog larger.
fn other(name: &str) -> String {
    content(1).replace("\"p", &format!("\"{name}"))
}

struct Watching<'w> {
    guard: &'w Guarding,
    moved: Moved,
}

impl Watching<'_> {
    /// Looks until the metrics have this line.
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
    // catalogd has nothing of it yet.
    world.api.put(CATALOGS, world.object("hub", "a"));
    watching
        .until("olmguard_catalog_load_errors_total{catalog=\"hub\",class=\"status\"} 1")
        .await;
    world.served.shelf.put("hub", &content(1));
    world.api.put(CATALOGS, world.object("hub", "b"));
    watching
        .until("olmguard_catalog_packages{catalog=\"hub\"} 1")
        .await;
    world.served.shelf.put("hub", &(content(2) + &other("q")));
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
    // After an object nothing but JSON is expected.
    let broken = content(3) + "{\"schema\": oops}\n";
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
    // What it saw last is forgotten, so the watch begins again.
    world.api.end_watches();
    world.api.compact();
    watching
        .until_all_moved(include_str!(
            "../../../../tests/server/telemetry/moved/cluster.txt"
        ))
        .await;
}

const DEADLINE: Duration = Duration::from_secs(30);
