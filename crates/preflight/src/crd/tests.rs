//! Each rule on a schema of a few lines.

use serde_json::{Value, json};

use super::*;
use crate::crd::compare::{VersionRank, by_kubernetes};

fn crd(versions: &[(&str, Value)]) -> Value {
    let versions = versions.iter().map(|(name, schema)| {
        json!({"name": name, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}})
    });
    json!({"metadata": {"name": "widgets.example.com"},
        "spec": {"scope": "Namespaced", "versions": versions.collect::<Vec<_>>()},
        "status": {"storedVersions": ["v1"]}})
}

fn lines(old: &Value, new: &Value) -> Vec<String> {
    let (old, new) = (
        ComparedCrd::read(old).unwrap(),
        ComparedCrd::read(new).unwrap(),
    );
    let found = compare(&old, &new, CrdGeneration::V1_10).unwrap();
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
    let found = compare(&old, &new, CrdGeneration::V1_10).unwrap();
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
fn names_in_random_order_are_found_in_half_of_the_runs() {
    let free = json!({"properties": {"a": {}, "b": {}}});
    let bound = json!({"required": ["b", "a"], "properties": {"a": {}, "b": {}}});
    let both = crd(&[("v1", bound), ("v1beta1", free)]);
    let read = ComparedCrd::read(&both).unwrap();
    let found = compare(&read, &read, CrdGeneration::V1_10).unwrap();
    assert!(matches!(found.findings.as_slice(), [only] if only.is_unsteady));
}

#[test]
fn versions_are_in_the_order_of_kubernetes() {
    let order = [
        "foo10", "foo1", "v1alpha1", "v2alpha1", "v1beta1", "v1", "v2", "v10",
    ];
    let mut sorted = order;
    sorted.reverse();
    sorted.sort_by(|one, other| by_kubernetes(one, other));
    assert_eq!(sorted, order);
    assert!(
        VersionRank::of("v01").is_none()
            && VersionRank::of("v0").is_none()
            && VersionRank::of("v1beta").is_none()
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
        let found = compare(&old, &new, CrdGeneration::V1_9).unwrap();
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
    let error = compare(&read, &read, CrdGeneration::V1_9).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the schema of version v1 is nested too deep: expected at most 250 levels"
    );
}
