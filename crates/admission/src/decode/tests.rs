use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::*;
use crate::Review;
use crate::keep::{FILTER, Keep, REVIEW, SUBJECT};
use olmguard_catalog::json::JsonType;
use olmguard_engine::extension::Json;
use olmguard_policy::Moment;

fn kept(body: &Value) -> Value {
    let body = body.to_string();
    decode(body.as_bytes()).unwrap().review.to_value()
}

#[test]
fn of_a_map_so_many_unknown_fields_are_kept() {
    let others = |count: usize| {
        let fields = (0..count).map(|at| (format!("other{at:03}"), json!(at)));
        let spec: Value = fields.collect::<Map<_, _>>().into();
        let object = json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "spec": spec});
        let kept = kept(&json!({"request": {"object": object}}));
        kept["request"]["object"]["spec"]
            .as_object()
            .map_or(0, Map::len)
    };
    let most = crate::keep::OTHERS;
    assert_eq!([others(most), others(most + 1)], [most, most]);
}

#[test]
fn of_labels_and_groups_so_many_are_kept() {
    let length = |kept: &Value, path: &str| match kept.pointer(path) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(entries)) => entries.len(),
        other => panic!("{path}: {other:?}"),
    };
    for more in [0, 1] {
        let labels: Map<_, _> = (0..SUBJECT + more)
            .map(|n| (n.to_string(), json!("")))
            .collect();
        let object = json!({"metadata": {"labels": labels}});
        let groups = vec!["g"; SUBJECT + more];
        let request = json!({"object": object, "userInfo": {"groups": groups}});
        let kept = kept(&json!({"request": request}));
        for path in [
            "/request/object/metadata/labels",
            "/request/userInfo/groups",
        ] {
            assert_eq!(length(&kept, path), SUBJECT, "{path}, {more} more");
        }
    }
}

#[test]
fn of_conditions_the_first_of_each_type_that_is_read_is_kept_behind_any_number_of_others() {
    let of = |kind: &str, status: &str| json!({"type": kind, "status": status});
    let mut conditions = vec![of("Ready", "True"); 1_000];
    conditions.extend([
        of("Installed", "Unknown"),
        json!(1),
        of("Installed", "True"),
        of("Progressing", "True"),
    ]);
    let status = json!({"status": {"conditions": conditions}});
    let kept = kept(&json!({"request": {"oldObject": status}}));
    assert_eq!(
        kept.pointer("/request/oldObject/status/conditions"),
        Some(&json!([
            of("Installed", "Unknown"),
            of("Progressing", "True")
        ]))
    );
}

/// Counts the values of any kind, and the bytes of their texts and keys.
fn size(value: &Value) -> (usize, usize) {
    let add = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
    match value {
        Value::Array(items) => items.iter().map(size).fold((1, 0), add),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| add((0, key.len()), size(value));
            map.iter().map(entry).fold((1, 0), add)
        }
        Value::String(text) => (1, text.len()),
        _ => (1, 0),
    }
}

fn keys<'a>(map: &'a KeptValue<'_>) -> impl Iterator<Item = &'a str> {
    map.entries().into_iter().flatten().map(|(key, _)| key)
}

fn catalog(catalog: &Value) -> Value {
    json!({"request": {"object": {"spec": {"source": {"catalog": catalog}}}}})
}

#[test]
fn what_counts_is_kept_as_any_json_reader_has_it() {
    let bundle = json!({"name": "p.v1", "version": "1.0.0", "release": null});
    let body = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": "UPDATE", "name": "x", "dryRun": true, "subResource": "",
            "kind": {"group": "g", "version": "v1", "kind": "K"},
            "userInfo": {"username": "\u{e4}\n"},
            "object": {
                "apiVersion": "g/v1", "kind": "K",
                "metadata": {"name": "x", "generateName": "x-", "deletionTimestamp": null},
                "spec": {"packageName": 1.5, "namespace": "n", "source": {"sourceType": "Catalog", "catalog": {
                    "packageName": "p", "version": -1, "channels": ["a", 18_446_744_073_709_551_615_u64], "typo": true,
                    "selector": {"matchLabels": {"a": "b", "c": null},
                                 "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}}}},
            },
            "oldObject": {"status": {
                "install": {"bundle": bundle}, "installedBundle": bundle, "installedBundleResource": "i",
                "conditions": [{"type": "Installed", "status": "True", "reason": "Succeeded"}],
            }},
        },
    });
    assert_eq!(kept(&body), body);
}

#[test]
fn what_nothing_reads_is_passed_over() {
    let body = json!({
        "extra": 1,
        "request": {
            "options": {"a": 1},
            "userInfo": {"username": "u", "uid": "i", "groups": ["g"], "extra": {"a": ["b"]}},
            "object": {
                "metadata": {"name": "x", "labels": {"a": "b"}, "annotations": {"a": "b"}, "managedFields": [{}]},
                "spec": {"config": {"inline": {"a": [1]}}, "source": {"catalog": {"package": ["p"]}}},
                "status": {"conditions": [{"message": "m", "type": "Installed"}], "install": {}},
            },
            "oldObject": {
                "status": {"conditions": [{"message": "m", "type": "Installed"}], "activeRevisions": [{}]},
            },
        },
    });
    let expected = json!({
        "request": {
            "userInfo": {"username": "u", "groups": ["g"]},
            "object": {
                "metadata": {"name": "x", "labels": {"a": "b"}},
                "spec": {"config": {"inline": {"a": [1]}}, "source": {"catalog": {"package": []}}},
            },
            "oldObject": {"status": {"conditions": [{"type": "Installed"}]}},
        },
    });
    assert_eq!(kept(&body), expected);
}

#[test]
fn a_field_of_another_type_keeps_its_type() {
    for (written, expected) in [
        (catalog(&json!(["a"])), catalog(&json!([]))),
        (
            catalog(&json!({"channels": {"a": 1}})),
            catalog(&json!({"channels": {}})),
        ),
        (
            catalog(&json!({"version": {"a": 1}})),
            catalog(&json!({"version": {}})),
        ),
        (
            catalog(&json!({"selector": [[1]]})),
            catalog(&json!({"selector": []})),
        ),
    ] {
        assert_eq!(kept(&written), expected, "{written}");
    }
}

#[test]
fn of_two_keys_the_last_counts() {
    let twice =
        br#"{"kind": {"a": 1}, "request": {"uid": "a"}, "kind": "b", "request": {"uid": "c"}}"#;
    let expected = json!({"kind": "b", "request": {"uid": "c"}});
    assert_eq!(decode(twice).unwrap().review.to_value(), expected);
}

#[test]
fn any_depth_is_passed_over() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    for body in [
        deep.clone(),
        format!(r#"{{"request": {deep}}}"#),
        format!(r#"{{"request": {{"object": {{"spec": {{"config": {deep}}}}}}}}}"#),
    ] {
        let read = decode(body.as_bytes()).unwrap();
        assert!(size(&read.review.to_value()).0 <= 5);
    }
}

#[test]
fn a_filter_is_kept_whole_up_to_its_limit() {
    let channels = |count| catalog(&json!({"channels": vec!["c"; count]}));
    let filters = |body: &Value| decode(body.to_string().as_bytes()).unwrap().filters;
    assert_eq!(filters(&channels(FILTER)), Filters::Comparable);
    let labels: Map<_, _> = (0..=FILTER).map(|n| (n.to_string(), json!(""))).collect();
    let values = json!([{"values": vec!["v"; FILTER + 1]}]);
    for mut cut in [
        channels(FILTER + 1),
        catalog(&json!({"selector": {"matchLabels": labels}})),
        catalog(&json!({"selector": {"matchExpressions": values}})),
    ] {
        assert_eq!(filters(&cut), Filters::Different);
        cut["request"]["oldObject"] = cut["request"]["object"].clone();
        assert_eq!(filters(&cut), Filters::Alike);
        // The caller compares the kept parts of both filters.
        cut["request"]["oldObject"]["spec"]["source"]["catalog"]["version"] = json!("1");
        assert_eq!(filters(&cut), Filters::Alike);
        cut["request"]["oldObject"]["spec"]["source"]["catalog"]["channels"] = json!(["d"]);
        assert_eq!(filters(&cut), Filters::Different);
    }
}

/// Of two equal keys only the last one counts, and only its entries are counted.
#[test]
fn what_is_written_twice_is_counted_anew() {
    let wide = json!({"channels": vec!["c"; FILTER + 1]}).to_string();
    let small = r#"{"channels": ["a"]}"#;
    let source = |catalog: &str| format!(r#"{{"catalog": {catalog}}}"#);
    let spec = |catalog: &str| format!(r#"{{"source": {}}}"#, source(catalog));
    for (body, last) in [
        (
            format!(r#"{{"spec": {}, "spec": {}}}"#, spec(&wide), spec(small)),
            "a",
        ),
        (format!(r#"{{"spec": {}, "spec": {{}}}}"#, spec(&wide)), ""),
        (
            format!(
                r#"{{"spec": {{"source": {}, "source": {}}}}}"#,
                source(&wide),
                source(small)
            ),
            "a",
        ),
        (
            format!(r#"{{"spec": {{"source": {{"catalog": {wide}, "catalog": {small}}}}}}}"#),
            "a",
        ),
    ] {
        let body = format!(r#"{{"request": {{"object": {body}}}}}"#);
        let read = decode(body.as_bytes()).unwrap();
        assert_eq!(read.filters, Filters::Comparable);
        let channels = read
            .review
            .at(&["request", "object", "spec", "source", "catalog", "channels"]);
        let found: Vec<_> = channels
            .and_then(Json::items)
            .into_iter()
            .flatten()
            .collect();
        let found: Vec<_> = found.into_iter().filter_map(Json::as_str).collect();
        assert_eq!(found.concat(), last);
    }
}

/// A wide object costs a bounded number of values, in addition to its own texts.
#[test]
fn width_costs_little() {
    let wide = vec![json!({"type": "", "values": vec!["a"; 30]}); 20_000];
    let keys: Map<_, _> = (0..200_000)
        .map(|n| (n.to_string(), json!([1, 2])))
        .collect();
    let spec = json!({"source": {"catalog": {"channels": wide, "selector": {
        "matchLabels": keys, "matchExpressions": wide}}}});
    for object in [
        json!({"spec": spec}),
        json!({"spec": keys}),
        json!({"spec": {"install": keys, "source": {"catalog": keys}}}),
        json!({"status": {"conditions": wide, "install": {"bundle": keys}}}),
        json!({"metadata": keys}),
    ] {
        let body = json!({"request": {"object": object, "oldObject": object}}).to_string();
        let (values, bytes) = size(&decode(body.as_bytes()).unwrap().review.to_value());
        assert!(values < 2 * 4 * (FILTER + 64), "{values} values");
        assert!(bytes < body.len(), "{bytes} bytes of text");
    }
}

/// Only escaped texts are copied; others are borrowed from the body.
#[test]
fn texts_are_borrowed_from_the_body() {
    let body =
        br#"{"request": {"object": {"spec": {"a": "b", "\u0063": "\n", "source": {"catalog": {
        "selector": {"matchLabels": {"d": "e"}}}}}}}}"#;
    let read = decode(body).unwrap();
    let within = |text: &str| body.as_ptr_range().contains(&text.as_ptr());
    let spec = read.review.at(&["request", "object", "spec"]).unwrap();
    let keys: Vec<_> = keys(spec).collect();
    assert_eq!(keys, ["a", "c", "source"]);
    assert!(within(keys[0]) && !within(keys[1]));
    let text = |key| spec.get(key).and_then(Json::as_str).unwrap();
    assert!(within(text("a")) && text("c") == "\n");
    let labels = spec.at(&["source", "catalog", "selector", "matchLabels"]);
    let label = labels.and_then(|labels| labels.get("d")).unwrap();
    assert!(within(label.as_str().unwrap()));
}

#[test]
fn no_key_comes_twice_and_those_that_may_be_any_come_in_order() {
    let body = br#"{"request": {"object": {"spec": {"z": 1, "b": 2, "source": {"catalog": {
        "selector": {"matchLabels": {"y": "1", "a": "2", "y": "3"}}}}, "b": 3, "a": 4}}}}"#;
    let read = decode(body).unwrap();
    let spec = read.review.at(&["request", "object", "spec"]).unwrap();
    assert_eq!(keys(spec).collect::<Vec<_>>(), ["z", "b", "source", "a"]);
    assert_eq!(spec.get("b").unwrap().to_value(), json!(3));
    let labels = spec
        .at(&["source", "catalog", "selector", "matchLabels"])
        .unwrap();
    assert_eq!(labels.to_value(), json!({"a": "2", "y": "3"}));
    assert_eq!(keys(labels).collect::<Vec<_>>(), ["a", "y"]);
}

// === Reviews built from the kept fields, with repeated keys in any order: they are read as serde
// reads them ===

/// JSON as written: a key can occur twice.
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

    /// Appends these entries, if the value is a map.
    fn with(mut self, more: &[(&'static str, &'static str)]) -> Self {
        if let Self::Map(entries) = &mut self {
            entries.extend(more.iter().map(|(key, text)| (*key, Self::Leaf(text))));
        }
        self
    }

    /// Makes the review one of which an edit of an extension is read.
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
        Keep::Whole => {
            let within = map(vec![("a", leaf.clone()), ("x", leaf.clone())]);
            map(vec![("inline", within), ("configType", leaf.clone())])
        }
        Keep::Fields(fields, _) => {
            let known = fields.iter().map(|(name, below)| (*name, drawn(below)));
            let others = OTHERS.iter().map(|name| (*name, leaf.clone()));
            map(known.chain(others).collect())
        }
    };
    prop_oneof![9 => of_its_kind, 1 => leaf].boxed()
}

/// A map with some of these entries, some of them repeated.
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
        let (read, expected) = (Review::from_bytes(text.as_bytes(), Moment::EPOCH), Review::read(&value, Moment::EPOCH));
        prop_assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{}", text);
    }
}

/// A long map in the body moves if a map before it is written again.
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
        let read = Review::from_bytes(text.as_bytes(), Moment::EPOCH).unwrap();
        let expected = Review::read(&value, Moment::EPOCH).unwrap();
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

#[track_caller]
fn points(text: &str, at: usize, expected: &str) {
    let object = json!({"spec": {"rules": [{}, {"expression": text}]}});
    let found = pointed_at(&object, "spec.rules[1].expression", at);
    assert_eq!(found.as_deref(), Some(expected), "{text:?} {at}");
}

#[test]
fn the_caret_is_below_the_place() {
    points(">=1 <x", 5, "  >=1 <x\n       ^");
    points(">=1", 3, "  >=1\n     ^");
    points(">=1", 99, "  >=1\n     ^");
    points("ä <x", 4, "  ä <x\n     ^");
}

#[test]
fn of_several_lines_the_right_one_is_shown() {
    points("a &&\nb c\n&& d", 7, "  b c\n    ^");
    points("a\tb\u{202e}c", 5, "  a b c\n     ^");
}

#[test]
fn a_long_line_is_cut_on_both_sides() {
    let text = "a".repeat(200);
    let half = "a".repeat(60);
    points(
        &text,
        100,
        &format!("  {half}{half}\n  {}^", " ".repeat(60)),
    );
}

#[test]
fn without_a_text_there_is_nothing_to_point_at() {
    for path in ["", "spec", "spec.rules[7]", "spec.rules[x]", "a.b"] {
        assert_eq!(pointed_at(&json!({"spec": {"rules": [1]}}), path, 0), None);
    }
}

#[test]
fn what_is_kept_whole_has_the_type_that_is_written() {
    for (written, expected) in [
        ("{}", JsonType::Object),
        ("[]", JsonType::Array),
        (r#""""#, JsonType::String),
        ("true", JsonType::Boolean),
        ("false", JsonType::Boolean),
        ("null", JsonType::Null),
        ("-1", JsonType::Number),
    ] {
        let body = format!(r#"{{"request":{{"object":{{"spec":{{"config": {written}}}}}}}}}"#);
        let body = decode(body.as_bytes()).unwrap();
        let config = body.review.at(&["request", "object", "spec", "config"]);
        assert_eq!(config.unwrap().kind(), expected, "{written}");
    }
}

#[test]
fn a_configuration_is_kept_whole_up_to_a_limit() {
    let spec = |inline: &str| {
        let config = format!(r#"{{"configType":"Inline","inline":{inline}}}"#);
        format!(r#"{{"request":{{"object":{{"spec":{{"config":{config},"version":1}}}}}}}}"#)
    };
    let read = |inline: &str| {
        let body = spec(inline);
        let body = decode(body.as_bytes()).unwrap();
        let spec = body.review.at(&["request", "object", "spec"]).unwrap();
        assert!(spec.get("version").is_some(), "the rest is read");
        spec.get("config").unwrap().whole()
    };
    let small = read(r#"{"a":[1,{"b":null}]}"#).unwrap();
    assert_eq!(small.pointer("/inline/a/1"), Some(&json!({"b": null})));
    let deep = format!("{}{}", "[".repeat(9_000), "]".repeat(9_000));
    assert_eq!(read(&deep), None);
    assert_eq!(read(&format!("{:?}", "x".repeat(70_000))), None);
}
