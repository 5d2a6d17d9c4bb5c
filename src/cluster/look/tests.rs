//! One look, at objects of an API server and contents of a catalogd.

use std::io::Read;

use hyper::StatusCode;
use serde_json::{Value, json};

use super::*;
use crate::cluster::tests::Catalogd;
use crate::source::http::FetchLimits;
use crate::source::{Progress, SourceError, catalogd, read_fetched};
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Content;
use olmguard_support::api::{ApiServer, Trouble};

/// An API server and a catalogd.
struct World {
    api: ApiServer,
    served: Catalogd,
}

/// Returns the content as text, if it is a catalog.
fn text(name: &str, body: &mut dyn Read) -> Result<String, SourceError> {
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)
        .map_err(|source| SourceError::Io {
            path: name.into(),
            action: "read",
            source,
        })?;
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    read_fetched(name, &*bytes, &Progress::default(), &mut builder)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl World {
    async fn begin() -> Self {
        let api = ApiServer::start();
        let group_version = "olm.operatorframework.io/v1";
        api.serve(group_version, "clustercatalogs", "ClusterCatalog");
        let served = Catalogd::start().await;
        Self { api, served }
    }

    /// Serves this content of a catalog, and names it in the object.
    fn publish(&self, name: &str, digest: &str) {
        self.served.shelf.put(name, &content(digest));
        let base = self.served.base(name);
        self.api.put(CATALOGS, object(&base, name, digest));
    }

    async fn look(&self) -> ClusterState<String> {
        let catalogd = catalogd::Catalogd::new(None, FetchLimits::default()).unwrap();
        let reader = ClusterReader::new(self.api.client(), catalogd);
        reader.look(text).await.unwrap()
    }

    /// Returns the only catalog.
    async fn only(&self) -> ListedCatalog<String> {
        let mut seen = self.look().await.catalogs;
        assert_eq!(seen.len(), 1);
        seen.remove(0)
    }
}

fn object(base: &str, name: &str, digest: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": name},
        "status": {
            "conditions": [{"type": "Serving", "status": "True"}],
            "resolvedSource": {"image": {"ref": format!("registry.example/{name}@{digest}")}},
            "urls": {"base": base},
        },
    })
}

fn content(package: &str) -> String {
    let bundle = json!({"schema": "olm.bundle", "package": package, "name": "b"});
    format!("{{\"schema\":\"olm.package\",\"name\":\"{package}\"}}\n{bundle}\n")
}

fn digest(seen: &ListedCatalog<String>) -> Option<&str> {
    seen.state.digest()
}

const CATALOGS: &str = "/apis/olm.operatorframework.io/v1/clustercatalogs";

#[tokio::test]
async fn each_catalog_that_serves_is_seen_with_its_content() {
    let world = World::begin().await;
    for name in ["a", "b", "c"] {
        world.publish(name, name);
    }
    let mut off = object(&world.served.base("a"), "off", "x");
    off["spec"] = json!({"availabilityMode": "Unavailable"});
    world.api.put(CATALOGS, off);
    let mut slow = object(&world.served.base("a"), "slow", "x");
    slow["status"]["conditions"] = json!([]);
    world.api.put(CATALOGS, slow);
    let mut bare = object("", "bare", "x");
    bare["status"]["urls"] = json!({});
    world.api.put(CATALOGS, bare);
    world.api.put(CATALOGS, json!({"metadata": {}}));
    let look = world.look().await;
    let seen = look.catalogs.iter();
    let mut seen: Vec<_> = seen
        .map(|seen| (seen.state.name.as_str(), seen.content.clone()))
        .collect();
    seen.sort();
    let own = |name| Some(content(name));
    assert_eq!(
        seen,
        [
            ("a", own("a")),
            ("b", own("b")),
            ("bare", None),
            ("c", own("c")),
            ("off", None),
            ("slow", None),
        ]
    );
    assert_eq!(look.unnamed.len(), 1);
    assert_eq!(world.served.shelf.asked(), 3);
}

#[tokio::test]
async fn content_that_moved_is_fetched_once_more() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let (api, moved) = (
        world.api.clone(),
        object(&world.served.base("hub"), "hub", "b"),
    );
    let shelf = world.served.shelf.clone();
    world.served.shelf.before(move || {
        shelf.put("hub", &content("b"));
        api.put(CATALOGS, moved);
    });
    let seen = world.only().await;
    assert_eq!(
        (digest(&seen), &seen.content),
        (Some("b"), &Some(content("b")))
    );
    assert_eq!(world.served.shelf.asked(), 2);
}

#[tokio::test]
async fn content_that_moves_each_time_is_not_held() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let (api, base) = (world.api.clone(), world.served.base("hub"));
    let mut moves = 0;
    world.served.shelf.before_each(move || {
        moves += 1;
        api.put(CATALOGS, object(&base, "hub", &format!("b{moves}")));
    });
    let seen = world.only().await;
    assert_eq!(seen.content, None);
    assert!(
        matches!(&seen.state.content, Content::Unfetched(why) if why.starts_with("its digest changed")),
        "{seen:?}"
    );
    assert_eq!(world.served.shelf.asked(), 2);
}

#[tokio::test]
async fn a_catalog_that_goes_away_meanwhile_is_none() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let api = world.api.clone();
    world
        .served
        .shelf
        .before(move || api.delete(CATALOGS, "hub"));
    assert_eq!(world.look().await.catalogs.len(), 0);
}

#[tokio::test]
async fn one_that_stops_serving_meanwhile_has_no_content() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let mut stopped = object(&world.served.base("hub"), "hub", "b");
    stopped["status"]["conditions"] = json!([{"type": "Serving", "status": "False"}]);
    let api = world.api.clone();
    world.served.shelf.before(move || {
        api.put(CATALOGS, stopped);
    });
    let seen = world.only().await;
    assert_eq!((digest(&seen), &seen.content), (Some("b"), &None));
}

#[tokio::test]
async fn an_object_that_cannot_be_read_again_is_taken_as_it_was() {
    let world = World::begin().await;
    world.publish("hub", "a");
    world.api.trouble(
        Trouble::Status(StatusCode::INTERNAL_SERVER_ERROR),
        |asked| asked.path.ends_with("/clustercatalogs/hub"),
    );
    assert_eq!(world.only().await.content, Some(content("a")));
}

#[tokio::test]
async fn the_api_server_is_asked_only_where_catalogd_cannot_be_reached() {
    let world = World::begin().await;
    world.publish("hub", "a");
    let fault = async |base: &str| {
        world.api.put(CATALOGS, object(base, "hub", "a"));
        let seen = world.only().await;
        let asked = world.api.asked();
        let proxied = asked.iter().filter(|asked| asked.path.contains("/proxy/"));
        (seen.state.content, proxied.count())
    };
    let (direct, proxied) = fault(&world.served.base("other")).await;
    let Content::Unfetched(why) = direct else {
        panic!("{direct:?}");
    };
    assert!(
        why.starts_with("answered HTTP 404") && proxied == 0,
        "{why}"
    );
    let (direct, proxied) = fault("https://nowhere.example.invalid/catalogs/hub").await;
    let Content::Unfetched(why) = direct else {
        panic!("{direct:?}");
    };
    let connect = "cannot connect to nowhere.example.invalid: ";
    assert!(why.starts_with(connect) && proxied == 0, "{why}");
    let (both, proxied) = fault(SERVICE).await;
    let Content::Unfetched(why) = both else {
        panic!("{both:?}");
    };
    let ways = why.starts_with("cannot connect to catalogd-service.olmv1-system.svc: ")
        && why.ends_with(", through the API server: 404: 404 page not found");
    assert!(ways && proxied == 1, "{why}");
}

#[tokio::test]
async fn what_comes_through_the_api_server_is_read_as_what_catalogd_sends() {
    let world = World::begin().await;
    let proxy = "/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy";
    let path = |name| format!("{proxy}/catalogs/{name}/api/v1/all");
    world.api.put(CATALOGS, object(SERVICE, "hub", "a"));
    world.api.route(&path("hub"), StatusCode::OK, content("a"));
    assert_eq!(world.only().await.content, Some(content("a")));
    world.api.delete(CATALOGS, "hub");
    let bad = SERVICE.replace("hub", "bad");
    world.api.put(CATALOGS, object(&bad, "bad", "a"));
    world.api.route(&path("bad"), StatusCode::OK, "schema: [");
    let seen = world.only().await;
    assert!(
        matches!(seen.state.content, Content::Unreadable(_)),
        "{seen:?}"
    );
}

const SERVICE: &str = "https://catalogd-service.olmv1-system.svc/catalogs/hub";

/// There is no other content to compare it with, and the user decides whether to fetch again.
#[tokio::test]
async fn what_is_no_catalog_is_a_fault_of_its_content() {
    let world = World::begin().await;
    world.publish("hub", "a");
    for (body, expected) in [
        (
            r#"{"error":"unauthorized"}"#,
            "hub: its first value has no schema, expected a blob of a file-based catalog",
        ),
        ("", "hub: it has no bundle, expected at least one"),
        ("null", "hub: it has no bundle, expected at least one"),
        (
            r#"{"schema":"olm.package","name":"p"}"#,
            "hub: it has no bundle, expected at least one",
        ),
    ] {
        world.served.shelf.put("hub", body);
        let Content::Unreadable(why) = world.only().await.state.content else {
            panic!("{body}");
        };
        let way_out =
            "; check what catalogd serves at status.urls.base of the ClusterCatalog, and try again";
        assert_eq!(why, format!("{expected}{way_out}"));
    }
}

// === The content of a catalog through the API server, for clients outside of the cluster ===

const URL: &str = "https://catalogd-service.olmv1-system.svc/catalogs/a/api/v1/all";
const PATH: &str = "/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy/\
                    catalogs/a/api/v1/all";

#[test]
fn a_service_is_reached_by_its_name_namespace_scheme_and_port() {
    for (url, expected) in [
        (URL, PATH),
        (
            "http://a.b.svc.cluster.local:8080/x?y=z",
            "/api/v1/namespaces/b/services/http:a:8080/proxy/x?y=z",
        ),
        (
            "http://a.b.svc",
            "/api/v1/namespaces/b/services/http:a:80/proxy/",
        ),
    ] {
        assert_eq!(path(url).as_deref(), Some(expected), "{url}");
    }
    for url in [
        "https://localhost:8443/catalogs/a",
        "https://10.0.0.1/catalogs/a",
        "https://a.b.example.com/x",
        "https://a.svc/x",
        "https://a%2f.b.svc/x",
        "ftp://a.b.svc/x",
        "a.b.svc",
        "",
    ] {
        assert_eq!(path(url), None, "{url}");
    }
}

#[tokio::test]
async fn the_content_comes_through() {
    let api = ApiServer::start();
    api.route(PATH, StatusCode::OK, "{}\n{}\n");
    let body = get(&api.client(), PATH.to_owned()).await.unwrap();
    assert_eq!(body.collect_bytes().await.unwrap(), "{}\n{}\n");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_content_is_said() {
    let api = ApiServer::start();
    let said = async || get(&api.client(), PATH.to_owned()).await.unwrap_err();
    api.route(PATH, StatusCode::NOT_FOUND, "404 Not\nFound\n");
    assert_eq!(said().await, "404: 404 Not Found");
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    assert_eq!(said().await, "403: as the test says");
    api.trouble(Trouble::Silent, |_| true);
    assert_eq!(said().await, "no answer within 30 s");
}

// === The objects of OLM v0 in a cluster that a move to OLM v1 depends on, for commands, which do not watch them ===

const V1ALPHA1: &str = "operators.coreos.com/v1alpha1";

fn classic_cluster() -> ApiServer {
    let api = ApiServer::start();
    for (plural, kind) in [
        ("subscriptions", "Subscription"),
        ("clusterserviceversions", "ClusterServiceVersion"),
        ("catalogsources", "CatalogSource"),
    ] {
        api.serve(V1ALPHA1, plural, kind);
        let collection = format!("/apis/{V1ALPHA1}/{plural}");
        api.put(&collection, json!({"metadata": {"name": plural}}));
    }
    api
}

async fn listed(api: &ApiServer) -> (Vec<String>, Vec<String>) {
    let mut objects = Vec::new();
    let take = |object: Value| {
        let text = |path| object.pointer(path).and_then(Value::as_str);
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        objects.push(format!("{} {}", kind.unwrap(), name.unwrap()));
    };
    let errors = classic_objects(api.client(), take).await;
    let errors = errors.iter().map(ToString::to_string).collect();
    (objects, errors)
}

#[tokio::test]
async fn every_kind_that_is_served_is_listed_without_copies() {
    let api = classic_cluster();
    let expected = [
        "Subscription subscriptions",
        "ClusterServiceVersion clusterserviceversions",
        "CatalogSource catalogsources",
    ];
    assert_eq!(
        listed(&api).await,
        (expected.map(str::to_owned).to_vec(), Vec::new())
    );
    let asked = api.asked();
    let csvs = asked
        .iter()
        .find(|asked| asked.path.ends_with("/clusterserviceversions"));
    assert_eq!(
        csvs.unwrap().param("labelSelector"),
        Some("!olm.copiedFrom")
    );
    let none = listed(&ApiServer::start()).await;
    assert_eq!(none, (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn a_kind_that_cannot_be_listed_costs_that_kind_alone() {
    let api = classic_cluster();
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.path.ends_with("/catalogsources")
    });
    let (objects, errors) = listed(&api).await;
    assert_eq!(objects.len(), 2);
    assert_eq!(
        errors,
        [
            "cannot list all catalogsources.operators.coreos.com: the API server answers 403: as the test says; \
          grant the verb \"list\" on them"
        ]
    );
}
