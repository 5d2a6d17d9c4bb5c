//! Bodies that are no review: one line each says what is wrong.

use serde_json::{Value, json};

use super::update;
use crate::admission::Review;

#[track_caller]
fn refused(body: &[u8], expected: &str) {
    let error = Review::from_bytes(body).unwrap_err().to_string();
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

/// A field of a review, what stands there, and what is said of it.
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
    let review = Review::from_bytes(twice.as_bytes()).unwrap();
    assert_eq!(review.uid(), "705ab4f5-6393-11e8-b7cc-42010a800002");
}
