use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A `match` that can be read not at all, in part, or in full.
fn matching() -> impl Strategy<Value = Value> {
    let packages = prop::sample::subsequence(vec!["a", "b", "a*", "*", "b", "*a", "a*a"], 0..=7);
    prop_oneof![
        Just(json!({})),
        packages.prop_map(|packages| json!({"packages": packages})),
        Just(json!({"packages": ["a", "a"]})),
        Just(json!({"packages": ["a", 7]})),
        Just(json!({"packages": ["b"], "namespaces": ["here"]})),
        Just(json!({"packages": ["a"], "namespaces": ["there"]})),
        Just(json!({"extensionSelector": {"matchLabels": {"team": "payments"}}})),
        Just(json!({"extensionSelector": {"matchLabels": {"team": "other"}}})),
        Just(json!({"extensionSelector": {"matchLabels": {"team": "payments", "tier": "gold"}}})),
        Just(
            json!({"packages": ["a*"], "extensionSelector": {"matchLabels": {"team": "payments"}}})
        ),
        Just(json!({"extensionSelector": {"matchExpressions": [
            {"key": "tier", "operator": "Exists"}, {"key": "team", "operator": "In", "values": ["x", "payments"]},
        ]}})),
        Just(json!({"extensionSelector": {"matchExpressions": [
            {"key": "team", "operator": "NotIn", "values": ["payments"]},
        ]}})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_scan_finds(all in prop::collection::vec(matching(), 0..12)) {
        let policies = all.iter().enumerate().map(|(number, matching)| UpgradePolicy::read(&json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": format!("p{}", number * 7 % 12)}, "spec": {"match": matching},
        })));
        let policies = UpgradePolicies::of(policies);
        for (package, labels) in subjects() {
            let subject = Subject { package, namespace: "here", labels: &labels };
            let names = |found: Vec<&UpgradePolicy>| {
                found.iter().map(|policy| policy.name().to_owned()).collect::<Vec<_>>()
            };
            let scanned = policies.iter().filter(|policy| policy.matches(&subject)).collect();
            prop_assert_eq!(names(policies.matching(&subject)), names(scanned));
        }
    }
}

/// Packages and labels: none, some, and more labels than are read.
fn subjects() -> Vec<(&'static str, BTreeMap<String, String>)> {
    let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let many = (0..300).map(|number| label(&format!("l{number}"), "x"));
    let labels = [
        BTreeMap::new(),
        BTreeMap::from([label("team", "payments")]),
        BTreeMap::from([label("team", "x"), label("tier", "gold")]),
        many.collect(),
    ];
    let packages = ["a", "aa", "b", "c", "\u{e9}a", ""];
    let pairs = packages.into_iter().flat_map(|package| {
        let with = move |labels: &BTreeMap<String, String>| (package, labels.clone());
        labels.iter().map(with).collect::<Vec<_>>()
    });
    pairs.collect()
}

/// A policy whose conditions take between a seventh and an eighth of the budget of all policies.
fn costly(name: &str) -> UpgradePolicy {
    let all = json!({"expression": "user.groups.all(g, user.groups.all(h, g != h || true))"});
    named(name, &json!({"conditions": [all]}))
}

fn named(name: &str, rules: &Value) -> UpgradePolicy {
    UpgradePolicy::read(&json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
        "metadata": {"name": name}, "spec": {"rules": rules},
    }))
}

#[test]
fn a_policy_that_is_written_is_bounded_with_all_others() {
    let seven = UpgradePolicies::of(["b", "c", "d", "e", "f", "g", "h"].map(costly));
    assert_eq!(seven.too_costly_with(&costly("i")), ["i"]);
    assert_eq!(seven.too_costly_with(&costly("a")), ["h"]);
    assert_eq!(seven.too_costly_with(&costly("h")), [""; 0]);
    assert_eq!(
        seven.too_costly_with(&named("a", &json!({"step": "Minor"}))),
        [""; 0]
    );
    let eight = UpgradePolicies::of(["b", "c", "d", "e", "f", "g", "h", "i"].map(costly));
    assert_eq!(
        eight.too_costly_with(&costly("a")),
        ["h"],
        "i does not fit without it"
    );
    assert_eq!(
        eight.too_costly_with(&costly("i")),
        ["i"],
        "it still does not fit"
    );
    assert_eq!(eight.too_costly_with(&costly("z")), ["z"]);
    assert_eq!(
        eight.too_costly_with(&named("b", &json!({}))),
        [""; 0],
        "i fits now"
    );
}
