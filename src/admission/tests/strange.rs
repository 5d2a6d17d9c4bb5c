//! Bodies of any form: an error of one line, or replies that an API server can read.

use olmguard_engine::judge::Basis;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{update, valid};
use crate::admission::{Enforcement, Mode, OnUndecided, Review};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{UnansweredReason, Wait};

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

/// What becomes of any body: an error of one line, or replies that an API server can read.
#[track_caller]
fn answered_or_refused(body: &[u8]) {
    match Review::from_bytes(body) {
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
                valid::reply(&reply, review.uid());
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

/// Names that no API server takes: long ones, and ones that a terminal would obey.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,20}",
        "[\u{0}-\u{1f}\u{202e}\u{2028}\"<\\\\]{1,50}",
        "\u{e4}{300}",
        "x{5000}",
    ]
}

/// Where names and other texts of users stand in a review.
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
