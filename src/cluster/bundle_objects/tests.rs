use hyper::StatusCode;
use serde_json::json;

use super::*;
use olmguard_preflight::bundle::RegistryBundle;
use olmguard_support::api::{ApiServer, Trouble};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn cluster() -> ApiServer {
    let api = ApiServer::start();
    let resource = ApiResource::erase::<CustomResourceDefinition>(&());
    api.serve(&resource.api_version, &resource.plural, &resource.kind);
    api.serve("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget");
    api.serve("v1", "namespaces", "Namespace");
    let crd = json!({"metadata": {"name": "a.example.com"}, "spec": {"scope": "Cluster"}});
    api.put(CRDS, crd);
    api
}

/// Returns a bundle with these CRDs and objects of these kinds.
fn contents(crds: &[&str], kinds: &[(&str, &str)]) -> BundleContents {
    let csv = json!({"kind": "ClusterServiceVersion"});
    let crds = crds
        .iter()
        .map(|name| json!({"kind": "CustomResourceDefinition", "metadata": {"name": name}}));
    let others = kinds
        .iter()
        .map(|(api_version, kind)| json!({"apiVersion": api_version, "kind": kind}));
    let objects = [csv].into_iter().chain(crds).chain(others);
    let bundle = RegistryBundle::of("p", objects).unwrap();
    BundleContents::of([("image".to_owned(), Ok(bundle))])
}

/// Returns the objects in the cluster, or the reason why they are not known.
type Read = Result<(BundleContents, Option<ClusterObjectsError>), ClusterObjectsError>;

async fn read(api: &ApiServer, contents: &BundleContents, made: &BTreeSet<RenderedObject>) -> Read {
    let sought = SoughtObjects {
        made: made.clone(),
        ..SoughtObjects::default()
    };
    of_bundles(api.client(), contents, &sought, 11).await
}

#[tokio::test]
async fn crds_that_are_there_are_read_by_name() {
    let api = cluster();
    let contents = contents(&["a.example.com", "b.example.com", "../x"], &[]);
    let (found, _) = read(&api, &contents, &BTreeSet::new()).await.unwrap();
    let found = found.cluster().unwrap();
    let found: Vec<_> = found.crds.iter().collect();
    let metadata = json!({"metadata": {"name": "a.example.com", "resourceVersion": "1"}});
    assert_eq!(found, [(&"a.example.com".to_owned(), &metadata)]);
    assert!(api.asked().iter().all(|asked| !asked.path.contains("..")));
}

#[tokio::test]
async fn kinds_that_are_not_served_are_found() {
    let kinds = [
        ("policy/v1", "PodDisruptionBudget"),
        ("policy/v1", "Role"),
        ("monitoring.coreos.com/v1", "ServiceMonitor"),
        ("../../api/v1", "Secret"),
        ("", "ConfigMap"),
    ];
    let api = cluster();
    let found = read(&api, &contents(&[], &kinds), &BTreeSet::new()).await;
    let (found, error) = found.unwrap();
    assert_eq!(error, None);
    let unserved = &found.cluster().unwrap().unserved;
    let found: BTreeSet<_> = unserved.iter().map(|kind| &*kind.kind).collect();
    let expected: BTreeSet<_> = kinds[1..].iter().map(|(_, kind)| *kind).collect();
    assert_eq!(found, expected);
    assert!(api.asked().iter().all(|asked| !asked.path.contains("..")));
}

#[tokio::test]
async fn kinds_that_are_not_known_count_as_served() {
    let api = cluster();
    api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |asked| {
        asked.path == "/apis/policy/v1"
    });
    let kinds = [("policy/v1", "PodDisruptionBudget")];
    let contents = contents(&["a.example.com"], &kinds);
    let found = read(&api, &contents, &BTreeSet::new()).await;
    let (found, error) = found.unwrap();
    let found = found.cluster().unwrap();
    assert_eq!((found.crds.len(), found.unserved.len()), (1, 0));
    assert_eq!(
        error.unwrap().to_string(),
        "cannot read the kinds of \"policy/v1\": the API server answers 503: as the test says"
    );
}

#[tokio::test]
async fn an_image_cannot_have_any_number_of_requests() {
    let api = cluster();
    let names: Vec<_> = (0..=MOST_CRDS)
        .map(|at| format!("a{at}.example.com"))
        .collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let error = read(&api, &contents(&names, &[]), &BTreeSet::new()).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "cannot read the CRDs of the bundles: there are more than 1000"
    );
}

#[tokio::test]
async fn an_answer_that_is_missing_leaves_open_what_is_there() {
    let api = cluster();
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.path.starts_with(CRDS)
    });
    let contents = contents(&["a.example.com"], &[]);
    let error = read(&api, &contents, &BTreeSet::new()).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "cannot read CustomResourceDefinition \"a.example.com\": the API server answers 403: as the test says"
    );
}

/// Returns the objects that a bundle with a `ConfigMap`, a `PriorityClass` and a `Role` would
/// create in `ns`.
fn made() -> (BundleContents, BTreeSet<RenderedObject>) {
    let kinds = [
        ("v1", "ConfigMap"),
        ("scheduling.k8s.io/v1", "PriorityClass"),
        ("rbac.authorization.k8s.io/v1", "Role"),
    ];
    let csv = json!({"kind": "ClusterServiceVersion"});
    let others = kinds.iter().map(|(api_version, kind)| {
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "one"}})
    });
    let bundle = RegistryBundle::of("p", [csv].into_iter().chain(others)).unwrap();
    let contents = BundleContents::of([("image".to_owned(), Ok(bundle))]);
    let made = contents.made_of("image", "ns").into_iter().collect();
    (contents, made)
}

fn with_kinds() -> ApiServer {
    let api = cluster();
    api.serve_namespaced("v1", "configmaps", "ConfigMap");
    api.serve("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass");
    api
}

const CONFIG_MAPS: &str = "/api/v1/namespaces/ns/configmaps";

#[tokio::test]
async fn objects_of_a_first_installation_are_read_by_name() {
    let api = with_kinds();
    let labels = json!({"a": "b"});
    api.put(
        CONFIG_MAPS,
        json!({"metadata": {"name": "one", "namespace": "ns", "labels": labels}}),
    );
    let (contents, made) = made();
    let (found, error) = read(&api, &contents, &made).await.unwrap();
    let found = found.cluster().unwrap();
    assert_eq!(error, None);
    let found: Vec<_> = found.others.iter().collect();
    let [(object, metadata)] = found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(object.kind.kind, "ConfigMap");
    assert_eq!(metadata["metadata"]["labels"], labels);
    // A kind that is not served has no path.
    assert!(api.asked().iter().all(|asked| !asked.path.contains("role")));
}

#[tokio::test]
async fn an_object_that_may_not_be_read_counts_as_absent() {
    let api = with_kinds();
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.path.starts_with(CONFIG_MAPS)
    });
    let (contents, made) = made();
    let (found, error) = read(&api, &contents, &made).await.unwrap();
    let found = found.cluster().unwrap();
    assert_eq!((found.others.len(), error), (0, None));
}

#[tokio::test]
async fn what_cannot_be_a_name_is_in_no_path() {
    let api = with_kinds();
    let (contents, made) = made();
    let named = |namespace: &str, name: &str| {
        let of_kind = made
            .iter()
            .find(|object| object.kind.kind == "ConfigMap")
            .unwrap();
        RenderedObject {
            namespace: namespace.to_owned(),
            name: RenderedName::Whole(name.to_owned()),
            ..of_kind.clone()
        }
    };
    let made = [named("ns", "../x"), named("..", "one"), named("", "one")];
    let (found, error) = read(&api, &contents, &made.into()).await.unwrap();
    let found = found.cluster().unwrap();
    assert_eq!((found.others.len(), error), (0, None));
    assert!(
        api.asked()
            .iter()
            .all(|asked| !asked.path.contains("configmaps"))
    );
}

#[tokio::test]
async fn an_image_cannot_have_any_number_of_objects() {
    let api = with_kinds();
    let class = json!({"metadata": {"name": "a0"}});
    api.put("/apis/scheduling.k8s.io/v1/priorityclasses", class);
    let (contents, _) = made();
    let made = (0..=MOST_OBJECTS).map(|at| RenderedObject {
        kind: BundledKind::of("scheduling.k8s.io/v1", "PriorityClass"),
        namespace: String::new(),
        name: RenderedName::Whole(format!("a{at}")),
    });
    let (found, error) = read(&api, &contents, &made.collect()).await.unwrap();
    let found = found.cluster().unwrap();
    assert_eq!(found.others.len(), 1);
    assert_eq!(
        error.unwrap().to_string(),
        "cannot read the objects of the bundles: there are more than 2000"
    );
}

#[tokio::test]
async fn objects_that_are_not_known_are_reported() {
    let api = with_kinds();
    api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |asked| {
        asked.path.starts_with(CONFIG_MAPS)
    });
    let (contents, made) = made();
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    api.put(classes, json!({"metadata": {"name": "one"}}));
    let (found, error) = read(&api, &contents, &made).await.unwrap();
    let found = found.cluster().unwrap();
    // The other objects are read.
    assert_eq!(found.others.len(), 1);
    assert_eq!(
        error.unwrap().to_string(),
        "cannot read ConfigMap \"one\": the API server answers 503: as the test says"
    );
}

#[tokio::test]
async fn needed_objects_that_do_not_exist_are_found() {
    let api = with_kinds();
    api.serve_namespaced("v1", "serviceaccounts", "ServiceAccount");
    let needed = [
        NeededObject::Namespace("ns".to_owned()),
        NeededObject::WatchedNamespace("../x".to_owned()),
        NeededObject::ServiceAccount {
            namespace: "ns".to_owned(),
            name: "installer".to_owned(),
        },
    ];
    let sought = SoughtObjects {
        needed: needed.clone().into(),
        ..SoughtObjects::default()
    };
    let missing = async |api: &ApiServer| {
        let contents = BundleContents::default();
        let found = of_bundles(api.client(), &contents, &sought, 11).await;
        let (found, error) = found.unwrap();
        let missing = found.cluster().unwrap().missing.clone();
        (missing.into_iter().collect::<Vec<_>>(), error)
    };
    let [namespace, _, account] = needed;
    // A missing namespace is reported alone, because nothing can exist in it.
    assert_eq!(missing(&api).await, (vec![namespace], None));
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.path.starts_with("/api/v1/namespaces/ns")
    });
    assert_eq!(missing(&api).await, (Vec::new(), None));
    api.heal();
    api.put("/api/v1/namespaces", json!({"metadata": {"name": "ns"}}));
    assert_eq!(missing(&api).await, (vec![account], None));
    let accounts = "/api/v1/namespaces/ns/serviceaccounts";
    let account = json!({"metadata": {"name": "installer", "namespace": "ns"}});
    api.put(accounts, account);
    assert_eq!(missing(&api).await, (Vec::new(), None));
    assert!(api.asked().iter().all(|asked| !asked.path.contains("..")));
}

#[tokio::test]
async fn more_needed_objects_than_are_read_are_a_fault() {
    // No request is made for these names.
    let needed = (0..=MOST_OBJECTS).map(|at| NeededObject::Namespace(format!("_{at}")));
    let sought = SoughtObjects {
        needed: needed.collect(),
        ..SoughtObjects::default()
    };
    let contents = BundleContents::default();
    let found = of_bundles(cluster().client(), &contents, &sought, 11).await;
    let (_, error) = found.unwrap();
    assert_eq!(
        error.unwrap().to_string(),
        "cannot read the needed objects of the bundles: there are more than 2000"
    );
}

#[tokio::test]
async fn more_required_api_versions_than_are_read_are_a_fault() {
    let required =
        |at| json!({"group": format!("g{at}.example.com"), "version": "v1", "kind": "K"});
    let required: Vec<_> = (0..=MOST_VERSIONS).map(required).collect();
    let csv = json!({"kind": "ClusterServiceVersion", "spec": {"nativeAPIs": required}});
    let bundle = RegistryBundle::of("p", [csv]).unwrap();
    let contents = BundleContents::of([("image".to_owned(), Ok(bundle))]);
    let found = read(&cluster(), &contents, &BTreeSet::new()).await;
    let (found, error) = found.unwrap();
    assert_eq!(found.cluster().unwrap().unserved.len(), MOST_VERSIONS);
    assert_eq!(
        error.unwrap().to_string(),
        "cannot read the required API versions of the bundles: there are more than 100"
    );
}

#[tokio::test]
async fn the_owner_of_a_crd_is_read_by_its_name() {
    let api = cluster();
    let names = ["a.example.com", "b.example.com"].map(str::to_owned);
    let sought = SoughtObjects {
        crds: names.into(),
        ..SoughtObjects::default()
    };
    let crds = async |api: &ApiServer| {
        let contents = BundleContents::default();
        let found = of_bundles(api.client(), &contents, &sought, 11).await;
        let (found, error) = found.unwrap();
        assert_eq!(error, None);
        let crds = found.cluster().unwrap().crds.keys();
        crds.cloned().collect::<Vec<_>>()
    };
    assert_eq!(crds(&api).await, ["a.example.com"]);
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.path.starts_with(CRDS)
    });
    assert_eq!(crds(&api).await, [""; 0]);
}

#[tokio::test]
async fn the_version_of_kubernetes_is_read_if_the_api_server_gives_it() {
    let api = cluster();
    let version = async |api: &ApiServer| {
        let found = read(api, &contents(&[], &[]), &BTreeSet::new()).await;
        let (found, error) = found.unwrap();
        assert_eq!(error, None);
        found.cluster().unwrap().kubernetes
    };
    assert_eq!(version(&api).await, None);
    let info = json!({"major": "1", "minor": "33", "gitVersion": "v1.33.2+k3s1", "gitCommit": "", "gitTreeState": "",
        "buildDate": "", "goVersion": "", "compiler": "", "platform": ""});
    api.route("/version", StatusCode::OK, info.to_string());
    assert_eq!(version(&api).await, KubernetesVersion::read("1.33.2"));
}
