//! `olmguard audit --from-cluster`: all that runs in a cluster.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::scene::Scene;
use olmguard_support::api_server::EXTENSIONS;

const AUDIT: &[&str] = &["audit", "--from-cluster", "--kubeconfig=kubeconfig"];

/// An extension as a cluster has it, with more than is read of it.
fn running(name: &str, range: &str, installed: &str) -> Value {
    let catalog = json!({"packageName": "lantern-operator", "version": range});
    let bundle = json!({"name": format!("lantern-operator.v{installed}"), "version": installed});
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": name, "annotations": {"note": "SECRET"}, "labels": {"team": "a"}},
        "spec": {
            "namespace": "lantern", "serviceAccount": {"name": "SECRET"},
            "source": {"sourceType": "Catalog", "catalog": catalog},
        },
        "status": {"install": {"bundle": bundle}},
    })
}

fn scene() -> Scene {
    let scene = Scene::new();
    let good = running("good", "1.3.0", "1.3.0");
    let mut unread = running("unread", "1.0.0", "1.0.0");
    unread["status"]["install"]["bundle"]["version"] = 1.into();
    let denied = running("denied", "1.3.0", "1.0.0");
    scene.api.extensions(&[good, unread, denied]);
    scene
}

const REPORT: &str = "\
denied (lantern-operator): 1.0.0
  unresolvable: 1.3.0 is not a successor of 1.0.0 in catalog hub
  behind: 1.3.0 is reachable in 3 steps: set the version to \">=1.0.0 <=1.3.0\"
unread (lantern-operator): no installed bundle is known
  undecided: UNDECIDED
good (lantern-operator): 1.3.0
3 extensions: 1 without findings
";

#[track_caller]
fn is_report(text: &str) {
    let (_, rest) = text.split_once("  undecided: ").expect(text);
    let (reason, _) = rest.split_once('\n').expect(text);
    assert!(reason.contains("the status is malformed"), "{reason}");
    assert_eq!(text.replace(reason, "UNDECIDED"), REPORT);
}

#[test]
fn every_extension_of_the_cluster_is_audited() {
    let scene = scene();
    let ran = scene.run(AUDIT);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(4), ""));
    is_report(&ran.stdout);
    let asked = scene.api.asked();
    assert!(asked.iter().all(|(method, _)| method == "GET"), "{asked:?}");
}

#[test]
fn a_list_that_is_forbidden_names_the_permission() {
    let scene = scene();
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
        "reason": "Forbidden", "message": "no",
    });
    let forbidden = StatusCode::FORBIDDEN;
    scene.api.answer(EXTENSIONS, forbidden, &status.to_string());
    let why = "installed extensions are unknown: cannot list clusterextensions.olm.operatorframework.io: the API \
               server answers 403: no; grant the verb \"list\" on them\n";
    let ran = scene.run(AUDIT);
    assert_eq!((ran.code, ran.stderr), (Some(4), format!("error: {why}")));
    assert_eq!(ran.stdout, "0 extensions: 0 without findings\n");
}

#[test]
fn a_cluster_that_breaks_off_is_reported_as_far_as_it_answered() {
    let scene = scene();
    let first = json!({
        "kind": "List", "apiVersion": "v1", "metadata": {"continue": "more"},
        "items": [running("good", "1.3.0", "1.3.0")],
    });
    scene.api.put(EXTENSIONS, &first);
    // The same page comes again and again.
    let ran = scene.run(AUDIT);
    assert_eq!(ran.code, Some(4));
    assert!(
        ran.stderr
            .contains("some installed extensions are unknown: "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stdout
            .ends_with("1000 extensions: 1000 without findings\n"),
        "{}",
        ran.stdout
            .lines()
            .rev()
            .take(3)
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn a_cluster_that_is_not_there_has_an_empty_report() {
    let scene = Scene::new();
    let nowhere = scene
        .api
        .kubeconfig()
        .replace(&scene.api.port.to_string(), "1");
    scene.write("kubeconfig", &nowhere);
    let ran = scene.run(AUDIT);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(4), "0 extensions: 0 without findings\n")
    );
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
}

#[test]
fn without_extensions_and_without_a_place_for_them() {
    let scene = Scene::new();
    let ran = scene.run(AUDIT);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(0), "0 extensions: 0 without findings\n")
    );
    assert_eq!(
        ran.stderr,
        "warning: there is no ClusterExtension, so nothing is reported\n"
    );
    scene.write("hub.yaml", super::scene::HUB);
    let ran = scene.run(&["audit", "--catalog=hub=hub.yaml"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    assert_eq!(
        ran.stderr,
        "error: no extension is given: expected PATH or --from-cluster\n"
    );
}
