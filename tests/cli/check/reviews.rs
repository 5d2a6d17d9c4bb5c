//! Dumps of admission reviews among the inputs.

use serde_json::{Value, json};

use super::scene::{CATALOG, extension, scene};

fn object(version: &str, installed: &str) -> Value {
    let bundle = json!({"name": format!("lantern-operator.v{installed}"), "version": installed});
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": "lantern"},
        "spec": {"source": {"sourceType": "Catalog", "catalog": {
            "packageName": "lantern-operator", "version": version}}},
        "status": {"install": {"bundle": bundle}},
    })
}

fn review(request: &Value) -> String {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
        .to_string()
}

#[test]
fn what_is_installed_is_what_the_old_object_says() {
    let update = |old: &str, new: &str| {
        review(&json!({"uid": "1", "operation": "UPDATE",
            "oldObject": object("1.0.0", old), "object": object(new, "1.2.0")}))
    };
    let create = json!({"uid": "1", "operation": "CREATE", "object": object("1.3.0", "1.0.0")});
    let delete = json!({"uid": "1", "operation": "DELETE", "name": "lantern",
        "oldObject": object("1.3.0", "1.0.0")});
    let rows = [
        (review(&create), 0, "Resolved"),
        (update("1.0.0", "1.3.0"), 1, "NotASuccessor"),
        (update("1.2.0", "1.3.0"), 0, "Resolved"),
        (update("1.0.0", "1.0.0"), 0, "NotJudged"),
        (review(&delete), 0, "NotJudged"),
    ];
    for (review, code, token) in rows {
        let scene = scene(&[("review.json", &review)]);
        let (got, report) = scene.json(&["-f", "review.json", CATALOG]);
        let result = &report["results"][0];
        assert_eq!((got, &result["token"]), (code, &json!(token)), "{review}");
        assert_eq!(result["name"], "lantern");
    }
}

#[test]
fn the_place_is_that_within_the_review() {
    let text = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  uid: a\n  \
                operation: CREATE\n  kind: {group: olm.operatorframework.io, version: v1, \
                kind: ClusterExtension}\n  object:\n    metadata: {name: a}\n    spec: {source: \
                {catalog: {packageName: lantern-operator, version: 1.0}}}\n";
    let scene = scene(&[("review.yaml", text)]);
    let (code, report) = scene.json(&["-f", "review.yaml", CATALOG]);
    let result = &report["results"][0];
    assert_eq!((code, &result["token"]), (1, &json!("InvalidSpec")));
    assert_eq!(
        (&result["line"], &result["column"]),
        (&json!(9), &json!(71))
    );
}

#[test]
fn one_that_is_none_is_bad_input() {
    let bad = review(&json!({"uid": "", "operation": "CREATE"}));
    let scene = scene(&[("a.yaml", &extension("a", "1.1.0")), ("bad.json", &bad)]);
    let ran = scene.run(&["-f", "a.yaml", "bad.json", CATALOG]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let expected = "error: bad.json:1:1: ";
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
    assert!(ran.stderr.contains("request.uid"), "{}", ran.stderr);
}
