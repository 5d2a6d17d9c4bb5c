//! The cost of the steps around a decision, from the bytes of a review to the bytes of its reply.
//!
//! The body is an UPDATE as an API server sends it, of about 6 KB: both objects with their `managedFields` and the
//! annotation of `kubectl apply`, and a user with groups. The catalog is small, so `answer` mostly formats text;
//! `resolve` times decisions with real catalogs.

use std::hint::black_box;

use olmguard::source::load_bytes;
use olmguard_admission::{Enforcement, Review};
use olmguard_catalog::olm::Rules;
use olmguard_engine::judge::Basis;
use olmguard_engine::snapshot::Snapshot;
use olmguard_figures::Unit;
use olmguard_policy::Moment;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::run::Run;
use crate::turns::each;

pub(crate) fn measure(run: &Run) {
    let snapshot = snapshot();
    for (name, to, token) in ROWS {
        let body = body(to);
        let text = std::str::from_utf8(&body).expect("it is text");
        let basis = || Basis::without_policies(&snapshot);
        let decode =
            || Review::from_bytes(black_box(&body), Moment::EPOCH).expect("it is a review");
        let review = decode();
        let answer = review.answer(basis());
        assert_eq!(answer.token.as_str(), *token, "{name}");
        let reply = || {
            let reply = black_box(&review).reply(&answer, Enforcement::default());
            drop(black_box(reply.to_bytes()));
        };
        let together = || {
            let review = decode();
            let answer = review.answer(basis());
            let reply = review.reply(&answer, Enforcement::default());
            drop(black_box(reply.to_bytes()));
        };
        let note = |step: &str, seconds: f64| {
            let row = format!("{name}: {step}");
            run.note(&run.figure(row, Unit::Microseconds, seconds * 1e6));
        };
        // The lower bound of decoding.
        let pass_over = || {
            let IgnoredAny = serde_json::from_str(black_box(text)).expect("it is JSON");
        };
        note("reading it as JSON, keeping nothing", each(run, pass_over));
        note("decoding it", each(run, || drop(decode())));
        let answer = || drop(black_box(&review).answer(basis()));
        note("answering, with message and advice", each(run, answer));
        note("writing the reply", each(run, reply));
        note("all of it", each(run, together));
    }
}

/// An edit by its name, the version that it requests, and the reason code of its answer.
const ROWS: &[(&str, &str, &str)] = &[
    ("allowed", "1.1.0", "Resolved"),
    ("refused", "2.0.0", "NotASuccessor"),
    ("label edit", "1.0.0", "NotJudged"),
];

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
{"schema": "olm.bundle", "package": "argocd-operator", "name": "argocd-operator.v1.0.0", "image": "example.com/argocd:v1", "properties": [
  {"type": "olm.package", "value": {"packageName": "argocd-operator", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "argocd-operator", "name": "argocd-operator.v1.1.0", "image": "example.com/argocd:v1", "properties": [
  {"type": "olm.package", "value": {"packageName": "argocd-operator", "version": "1.1.0"}}]}
{"schema": "olm.bundle", "package": "argocd-operator", "name": "argocd-operator.v2.0.0", "image": "example.com/argocd:v1", "properties": [
  {"type": "olm.package", "value": {"packageName": "argocd-operator", "version": "2.0.0"}}]}
"#;
