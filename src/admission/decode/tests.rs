mod drawn;

use serde_json::{Map, Value, json};

use super::*;
use crate::admission::keep::FILTER;
use olmguard_engine::extension::Json;

fn kept(body: &Value) -> Value {
    let body = body.to_string();
    decode(body.as_bytes()).unwrap().review().to_value()
}

/// How many values of any kind there are, and the bytes of their texts and keys.
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

fn keys<'a>(map: Node<'a, '_>) -> impl Iterator<Item = &'a str> {
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
                "spec": {"config": {}, "source": {"catalog": {"package": []}}},
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
    assert_eq!(decode(twice).unwrap().review().to_value(), expected);
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
        assert!(size(&read.review().to_value()).0 <= 5);
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
        // What is kept of both is compared by who reads it.
        cut["request"]["oldObject"]["spec"]["source"]["catalog"]["version"] = json!("1");
        assert_eq!(filters(&cut), Filters::Alike);
        cut["request"]["oldObject"]["spec"]["source"]["catalog"]["channels"] = json!(["d"]);
        assert_eq!(filters(&cut), Filters::Different);
    }
}

/// Of two keys the last one counts, and so do its entries alone.
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
            .review()
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

/// What is wide costs at most so many values for each object, beside its own texts.
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
        let (values, bytes) = size(&decode(body.as_bytes()).unwrap().review().to_value());
        assert!(values < 2 * 4 * (FILTER + 64), "{values} values");
        assert!(bytes < body.len(), "{bytes} bytes of text");
    }
}

/// Only what is escaped is copied: a text is otherwise that of the body.
#[test]
fn texts_are_borrowed_from_the_body() {
    let body =
        br#"{"request": {"object": {"spec": {"a": "b", "\u0063": "\n", "source": {"catalog": {
        "selector": {"matchLabels": {"d": "e"}}}}}}}}"#;
    let read = decode(body).unwrap();
    let within = |text: &str| body.as_ptr_range().contains(&text.as_ptr());
    let spec = read.review().at(&["request", "object", "spec"]).unwrap();
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
    let spec = read.review().at(&["request", "object", "spec"]).unwrap();
    assert_eq!(keys(spec).collect::<Vec<_>>(), ["z", "b", "source", "a"]);
    assert_eq!(spec.get("b").unwrap().to_value(), json!(3));
    let labels = spec
        .at(&["source", "catalog", "selector", "matchLabels"])
        .unwrap();
    assert_eq!(labels.to_value(), json!({"a": "2", "y": "3"}));
    assert_eq!(keys(labels).collect::<Vec<_>>(), ["a", "y"]);
}
