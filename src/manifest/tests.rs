mod positions;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Document, DocumentError, ManifestObject, Position, ValueStep, documents};

/// Returns the contents of a file, with errors as texts.
fn contents(file: &[u8]) -> Vec<(usize, Result<Value, String>)> {
    let content = |outcome: Result<Document, DocumentError>| match outcome {
        Ok(document) => (document.index, Ok(document.value)),
        Err(error) => (error.index, Err(error.to_string())),
    };
    documents(file).map(content).collect()
}

#[track_caller]
fn only(file: impl AsRef<[u8]>) -> Document {
    let mut documents = documents(file.as_ref());
    let document = documents
        .next()
        .expect("one document")
        .expect("a good document");
    assert!(documents.next().is_none(), "one document only");
    document
}

#[track_caller]
fn error(file: impl AsRef<[u8]>) -> String {
    let mut errors = documents(file.as_ref()).filter_map(Result::err);
    errors.next().expect("an error").to_string()
}

// === YAML documents, compared with sigs.k8s.io/yaml ===

/// One document as sigs.k8s.io/yaml reads it.
#[derive(Deserialize)]
struct Row {
    yaml: String,
    json: Value,
    #[serde(default)]
    refused: bool,
}

#[test]
fn documents_agree_with_sigs_yaml() {
    let lines = include_str!("../../tests/vectors/yaml-documents.jsonl")
        .lines()
        .enumerate()
        .skip(1);
    for (n, line) in lines {
        let row: Row = serde_json::from_str(line).expect("vectors are well formed");
        let got = documents(row.yaml.as_bytes())
            .next()
            .expect("a document")
            .map(|read| read.value)
            .ok();
        let want = (!row.refused).then_some(row.json);
        assert_eq!(got, want, "yaml-documents.jsonl:{}: {line}", n + 1);
    }
}

#[test]
fn a_merge_is_no_duplicate_but_a_second_key_is() {
    let merged = only("x: &x {a: 1}\nz:\n  <<: *x\n  a: 2\n");
    assert_eq!(merged.value["z"], json!({"a": 2}));
    let twice = documents(b"x: &x {a: 1}\nz:\n  a: 2\n  <<: *x\n  a: 3\n").next();
    assert!(twice.expect("a document").is_err());
}

#[test]
fn a_bundle_can_have_a_key_twice() {
    for file in [
        "a: 1\nb: {c: 1, c: 2}\na: [3]\n",
        r#"{"a": 1, "b": {"c": 1, "c": 2}, "a": [3]}"#,
    ] {
        let mut read = documents(file.as_bytes()).with_repeated_keys();
        let value = read.next().expect("a document").expect("a good one").value;
        assert_eq!(value, json!({"a": [3], "b": {"c": 2}}), "{file}");
    }
}

// === Lists, and values that are not objects ===

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
    unfolds("kind: List\nitems: null\n", &[]);
    unfolds("kind: Pod\nitems: [{kind: B}]\n", &[" B -"]);
    unfolds("kind: Pod\nitems: text\n", &[" Pod -"]);
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
    unfolds("apiVersion: v1\nkind: Pod\nitems: [{}]\n", &["v1 Pod -"]);
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

/// The copy that an anchor keeps counts once, whatever anchors are around it.
#[test]
fn nested_anchors_cost_what_they_hold() {
    let begins = (0..120).map(|n| format!("a{n}: &a{n} {{"));
    let text = begins.collect::<String>() + "z: 1" + &"}".repeat(120);
    assert!(only(text).value.is_object());
}

/// The position of an item takes no walk over the items before it.
#[test]
fn positions_of_many_items_are_found_quickly() {
    let items = "- {kind: A}\n".repeat(100_000);
    let file = format!("kind: List\nitems:\n{items}");
    let (objects, positions) = only(file).into_objects();
    for (object, line) in objects.iter().zip(3..) {
        let position = object.position(&positions, &[]);
        assert_eq!(position, Position { line, column: 3 });
    }
    assert_eq!(objects.len(), 100_000);
}

// === Bytes that are not meant to be a manifest ===

/// Fragments of broken YAML and JSON.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        "[-:?,\\[\\]{}&*!|>'\"%@`# \t\r\n]{1,3}",
        Just("---\n".to_owned()),
        Just("...\n".to_owned()),
        Just("<<: *a\n".to_owned()),
        Just("&a ".to_owned()),
        Just("{{ x }}".to_owned()),
        Just("{\"é\": ".to_owned()),
        Just("\\ud800".to_owned()),
        Just("!!binary ".to_owned()),
        Just("\u{feff}".to_owned()),
        "[a-c0-9.]{1,3}",
    ];
    prop::collection::vec(scrap, 0..24).prop_map(|scraps| scraps.concat())
}

/// Checks the properties of any file: indices rise, places are inside the file, and errors are one
/// line.
fn holds_for_any(file: &[u8]) -> Result<(), TestCaseError> {
    let breaks = file
        .iter()
        .filter(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    let mut next_index = 0;
    for outcome in documents(file) {
        let (index, at) = match outcome {
            Ok(document) => {
                prop_assert!(!document.value.is_null());
                (document.index, document.positions.nearest(&[]))
            }
            Err(error) => {
                prop_assert!(!error.to_string().contains(['\n', '\r']), "{error}");
                (error.index, error.at)
            }
        };
        prop_assert!(index >= next_index);
        prop_assert!(at.line >= 1 && at.line as usize <= breaks + 1, "{at}");
        prop_assert!(
            at.column >= 1 && at.column as usize <= file.len() + 1,
            "{at}"
        );
        next_index = index + 1;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_are_documents_or_errors(file in prop::collection::vec(any::<u8>(), 0..200)) {
        holds_for_any(&file)?;
    }

    #[test]
    fn any_scraps_are_documents_or_errors(file in scraps()) {
        holds_for_any(file.as_bytes())?;
    }

    #[test]
    fn a_document_before_stays_as_it_is(file in scraps()) {
        let file = format!("---\nfirst: 1\n---\n{file}");
        let first = documents(file.as_bytes()).next().expect("the first").expect("a good one");
        prop_assert_eq!(first.value, serde_json::json!({"first": 1}));
    }
}

// === How a file is split into documents ===

#[track_caller]
fn splits_into(file: &str, want: &[(usize, Value)]) {
    let got: Vec<_> = contents(file.as_bytes());
    let want: Vec<_> = want
        .iter()
        .cloned()
        .map(|(index, value)| (index, Ok(value)))
        .collect();
    assert_eq!(got, want, "{file:?}");
}

#[test]
fn documents_count_from_zero_with_the_empty_ones() {
    let (a, b) = (json!({"a": 1}), json!({"b": 2}));
    splits_into("", &[]);
    splits_into("# nothing\n", &[]);
    splits_into("---\n---\n", &[]);
    splits_into("a: 1", &[(0, a.clone())]);
    splits_into("---\na: 1\n", &[(0, a.clone())]);
    splits_into("# licence\n\n---\na: 1\n", &[(0, a.clone())]);
    splits_into("%YAML 1.1\n---\na: 1\n", &[(0, a.clone())]);
    splits_into("a: 1\n---\nb: 2\n", &[(0, a.clone()), (1, b.clone())]);
    splits_into(
        "a: 1\n---\n# nothing\n---\nb: 2\n---\n",
        &[(0, a.clone()), (2, b.clone())],
    );
    splits_into("---\n---\na: 1\n", &[(1, a.clone())]);
    splits_into("null\n---\na: 1\n", &[(1, a.clone())]);
    splits_into(
        "a: 1\n...\n---\nb: 2\n...\n",
        &[(0, a.clone()), (1, b.clone())],
    );
    splits_into(
        "a: 1\n...\n%YAML 1.1\n---\nb: 2\n",
        &[(0, a.clone()), (1, b.clone())],
    );
    splits_into(
        "a: 1\n--- # next\nb: 2\n",
        &[(0, a.clone()), (1, b.clone())],
    );
    splits_into("a: 1\n--- {b: 2}\n", &[(0, a.clone()), (1, b.clone())]);
    splits_into("a: 1\r\n---\r\nb: 2\r\n", &[(0, a.clone()), (1, b.clone())]);
    splits_into("a: 1\r---\rb: 2\r", &[(0, a), (1, b)]);
    splits_into(
        "a: |\n  ---\n---b: 2\n",
        &[(0, json!({"a": "---\n", "---b": 2}))],
    );
}

#[test]
fn json_values_follow_one_another() {
    let (a, b) = (json!({"a": 1}), json!({"b": 2}));
    splits_into(r#"{"a":1}"#, &[(0, a.clone())]);
    splits_into(r#" {"a":1}{"b":2} "#, &[(0, a.clone()), (1, b.clone())]);
    splits_into(
        "{\"a\":1}\n\n{\"b\":2}\n---\n{\"a\":1}",
        &[(0, a.clone()), (1, b.clone()), (2, a.clone())],
    );
    splits_into("{\"a\":1}\n---\nb: 2\n", &[(0, a.clone()), (1, b.clone())]);
    splits_into("b: 2\n---\n{\"a\":1}\n", &[(0, b), (1, a)]);
    splits_into(
        "[[1, 2.0, 2.5], \"\\u00e9\\n\", null, true, -0.5e1]",
        &[(0, json!([[1, 2, 2.5], "é\n", null, true, -5]))],
    );
}

#[test]
fn brackets_with_plain_text_are_yaml() {
    splits_into(
        "{a: 1}\n---\n{b: 2,}\n",
        &[(0, json!({"a": 1})), (1, json!({"b": 2}))],
    );
    splits_into("[yes, 017]", &[(0, json!([true, 15]))]);
}

#[test]
fn a_broken_document_costs_only_itself() {
    let file = b"a: 1\n---\na: [1\n---\nb: 2\n---\n{\"x\": }\n---\n\xff\n---\nc: 3\n";
    let got = contents(file);
    assert_eq!(
        got.iter().map(|(index, _)| *index).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5]
    );
    let good: Vec<_> = got
        .into_iter()
        .filter_map(|(index, outcome)| Some((index, outcome.ok()?)))
        .collect();
    assert_eq!(
        good,
        [
            (0, json!({"a": 1})),
            (2, json!({"b": 2})),
            (5, json!({"c": 3}))
        ]
    );
}

#[test]
fn broken_json_ends_at_the_next_separator() {
    let got = contents(b"{\"a\":1} {\"a\":} {\"lost\":1}\n---\n{\"b\":2}\n");
    let shown: Vec<_> = got
        .into_iter()
        .map(|(index, outcome)| (index, outcome.ok()))
        .collect();
    assert_eq!(
        shown,
        [
            (0, Some(json!({"a": 1}))),
            (1, None),
            (2, Some(json!({"b": 2})))
        ]
    );
}
