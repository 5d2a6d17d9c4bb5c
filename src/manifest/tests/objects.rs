//! Lists, and what is no object.

use super::only;
use crate::manifest::{ManifestObject, Position, ValueStep};

/// `apiVersion kind name` of each object.
#[track_caller]
fn unfolds(file: &str, want: &[&str]) {
    let (objects, _) = only(file).into_objects();
    let got: Vec<String> = objects.iter().map(shown).collect();
    assert_eq!(got, want, "{file:?}");
}

fn shown(object: &ManifestObject) -> String {
    let name = object.name.as_deref().unwrap_or("-");
    format!("{} {} {name}", object.api_version, object.kind)
}

#[test]
fn an_object_is_itself() {
    unfolds(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
        &["v1 Pod a"],
    );
    unfolds(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: ''}\n",
        &["v1 Pod -"],
    );
    unfolds("apiVersion: 1\nkind: yes\nmetadata: [a]\n", &["  -"]);
    unfolds("resources: [a.yaml]\n", &["  -"]);
    unfolds("- op: replace\n", &[]);
    unfolds("text\n", &[]);
    let review =
        "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {object: {kind: Pod}}\n";
    unfolds(review, &["admission.k8s.io/v1 AdmissionReview -"]);
}

#[test]
fn lists_are_their_items_in_order() {
    unfolds(
        "kind: List\nitems: [{kind: A, metadata: {name: a}}, null, text, {kind: B}]\n",
        &[" A a", " B -"],
    );
    unfolds("kind: List\nitems: []\n", &[]);
    unfolds("kind: List\nitems: {a: b}\n", &[" List -"]);
    unfolds("kind: AllowList\nmetadata: {name: a}\n", &[" AllowList a"]);
    unfolds(
        "kind: List\nitems: [{kind: A}, {kind: List, items: [{kind: B}, {kind: C}]}, {kind: D}]\n",
        &[" A -", " B -", " C -", " D -"],
    );
}

#[test]
fn items_of_a_typed_list_take_its_type() {
    let list =
        "apiVersion: olm/v1\nkind: ThingList\nitems: [{metadata: {name: a}}, {kind: Other}]\n";
    unfolds(list, &["olm/v1 Thing a", " Other -"]);
    let (objects, _) = only(list).into_objects();
    assert_eq!(objects[0].value["kind"], "Thing");
    unfolds(
        "apiVersion: v1\nkind: List\nitems: [{metadata: {name: a}}]\n",
        &["  a"],
    );
}

#[test]
fn items_keep_the_document_and_their_places() {
    let file = "kind: List\nitems:\n- kind: A\n- kind: List\n  items:\n  - kind: B\n    \
                spec: {version: 1}\n";
    let (objects, positions) = only(file).into_objects();
    let places: Vec<_> = objects
        .iter()
        .map(|object| object.position(&positions, &[]))
        .collect();
    assert_eq!(
        places,
        [
            Position { line: 3, column: 3 },
            Position { line: 6, column: 5 }
        ]
    );
    let version = [ValueStep::Key("spec"), ValueStep::Key("version")];
    assert_eq!(
        objects[1].position(&positions, &version),
        Position {
            line: 7,
            column: 21
        }
    );
    assert_eq!(
        objects[0].position(&positions, &version),
        Position { line: 3, column: 3 }
    );
    assert!(objects.iter().all(|object| object.document == 0));
}
