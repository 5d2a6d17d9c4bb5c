//! The extensions that policies match, the facts about a match that are known before a change, and the index.

use std::collections::BTreeMap;

use olmguard_policy::{Change, PolicyIndex, Subject, UpgradePolicy, limits};
use serde_json::{Value, json};

use crate::facts::{Facts, named, policy, spec};

fn matching(part: &Value) -> UpgradePolicy {
    UpgradePolicy::read(&spec(&json!({ "match": part })))
}

/// Policies with each form of `match`, in an order that no other test depends on.
fn policies() -> Vec<UpgradePolicy> {
    [
        json!({}),
        json!({"packages": ["argocd-operator"]}),
        json!({"packages": ["strimzi-*", "argocd-operator"]}),
        json!({"packages": ["*-operator"], "namespaces": ["argocd"]}),
        json!({"extensionSelector": {"matchLabels": {"tier": "production"}}}),
        json!({"extensionSelector": {"matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["staging", "production"]},
        ]}}),
        json!({"extensionSelector": {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}}),
        json!({"namespaces": ["argocd"]}),
        json!({"packages": [7]}),
    ]
    .iter()
    .map(matching)
    .collect()
}

/// The candidates and the policies that match.
fn found(package: &str, namespace: &str, labels: &[(&str, &str)]) -> [Vec<usize>; 2] {
    let labels = labels
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let labels: BTreeMap<_, _> = labels.collect();
    let subject = Subject {
        package,
        namespace,
        labels: &labels,
    };
    let policies = policies();
    let candidates = PolicyIndex::of(&policies).candidates(&subject);
    let matched = policies.iter().enumerate();
    let matched = matched.filter(|(_, policy)| policy.matches(&subject));
    [
        candidates.into_iter().collect(),
        matched.map(|(place, _)| place).collect(),
    ]
}

#[test]
fn candidates_are_found_by_package_and_by_label() {
    for (package, namespace, labels, candidates, matched) in [
        (
            "argocd-operator",
            "argocd",
            &[][..],
            &[0, 1, 2, 3, 6, 7, 8][..],
            &[0, 1, 2, 3, 7, 8][..],
        ),
        (
            "argocd-operator",
            "other",
            &[],
            &[0, 1, 2, 3, 6, 7, 8],
            &[0, 1, 2, 8],
        ),
        (
            "strimzi-kafka",
            "argocd",
            &[],
            &[0, 2, 3, 6, 7, 8],
            &[0, 2, 7, 8],
        ),
        (
            "hive",
            "hive",
            &[("tier", "production")],
            &[0, 3, 4, 5, 6, 7, 8],
            &[0, 4, 5, 6, 8],
        ),
        (
            "hive",
            "hive",
            &[("tier", "staging")],
            &[0, 3, 5, 6, 7, 8],
            &[0, 5, 6, 8],
        ),
        (
            "hive",
            "hive",
            &[("tier", "test")],
            &[0, 3, 6, 7, 8],
            &[0, 6, 8],
        ),
        (
            "hive",
            "hive",
            &[("team", "production")],
            &[0, 3, 6, 7, 8],
            &[0, 8],
        ),
        ("", "", &[], &[0, 3, 6, 7, 8], &[0, 8]),
    ] {
        let expected = [candidates.to_vec(), matched.to_vec()];
        assert_eq!(
            found(package, namespace, labels),
            expected,
            "{package} {namespace} {labels:?}"
        );
    }
}

/// A selector cannot see the labels beyond the limit, so every policy matches.
#[test]
fn more_labels_than_are_read_match_every_selector() {
    for (count, expected) in [
        (limits::SUBJECT_ENTRIES, 0),
        (limits::SUBJECT_ENTRIES + 1, 3),
    ] {
        let labels: Vec<_> = (0..count)
            .map(|number| (format!("l{number}"), ""))
            .collect();
        let labels: Vec<_> = labels.iter().map(|(key, value)| (&**key, *value)).collect();
        let found = found("hive", "hive", &labels).map(|places| {
            places
                .iter()
                .filter(|place| (4..=6).contains(*place))
                .count()
        });
        assert_eq!(found, [expected.max(1), expected], "{count}");
    }
}

#[test]
fn what_is_known_of_a_match_without_an_extension() {
    let packages: [Option<&[&str]>; 9] = [
        None,
        Some(&["argocd-operator"]),
        None,
        None,
        None,
        None,
        None,
        None,
        None,
    ];
    for (place, policy) in policies().iter().enumerate() {
        let exact = policy.exact_packages();
        let exact = exact.map(|names| names.iter().map(|name| &**name).collect::<Vec<_>>());
        assert_eq!(exact.as_deref(), packages[place], "{place}");
        assert_eq!(
            policy.matches_by_extension(),
            (3..=7).contains(&place),
            "{place}"
        );
        assert_eq!(
            policy.is_about("hive"),
            ![1, 2, 3].contains(&place),
            "{place}"
        );
        assert_eq!(policy.is_match_unread(), place == 8, "{place}");
    }
}

#[test]
fn what_is_known_of_the_rules_without_a_change() {
    let window = json!([{"schedule": "0 22 * * *", "duration": "1h"}]);
    let rules = policy(&json!({"windows": window, "bypass": "ByPermission"}));
    assert!(rules.has_windows() && rules.asks_for_permission() && !rules.has_conditions());
    assert_eq!(rules.weight_of_each_step(), 0);
    let own = rules.weight();
    let conditions = ["bypass", "!deprecated", "to.major == 1"];
    let conditions = conditions.map(|expression| json!({ "expression": expression }));
    let conditions = policy(&json!({ "conditions": conditions, "bypass": "Deny" }));
    assert!(conditions.has_conditions());
    assert!(!conditions.has_windows() && !conditions.asks_for_permission());
    // One step for `bypass`, which is about the edit, and three and six for the others, which are about each bundle.
    assert_eq!(conditions.weight(), own + 10);
    assert_eq!(conditions.weight_of_each_step(), 9);
}

#[test]
fn a_permission_that_no_one_checks_is_a_fault_once() {
    let mut policy =
        UpgradePolicy::read(&named("p", &json!({"rules": {"bypass": "ByPermission"}})));
    for _ in 0..2 {
        policy.require_permission_check();
        let faults: Vec<_> = policy.faults().iter().map(|fault| &*fault.path).collect();
        assert_eq!(faults, ["spec.rules.bypass"]);
        assert!(!policy.asks_for_permission());
    }
}

/// The policy may be meant for other extensions, so edits without a move must not fail because of it.
#[test]
fn a_match_that_cannot_be_read_refuses_moves_and_nothing_else() {
    let facts = Facts::update("0.6.0", "0.6.1").with_range(">=0.6.0");
    let moves = Change {
        bypass: true,
        ..facts.change()
    };
    let stays = Change {
        is_move: false,
        ..moves
    };
    let rules =
        json!({"range": "Pinned", "bypass": "Deny", "conditions": [{"expression": "range == ''"}]});
    for (key, matching, fault, of_stays) in [
        (
            "match",
            json!({"packages": ["A_*"]}),
            "spec.match.packages[0]",
            0,
        ),
        ("match", json!({"pakages": ["a"]}), "spec.match.pakages", 0),
        ("mtach", json!({"packages": ["a"]}), "spec.mtach", 0),
        ("match", json!({}), "", 3),
    ] {
        let policy = UpgradePolicy::read(&spec(&json!({key: matching, "rules": rules})));
        let found = policy.faults().iter().map(|fault| &*fault.path);
        assert_eq!(found.collect::<Vec<_>>().concat(), fault);
        assert_eq!(policy.violations(&stays).len(), of_stays, "{fault}");
        let first = policy.violations(&moves).swap_remove(0).rule.path();
        assert_eq!(
            first,
            if fault.is_empty() {
                "spec.rules.range"
            } else {
                fault
            }
        );
    }
}

#[test]
fn every_part_of_a_match_must_hold() {
    let facts = Facts::install("1.0.0").with_label("tier", "production");
    let subject = facts.change().subject;
    for (written, matches) in [
        (json!({}), true),
        (json!(null), true),
        (json!({"packages": ["argocd-operator"]}), true),
        (json!({"packages": ["strimzi-*", "argocd-*"]}), true),
        (json!({"packages": ["strimzi-*"]}), false),
        (json!({"namespaces": ["argocd"]}), true),
        (json!({"namespaces": ["default"]}), false),
        (
            json!({"extensionSelector": {"matchLabels": {"tier": "production"}}}),
            true,
        ),
        (
            json!({"extensionSelector": {"matchLabels": {"tier": "test"}}}),
            false,
        ),
        (
            json!({"extensionSelector": {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}}),
            true,
        ),
        (
            json!({"extensionSelector": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["test", ""]}]}}),
            false,
        ),
        (
            json!({"packages": ["argocd-operator"], "namespaces": ["default"]}),
            false,
        ),
        (
            json!({"packages": ["argocd-*"], "namespaces": ["argocd"], "extensionSelector": {}}),
            true,
        ),
        // A list that cannot be read matches everything.
        (json!([]), true),
        (json!({"packages": []}), true),
        (json!({"packages": ["strimzi-*", 5]}), true),
        (
            json!({"packages": ["strimzi-*"], "namespace": ["argocd"]}),
            true,
        ),
    ] {
        let policy = UpgradePolicy::read(&spec(&json!({"match": written})));
        assert_eq!(policy.matches(&subject), matches, "{written}");
    }
    let nothing = Subject {
        package: "",
        namespace: "",
        ..subject
    };
    assert!(UpgradePolicy::read(&json!("no object")).matches(&nothing));
    assert!(UpgradePolicy::read(&json!({"spec": []})).matches(&nothing));
}
