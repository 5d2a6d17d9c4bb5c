//! Images that are read ahead in a cluster with scripted faults, in virtual time.

use std::sync::Mutex;

use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::*;
use olmguard_catalog::olm::{Gates, OlmRelease, Rules};
use olmguard_engine::snapshot::CatalogState;
use olmguard_fixtures::moved::Moved;
use olmguard_fixtures::question::content;
use olmguard_server::telemetry::Metrics;
use olmguard_support::api::{ApiServer, Trouble};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const EXTENSIONS: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

/// Images by name, each read as often as it is requested.
#[derive(Debug, Default)]
struct Shelf {
    images: Mutex<BTreeMap<String, Result<Vec<Value>, String>>>,
    asked: Mutex<Vec<String>>,
}

impl ReadImage for Shelf {
    fn read(&self, image: &str, memory: &Account) -> Result<ReadBundle, String> {
        self.asked.lock().unwrap().push(image.to_owned());
        let found = self.images.lock().unwrap().get(image).cloned();
        let objects = found.unwrap_or_else(|| Err("not found".to_owned()))?;
        let bundle = RegistryBundle::of("P", objects);
        let unreadable = |error| UnreadableBundle::new(&format!("{error}"));
        let loan = memory.lend(WHOLE).map_err(|error| error.to_string())?;
        Ok((bundle.map_err(unreadable), loan))
    }
}

/// The memory of a bundle while it is read.
const WHOLE: usize = 1 << 16;

/// A cluster, the images of its catalog, and the contents that a follower receives.
struct Scene {
    api: ApiServer,
    snapshot: Arc<ArcSwap<Snapshot>>,
    shelf: Arc<Shelf>,
    metrics: Metrics,
    received: mpsc::Receiver<Arc<BundleContents>>,
    last: Arc<BundleContents>,
    moved: Moved,
    _task: JoinSet<()>,
}

fn image(version: &str) -> String {
    format!("example.com/p:{version}")
}

/// Returns a catalog with 1.0.0 and two versions after it.
fn catalogs(rules: &Rules) -> Snapshot {
    let versions = ["1.0.0", "1.1.0", "1.2.0"];
    let entries = versions.map(
        |version| json!({"name": format!("P.v{version}"), "skipRange": format!("<{version}")}),
    );
    let package = json!({"schema": "olm.package", "name": "P"});
    let channel = json!({"schema": "olm.channel", "package": "P", "name": "a", "entries": entries});
    let bundles = versions.map(|version| {
        let value = json!({"packageName": "P", "version": version});
        json!({"schema": "olm.bundle", "package": "P", "name": format!("P.v{version}"),
            "image": image(version), "properties": [{"type": "olm.package", "value": value}]})
    });
    let blobs = [package, channel].into_iter().chain(bundles);
    let text: String = blobs.map(|blob| blob.to_string()).collect();
    let content = content(&text, rules);
    Snapshot::new(rules.clone(), [CatalogState::named("hub", content)])
}

fn extension(name: &str, installed: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {"namespace": "ns", "source": {
            "sourceType": "Catalog", "catalog": {"packageName": "P", "version": installed},
        }},
        "status": {"install": {"bundle": {"name": format!("P.v{installed}"), "version": installed}}},
    })
}

fn crd(scope: &str) -> Value {
    let schema = json!({"type": "object"});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "ws.example.com"}, "spec": {"scope": scope, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
}

fn csv() -> Value {
    json!({"kind": "ClusterServiceVersion", "metadata": {"name": "P"}})
}

fn cluster() -> ApiServer {
    let api = ApiServer::start();
    api.serve(
        "olm.operatorframework.io/v1",
        "clusterextensions",
        "ClusterExtension",
    );
    let (group, kind) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    api.serve(group, "customresourcedefinitions", kind);
    api.put(CRDS, crd("Namespaced"));
    api.put(EXTENSIONS, extension("one", "1.0.0"));
    api
}

fn shelf() -> Arc<Shelf> {
    let shelf = Shelf::default();
    for version in ["1.0.0", "1.1.0"] {
        shelf.put(version, Ok(vec![csv(), crd("Namespaced")]));
    }
    shelf.put("1.2.0", Ok(vec![csv(), crd("Cluster")]));
    Arc::new(shelf)
}

impl Shelf {
    fn put(&self, version: &str, objects: Result<Vec<Value>, String>) {
        self.images.lock().unwrap().insert(image(version), objects);
    }

    /// Returns how often an image was requested.
    fn asked(&self, version: &str) -> usize {
        let (asked, image) = (self.asked.lock().unwrap(), image(version));
        asked.iter().filter(|one| **one == image).count()
    }
}

impl Scene {
    fn new(api: ApiServer, memory: Pool) -> Self {
        let (contents, received) = mpsc::channel(1);
        let (shelf, metrics) = (shelf(), Metrics::new());
        let snapshot = Arc::new(ArcSwap::from_pointee(catalogs(&Rules::default())));
        let config = ImagesConfig {
            source: Arc::clone(&shelf) as _,
            snapshot: Arc::clone(&snapshot),
            contents,
            memory,
            metrics: Arc::clone(&metrics.images),
        };
        let mut task = JoinSet::new();
        task.spawn(read_ahead(api.client(), || true, config));
        Self {
            api,
            snapshot,
            shelf,
            metrics,
            received,
            last: Arc::default(),
            moved: Moved::default(),
            _task: task,
        }
    }

    /// Waits for contents of exactly these versions, and records the metrics until then.
    async fn until(&mut self, versions: &[&str]) {
        self.moved.look(&self.metrics.render());
        let is_so = |contents: &BundleContents| {
            let has = |version: &&str| contents.image(&image(version)).is_some();
            let all = ["1.0.0", "1.1.0", "1.2.0"];
            contents.is_ahead() && all.iter().all(|one| versions.contains(one) == has(one))
        };
        while !is_so(&self.last) {
            self.last = self.received.recv().await.unwrap();
            self.moved.look(&self.metrics.render());
        }
    }

    /// Returns the number of CRDs that prevent a version.
    fn refused(&self, version: &str) -> usize {
        let compared = self.last.compared(&image(version)).unwrap();
        compared.refused.len()
    }

    fn metric(&self, line: &str) -> bool {
        self.metrics.render().lines().any(|one| one == line)
    }
}

#[tokio::test]
async fn the_images_of_the_next_bundles_are_compared_with_the_cluster() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    assert_eq!((scene.refused("1.1.0"), scene.refused("1.2.0")), (0, 1));
    let bundle = scene.last.bundle(&image("1.2.0")).unwrap();
    assert_eq!(bundle.crds()[0].pointer("/spec/versions/0/schema"), None);
    assert!(scene.metric(r#"olmguard_bundle_images{state="read"} 3"#));
}

#[tokio::test(start_paused = true)]
async fn the_owner_of_each_crd_is_known_though_no_bundle_has_it() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    let metadata = json!({"name": "other.example.com"});
    let other = json!({"metadata": metadata, "spec": {"scope": "Cluster"}});
    scene.api.put(CRDS, other);
    let crd = |scene: &Scene| {
        scene
            .last
            .cluster()
            .unwrap()
            .crd("other.example.com")
            .cloned()
    };
    let is_known = |scene: &Scene| crd(scene).is_some();
    while !is_known(&scene) {
        scene.last = scene.received.recv().await.unwrap();
    }
    // Only the fields that show its owner are kept.
    assert_eq!(crd(&scene).unwrap().pointer("/spec"), None);
    assert_eq!(scene.shelf.asked("1.1.0"), 1);
    scene.api.delete(CRDS, "other.example.com");
    while is_known(&scene) {
        scene.last = scene.received.recv().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_compared_with_another_crd_is_withdrawn_and_read_again() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    scene.api.put(CRDS, crd("Cluster"));
    scene.until(&[]).await;
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    assert_eq!((scene.refused("1.1.0"), scene.refused("1.2.0")), (1, 0));
    assert_eq!(scene.shelf.asked("1.1.0"), 2);
    scene.api.delete(CRDS, "ws.example.com");
    scene.until(&[]).await;
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    assert_eq!(
        scene
            .last
            .compared(&image("1.1.0"))
            .map(|it| it.refused.len()),
        None
    );
}

#[tokio::test(start_paused = true)]
async fn an_image_that_cannot_be_had_costs_itself_alone_and_is_tried_again() {
    let api = cluster();
    let mut scene = Scene::new(api, Pool::unbounded());
    scene.shelf.put("1.1.0", Err("503".to_owned()));
    scene.until(&["1.0.0", "1.2.0"]).await;
    while !scene.metric(r#"olmguard_bundle_images{state="failed"} 1"#) {
        sleep(SOON).await;
    }
    scene.moved.look(&scene.metrics.render());
    scene.shelf.put("1.1.0", Ok(vec![csv()]));
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    assert!(scene.metric(r#"olmguard_bundle_images{state="failed"} 0"#));
    let rows = include_str!("../../../tests/server/telemetry/moved/images.txt");
    assert_eq!(scene.moved.still(rows), [""; 0]);
}

/// A CRD that is created, or that serves another version, changes which kinds are served.
#[tokio::test(start_paused = true)]
async fn a_change_of_the_group_of_a_kind_is_a_change_of_the_bundle() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    let monitor = json!({"apiVersion": "monitoring.example.com/v1", "kind": "ServiceMonitor",
        "metadata": {"name": "m"}});
    scene.shelf.put("1.1.0", Ok(vec![csv(), monitor]));
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    let unserved = |scene: &Scene| scene.last.cluster().unwrap().unserved.len();
    assert_eq!(unserved(&scene), 1);
    scene.api.serve(
        "monitoring.example.com/v1",
        "servicemonitors",
        "ServiceMonitor",
    );
    for generation in 0..2 {
        let name = "servicemonitors.monitoring.example.com";
        let crd = json!({"metadata": {"name": name, "generation": generation}});
        scene.api.put(CRDS, crd);
        scene.until(&["1.0.0", "1.2.0"]).await;
        scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
        assert_eq!(unserved(&scene), 0);
    }
}

/// The Kubernetes version determines which kinds are served without a CRD.
#[tokio::test(start_paused = true)]
async fn another_kubernetes_is_a_change_of_every_bundle() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    for version in ["1.33.0", "1.34.0"] {
        let info = json!({"major": "1", "minor": "", "gitVersion": version, "gitCommit": "", "gitTreeState": "",
            "buildDate": "", "goVersion": "", "compiler": "", "platform": ""});
        scene
            .api
            .route("/version", StatusCode::OK, info.to_string());
        scene.until(&[]).await;
        scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
        let found = scene.last.cluster().and_then(|it| it.kubernetes);
        assert_eq!(found, KubernetesVersion::read(version));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_tag_names_is_looked_up_again() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    scene.shelf.put("1.1.0", Ok(vec![json!({"kind": "Role"})]));
    while scene.last.bundle(&image("1.1.0")).is_some() {
        scene.last = scene.received.recv().await.unwrap();
    }
    assert!(scene.last.image(&image("1.1.0")).unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn another_release_of_olm_compares_again() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    let older: OlmRelease = "1.5".parse().unwrap();
    let rules = Rules::new(older, Gates::default());
    assert!(scene.last.are_of_other(rules.olm.minor()));
    scene.snapshot.store(Arc::new(catalogs(&rules)));
    scene.until(&[]).await;
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    assert!(!scene.last.are_of_other(rules.olm.minor()));
}

/// The follower has dropped the contents for the other release.
#[tokio::test(start_paused = true)]
async fn the_owners_of_crds_are_sent_again_for_another_release_of_olm() {
    let mut scene = Scene::new(cluster(), Pool::new(WHOLE - 1, WHOLE - 1));
    let knows_owners = |contents: &BundleContents| contents.cluster().is_some();
    while !knows_owners(&scene.last) {
        scene.last = scene.received.recv().await.unwrap();
    }
    let older: OlmRelease = "1.5".parse().unwrap();
    let rules = Rules::new(older, Gates::default());
    assert!(scene.last.are_of_other(rules.olm.minor()));
    scene.snapshot.store(Arc::new(catalogs(&rules)));
    while scene.last.are_of_other(rules.olm.minor()) || !knows_owners(&scene.last) {
        scene.last = scene.received.recv().await.unwrap();
    }
}

/// A follower that used another OLM version for a moment has dropped the contents.
#[tokio::test(start_paused = true)]
async fn contents_that_were_dropped_are_sent_again() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    let first = Arc::clone(&scene.last);
    scene.last = Arc::default();
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    assert!(!Arc::ptr_eq(&first, &scene.last));
    let used = catalogs(&Rules::default()).with_contents(Arc::clone(&scene.last));
    scene.snapshot.store(Arc::new(used));
    sleep(INTERVAL * 2).await;
    assert!(scene.received.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn images_of_extensions_that_are_gone_are_dropped() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    scene.api.delete(EXTENSIONS, "one");
    scene.until(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_keeps_what_was_read() {
    let mut scene = Scene::new(cluster(), Pool::unbounded());
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
    let failures = r"olmguard_bundle_image_failures_total 1";
    scene
        .api
        .trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
            asked.path == EXTENSIONS
        });
    while !scene.metric(failures) {
        sleep(SOON).await;
    }
    assert!(scene.received.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn without_the_versions_of_crds_nothing_is_published() {
    let api = cluster();
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.path == CRDS
    });
    let mut scene = Scene::new(api, Pool::unbounded());
    scene.until(&[]).await;
    while !scene.metric("olmguard_bundle_image_failures_total 2") {
        sleep(SOON).await;
    }
    assert!(scene.received.try_recv().is_err());
    scene.api.heal();
    scene.until(&["1.0.0", "1.1.0", "1.2.0"]).await;
}

#[tokio::test(start_paused = true)]
async fn there_are_no_more_bundles_than_memory() {
    let mut scene = Scene::new(cluster(), Pool::new(WHOLE - 1, WHOLE - 1));
    scene.until(&[]).await;
    while !scene.metric(r#"olmguard_bundle_images{state="failed"} 3"#) {
        // The owners of CRDs are sent even without any bundle.
        let owners = scene.received.recv().await.unwrap();
        assert!(owners.is_empty() && owners.cluster().is_some());
    }
}

#[test]
fn the_likeliest_images_of_all_come_first() {
    let of_each = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let all = [
        of_each(&["a", "b"]),
        of_each(&["c", "a", "d"]),
        of_each(&[]),
    ];
    assert_eq!(in_turns(&all), ["a", "c", "b", "d"]);
    let many: Vec<_> = (0..=MOST_IMAGES).map(|at| vec![at.to_string()]).collect();
    assert_eq!(in_turns(&many).len(), MOST_IMAGES);
}
