//! Reviews as rows: what is refused as malformed, what is judged, and what the reply says.

mod catalogs;
mod enforced;
mod malformed;
mod objects;
mod replies;
mod requester;
mod shapes;
mod strange;
mod subjects;
mod valid;

use olmguard_engine::judge::Basis;
use serde_json::{Value, json};

use crate::admission::{Enforcement, Mode, OnUndecided, Review};
use crate::source::load_bytes;
use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::Answer;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};

/// `p.v1.0.0 <- p.v1.1.0 <- p.v2.0.0` in catalog `c`.
fn snapshot() -> Snapshot {
    let rules = Rules::default();
    let state = load_bytes("c", CATALOG.as_bytes(), &rules);
    Snapshot::new(rules, [state])
}

fn unread() -> Snapshot {
    let content = Content::Unreadable("no such file".to_owned());
    Snapshot::new(Rules::default(), [CatalogState::named("c", content)])
}

/// An extension that asks for a version of `p`, and has what its status says.
fn extension(version: &str, status: &Value) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "x"},
        "spec": {"source": {"sourceType": "Catalog", "catalog": {
            "packageName": "p", "version": version
        }}},
        "status": status,
    })
}

fn installed(version: &str) -> Value {
    json!({"install": {"bundle": {"name": format!("p.v{version}"), "version": version}}})
}

fn review(operation: &str, object: &Value, old: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "olm.operatorframework.io", "version": "v1", "kind": "ClusterExtension"},
            "name": "x",
            "operation": operation,
            "object": object,
            "oldObject": old,
        },
    })
}

/// An update of `p` from one version to another.
fn update(from: &str, to: &str) -> Value {
    let old = extension(from, &installed(from));
    review("UPDATE", &extension(to, &json!({})), &old)
}

#[track_caller]
fn answer(review: &Value) -> Answer {
    Review::read(review)
        .unwrap()
        .answer(Basis::without_policies(&snapshot()))
}

/// The reply as the API server gets it.
#[track_caller]
fn reply(review: &Value, snapshot: &Snapshot, on_undecided: OnUndecided) -> Value {
    let review = Review::read(review).unwrap();
    let enforcement = Enforcement {
        mode: Mode::Enforce,
        on_undecided,
    };
    let answer = review.answer(Basis::without_policies(snapshot));
    let reply = review.reply(&answer, enforcement);
    serde_json::from_slice(&reply.to_bytes()).unwrap()
}

const CATALOG: &str = r#"
{"schema": "olm.package", "name": "p"}
{"schema": "olm.channel", "package": "p", "name": "stable", "entries": [
  {"name": "p.v1.0.0"},
  {"name": "p.v1.1.0", "replaces": "p.v1.0.0"},
  {"name": "p.v2.0.0", "replaces": "p.v1.1.0"}]}
{"schema": "olm.bundle", "package": "p", "name": "p.v1.0.0", "image": "i", "properties": [
  {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "p", "name": "p.v1.1.0", "image": "i", "properties": [
  {"type": "olm.package", "value": {"packageName": "p", "version": "1.1.0"}}]}
{"schema": "olm.bundle", "package": "p", "name": "p.v2.0.0", "image": "i", "properties": [
  {"type": "olm.package", "value": {"packageName": "p", "version": "2.0.0"}}]}
"#;
