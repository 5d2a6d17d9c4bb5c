use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A `match` of which nothing, something or everything can be read.
fn matching() -> impl Strategy<Value = Value> {
    let packages = prop::sample::subsequence(vec!["a", "b", "a*", "*", "b"], 0..=5);
    prop_oneof![
        Just(json!({})),
        packages.prop_map(|packages| json!({"packages": packages})),
        Just(json!({"packages": ["a", "a"]})),
        Just(json!({"packages": ["a", 7]})),
        Just(json!({"packages": ["b"], "namespaces": ["here"]})),
        Just(json!({"packages": ["a"], "namespaces": ["there"]})),
        Just(json!({"extensionSelector": {"matchLabels": {"team": "payments"}}})),
        Just(json!({"extensionSelector": {"matchLabels": {"team": "other"}}})),
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
        let labels = BTreeMap::from([("team".to_owned(), "payments".to_owned())]);
        for package in ["a", "b", "c", ""] {
            let subject = Subject { package, namespace: "here", labels: &labels };
            let names = |found: Vec<&UpgradePolicy>| {
                found.iter().map(|policy| policy.name().to_owned()).collect::<Vec<_>>()
            };
            let scanned = policies.iter().filter(|policy| policy.matches(&subject)).collect();
            prop_assert_eq!(names(policies.matching(&subject)), names(scanned));
        }
    }
}
