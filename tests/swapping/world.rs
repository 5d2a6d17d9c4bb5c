//! The events of the catalogs, and the contents in memory.

use std::sync::{Arc, Weak};
use std::time::Duration;

use olmguard::cluster::WatchEvent;
use olmguard::cluster::catalogs::ObservedCatalog;
use olmguard_catalog::Catalog;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use serde_json::json;
use tokio::time::timeout;

use crate::swapping::guarded::Guarded;
use olmguard_support::api::ApiServer;
use olmguard_support::apiserver::objects::catalog;
use olmguard_support::catalogd::answer::Answer;
use olmguard_support::catalogd::scripted::{Asked, Scripted};

/// A cluster of three catalogs with a webhook.
pub(crate) struct World {
    pub(crate) guarded: Guarded,
    catalogd: Scripted,
    /// The digest of catalog `a`. The one of `b` is [`OF_B`].
    of_a: u64,
    /// The contents and snapshots that were used at some time.
    contents: Vec<Weak<Catalog>>,
    snapshots: Vec<Weak<Snapshot>>,
}

impl World {
    /// Starts with all three catalogs loaded.
    pub(crate) async fn begin() -> Self {
        // It serves nothing: an object that cannot be reread must not remove content.
        let api = ApiServer::start();
        let mut world = Self {
            guarded: Guarded::start(api.client()).await,
            catalogd: Scripted::plain(content).await,
            of_a: OF_B,
            contents: Vec::new(),
            snapshots: Vec::new(),
        };
        let none = WatchEvent::Listed(Vec::new());
        world.guarded.events.send(none).await.unwrap();
        world.names("b", OF_B, 0).await;
        world.names("asked", OF_B, 0).await;
        for name in ["b", "asked"] {
            world.holds(name, OF_B, 0).await;
        }
        world.give_a_new_content().await;
        world
    }

    /// Replaces snapshots until there have been this many replacements.
    pub(crate) async fn swap_until(&mut self, swaps: u64) {
        while self.guarded.swaps() < swaps {
            self.give_a_new_content().await;
            for turn in 1..=TURNS {
                for digest in [self.of_a, OF_B] {
                    self.names("asked", digest, 0).await;
                    self.names("asked", digest, turn).await;
                }
            }
            self.holds("asked", OF_B, TURNS).await;
        }
    }

    pub(crate) fn fetches(&self) -> usize {
        self.catalogd.asked().len()
    }

    /// Waits until only the contents and the snapshot in use are left in memory.
    pub(crate) async fn nothing_old_is_held(&self) {
        soon(|| held(&self.contents) == CONTENTS && held(&self.snapshots) <= 1).await;
        assert!(self.contents.len() > CONTENTS, "some were held before");
    }

    /// Gives catalog `a` a new content.
    async fn give_a_new_content(&mut self) {
        self.of_a += 1;
        self.names("a", self.of_a, 0).await;
        self.holds("a", self.of_a, 0).await;
        self.look();
    }

    /// Sets the digest and the priority in the object of a catalog.
    async fn names(&self, name: &str, digest: u64, priority: u32) {
        let mut object = catalog(name, digest, &self.catalogd.base(name));
        object["spec"]["priority"] = json!(priority);
        object["metadata"]["labels"] = json!({"priority": priority.to_string()});
        let observed = ObservedCatalog::read(&object).unwrap();
        let event = WatchEvent::Applied(Ok(observed));
        self.guarded.events.send(event).await.unwrap();
    }

    /// Waits until a catalog is used in this state.
    async fn holds(&self, name: &str, digest: u64, priority: u32) {
        let digest = format!("sha256:{digest:064x}");
        let is_so = |state: &CatalogState| {
            state.digest() == Some(&digest)
                && i64::from(state.priority) == i64::from(priority)
                && state.loaded().is_some()
        };
        soon(|| {
            let snapshot = self.guarded.snapshot.load();
            snapshot.catalog(name).is_some_and(is_so)
        })
        .await;
    }

    /// Records what is currently used, without keeping it alive.
    fn look(&mut self) {
        let snapshot = self.guarded.snapshot.load_full();
        for state in snapshot.catalogs() {
            if let Content::Loaded(content) = &state.content {
                let content = Arc::downgrade(content);
                let is_known = |known: &Weak<Catalog>| known.ptr_eq(&content);
                if !self.contents.iter().any(is_known) {
                    self.contents.push(content);
                }
            }
        }
        self.snapshots.push(Arc::downgrade(&snapshot));
    }
}

/// Returns a package that all contents have, with a bundle that names the catalog, and a package that no other has.
fn content(asked: &Asked) -> Answer {
    let catalog = asked.head.split('/').nth(2).unwrap();
    let bundle = |name: &str, version: &str| {
        let package = json!({"packageName": "p", "version": version});
        json!({
            "schema": "olm.bundle", "package": "p", "name": name,
            "properties": [{"type": "olm.package", "value": package}],
        })
    };
    let next = format!("p.of-{catalog}");
    let blobs = [
        json!({"schema": "olm.package", "name": "p"}),
        json!({
            "schema": "olm.channel", "package": "p", "name": "stable",
            "entries": [{"name": "p.v1"}, {"name": next, "replaces": "p.v1"}],
        }),
        bundle("p.v1", "1.0.0"),
        bundle(&next, "1.1.0"),
        json!({"schema": "olm.package", "name": format!("only-{}", asked.number)}),
    ];
    Answer::ok(blobs.map(|blob| format!("{blob}\n")).concat().as_bytes())
}

fn held<T>(all: &[Weak<T>]) -> usize {
    all.iter().filter(|weak| weak.strong_count() > 0).count()
}

async fn soon(is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    timeout(DEADLINE, wait).await.unwrap();
}

/// The digest that catalog `b` names.
const OF_B: u64 = 0;
/// The number of contents in memory at any time: those of `a` and `b`.
const CONTENTS: usize = 2;
const TURNS: u32 = 50;
const DEADLINE: Duration = Duration::from_mins(1);
