//! What the protocol around a decision costs: from the bytes of a review to those of its reply.
//!
//! The body is an UPDATE as an API server sends it, of some 6 KB: both objects with their
//! `managedFields` and the annotation of `kubectl apply`, and a user with groups. The catalog is a
//! small one, so that `answer` is mostly words; `resolve` times decisions over real ones.

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher, black_box};
use olmguard::admission::{Enforcement, Review};
use olmguard::source::load_bytes;
use olmguard_catalog::olm::Rules;
use olmguard_engine::judge::Basis;
use olmguard_engine::snapshot::Snapshot;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// What it costs to pass over the body as JSON and keep nothing: decoding can cost no less.
#[divan::bench(args = ROWS)]
fn pass_over(bencher: Bencher<'_, '_>, to: &str) {
    let body = body(to);
    let text = std::str::from_utf8(&body).expect("it is text");
    bencher
        .counter(BytesCount::new(body.len()))
        .bench(|| serde_json::from_str::<IgnoredAny>(black_box(text)).expect("it is JSON"));
}

#[divan::bench(args = ROWS)]
fn decode(bencher: Bencher<'_, '_>, to: &str) {
    let body = body(to);
    bencher
        .counter(BytesCount::new(body.len()))
        .bench(|| Review::from_bytes(black_box(&body)).expect("it is a review"));
}

#[divan::bench(args = ROWS)]
fn answer(bencher: Bencher<'_, '_>, to: &str) {
    let (snapshot, review) = (snapshot(), review(to));
    bencher.bench(|| black_box(&review).answer(Basis::without_policies(&snapshot)));
}

#[divan::bench(args = ROWS)]
fn reply(bencher: Bencher<'_, '_>, to: &str) {
    let (snapshot, review) = (snapshot(), review(to));
    let answer = review.answer(Basis::without_policies(&snapshot));
    bencher.bench(|| {
        black_box(&review)
            .reply(&answer, Enforcement::default())
            .to_bytes()
    });
}

#[divan::bench(args = ROWS)]
fn together(bencher: Bencher<'_, '_>, to: &str) {
    let (snapshot, body) = (snapshot(), body(to));
    bencher.counter(BytesCount::new(body.len())).bench(|| {
        let review = Review::from_bytes(black_box(&body)).expect("it is a review");
        let answer = review.answer(Basis::without_policies(&snapshot));
        review.reply(&answer, Enforcement::default()).to_bytes()
    });
}

/// A step that is allowed, one that is refused, and an edit that changes labels only.
const ROWS: &[&str] = &[ALLOWED, REFUSED, UNCHANGED];
const ALLOWED: &str = "1.1.0";
const REFUSED: &str = "2.0.0";
const UNCHANGED: &str = "1.0.0";

fn review(to: &str) -> Review {
    Review::from_bytes(&body(to)).expect("it is a review")
}

fn snapshot() -> Snapshot {
    let rules = Rules::default();
    let state = load_bytes("operatorhubio", CATALOG.as_bytes(), &rules);
    Snapshot::new(rules, [state])
}

fn body(to: &str) -> Vec<u8> {
    let resource = json!({"group": GROUP, "version": "v1", "resource": "clusterextensions"});
    let kind = json!({"group": GROUP, "version": "v1", "kind": "ClusterExtension"});
    let review = json!({
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind,
            "resource": resource,
            "requestKind": kind,
            "requestResource": resource,
            "name": "argocd",
            "operation": "UPDATE",
            "userInfo": {
                "username": "system:serviceaccount:openshift-gitops:argocd-application-controller",
                "uid": "0b1c5e0e-3b5e-4a53-9b07-8f8a4f0f1a11",
                "groups": ["system:serviceaccounts", "system:serviceaccounts:openshift-gitops", "system:authenticated"],
                "extra": {
                    "authentication.kubernetes.io/credential-id": ["JTI=5c7d5a53-9b3f-4f56-9b7c-2f3f86d7a0d4"],
                    "authentication.kubernetes.io/node-name": ["worker-1.example.com"],
                    "authentication.kubernetes.io/pod-name": ["argocd-application-controller-0"],
                },
            },
            "object": object(to),
            "oldObject": object("1.0.0"),
            "dryRun": false,
            "options": {"kind": "PatchOptions", "apiVersion": "meta.k8s.io/v1", "force": true, "fieldManager": "argocd-controller"},
        },
    });
    review.to_string().into_bytes()
}

fn object(version: &str) -> Value {
    let spec = json!({
        "namespace": "argocd",
        "serviceAccount": {"name": "argocd-installer"},
        "source": {"sourceType": "Catalog", "catalog": {
            "packageName": "argocd-operator",
            "channels": ["stable"],
            "version": version,
            "selector": {"matchLabels": {"olm.operatorframework.io/metadata.name": "operatorhubio"}},
            "upgradeConstraintPolicy": "CatalogProvided",
        }},
        "install": {"preflight": {"crdUpgradeSafety": {"enforcement": "Strict"}}},
    });
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {
            "name": "argocd",
            "uid": "8a1ec5ef-6c0f-4f5f-9d5f-1f9a6a2f7d10",
            "resourceVersion": "1234567",
            "generation": 3,
            "creationTimestamp": "2026-01-05T09:30:00Z",
            "labels": {"app.kubernetes.io/instance": "argocd", "app.kubernetes.io/managed-by": "gitops"},
            "finalizers": ["olm.operatorframework.io/cleanup-unpack-cache", "olm.operatorframework.io/cleanup-contentmanager-cache"],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": spec.to_string()},
            "managedFields": [
                managed("argocd-controller", &json!({"f:spec": {"f:namespace": {}, "f:serviceAccount": {"f:name": {}},
                    "f:source": {"f:sourceType": {}, "f:catalog": {"f:packageName": {}, "f:version": {}, "f:channels": {}}}}})),
                managed("operator-controller", &json!({"f:status": {".": {}, "f:conditions": {".": {},
                    "k:{\"type\":\"Installed\"}": {".": {}, "f:lastTransitionTime": {}, "f:message": {}, "f:reason": {}, "f:status": {}},
                    "k:{\"type\":\"Progressing\"}": {".": {}, "f:lastTransitionTime": {}, "f:message": {}, "f:reason": {}, "f:status": {}}},
                    "f:install": {".": {}, "f:bundle": {".": {}, "f:name": {}, "f:version": {}}}}})),
            ],
        },
        "spec": spec,
        "status": {
            "conditions": [
                condition("Installed", "Succeeded", "Installed bundle registry.example/operatorhubio/argocd-operator:v1.0.0 successfully"),
                condition("Progressing", "Succeeded", "desired state reached"),
                condition("Deprecated", "Deprecated", ""),
            ],
            "install": {"bundle": {"name": "argocd-operator.v1.0.0", "version": "1.0.0"}},
        },
    })
}

fn managed(manager: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": "Apply", "apiVersion": "olm.operatorframework.io/v1",
           "time": "2026-01-05T09:30:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields})
}

fn condition(kind: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": reason, "message": message,
           "observedGeneration": 3, "lastTransitionTime": "2026-01-05T09:31:00Z"})
}

const GROUP: &str = "olm.operatorframework.io";

const CATALOG: &str = r#"
{"schema": "olm.package", "name": "argocd-operator"}
{"schema": "olm.channel", "package": "argocd-operator", "name": "stable", "entries": [
  {"name": "argocd-operator.v1.0.0"},
  {"name": "argocd-operator.v1.1.0", "replaces": "argocd-operator.v1.0.0"},
  {"name": "argocd-operator.v2.0.0", "replaces": "argocd-operator.v1.1.0"}]}
{"schema": "olm.bundle", "package": "argocd-operator", "name": "argocd-operator.v1.0.0", "image": "i", "properties": [
  {"type": "olm.package", "value": {"packageName": "argocd-operator", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "argocd-operator", "name": "argocd-operator.v1.1.0", "image": "i", "properties": [
  {"type": "olm.package", "value": {"packageName": "argocd-operator", "version": "1.1.0"}}]}
{"schema": "olm.bundle", "package": "argocd-operator", "name": "argocd-operator.v2.0.0", "image": "i", "properties": [
  {"type": "olm.package", "value": {"packageName": "argocd-operator", "version": "2.0.0"}}]}
"#;
