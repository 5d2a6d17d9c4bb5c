//! Any body and headers: the answer is an error of one line, or a review with its uid.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::hostile_requests::outcome::ask;
use crate::hostile_requests::request::{JSON, review, with_head};
use olmguard_support::load::served::Served;

#[test]
fn any_request_gets_an_error_of_one_line_or_its_uid_back() {
    let server = Served::start(&[]);
    let requests = (line(), headers(), body());
    let config = ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |((line, headers, (body, uid)) in requests)| {
        let outcome = ask(&server.target, &with_head(line, &headers, &body));
        let (status, text) = outcome.split_once(' ').ok_or_else(|| TestCaseError::fail(outcome.clone()))?;
        let status: u16 = status.parse().map_err(|_| TestCaseError::fail(outcome.clone()))?;
        if status == 200 {
            let expected = format!("{} ", uid.unwrap_or_default());
            prop_assert!(text.starts_with(&expected), "{}", outcome);
        } else {
            let line = text.strip_suffix('\n').unwrap_or(text);
            let is_line = !line.contains(char::is_control);
            prop_assert!((400..600).contains(&status) && is_line, "{:?}", outcome);
        }
    });
}

fn line() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        8 => Just("POST /validate HTTP/1.1"),
        1 => prop::sample::select(vec!["GET /validate HTTP/1.1", "POST /x HTTP/1.1", "POST /validate?timeout=1s HTTP/1.1"]),
    ]
}

fn headers() -> impl Strategy<Value = String> {
    let header = "[!-9;-~]{1,12}: ?[ -~]{0,40}\r\n";
    let more = prop::collection::vec(header, 0..4).prop_map(|headers| headers.concat());
    prop_oneof![4 => more.prop_map(|more| format!("{JSON}{more}")), 1 => Just(String::new())]
}

/// Returns bytes, and the uid in them if they are a review.
fn body() -> impl Strategy<Value = (Vec<u8>, Option<String>)> {
    let noise = prop::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| (bytes, None));
    let cut = any::<prop::sample::Index>().prop_map(|end| {
        let text = review().to_string();
        (text.as_bytes()[..end.index(text.len())].to_vec(), None)
    });
    let changed = (".{1,20}", prop::sample::select(PLACES.to_vec()), any_json());
    let changed = changed.prop_map(|(uid, place, value)| {
        let mut review = review();
        *review.pointer_mut(place).unwrap() = value;
        review["request"]["uid"] = json!(uid);
        (review.to_string().into_bytes(), Some(uid))
    });
    prop_oneof![1 => noise, 1 => cut, 3 => changed]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((".{0,8}", inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

const PLACES: &[&str] = &[
    "/kind",
    "/request/operation",
    "/request/kind",
    "/request/object",
    "/request/object/metadata",
    "/request/object/metadata/name",
    "/request/object/spec",
    "/request/object/spec/source",
    "/request/object/spec/source/catalog",
    "/request/object/spec/source/catalog/packageName",
];
