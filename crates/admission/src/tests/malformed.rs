//! Bodies that are not a review: each gets an error of one line.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{assert_valid_reply, update};
use crate::{Enforcement, Mode, OnUndecided, Review};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Basis, UnansweredReason, Wait};
use olmguard_policy::Moment;

#[track_caller]
fn refused(body: &[u8], expected: &str) {
    let error = Review::from_bytes(body, Moment::EPOCH)
        .unwrap_err()
        .to_string();
    assert_eq!(error, format!("not an AdmissionReview: {expected}"));
}

#[test]
fn what_is_no_json_is_refused_in_one_line() {
    let utf_16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let deep = "[".repeat(200_000);
    let rows: &[(&[u8], &str)] = &[
        (b"", "the body is empty: expected JSON"),
        (
            b"   ",
            "not JSON: EOF while parsing a value at line 1 column 3: expected one value as in RFC 8259",
        ),
        (b"\0", "byte 0 of the body is 0: expected JSON in UTF-8"),
        (
            b"{\"kind\": \"\0\"}",
            "byte 10 of the body is 0: expected JSON in UTF-8",
        ),
        (&utf_16, "byte 1 of the body is 0: expected JSON in UTF-8"),
        (
            b"\xef\xbb\xbf{}",
            "the body begins with a byte order mark: expected JSON in UTF-8 without one",
        ),
        (
            b"\xff\xfe{\0}\0",
            "the body is not UTF-8 from byte 0 on: expected JSON in UTF-8",
        ),
        (
            b"{\"a\": \"\xff\"}",
            "the body is not UTF-8 from byte 7 on: expected JSON in UTF-8",
        ),
        (
            b"{\"a\": \"\xc3",
            "the body is not UTF-8 from byte 7 on: expected JSON in UTF-8",
        ),
        (
            b"{\"kind\": \"AdmissionReview\"",
            "not JSON: EOF while parsing an object at line 1 column 26: expected one value as in RFC 8259",
        ),
        (
            b"{\"kind\": \"\\ud800\"}",
            "not JSON: unexpected end of hex escape at line 1 column 17: expected one value as in RFC 8259",
        ),
        (
            b"{\"kind\": \"\n\"}",
            "not JSON: control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0: expected one value as in RFC 8259",
        ),
        (
            b"{} {}",
            "not JSON: trailing characters at line 1 column 4: expected one value as in RFC 8259",
        ),
        (
            b"{'kind': 1}",
            "not JSON: key must be a string at line 1 column 2: expected one value as in RFC 8259",
        ),
        (
            b"{\"kind\": 1,}",
            "not JSON: trailing comma at line 1 column 12: expected one value as in RFC 8259",
        ),
        (
            b"[1,]",
            "not JSON: trailing comma at line 1 column 4: expected one value as in RFC 8259",
        ),
        (
            b"{\"kind\": 1e9999}",
            "not JSON: number out of range at line 1 column 15: expected one value as in RFC 8259",
        ),
        (
            b"NaN",
            "not JSON: expected value at line 1 column 1: expected one value as in RFC 8259",
        ),
        (
            deep.as_bytes(),
            "not JSON: EOF while parsing a list at line 1 column 200000: expected one value as in RFC 8259",
        ),
        (
            b"kind: AdmissionReview",
            "not JSON: expected value at line 1 column 1: expected one value as in RFC 8259",
        ),
        (
            b"uid=1&kind=AdmissionReview",
            "not JSON: expected value at line 1 column 1: expected one value as in RFC 8259",
        ),
    ];
    for (body, expected) in rows {
        refused(body, expected);
    }
}

#[test]
fn what_is_no_review_is_refused_in_one_line() {
    for (body, found) in [
        ("null", "null"),
        ("[]", "array"),
        ("true", "boolean"),
        ("7", "integer"),
        ("7.5", "number"),
        ("\"AdmissionReview\"", "string"),
    ] {
        let expected = format!("the body is {found}: expected an object");
        refused(body.as_bytes(), &expected);
    }
    refused(b"{}", "kind is absent: expected AdmissionReview");
}

/// A field of a review, its value, and the error for it.
#[test]
fn a_field_that_its_api_does_not_take_is_named() {
    let control = "\n".repeat(100);
    let escaped = format!(
        "kind is \"{}\"...: expected AdmissionReview",
        "\\n".repeat(60)
    );
    let long = "u".repeat(10_240);
    let rows: &[(&str, Value, &str)] = &[
        (
            "/kind",
            json!("Review"),
            "kind is \"Review\": expected AdmissionReview",
        ),
        (
            "/kind",
            json!(1),
            "kind is integer: expected AdmissionReview",
        ),
        (
            "/kind",
            json!({"a": 1}),
            "kind is object: expected AdmissionReview",
        ),
        ("/kind", json!(control), &escaped),
        (
            "/apiVersion",
            json!("admission.k8s.io/v1beta1"),
            "apiVersion is \"admission.k8s.io/v1beta1\": expected admission.k8s.io/v1",
        ),
        (
            "/apiVersion",
            json!(null),
            "apiVersion is null: expected admission.k8s.io/v1",
        ),
        (
            "/request",
            json!(null),
            "request is null: expected an object",
        ),
        (
            "/request",
            json!([]),
            "request is array: expected an object",
        ),
        (
            "/request/uid",
            json!(null),
            "request.uid is null: expected a string that is not empty",
        ),
        (
            "/request/uid",
            json!(""),
            "request.uid is \"\": expected a string that is not empty",
        ),
        (
            "/request/uid",
            json!(7),
            "request.uid is integer: expected a string that is not empty",
        ),
        (
            "/request/uid",
            json!(long),
            "request.uid is a string of 10240 bytes: expected a string of at most 128 bytes",
        ),
        (
            "/request/operation",
            json!(null),
            "request.operation is null: expected a string that is not empty",
        ),
        (
            "/request/operation",
            json!(["CREATE"]),
            "request.operation is array: expected a string that is not empty",
        ),
        (
            "/request/subResource",
            json!(false),
            "request.subResource is boolean: expected a string",
        ),
        (
            "/request/object",
            json!(null),
            "request.object is null: expected an object",
        ),
        (
            "/request/object",
            json!("x"),
            "request.object is string: expected an object",
        ),
    ];
    for (pointer, value, expected) in rows {
        let mut review = update("1.0.0", "1.1.0");
        let (object, key) = pointer.rsplit_once('/').unwrap();
        review.pointer_mut(object).unwrap()[key] = value.clone();
        refused(review.to_string().as_bytes(), expected);
    }
}

#[test]
fn a_response_is_no_request() {
    let body = br#"{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"uid": "u"}}"#;
    refused(body, "request is absent: expected an object");
}

#[test]
fn of_two_equal_keys_the_last_counts() {
    let body = update("1.0.0", "1.1.0").to_string();
    let twice = body.replacen('{', r#"{"kind": "Other", "request": null, "#, 1);
    let review = Review::from_bytes(twice.as_bytes(), Moment::EPOCH).unwrap();
    assert_eq!(review.uid(), "705ab4f5-6393-11e8-b7cc-42010a800002");
}

// === Bodies of any form: an error of one line, or replies that an API server can read ===

/// JSON of any form that contains words of a review.
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

/// Checks the result for any body: an error of one line, or replies that an API server can read.
#[track_caller]
fn answered_or_refused(body: &[u8]) {
    match Review::from_bytes(body, Moment::EPOCH) {
        Err(error) => {
            let error = error.to_string();
            let fits = error.len() <= 300 && !error.contains(char::is_control);
            assert!(fits, "{error:?}");
        }
        Ok(review) => {
            let mut answers = vec![review.answer(Basis::without_policies(&super::snapshot()))];
            answers.push(review.unanswered(LATE));
            answers.extend(review.settled());
            for (answer, enforcement) in answers.iter().flat_map(every) {
                let reply = review.reply(answer, enforcement);
                assert_valid_reply(&reply, review.uid());
            }
        }
    }
}

fn every(answer: &Answer) -> impl Iterator<Item = (&Answer, Enforcement)> {
    let modes = [Mode::Enforce, Mode::Observe];
    let both = modes.map(|mode| {
        [OnUndecided::Warn, OnUndecided::Deny]
            .map(|on_undecided| Enforcement { mode, on_undecided })
    });
    both.into_iter()
        .flatten()
        .map(move |enforcement| (answer, enforcement))
}

const LATE: UnansweredReason = UnansweredReason::DeadlineExceeded {
    waited_for: Wait::Judge,
    within: Duration::from_millis(1),
};

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
    fn no_json_is_too_strange(body in any_json()) {
        answered_or_refused(body.to_string().as_bytes());
    }

    #[test]
    fn no_name_is_too_strange(
        names in prop::collection::vec(hostile(), 8),
        pointers in prop::collection::vec(prop::sample::select(NAMES.to_vec()), 8),
        from in prop::sample::select(vec!["1.0.0", "2.0.0", "9", ""]),
        to in prop::sample::select(vec!["1.1.0", "2.0.0", ">=1", "x"]),
    ) {
        let mut review = update(from, to);
        for (name, pointer) in names.iter().zip(pointers) {
            *review.pointer_mut(pointer).unwrap() = json!(name);
        }
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

/// Names that no API server accepts: long ones, and ones that a terminal would interpret.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,20}",
        "[\u{0}-\u{1f}\u{202e}\u{2028}\"<\\\\]{1,50}",
        "\u{e4}{300}",
        "x{5000}",
    ]
}

/// The places of names and other user texts in a review.
const NAMES: &[&str] = &[
    "/request/kind/kind",
    "/request/kind/version",
    "/request/name",
    "/request/object/kind",
    "/request/object/metadata/name",
    "/request/object/spec/source/catalog/packageName",
    "/request/object/spec/source/catalog/version",
    "/request/object/spec/source/sourceType",
    "/request/oldObject/kind",
    "/request/oldObject/spec/source/catalog/version",
    "/request/oldObject/status/install/bundle/name",
    "/request/oldObject/status/install/bundle/version",
];

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
