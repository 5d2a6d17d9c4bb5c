//! Reviews drawn from what is kept of them, with keys in any order and twice: they are read as serde has them.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::admission::Review;
use crate::admission::keep::{Keep, REVIEW};

/// JSON as it is written: a key may come twice.
#[derive(Clone, Debug)]
enum Written {
    Leaf(&'static str),
    List(Vec<Self>),
    Map(Vec<(&'static str, Self)>),
}

impl Written {
    fn text(&self) -> String {
        match self {
            Self::Leaf(text) => (*text).to_owned(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::text).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(entries) => {
                let entry = |(key, value): &(&str, Self)| format!("\"{key}\": {}", value.text());
                let entries: Vec<_> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// The same with these entries behind its own, if it is a map.
    fn with(mut self, more: &[(&'static str, &'static str)]) -> Self {
        if let Self::Map(entries) = &mut self {
            entries.extend(more.iter().map(|(key, text)| (*key, Self::Leaf(text))));
        }
        self
    }

    /// A review of which an edit of an extension is read.
    fn made_an_edit(mut self) -> Self {
        let Self::Map(entries) = &mut self else {
            return self;
        };
        for (key, request) in &mut *entries {
            if let ("request", Self::Map(members)) = (*key, &mut *request) {
                for (key, member) in members {
                    if matches!(*key, "object" | "oldObject") {
                        *member = member.clone().with(EXTENSION);
                    }
                }
                *request = request.clone().with(REQUEST);
            }
        }
        self.with(ENVELOPE)
    }
}

fn drawn(keep: &'static Keep) -> BoxedStrategy<Written> {
    let leaf = select(LEAVES).prop_map(Written::Leaf).boxed();
    let of_its_kind = match keep {
        Keep::Leaf => return leaf,
        Keep::Object(_, below) | Keep::Filter(below) => return drawn(below),
        Keep::Items(below, _) => prop::collection::vec(drawn(below), 0..4)
            .prop_map(Written::List)
            .boxed(),
        Keep::Values(_) => map(vec![("b", leaf.clone()), ("a", leaf.clone())]),
        Keep::Fields(fields, _) => {
            let known = fields.iter().map(|(name, below)| (*name, drawn(below)));
            let others = OTHERS.iter().map(|name| (*name, leaf.clone()));
            map(known.chain(others).collect())
        }
    };
    prop_oneof![9 => of_its_kind, 1 => leaf].boxed()
}

/// A map with some of these entries, some of them twice.
fn map(entries: Vec<(&'static str, BoxedStrategy<Written>)>) -> BoxedStrategy<Written> {
    let most = entries.len() + 3;
    let entry = select(entries).prop_flat_map(|(key, value)| (Just(key), value));
    prop::collection::vec(entry, 0..most)
        .prop_map(Written::Map)
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_review_is_read_as_serde_has_it(written in drawn(&REVIEW)) {
        let text = written.made_an_edit().text();
        let value: Value = serde_json::from_str(&text).unwrap();
        let (read, expected) = (Review::from_bytes(text.as_bytes()), Review::read(&value));
        prop_assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{}", text);
    }
}

/// A map that is long in the body moves if one before it is written again.
#[test]
fn what_is_written_again_takes_nothing_else_with_it() {
    let object = |version: &str| {
        format!(
            r#"{{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "spec": {{
            "source": {{"catalog": {{"packageName": "p", "version": "{version}"}}}}}}}}"#
        )
    };
    let (one, two) = (object("1"), object("2"));
    for objects in [
        format!(r#""object": {one}, "oldObject": {two}"#),
        format!(r#""object": {two}, "oldObject": {two}, "object": {one}"#),
        format!(r#""object": null, "oldObject": {two}, "object": {one}"#),
        format!(r#""oldObject": {one}, "object": {one}, "oldObject": {two}, "name": "x""#),
        format!(
            r#""oldObject": {one}, "kind": {one}, "object": {one}, "oldObject": {two}, "kind": 1"#
        ),
    ] {
        let text = format!(
            r#"{{"request": {{"uid": "u", "operation": "UPDATE", {objects}}},
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}}"#
        );
        let value: Value = serde_json::from_str(&text).unwrap();
        let read = Review::from_bytes(text.as_bytes()).unwrap();
        let expected = Review::read(&value).unwrap();
        assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{text}");
        let filter = read.extension().unwrap().filter.as_ref().unwrap();
        assert_eq!(filter.range(), Some("1"));
    }
}

const LEAVES: &[&str] = &[
    "null",
    "true",
    "1",
    "-1.5",
    r#""""#,
    r#""a""#,
    r#""b""#,
    r#""1.0.0""#,
    r#""Installed""#,
    r#""\u00e4\n""#,
    "[]",
    "[[1]]",
    "{}",
    r#"{"a": {"b": 1}}"#,
];
const OTHERS: &[&str] = &["typo", "channell", "annotations"];
const EXTENSION: &[(&str, &str)] = &[
    ("apiVersion", r#""olm.operatorframework.io/v1""#),
    ("kind", r#""ClusterExtension""#),
];
const REQUEST: &[(&str, &str)] = &[
    ("uid", r#""u""#),
    ("operation", r#""UPDATE""#),
    ("subResource", "null"),
];
const ENVELOPE: &[(&str, &str)] = &[
    ("apiVersion", r#""admission.k8s.io/v1""#),
    ("kind", r#""AdmissionReview""#),
];
