//! `check --from-cluster`: the facts that are read from the cluster.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::scene::{HUB, HUB_PATH, LIVE, Scene, extension};
use crate::images::bundle;
use olmguard_support::api_server::{CATALOGS, EXTENSIONS, catalog};
use olmguard_support::oci::TestRegistry;

fn token(code: i32, token: &str) -> (Option<i32>, String) {
    (Some(code), token.to_owned())
}

#[test]
fn the_answer_rests_on_the_catalogs_and_the_installed_version_of_the_cluster() {
    let scene = Scene::new();
    assert_eq!(scene.token(&[]), token(0, "Resolved"));
    scene.installed("1.2.0");
    assert_eq!(scene.token(&[]), token(0, "Resolved"));
    scene.installed("1.0.0");
    let (code, result, stderr) = scene.judged(LIVE);
    assert_eq!((code, stderr.as_str()), (Some(1), ""));
    assert_eq!(result["token"], "NotASuccessor");
    assert_eq!(result["installed"]["version"], "1.0.0");
    let message = result["message"].as_str().expect("a text");
    let catalog = "Catalog: hub@sha256:1a2b, content of 2026-08-21T10:03:00Z";
    assert!(message.contains(catalog), "{message}");
}

#[test]
fn nothing_but_reading_is_asked_of_the_cluster() {
    let scene = Scene::new();
    scene.token(&[]);
    scene.run(&["catalogs", "--kubeconfig=kubeconfig"]);
    scene.run(&["snapshot", "save", "--kubeconfig=kubeconfig", "saved"]);
    let asked = scene.api.asked();
    assert!(asked.len() > 10, "{asked:?}");
    let methods = asked.iter().map(|(method, _)| method.as_str());
    assert_eq!(methods.filter(|method| *method != "GET").count(), 0);
}

#[test]
fn a_flag_comes_before_the_cluster_and_the_cluster_before_the_manifest() {
    let scene = Scene::new();
    let status =
        "status:\n  install:\n    bundle: {name: lantern-operator.v1.2.0, version: 1.2.0}\n";
    scene.write("a.yaml", &(extension("1.3.0") + status));
    scene.installed("1.0.0");
    assert_eq!(scene.token(&[]), token(1, "NotASuccessor"));
    let asked = scene.api.asked().len();
    let by_flag = scene.token(&["--installed=a=1.2.0"]);
    assert_eq!(by_flag, token(0, "Resolved"));
    let later = scene.api.asked().split_off(asked);
    let extensions = later
        .iter()
        .filter(|(_, path)| path.starts_with(EXTENSIONS));
    assert_eq!(extensions.count(), 0, "{later:?}");
}

#[test]
fn what_is_not_in_the_cluster_is_not_installed_whatever_the_manifest_says() {
    let scene = Scene::new();
    let status =
        "status:\n  install:\n    bundle: {name: lantern-operator.v1.0.0, version: 1.0.0}\n";
    scene.write("a.yaml", &(extension("1.3.0") + status));
    let (code, result, _) = scene.judged(LIVE);
    assert_eq!((code, &result["installed"]), (Some(0), &json!(null)));
}

#[test]
fn the_whole_status_counts() {
    let scene = Scene::new();
    let unknown = json!([{"type": "Installed", "status": "Unknown"}]);
    scene.api.extension("a", &json!({"conditions": unknown}));
    assert_eq!(scene.token(&[]), token(4, "InstalledUnknown"));
    let bundle = json!({"name": "lantern-operator.v1.2.0", "version": "1.2.0"});
    let rolling = json!([{"type": "Progressing", "status": "True", "reason": "RollingOut"}]);
    let status = json!({"install": {"bundle": bundle}, "conditions": rolling});
    scene.api.extension("a", &status);
    let (code, result, _) = scene.judged(LIVE);
    let warnings = result["warnings"].as_array().expect("a list");
    assert_eq!((code, warnings.len()), (Some(0), 1), "{warnings:?}");
}

#[test]
fn an_extension_that_is_not_shown_is_undecided() {
    let scene = Scene::new();
    let path = format!("{EXTENSIONS}/a");
    scene.api.answer(&path, StatusCode::FORBIDDEN, "{}");
    let (code, result, _) = scene.judged(LIVE);
    assert_eq!(
        (code, &result["token"]),
        (Some(4), &json!("InstalledUnknown"))
    );
    let by_flag = scene.token(&["--installed=a=1.2.0"]);
    assert_eq!(by_flag, token(0, "Resolved"));
}

#[test]
fn a_catalog_that_cannot_be_fetched_is_undecided_and_one_that_cannot_be_read_a_bad_input() {
    let scene = Scene::new();
    scene.api.answer(HUB_PATH, StatusCode::NOT_FOUND, "");
    let (code, result, stderr) = scene.judged(LIVE);
    assert_eq!(
        (code, &result["token"]),
        (Some(4), &json!("CatalogNotLoaded"))
    );
    assert_eq!(
        stderr,
        "warning: catalog \"hub\": answered HTTP 404 Not Found, expected 200 OK; catalogd answers \
         so until it has loaded the catalog\n"
    );
    scene.api.answer(HUB_PATH, StatusCode::OK, "schema: [");
    let (code, result, stderr) = scene.judged(LIVE);
    assert_eq!(
        (code, &result["token"]),
        (Some(3), &json!("CatalogNotLoaded"))
    );
    assert!(
        stderr.starts_with("error: catalog \"hub\": hub:1:9: "),
        "{stderr}"
    );
    scene.write("hub.yaml", HUB);
    assert_eq!(
        scene.token(&["--catalog=hub=hub.yaml"]),
        token(0, "Resolved")
    );
}

#[test]
fn content_comes_through_the_api_server_where_catalogd_is_out_of_reach() {
    let scene = Scene::new();
    let base = "https://catalogd-service.olmv1-system.svc/catalogs/hub";
    scene.api.catalogs(&[catalog("hub", base)]);
    let (code, _, stderr) = scene.judged(LIVE);
    assert_eq!(code, Some(4));
    let direct = "catalog \"hub\": cannot connect to catalogd-service.olmv1-system.svc: ";
    let proxy = "/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy";
    let path = format!("{proxy}{HUB_PATH}");
    let proxied = format!("all, through the API server: 404: {path} not found\n");
    assert!(
        stderr.contains(direct) && stderr.ends_with(&proxied),
        "{stderr}"
    );
    scene.api.answer(&path, StatusCode::OK, HUB);
    assert_eq!(scene.token(&[]), token(0, "Resolved"));
    scene.api.answer(&path, StatusCode::OK, "schema: [");
    assert_eq!(scene.token(&[]), token(3, "CatalogNotLoaded"));
}

#[test]
fn objects_among_the_inputs_say_what_a_manifest_says() {
    let scene = Scene::new();
    let mut hub = scene.hub();
    hub["spec"]["availabilityMode"] = json!("Unavailable");
    scene.api.catalogs(&[hub]);
    assert_eq!(scene.token(&[]), token(4, "NoCatalogs"));
    let object =
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata:\n  name: hub\n";
    scene.write("hub.yaml", object);
    // A catalog that takes no part in resolution is not fetched.
    assert_eq!(scene.token(&["-f=hub.yaml"]), token(4, "CatalogNotLoaded"));
    scene.api.catalogs(&[scene.hub()]);
    let unavailable = format!("{object}spec: {{availabilityMode: Unavailable}}\n");
    scene.write("hub.yaml", &unavailable);
    assert_eq!(scene.token(&["-f=hub.yaml"]), token(4, "NoCatalogs"));
}

#[test]
fn the_olm_is_that_of_the_cluster_unless_the_flags_say_otherwise() {
    let scene = Scene::of("1.4");
    let said = |flags: &[&str]| scene.judged(&[LIVE, flags].concat()).2;
    assert_eq!(said(&[]), "");
    assert_eq!(said(&["--olm-release=1.4"]), "");
    assert_eq!(
        said(&["--olm-release=1.9"]),
        "warning: OLM 1.4 runs in the cluster, but --olm-release sets 1.9, which olmguard uses\n"
    );
    assert_eq!(
        said(&["--olm-namespace=elsewhere"]),
        "warning: no operator-controller: expected a Deployment \
         operator-controller-controller-manager in namespace elsewhere; is OLM v1 installed?; \
         checked as OLM 1.11, the newest known release\n"
    );
}

#[test]
fn flags_that_do_nothing_or_contradict_each_other_are_wrong_usage() {
    let scene = Scene::new();
    let misused = |flags: &[&str]| {
        let ran = scene.run(&[&["check", "-f", "a.yaml"], flags].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{flags:?}");
        ran.stderr
    };
    for flag in [
        "--kubeconfig",
        "--context",
        "--olm-namespace",
        "--catalogd-ca",
    ] {
        let expected =
            format!("error: {flag} needs a cluster: use it together with --from-cluster\n");
        assert_eq!(misused(&[flag, "x"]), expected);
    }
    assert_eq!(
        misused(&[LIVE, &["--snapshot=saved"]].concat()),
        "error: --snapshot and --from-cluster cannot be used together: each of them gives the \
         catalogs\n"
    );
    let asked = scene.api.asked();
    assert_eq!(asked, [], "nobody is asked before");
}

#[test]
fn its_twin_is_in_the_environment() {
    let scene = Scene::new();
    let settings = [
        ("OLMGUARD_FROM_CLUSTER", "true"),
        ("KUBECONFIG", "kubeconfig"),
    ];
    let ran = scene.run_as(&["check", "-f", "a.yaml"], &settings);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let asked = scene.api.asked();
    assert!(asked.iter().any(|(_, path)| path == CATALOGS), "{asked:?}");
}

// === The images of bundles, and the CRDs of the cluster ===

const CRD_PATH: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/lanterns.example.com";

/// The catalog names the CRD of the bundle, so the image is not needed.
#[test]
fn a_crd_of_something_else_is_known_without_the_image() {
    let scene = Scene::new();
    let properties =
        "- {type: olm.package, value: {packageName: lantern-operator, version: \"1.3.0\"}}\n";
    let csv = "- type: olm.csv.metadata\n  value:\n    installModes: [{type: AllNamespaces, supported: true}]\n    \
         crdDescriptions: {owned: [{name: lanterns.example.com, kind: Lantern, version: v1}]}\n";
    let hub = HUB.replace(properties, &format!("{properties}{csv}"));
    assert_ne!(hub, HUB);
    scene.api.answer(HUB_PATH, StatusCode::OK, &hub);
    assert_eq!(scene.token(&[]), (Some(0), "Resolved".to_owned()));
    let crd = |owner: &str| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "lanterns.example.com", "labels": {
                "olm.operatorframework.io/owner-kind": "ClusterExtension",
                "olm.operatorframework.io/owner-name": owner}}})
    };
    scene.api.put(CRD_PATH, &crd("other"));
    let (code, result, _) = scene.judged(LIVE);
    assert_eq!(
        (code, &result["checks"]),
        (Some(1), &json!(["owned-elsewhere"]))
    );
    let off = scene.token(&["--preflight", "off"]);
    assert_eq!(off, (Some(0), "Resolved".to_owned()));
}

#[test]
fn a_namespace_that_comes_with_the_extension_is_not_missing() {
    let scene = Scene::new();
    let absent = r#"{"kind": "Status", "code": 404, "reason": "NotFound"}"#;
    let path = "/api/v1/namespaces/lantern";
    scene.api.answer(path, StatusCode::NOT_FOUND, absent);
    let warnings = || {
        let (_, result, _) = scene.judged(LIVE);
        result["warnings"].clone()
    };
    assert_eq!(
        warnings(),
        json!(["namespace lantern does not exist, and OLM does not create it [namespace-missing]"])
    );
    let namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: lantern\n";
    scene.write("a.yaml", &format!("{}{namespace}", extension("1.3.0")));
    assert_eq!(warnings(), json!([]));
}

/// Returns the cluster with bundle 1.3.0 in this registry.
fn with_image(registry: &TestRegistry) -> Scene {
    let scene = Scene::new();
    let image = "example.com/lantern/lantern-operator-bundle:v1.3.0";
    let hub = HUB.replace(image, &registry.image("lantern:v1"));
    scene.api.answer(HUB_PATH, StatusCode::OK, &hub);
    scene.installed("1.2.0");
    let crds = json!({"name": "customresourcedefinitions", "singularName": "", "namespaced": false,
        "kind": "CustomResourceDefinition", "verbs": ["get", "list"]});
    let list = json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "apiextensions.k8s.io/v1",
        "resources": [crds]});
    scene.api.put("/apis/apiextensions.k8s.io/v1", &list);
    scene
}

#[test]
fn a_bundle_that_cannot_replace_a_crd_of_the_cluster_is_denied() {
    let registry = TestRegistry::of(bundle("{type: object}"));
    let scene = with_image(&registry);
    let cache = scene.path().join("cache");
    let cache = [("XDG_CACHE_HOME", cache.to_str().expect("a path"))];
    let check = || {
        let flags = ["check", "-f", "a.yaml", "--pull", "-o", "json"];
        let ran = scene.run_as(&[&flags[..], LIVE].concat(), &cache);
        let report: Value = serde_json::from_str(&ran.stdout).expect(&ran.stderr);
        let result = &report["results"][0];
        (
            ran.code,
            result["token"].clone(),
            result["checks"].clone(),
            ran.stderr,
        )
    };
    scene.api.answer(
        CRD_PATH,
        StatusCode::NOT_FOUND,
        r#"{"kind": "Status", "code": 404, "reason": "NotFound"}"#,
    );
    assert_eq!(
        check(),
        (Some(0), json!("Resolved"), Value::Null, String::new())
    );
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "lanterns.example.com"},
        "spec": {"scope": "Cluster", "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object"}}}]},
        "status": {"storedVersions": ["v1"]}});
    scene.api.put(CRD_PATH, &crd);
    assert_eq!(
        check(),
        (
            Some(1),
            json!("Preflight"),
            json!(["crd-scope"]),
            String::new()
        )
    );
    scene.api.answer(
        CRD_PATH,
        StatusCode::FORBIDDEN,
        r#"{"kind": "Status", "code": 403, "message": "no"}"#,
    );
    let (code, token, checks, stderr) = check();
    assert_eq!(
        (code, token, checks),
        (Some(4), json!("Resolved"), Value::Null)
    );
    assert_eq!(
        stderr,
        "error: cannot read CustomResourceDefinition \"lanterns.example.com\": the API server answers 403: no\n"
    );
}
