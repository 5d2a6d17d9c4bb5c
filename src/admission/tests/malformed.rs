//! Bodies that are no review: one line each says what is wrong.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::update;
use crate::admission::{OnUndecided, Review};

#[track_caller]
fn refused(body: &[u8], expected: &str) {
    let shown = String::from_utf8_lossy(body.get(..80).unwrap_or(body)).into_owned();
    let error = Review::from_bytes(body).unwrap_err().to_string();
    assert!(
        error.starts_with("not an AdmissionReview: "),
        "{shown}: {error}"
    );
    assert!(error.contains(expected), "{shown}: {error}");
    assert!(
        !error.contains(char::is_control) && error.len() < 300,
        "{shown}: {error}"
    );
}

#[test]
fn what_is_no_json_is_refused_in_one_line() {
    let rows: Vec<(Vec<u8>, &str)> = vec![
        (
            b"".to_vec(),
            "not JSON: EOF while parsing a value at line 1 column 0",
        ),
        (b"   ".to_vec(), "not JSON: EOF while parsing a value"),
        (
            b"\0".to_vec(),
            "not JSON: expected value at line 1 column 1",
        ),
        (
            b"{\"kind\": \"AdmissionReview\"".to_vec(),
            "not JSON: EOF while parsing an object",
        ),
        (
            b"\xef\xbb\xbf{}".to_vec(),
            "not JSON: expected value at line 1 column 1",
        ),
        (
            b"{\"kind\": \"\xff\"}".to_vec(),
            "not JSON: invalid unicode code point",
        ),
        (b"{\"kind\": \"\\ud800\"}".to_vec(), "not JSON: "),
        (b"{} {}".to_vec(), "not JSON: trailing characters"),
        (b"{'kind': 1}".to_vec(), "not JSON: key must be a string"),
        (b"[1,]".to_vec(), "not JSON: "),
        (b"1e9999".to_vec(), "not JSON: number out of range"),
        (
            "[".repeat(200_000).into_bytes(),
            "not JSON: EOF while parsing",
        ),
        (
            b"kind: AdmissionReview".to_vec(),
            "not JSON: expected value",
        ),
    ];
    for (body, expected) in rows {
        refused(&body, expected);
    }
}

#[test]
fn what_is_no_review_is_refused_in_one_line() {
    let with = |change: fn(&mut Value)| {
        let mut review = update("1.0.0", "1.1.0");
        change(&mut review);
        review.to_string().into_bytes()
    };
    let rows: Vec<(Vec<u8>, &str)> = vec![
        (b"null".to_vec(), "kind is absent: expected AdmissionReview"),
        (b"[]".to_vec(), "kind is absent: expected AdmissionReview"),
        (b"{}".to_vec(), "kind is absent: expected AdmissionReview"),
        (
            with(|r| r["kind"] = json!("Review")),
            "kind is \"Review\": expected AdmissionReview",
        ),
        (
            with(|r| r["kind"] = json!(1)),
            "kind is integer: expected AdmissionReview",
        ),
        (
            with(|r| r["kind"] = json!("\n".repeat(100))),
            "...: expected AdmissionReview",
        ),
        (
            with(|r| r["apiVersion"] = json!("admission.k8s.io/v1beta1")),
            "apiVersion is \"admission.k8s.io/v1beta1\": expected admission.k8s.io/v1",
        ),
        (
            with(|r| r["request"] = json!(null)),
            "request is null: expected an object",
        ),
        (
            with(|r| r["request"] = json!([])),
            "request is array: expected an object",
        ),
        (
            with(|r| {
                let request = r["request"].take();
                r["response"] = request;
            }),
            "request is null: expected an object",
        ),
        (
            with(|r| r["request"]["uid"] = json!(null)),
            "request.uid is null: expected a string",
        ),
        (
            with(|r| r["request"]["uid"] = json!("")),
            "request.uid is \"\": expected a string",
        ),
        (
            with(|r| r["request"]["uid"] = json!(7)),
            "request.uid is integer: expected a string",
        ),
        (
            with(|r| drop(r["request"].as_object_mut().unwrap().remove("operation"))),
            "request.operation is absent: expected a string",
        ),
        (
            with(|r| r["request"]["subResource"] = json!(false)),
            "request.subResource is boolean: expected a string",
        ),
        (
            with(|r| r["request"]["object"] = json!(null)),
            "request.object is null: expected an object",
        ),
        (
            with(|r| r["request"]["object"] = json!("x")),
            "request.object is string: expected an object",
        ),
    ];
    for (body, expected) in rows {
        refused(&body, expected);
    }
}

#[test]
fn of_two_equal_keys_the_last_counts() {
    let body = update("1.0.0", "1.1.0").to_string();
    let twice = body.replacen('{', r#"{"kind": "Other", "request": null, "#, 1);
    let review = Review::from_bytes(twice.as_bytes()).unwrap();
    assert_eq!(review.uid(), "705ab4f5-6393-11e8-b7cc-42010a800002");
}

/// JSON of any form, with the words of a review strewn in.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS.to_vec()).prop_map(|word| json!(word));
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        ".{0,12}".prop_map(|value| json!(value)),
        word,
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let key = prop_oneof![
            prop::sample::select(KEYS.to_vec()).prop_map(str::to_owned),
            ".{0,3}"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

#[track_caller]
fn answered_or_refused(body: &[u8]) {
    let Ok(review) = Review::from_bytes(body) else {
        return;
    };
    for on_undecided in [OnUndecided::Warn, OnUndecided::Deny] {
        let answer = review.answer(&super::snapshot());
        let reply = review.reply(&answer, on_undecided).to_bytes();
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        assert_eq!(reply["response"]["uid"], review.uid());
        assert_eq!(reply["kind"], "AdmissionReview");
        let refused = reply["response"]["status"]["code"] == 403;
        assert_eq!(reply["response"]["allowed"], !refused);
    }
}

proptest! {
    #[test]
    fn no_body_is_too_strange(body in prop::collection::vec(any::<u8>(), 0..200)) {
        answered_or_refused(&body);
    }

    #[test]
    fn no_request_is_too_strange(request in any_json(), uid in ".{1,8}", operation in "CREATE|UPDATE") {
        let mut review = update("1.0.0", "1.1.0");
        if let Value::Object(fields) = request {
            review["request"].as_object_mut().unwrap().extend(fields);
        }
        review["request"]["uid"] = json!(uid);
        review["request"]["operation"] = json!(operation);
        answered_or_refused(review.to_string().as_bytes());
    }

    #[test]
    fn no_spec_or_status_is_too_strange(object in any_json(), old in any_json()) {
        let mut review = update("1.0.0", "1.1.0");
        review["request"]["object"]["spec"] = object;
        review["request"]["oldObject"]["status"] = old;
        answered_or_refused(review.to_string().as_bytes());
    }
}

const KEYS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "spec",
    "status",
    "source",
    "catalog",
    "packageName",
    "version",
    "channels",
    "selector",
    "install",
    "bundle",
    "object",
    "oldObject",
    "subResource",
    "conditions",
    "type",
    "deletionTimestamp",
];

const WORDS: &[&str] = &[
    "olm.operatorframework.io/v1",
    "olm.operatorframework.io/v1alpha1",
    "ClusterExtension",
    "Operator",
    "p",
    "1.0.0",
    "p.v1.0.0",
    ">=1.0.0",
    "SelfCertified",
    "Unknown",
    "Installed",
];
