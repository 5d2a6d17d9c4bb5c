//! Each rule on a schema of a few lines.

use serde_json::{Value, json};

use super::*;
use crate::crd::compare::{by_kubernetes, rank};

fn crd(versions: &[(&str, Value)]) -> Value {
    let versions = versions.iter().map(|(name, schema)| {
        json!({"name": name, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}})
    });
    json!({"metadata": {"name": "widgets.example.com"},
        "spec": {"scope": "Namespaced", "versions": versions.collect::<Vec<_>>()},
        "status": {"storedVersions": ["v1"]}})
}

fn compared(
    old: &ComparedCrd<'_>,
    new: &ComparedCrd<'_>,
    generation: CrdGeneration,
) -> Result<CrdComparison, CrdError> {
    compare(old, new, generation, &mut ComparisonBudget::default())
}

fn lines(old: &Value, new: &Value) -> Vec<String> {
    let (old, new) = (
        ComparedCrd::read(old).unwrap(),
        ComparedCrd::read(new).unwrap(),
    );
    let found = compared(&old, &new, CrdGeneration::V1_10).unwrap();
    found.findings.iter().map(ToString::to_string).collect()
}

fn of_one(old: Value, new: Value) -> Vec<String> {
    lines(&crd(&[("v1", old)]), &crd(&[("v1", new)]))
}

#[test]
fn a_removed_field_is_named_with_all_that_it_had() {
    let with = |a: Value| json!({"properties": {"spec": {"properties": {"a": a, "b": {}}}}});
    let old = with(json!({"type": "string", "default": "x"}));
    let new = json!({"properties": {"spec": {"properties": {"b": {}, "c": {"type": "string"}}}}});
    assert_eq!(
        of_one(old, new),
        [
            "existingFieldRemoval: removed field : v1.^.spec.a",
            "v1: ^.spec.a: default: default value removed : \"\\\"x\\\"\"",
            "v1: ^.spec.a: type: type changed : \"string\" -> \"\"",
        ]
    );
}

#[test]
fn a_map_of_objects_is_never_understood() {
    let map = |fields: Value| json!({"additionalProperties": {"properties": fields}});
    let (old, new) = (map(json!({"a": {}})), map(json!({"a": {}, "b": {}})));
    assert_eq!(
        of_one(old.clone(), new.clone()),
        ["v1: ^: unhandled: unhandled changes found"]
    );
    let (old, new) = (crd(&[("v1", old)]), crd(&[("v1", new)]));
    let (old, new) = (
        ComparedCrd::read(&old).unwrap(),
        ComparedCrd::read(&new).unwrap(),
    );
    let found = compared(&old, &new, CrdGeneration::V1_10).unwrap();
    let [only] = found.findings.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(only.check(), PreflightCheck::CrdUnhandled);
    let CrdChange::Property { change, .. } = &only.change else {
        panic!("{only:?}");
    };
    assert!(change.is_of_map());
}

#[test]
fn the_crd_as_a_whole() {
    let old = crd(&[("v1", json!({}))]);
    let mut new = crd(&[("v2", json!({}))]);
    new["spec"]["scope"] = json!("Cluster");
    assert_eq!(
        lines(&old, &new),
        [
            "scope: scope changed : \"Namespaced\" -> \"Cluster\"",
            "storedVersionRemoval: stored versions removed : [v1]",
        ]
    );
}

#[test]
fn served_versions_follow_from_each_other() {
    let number = json!({"properties": {"a": {"type": "integer"}}});
    let text = json!({"properties": {"a": {"type": "string"}}});
    let old = crd(&[("v1", number.clone())]);
    let new = crd(&[("v1", number.clone()), ("v1beta1", text.clone())]);
    let line = "v1beta1 -> v1: ^.a: type: type changed : \"string\" -> \"integer\"";
    assert_eq!(lines(&old, &new), [line]);
    assert_eq!(lines(&new, &new), [""; 0], "it was so before");
    let mut converting = new.clone();
    converting["spec"]["conversion"] = json!({"strategy": "Webhook"});
    assert_eq!(lines(&old, &converting), [""; 0]);
}

#[test]
fn what_is_gone_from_one_served_version_to_the_next_was_gone_before() {
    let one_of = |names: [&str; 2]| json!({"oneOf": names.map(|name| json!({"required": [name]}))});
    let crd = |v1| crd(&[("v1", one_of(v1)), ("v1beta1", one_of(["a", "b"]))]);
    let removed = |v1| {
        let mut lines = lines(&crd(["b", "c"]), &crd(v1));
        lines.retain(|line| line.contains("^: oneOf: allowed oneOf schemas removed"));
        lines
    };
    let own = "v1: ^: oneOf: allowed oneOf schemas removed";
    assert_eq!(removed(["b", "d"]), [own]);
    let next = "v1beta1 -> v1: ^: oneOf: allowed oneOf schemas removed";
    assert_eq!(removed(["a", "c"]), [own, next]);
}

#[test]
fn names_in_random_order_are_found_in_half_of_the_runs() {
    let free = json!({"properties": {"a": {}, "b": {}}});
    let bound = json!({"required": ["b", "a"], "properties": {"a": {}, "b": {}}});
    let both = crd(&[("v1", bound), ("v1beta1", free)]);
    let read = ComparedCrd::read(&both).unwrap();
    let found = compared(&read, &read, CrdGeneration::V1_10).unwrap();
    assert!(
        matches!(found.findings.as_slice(), [only] if only.certainty == FindingCertainty::Unsteady)
    );
}

#[test]
fn versions_are_in_the_order_of_kubernetes() {
    let order = [
        "foo10", "foo1", "v0alpha1", "v1alpha1", "v2alpha1", "v1beta1", "v0", "v1", "v2", "v10",
    ];
    let mut sorted = order;
    sorted.reverse();
    sorted.sort_by(|one, other| by_kubernetes(one, other));
    assert_eq!(sorted, order);
    assert!(
        rank("v01") == rank("v1")
            && rank("v1beta").is_none()
            && rank("v9223372036854775808").is_none()
    );
}

#[test]
fn a_version_without_a_schema_is_a_crash() {
    let mut without = crd(&[("v1", json!({}))]);
    without["spec"]["versions"][0]
        .as_object_mut()
        .unwrap()
        .remove("schema");
    let with = crd(&[("v1", json!({}))]);
    for (old, new) in [(&without, &with), (&with, &without)] {
        let (old, new) = (
            ComparedCrd::read(old).unwrap(),
            ComparedCrd::read(new).unwrap(),
        );
        let found = compared(&old, &new, CrdGeneration::V1_9).unwrap();
        assert!(found.panics && found.findings.is_empty());
    }
}

#[test]
fn what_is_no_crd_is_an_error_with_its_field() {
    let error = |object: Value| ComparedCrd::read(&object).unwrap_err().to_string();
    assert_eq!(error(json!({})), "metadata.name: expected a string");
    assert_eq!(
        error(json!({"metadata": {"name": "a"}})),
        "spec.versions: expected a list"
    );
    let unnamed = json!({"metadata": {"name": "a"}, "spec": {"versions": [{"name": "v1"}, {}]}});
    assert_eq!(error(unnamed), "spec.versions[1].name: expected a string");
}

#[test]
fn a_schema_that_is_nested_too_deep_is_an_error() {
    let deep = (0..300).fold(json!({}), |schema, _| json!({"not": schema}));
    let deep = crd(&[("v1", deep)]);
    let read = ComparedCrd::read(&deep).unwrap();
    let error = compared(&read, &read, CrdGeneration::V1_9).unwrap_err();
    assert_eq!(
        error.to_string(),
        "CRD widgets.example.com: the schema of version v1 is nested too deep: expected at most 250 levels"
    );
}

/// The lines about one version in a generation, from an old schema to a new one.
fn of_generation(generation: CrdGeneration, old: Value, new: Value) -> Vec<String> {
    let (old, new) = (crd(&[("v1", old)]), crd(&[("v1", new)]));
    let (old, new) = (
        ComparedCrd::read(&old).unwrap(),
        ComparedCrd::read(&new).unwrap(),
    );
    let found = compared(&old, &new, generation).unwrap();
    found.findings.iter().map(ToString::to_string).collect()
}

/// Returns a schema with this part, and the same schema with the part emptied.
fn with_part(part: &Value) -> (Value, Value) {
    let old = json!({"properties": {"p": part}});
    (old, json!({"properties": {"p": {}}}))
}

#[test]
fn each_part_of_a_schema_has_its_path() {
    let own = |part: Value, newer: &str, older: Option<&str>| {
        let (old, new) = with_part(&part);
        let removed = |path: &str| format!("existingFieldRemoval: removed field : v1.^.p{path}");
        for generation in [CrdGeneration::V1_10, CrdGeneration::V1_9] {
            let lines = of_generation(generation, old.clone(), new.clone());
            assert!(lines.contains(&removed(newer)), "{lines:?}");
        }
        let lines = of_generation(CrdGeneration::V1_5, old, new);
        let found = lines
            .iter()
            .find(|line| line.starts_with("existingFieldRemoval"));
        assert_eq!(found.cloned(), older.map(removed), "{lines:?}");
    };
    let part = json!({"type": "string"});
    own(json!({"items": part}), ".items", Some("[*]"));
    own(json!({"items": [part]}), ".items[0]", Some("[0]"));
    own(json!({"allOf": [{}, part]}), ".allOf[1]", None);
    own(json!({"anyOf": [part]}), ".anyOf[0]", None);
    own(json!({"oneOf": [part]}), ".oneOf[0]", None);
    own(json!({"not": part}), ".not", None);
    own(json!({"properties": {"a.b": part}}), ".a.b", Some(".a.b"));
    own(json!({"properties": {"": part}}), "[]", Some("[]"));
    own(
        json!({"additionalProperties": part}),
        ".additionalProperties",
        Some("[*]"),
    );
    own(
        json!({"patternProperties": {"^x": part}}),
        ".patternProperties[^x]",
        None,
    );
    own(json!({"additionalItems": part}), ".additionalItems", None);
    own(json!({"definitions": {"d": part}}), ".definitions[d]", None);
    own(
        json!({"dependencies": {"d": part}}),
        ".dependencies[d]",
        None,
    );
}

#[test]
fn of_two_parts_with_one_path_the_later_one_counts() {
    let hidden = |kind: &str, field: &str| json!({"items": {"type": kind}, "properties": {"items": {"type": field}}});
    let lines = of_one(hidden("string", "string"), hidden("integer", "string"));
    assert_eq!(lines, [""; 0], "the items are hidden");
    let alternatives = |kind: &str| json!({"type": kind, "anyOf": [{"minLength": 1}]});
    let (old, new) = (alternatives("string"), alternatives("integer"));
    let older = of_generation(CrdGeneration::V1_5, old.clone(), new.clone());
    assert_eq!(older, [""; 0], "anyOf takes the place of the schema");
    let newer = of_generation(CrdGeneration::V1_9, old, new);
    assert_eq!(
        newer,
        ["v1: ^: type: type changed : \"string\" -> \"integer\""]
    );
}

#[test]
fn each_validation_has_its_line() {
    let one = |old: Value, new: Value, line: &str| {
        assert_eq!(of_one(old, new), [format!("v1: ^: {line}")]);
    };
    let no = json!({});
    one(
        json!({"enum": [null, "a", 1.0]}),
        json!({"enum": ["a"]}),
        "enum: allowed enum values removed : [ 1]",
    );
    one(
        no.clone(),
        json!({"enum": ["b", "a", "b"]}),
        "enum: enum constraint added when there was none previously : [\"a\" \"b\"]",
    );
    one(
        no.clone(),
        json!({"default": {"b": "<", "a": 1}}),
        r#"default: default added when there was none previously : "{\"a\":1,\"b\":\"\\u003c\"}""#,
    );
    one(
        json!({"default": 1}),
        json!({"default": null}),
        r#"default: default value removed : "1""#,
    );
    one(
        json!({"default": 1}),
        json!({"default": 2}),
        r#"default: default value changed : "1" -> "2""#,
    );
    one(
        json!({"required": ["a"]}),
        json!({"required": ["c", "a", "b"]}),
        "required: new required fields: [b c]",
    );
    one(
        no.clone(),
        json!({"minLength": 0}),
        "minLength: minimum constraint added when there was none previously : 0",
    );
    one(
        json!({"minimum": 1e6}),
        json!({"minimum": 1.5e6}),
        "minimum: minimum increased : 1e+06 -> 1.5e+06",
    );
    // One float, and two integers.
    let (big, bigger) = (9_007_199_254_740_992_u64, 9_007_199_254_740_993_u64);
    let minimum = of_one(json!({"minimum": big}), json!({"minimum": bigger}));
    assert_eq!(minimum, [""; 0]);
    one(
        json!({"minLength": big}),
        json!({"minLength": bigger}),
        "minLength: minimum increased : 9007199254740992 -> 9007199254740993",
    );
    one(
        json!({"maxItems": 3}),
        json!({"maxItems": 2}),
        "maxItems: maximum decreased : 3 -> 2",
    );
    one(
        no.clone(),
        json!({"maximum": -0.5}),
        "maximum: maximum constraint added when there was none previously : -0.5",
    );
    one(
        no.clone(),
        json!({"pattern": "\\d"}),
        r#"pattern: pattern added : "" -> "\\d""#,
    );
    one(
        json!({"pattern": "a"}),
        no.clone(),
        r#"pattern: pattern removed : "a" -> """#,
    );
    one(
        json!({"pattern": "a"}),
        json!({"pattern": "b"}),
        r#"pattern: pattern changed : "a" -> "b""#,
    );
    one(
        no.clone(),
        json!({"nullable": true}),
        "nullable: nullable added : false -> true",
    );
    one(
        json!({"nullable": true}),
        no.clone(),
        "nullable: nullable removed : true -> false",
    );
    one(
        no.clone(),
        json!({"oneOf": [{"title": "a"}]}),
        "oneOf: oneOf constraint added when there was none previously",
    );
    one(
        no,
        json!({"format": "date"}),
        "unhandled: unhandled changes found",
    );
}

#[test]
fn what_loosens_a_schema_has_no_line() {
    let tight =
        json!({"description": "a", "enum": ["a"], "required": ["a"], "minimum": 2, "maxLength": 1});
    let loose = json!({"description": "b", "enum": ["b", "a"], "minimum": 1, "maxLength": 2});
    assert_eq!(of_one(tight, loose), [""; 0]);
}

#[test]
fn alternatives_are_a_set() {
    let one_of = |entries: &[Value]| json!({"type": "object", "oneOf": entries});
    let (a, b) = (json!({"required": ["a"]}), json!({"required": ["b"]}));
    let lines = |old: &[Value], new: &[Value]| {
        let mut lines = of_one(one_of(old), one_of(new));
        lines.retain(|line| line.starts_with("v1: ^: "));
        lines
    };
    let named = json!({"title": "A", "description": "x", "required": ["a"], "enum": []});
    assert_eq!(lines(&[a.clone(), b.clone()], &[b.clone(), named]), [""; 0]);
    let added = lines(std::slice::from_ref(&a), &[a.clone(), b.clone()]);
    assert_eq!(added, ["v1: ^: oneOf: allowed oneOf schemas added"]);
    let removed = lines(&[a.clone(), b.clone()], std::slice::from_ref(&a));
    assert_eq!(removed, ["v1: ^: oneOf: allowed oneOf schemas removed"]);
    let older = of_generation(
        CrdGeneration::V1_9,
        one_of(std::slice::from_ref(&a)),
        one_of(&[a.clone(), b]),
    );
    assert_eq!(older, ["v1: ^: unhandled: unhandled changes found"]);
}

#[test]
fn what_is_not_understood_is_named() {
    let rule = |rule: &str| json!({"x-kubernetes-validations": [{"rule": rule}]});
    let mut new = rule("b");
    new["format"] = json!("date");
    let (old, new) = (crd(&[("v1", rule("a"))]), crd(&[("v1", new)]));
    let (old, new) = (
        ComparedCrd::read(&old).unwrap(),
        ComparedCrd::read(&new).unwrap(),
    );
    let found = compared(&old, &new, CrdGeneration::V1_10).unwrap();
    let fields = found.findings.iter().map(|it| match &it.change {
        CrdChange::Property {
            change: PropertyChange::Unhandled { fields },
            ..
        } => fields.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        fields.collect::<Vec<_>>(),
        [["format", "x-kubernetes-validations"]]
    );
}

#[test]
fn what_go_reads_alike_is_the_same() {
    let alike = |one: Value, other: Value| {
        assert_eq!(of_one(one.clone(), other.clone()), [""; 0]);
        assert_eq!(of_one(other, one), [""; 0]);
    };
    let no = json!({});
    alike(
        no.clone(),
        json!({"format": "", "uniqueItems": false, "allOf": [], "definitions": {}}),
    );
    alike(
        no.clone(),
        json!({"not": null, "title": null, "required": null}),
    );
    alike(json!({"multipleOf": 1}), json!({"multipleOf": 1.0}));
    alike(
        json!({"properties": {"a": {}}}),
        json!({"properties": {"a": null}}),
    );
    alike(
        json!({"additionalProperties": {"properties": {"a": {}}}}),
        json!({"additionalProperties": {"properties": {"a": {"enum": [], "nullable": false}}}}),
    );
    alike(
        json!({"x-kubernetes-validations": [{"rule": "a"}]}),
        json!({"x-kubernetes-validations": [{"message": "", "rule": "a", "optionalOldSelf": null}]}),
    );
    let flag = "x-kubernetes-preserve-unknown-fields";
    assert_eq!(
        of_one(no, json!({flag: false})),
        ["v1: ^: unhandled: unhandled changes found"]
    );
}

#[test]
fn no_digit_of_an_integer_is_lost() {
    let at_most = |most: u64| json!({"maxLength": most});
    assert_eq!(
        of_one(at_most((1 << 53) + 1), at_most(1 << 53)),
        ["v1: ^: maxLength: maximum decreased : 9007199254740993 -> 9007199254740992"]
    );
    let most = json!({"maxLength": i64::MAX});
    let line = "v1: ^: maxLength: maximum constraint added when there was none previously : 9223372036854775807";
    assert_eq!(of_one(json!({}), most), [line]);
}

#[test]
fn what_was_not_understood_before_is_known_with_its_values_only() {
    let dated = |format: &str| json!({"format": format});
    let both = |lower: &str, higher: &str| crd(&[("v1beta1", dated(lower)), ("v1", dated(higher))]);
    let line = "v1beta1 -> v1: ^: unhandled: unhandled changes found".to_owned();
    let of_pairs = |old: &Value, new: &Value| {
        let mut lines = lines(old, new);
        lines.retain(|line| line.contains(" -> "));
        lines
    };
    assert_eq!(of_pairs(&both("a", "b"), &both("a", "b")), [""; 0]);
    assert_eq!(of_pairs(&both("a", "b"), &both("a", "c")), [line]);
}

#[test]
fn the_worst_findings_come_first() {
    let schema = |kind: &str, format: &str| json!({"type": kind, "format": format, "properties": {"gone": {}}});
    let mut old = crd(&[("v1", schema("object", "a"))]);
    old["status"]["storedVersions"] = json!(["v0"]);
    let new = json!({"type": "string", "format": "b"});
    let new = crd(&[("v1", new), ("v1beta1", schema("object", "b"))]);
    let (old, new) = (
        ComparedCrd::read(&old).unwrap(),
        ComparedCrd::read(&new).unwrap(),
    );
    let found = compared(&old, &new, CrdGeneration::V1_10).unwrap();
    let checks: Vec<_> = found
        .worst_first()
        .into_iter()
        .map(CrdFinding::check)
        .collect();
    assert_eq!(
        checks,
        [
            PreflightCheck::CrdStoredVersion,
            PreflightCheck::CrdFieldRemoved,
            PreflightCheck::CrdProperty,
            PreflightCheck::CrdUnhandled,
            PreflightCheck::CrdServedVersions,
        ]
    );
}

#[test]
fn too_many_versions_are_an_error() {
    let names: Vec<_> = (1..=33).map(|at| format!("v{at}")).collect();
    let versions: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), json!({})))
        .collect();
    let error = ComparedCrd::read(&crd(&versions)).unwrap_err().to_string();
    assert_eq!(
        error,
        "CRD widgets.example.com: spec.versions: expected at most 32 versions, found 33"
    );
}

#[test]
fn paths_that_are_too_long_together_are_an_error() {
    let fields = (0..400).map(|at| (format!("a{at}"), json!({})));
    let fields: Map<String, Value> = fields.collect();
    let long = crd(&[(
        "v1",
        json!({"properties": {"x".repeat(200_000): {"properties": fields}}}),
    )]);
    let read = ComparedCrd::read(&long).unwrap();
    let error = compared(&read, &read, CrdGeneration::V1_10).unwrap_err();
    assert_eq!(
        error.to_string(),
        "CRD widgets.example.com: the paths of version v1 are too long: expected at most 67108864 bytes"
    );
}

#[test]
fn schemas_that_take_too_long_to_compare_are_an_error() {
    let nested = |at: usize| {
        let innermost = json!({"description": format!("{at}{}", "x".repeat(30_000))});
        (0..110).fold(innermost, |schema, _| json!({"not": schema}))
    };
    let names: Vec<_> = (1..=32).map(|at| format!("v{at}")).collect();
    let versions = names.iter().enumerate();
    let versions: Vec<_> = versions.map(|(at, it)| (it.as_str(), nested(at))).collect();
    let deep = crd(&versions);
    let read = ComparedCrd::read(&deep).unwrap();
    let error = compared(&read, &read, CrdGeneration::V1_10).unwrap_err();
    assert_eq!(
        error.to_string(),
        "CRD widgets.example.com: the comparison of version v4 takes too long: expected at most 268435456 compared bytes"
    );
}

#[test]
fn all_crds_of_a_bundle_share_the_time_for_comparisons() {
    let innermost = json!({"description": "x".repeat(300_000)});
    let nested = (0..80).fold(innermost, |schema, _| json!({"not": schema}));
    let deep = crd(&[("v1", nested.clone()), ("v2", nested)]);
    let read = ComparedCrd::read(&deep).unwrap();
    let mut budget = ComparisonBudget::default();
    let mut compare = || compare(&read, &read, CrdGeneration::V1_10, &mut budget);
    let errors = std::iter::repeat_with(|| compare().err());
    let errors: Vec<_> = errors.take(30).collect();
    let accepted = errors.iter().take_while(|error| error.is_none()).count();
    assert!((4..30).contains(&accepted), "{accepted}");
    let error = errors[accepted].clone().unwrap().to_string();
    let start = "CRD widgets.example.com: the comparison of version v";
    let end =
        " takes too long: expected at most 1073741824 compared bytes for all CRDs of a bundle";
    assert!(error.starts_with(start) && error.ends_with(end), "{error}");
}

#[test]
fn the_texts_of_findings_are_bounded_for_a_bundle() {
    let of = |fields: usize, value: &str| {
        let fields = (0..fields).map(|at| (format!("a{at}"), json!({"enum": [value]})));
        crd(&[("v1", json!({"properties": fields.collect::<Map<_, _>>()}))])
    };
    let error = "CRD widgets.example.com: the paths of version v1 are too long: expected at most 67108864 bytes";
    let long = "x".repeat(100_000);
    let (few, many) = (
        (of(200, "a"), of(200, &long)),
        (of(400, "a"), of(400, &long)),
    );
    let compare = |(new, old): &(Value, Value), budget: &mut ComparisonBudget| {
        let (old, new) = (
            ComparedCrd::read(old).unwrap(),
            ComparedCrd::read(new).unwrap(),
        );
        let found = compare(&old, &new, CrdGeneration::V1_10, budget);
        found.map_err(|error| error.to_string())
    };
    assert_eq!(
        compare(&many, &mut ComparisonBudget::default()).unwrap_err(),
        error
    );
    let mut budget = ComparisonBudget::default();
    assert_eq!(compare(&few, &mut budget).unwrap().findings.len(), 200);
    assert_eq!(compare(&few, &mut budget).unwrap_err(), error);
}

#[test]
fn an_alternative_that_go_prints_with_addresses_equals_none() {
    let with = |entry: &Value, title: &str| json!({"description": title, "oneOf": [entry]});
    let is_removed = |entry: &Value, title: &str| {
        let lines = of_one(with(entry, "a"), with(entry, title));
        lines
            .iter()
            .any(|line| line.ends_with("oneOf: allowed oneOf schemas removed"))
    };
    let in_map = |schema: Value| json!({"properties": {"a": schema}});
    for (entry, expected) in [
        (in_map(json!({"maxLength": 5})), true),
        (in_map(json!({"minimum": 0.5})), true),
        (
            in_map(json!({"x-kubernetes-preserve-unknown-fields": false})),
            true,
        ),
        (in_map(json!({"anyOf": [{"maxLength": 5}]})), true),
        (
            in_map(
                json!({"x-kubernetes-validations": [{"rule": "true", "reason": "FieldValueInvalid"}]}),
            ),
            true,
        ),
        (
            in_map(json!({"not": {"properties": {"b": {"minItems": 1}}}})),
            true,
        ),
        (
            json!({"dependencies": {"a": {"properties": {"b": {"minItems": 1}}}}}),
            true,
        ),
        (json!({"anyOf": [in_map(json!({"minItems": 1}))]}), true),
        (json!({"maxLength": 5, "anyOf": [{"minimum": 1}]}), false),
        (
            in_map(json!({"type": "string", "pattern": "^a", "default": 5, "enum": ["a"]})),
            false,
        ),
        (
            in_map(json!({"items": {"maxLength": 5}, "not": {"minimum": 1}})),
            false,
        ),
        (
            in_map(json!({"maxLength": null, "x-kubernetes-validations": [{"rule": "true"}]})),
            false,
        ),
        (json!({"required": ["a"]}), false),
    ] {
        assert_eq!(is_removed(&entry, "b"), expected, "{entry}");
        assert!(!is_removed(&entry, "a"), "{entry}");
    }
}

#[test]
fn a_known_alternative_with_addresses_is_found_again() {
    let lower = json!({"type": "object", "oneOf": [{"properties": {"a": {"maxLength": 5}}}]});
    let mut higher = lower.clone();
    higher["description"] = json!("new");
    let crd = crd(&[("v1beta1", lower), ("v1", higher)]);
    let found = ["v1beta1 -> v1: ^: oneOf: allowed oneOf schemas removed"];
    assert_eq!(lines(&crd, &crd), found);
}
