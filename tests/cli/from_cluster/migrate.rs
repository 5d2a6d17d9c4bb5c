//! `olmguard migrate --from-cluster`: the OLM v0 objects of a cluster, and a cluster that does not allow reading them.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::scene::Scene;

const MIGRATE: &[&str] = &["migrate", "--from-cluster", "--kubeconfig=kubeconfig"];
const V1ALPHA1: &str = "/apis/operators.coreos.com/v1alpha1";
const V1: &str = "/apis/operators.coreos.com/v1";

fn resources(group_version: &str, kinds: &[(&str, &str)]) -> Value {
    let kinds = kinds.iter().map(|(plural, kind)| {
        json!({"name": plural, "singularName": "", "namespaced": true, "kind": kind, "verbs": ["get", "list"]})
    });
    json!({"kind": "APIResourceList", "apiVersion": "v1",
        "groupVersion": format!("operators.coreos.com/{group_version}"), "resources": kinds.collect::<Vec<_>>()})
}

/// Returns a list whose items have no kind.
fn list(items: &[Value]) -> Value {
    json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items})
}

/// Returns OLM v0 with one Subscription, whose CSV is at 1.3.0.
fn scene() -> Scene {
    let scene = Scene::new();
    let kinds = [
        ("subscriptions", "Subscription"),
        ("clusterserviceversions", "ClusterServiceVersion"),
        ("catalogsources", "CatalogSource"),
    ];
    scene.api.put(V1ALPHA1, &resources("v1alpha1", &kinds));
    scene
        .api
        .put(V1, &resources("v1", &[("operatorgroups", "OperatorGroup")]));
    let meta = |name: &str| json!({"name": name, "namespace": "lantern"});
    let subscription = json!({"metadata": meta("sub"),
        "spec": {"name": "lantern-operator", "source": "any", "sourceNamespace": "olm"},
        "status": {"installedCSV": "lantern-operator.v1.3.0", "state": "AtLatestKnown"}});
    let csv = json!({"metadata": meta("lantern-operator.v1.3.0"), "status": {"phase": "Succeeded"},
        "spec": {"installModes": [{"type": "AllNamespaces", "supported": true}],
            "customresourcedefinitions": {"owned": [{"name": "lanterns.example.com"}]}}});
    let source = json!({"metadata": {"name": "any", "namespace": "olm"}, "spec": {"image": "example.com/hub:v1"}});
    let group = json!({"metadata": meta("g"), "status": {"namespaces": [""]}});
    for (collection, object) in [
        (format!("{V1ALPHA1}/subscriptions"), subscription),
        (format!("{V1ALPHA1}/clusterserviceversions"), csv),
        (format!("{V1ALPHA1}/catalogsources"), source),
        (format!("{V1}/operatorgroups"), group),
    ] {
        scene.api.put(&collection, &list(&[object]));
    }
    scene
}

#[test]
fn the_subscriptions_of_the_cluster_are_planned_and_nothing_is_changed() {
    let scene = scene();
    let ran = scene.run(MIGRATE);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let head = "lantern/sub (lantern-operator 1.3.0): can move to OLM v1\nCatalog       hub, for CatalogSource olm/any\n";
    assert!(ran.stdout.contains(head), "{}", ran.stdout);
    let mark = "kubectl label crd lanterns.example.com app.kubernetes.io/managed-by=Helm";
    assert!(ran.stdout.contains(mark), "{}", ran.stdout);
    let asked = scene.api.asked();
    assert!(asked.iter().all(|(method, _)| method == "GET"), "{asked:?}");
    let queries = scene
        .api
        .queries(&format!("{V1ALPHA1}/clusterserviceversions"));
    assert!(
        queries
            .iter()
            .all(|query| query.contains("labelSelector=%21olm.copiedFrom")),
        "{queries:?}"
    );
}

#[test]
fn a_kind_that_cannot_be_listed_leaves_the_rest() {
    let scene = scene();
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden",
        "message": "no", "code": 403});
    let path = format!("{V1}/operatorgroups");
    scene
        .api
        .answer(&path, StatusCode::FORBIDDEN, &status.to_string());
    let ran = scene.run(MIGRATE);
    assert_eq!(ran.code, Some(4));
    assert_eq!(
        ran.stderr,
        "error: cannot list all operatorgroups.operators.coreos.com: the API server answers 403: no; grant the verb \
         \"list\" on them\n"
    );
    assert!(
        ran.stdout.contains("no single OperatorGroup is known"),
        "{}",
        ran.stdout
    );
}

#[test]
fn an_object_that_cannot_be_read_is_named() {
    let scene = scene();
    let path = format!("{V1ALPHA1}/subscriptions");
    scene.api.put(
        &path,
        &list(&[json!({"metadata": {"name": "x", "namespace": "app"}, "spec": {}})]),
    );
    let ran = scene.run(MIGRATE);
    assert_eq!(ran.code, Some(4));
    assert_eq!(
        ran.stderr,
        "error: Subscription \"x\": spec.name is missing: expected a string that is not empty\n"
    );
}

#[test]
fn a_cluster_without_olm_v0_has_no_subscription() {
    let ran = Scene::new().run(MIGRATE);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.stderr,
        "warning: there is no Subscription, so nothing is reported\n"
    );
    assert_eq!(ran.stdout, "no Subscription\n");
}
