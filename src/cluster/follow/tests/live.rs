//! The whole follower: objects of an API server, contents of a catalogd, and a cache on disk.

mod implausible;

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::timeout;

use super::DEADLINE;
use crate::cluster::catalogs::watch;
use crate::cluster::follow::{
    AgeLimit, ContentLoader, FollowConfig, StatusBoard, StatusListener, follow,
};
use crate::cluster::tests::Catalogd;
use crate::source::cache::Cache;
use crate::source::catalogd;
use crate::source::http::FetchLimits;
use olmguard_catalog::Package;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Currency, Snapshot};
use olmguard_server::telemetry::Metrics;
use olmguard_server::tls::SystemClock;
use olmguard_support::api::{ApiServer, Trouble};

/// An API server and a catalogd.
pub(super) struct World {
    pub(super) api: ApiServer,
    pub(super) served: Catalogd,
    folder: tempfile::TempDir,
    /// The memory that catalogs can use.
    memory: Pool,
}

/// A follower of the catalogs, with the snapshot that it publishes.
pub(super) struct Guarding {
    snapshot: Arc<ArcSwap<Snapshot>>,
    board: Arc<StatusBoard>,
    pub(super) metrics: Metrics,
    tasks: Vec<JoinHandle<()>>,
}

impl World {
    pub(super) async fn begin() -> Self {
        let api = ApiServer::start();
        api.serve(
            "olm.operatorframework.io/v1",
            "clustercatalogs",
            "ClusterCatalog",
        );
        let served = Catalogd::start().await;
        let folder = tempfile::tempdir().unwrap();
        Self {
            api,
            served,
            folder,
            memory: Pool::unbounded(),
        }
    }

    /// Returns an object that serves the content of this digest.
    pub(super) fn object(&self, name: &str, digest: &str) -> Value {
        object(&self.served.base(name), name, digest)
    }

    /// Serves this content of a catalog, and names it in the object.
    fn publish(&self, name: &str, digest: &str) {
        self.served.shelf.put(name, &content(digest));
        self.api.put(CATALOGS, self.object(name, digest));
    }

    pub(super) async fn guard(&self) -> Guarding {
        let metrics = Metrics::new();
        let (events, received) = mpsc::channel(8);
        let (rules, rules_received) = mpsc::channel(1);
        rules.try_send(Rules::default()).unwrap();
        let (snapshot, board) = (
            Arc::<ArcSwap<Snapshot>>::default(),
            Arc::<StatusBoard>::default(),
        );
        let cache = self.opened().await;
        let catalogd = catalogd::Catalogd::new(None, FetchLimits::default()).unwrap();
        let clock = Arc::new(SystemClock);
        let loader = ContentLoader::new(
            self.api.client(),
            catalogd,
            Some(cache),
            clock.clone(),
            Arc::clone(&metrics.catalogs),
            self.memory.clone(),
        );
        let terms = FollowConfig {
            limit: AgeLimit::default(),
            events: received,
            rules: rules_received,
            contents: mpsc::channel(1).1,
            snapshot: Arc::clone(&snapshot),
            listener: StatusListener {
                board: Arc::clone(&board),
                catalogs: Arc::clone(&metrics.catalogs),
                watches: Arc::clone(&metrics.watches),
                clock,
            },
        };
        let counted = metrics.clone();
        let watching = tokio::spawn(watch(self.api.client(), events));
        let following = tokio::spawn(async move {
            follow(loader, terms).await;
            drop(rules);
        });
        Guarding {
            snapshot,
            board,
            metrics: counted,
            tasks: vec![watching, following],
        }
    }

    /// Opens the cache, once its previous owner has closed it.
    async fn opened(&self) -> Cache {
        let open = async {
            loop {
                match Cache::open(&self.cache(), 1 << 20) {
                    Ok((cache, _)) => return cache,
                    Err(_) => yield_now().await,
                }
            }
        };
        timeout(DEADLINE, open).await.unwrap()
    }

    /// Waits until the cache has the contents of these digests.
    async fn until_kept(&self, digests: &[&str]) {
        let expected: Vec<_> = digests.iter().map(|digest| file(digest)).collect();
        let wait = async {
            while files(&self.cache()) != expected {
                yield_now().await;
            }
        };
        let kept = timeout(DEADLINE, wait).await;
        kept.unwrap_or_else(|_| panic!("kept: {:?}", files(&self.cache())));
    }

    /// Waits until catalogd was requested this often.
    async fn until_asked(&self, times: usize) {
        let wait = async {
            while self.served.shelf.asked() < times {
                yield_now().await;
            }
        };
        timeout(DEADLINE, wait).await.unwrap();
    }

    fn cache(&self) -> std::path::PathBuf {
        self.folder.path().join("cache")
    }
}

impl Guarding {
    async fn until(&self, what: &str, is_so: impl Fn(&Snapshot) -> bool) {
        let wait = async {
            while !is_so(&self.snapshot.load()) {
                yield_now().await;
            }
        };
        timeout(DEADLINE, wait).await.unwrap_or_else(|_| {
            panic!(
                "never: {what}; {:?}, {:?}",
                self.board.watch(),
                self.board.catalogs()
            )
        });
    }

    async fn until_state(&self, name: &str, is_so: impl Fn(&CatalogState) -> bool) {
        let found = |snapshot: &Snapshot| snapshot.catalog(name).is_some_and(&is_so);
        self.until(name, found).await;
    }

    async fn until_judged_by(&self, name: &str, digest: &str) {
        let is_so = |state: &CatalogState| {
            state.currency == Currency::Current && bundles(state) == [name_of(digest)]
        };
        self.until_state(name, is_so).await;
    }

    /// Ends the follower.
    async fn end(self) {
        for task in &self.tasks {
            task.abort();
        }
        for task in self.tasks {
            // The task was aborted.
            let _ended = task.await;
        }
    }
}

fn object(base: &str, name: &str, digest: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": name},
        "spec": {"priority": 0},
        "status": {
            "conditions": [{"type": "Serving", "status": "True"}],
            "resolvedSource": {"type": "Image", "image": {"ref": image(name, digest)}},
            "urls": {"base": base},
        },
    })
}

fn image(name: &str, digest: &str) -> String {
    format!("registry.example/{name}@sha256:{}", digest.repeat(64))
}

/// Returns content with one package, whose bundle is named like its digest.
fn content(digest: &str) -> String {
    package("p", &[&name_of(digest)])
}

/// Returns a package with these bundles, as catalogd serves it.
fn package(name: &str, bundles: &[&str]) -> String {
    let entry = |bundle: &&str| json!({"name": bundle});
    let entries: Vec<_> = bundles.iter().map(entry).collect();
    let mut blobs = vec![
        json!({"schema": "olm.package", "name": name}),
        json!({"schema": "olm.channel", "package": name, "name": "stable", "entries": entries}),
    ];
    let bundle = |bundle: &&str| json!({"schema": "olm.bundle", "package": name, "name": bundle});
    blobs.extend(bundles.iter().map(bundle));
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn name_of(digest: &str) -> String {
    format!("p.{digest}")
}

/// Returns the bundles of package `p` that edits are judged by.
fn bundles(state: &CatalogState) -> Vec<String> {
    let package = state.loaded().and_then(|content| content.package("p"));
    let bundles = package.and_then(Result::ok).map(Package::bundles);
    let mut names: Vec<_> = bundles
        .into_iter()
        .flatten()
        .map(|(_, bundle)| bundle.name.to_string())
        .collect();
    names.sort();
    names
}

fn file(digest: &str) -> String {
    format!("sha256-{}.jsonl.zst", digest.repeat(64))
}

/// Returns the complete files. An aborted writer may need a moment to remove its incomplete file.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl.zst"))
        .collect();
    names.sort();
    names
}

pub(super) const CATALOGS: &str = "/apis/olm.operatorframework.io/v1/clustercatalogs";

#[tokio::test]
async fn content_outlives_the_guard_and_catalogd() {
    let world = World::begin().await;
    world.publish("hub", "a");
    world.publish("more", "b");
    let guard = world.guard().await;
    guard.until_judged_by("hub", "a").await;
    guard.until_judged_by("more", "b").await;
    assert_eq!(guard.board.catalogs(), Ok("2 of 2 loaded".to_owned()));
    world.until_kept(&["a", "b"]).await;
    assert_eq!(world.served.shelf.asked(), 4, "each, and each once more");
    guard.end().await;

    world.served.end();
    let again = world.guard().await;
    again.until_judged_by("hub", "a").await;
    again.until_judged_by("more", "b").await;
    assert_eq!(world.served.shelf.asked(), 4);
}

#[tokio::test]
async fn labels_and_priority_fetch_nothing() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let guard = world.guard().await;
    guard.until_judged_by("hub", "a").await;
    let mut changed = world.object("hub", "a");
    changed["metadata"]["labels"] = json!({"team": "x"});
    changed["spec"]["priority"] = json!(7);
    world.api.put(CATALOGS, changed);
    guard.until_state("hub", |state| state.priority == 7).await;
    world.until_kept(&["a"]).await;
    world.publish("hub", "b");
    guard.until_judged_by("hub", "b").await;
    world.until_kept(&["a", "b"]).await;
    assert_eq!(
        world.served.shelf.asked(),
        3,
        "the first twice, the next once"
    );
}

#[tokio::test]
async fn content_that_moved_while_it_was_fetched_is_fetched_again() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let (api, moved) = (world.api.clone(), world.object("hub", "b"));
    let served = world.served.shelf.clone();
    world.served.shelf.before(move || {
        served.put("hub", &content("b"));
        api.put(CATALOGS, moved);
    });
    let guard = world.guard().await;
    guard.until_judged_by("hub", "b").await;
    // No content is stored under a wrong digest.
    world.until_kept(&["b"]).await;
    assert_eq!(world.served.shelf.asked(), 3);
}

#[tokio::test]
async fn what_cannot_be_read_again_is_held_and_not_kept() {
    let world = World::begin().await;
    world.publish("hub", "a");
    world.api.trouble(
        Trouble::Status(StatusCode::INTERNAL_SERVER_ERROR),
        |asked| asked.path.ends_with("/clustercatalogs/hub"),
    );
    let guard = world.guard().await;
    guard.until_judged_by("hub", "a").await;
    world.until_asked(2).await;
    guard.end().await;
    assert_eq!(files(&world.cache()), [""; 0]);
}

#[tokio::test]
async fn a_catalogd_that_is_down_or_broken_takes_nothing_away() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let guard = world.guard().await;
    guard.until_judged_by("hub", "a").await;
    // After two objects, only JSON is expected.
    let blob = |name| json!({"schema": "olm.package", "name": name}).to_string();
    let broken = format!("{}\n{}\n{{\"schema\": oops}}\n", blob("b"), blob("c"));
    world.served.shelf.put("hub", &broken);
    world.api.put(CATALOGS, world.object("hub", "b"));
    guard
        .until_state("hub", |state| state.currency == Currency::Superseded)
        .await;
    let told = async {
        while !guard.board.catalogs().unwrap().contains("cannot be loaded") {
            yield_now().await;
        }
    };
    timeout(DEADLINE, told).await.unwrap();
    let words = guard.board.catalogs().unwrap();
    assert!(
        words.starts_with("1 of 1 loaded; hub: newer content cannot be loaded"),
        "{words}"
    );
    let place = format!("byte {}", 2 * blob("b").len() + 2 + "{\"schema\": ".len());
    assert!(words.contains(&place), "where it is broken: {words}");
    let snapshot = guard.snapshot.load();
    assert_eq!(bundles(snapshot.catalog("hub").unwrap()), ["p.a"]);
    world.publish("hub", "c");
    guard.until_judged_by("hub", "c").await;
}

#[tokio::test]
async fn a_catalog_that_is_deleted_and_made_again_comes_from_the_cache() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let guard = world.guard().await;
    guard.until_judged_by("hub", "a").await;
    world.until_kept(&["a"]).await;
    world.api.delete(CATALOGS, "hub");
    guard
        .until("gone", |snapshot| snapshot.catalog("hub").is_none())
        .await;
    world.publish("hub", "a");
    guard.until_judged_by("hub", "a").await;
    assert_eq!(world.served.shelf.asked(), 2);
}

// A catalog that needs more memory than it can use fails alone: at a change, at every start, and from the cache.

/// Returns content with this number of packages, each with a few bytes on the wire and kilobytes in memory.
fn large(packages: usize) -> String {
    let packages = (0..packages).map(|n| package(&format!("p{n}"), &["b"]));
    content("c") + &packages.collect::<String>()
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
