//! Faults of policies, with the texts that users see.

use crate::facts::spec;
use olmguard_policy::UpgradePolicy;
use serde_json::{Value, json};

#[track_caller]
fn faults(object: &Value) -> Vec<String> {
    let policy = UpgradePolicy::read(object);
    policy.faults().iter().map(ToString::to_string).collect()
}

#[test]
fn the_example_of_the_design_is_accepted() {
    let object = json!({
        "apiVersion": "olmguard.dev/v1alpha1",
        "kind": "UpgradePolicy",
        "metadata": {"name": "production", "uid": "1", "managedFields": []},
        "spec": {
            "enforcement": "Deny",
            "match": {
                "packages": ["argocd-operator", "strimzi-*"],
                "extensionSelector": {"matchLabels": {"tier": "production"}},
                "namespaces": ["argocd"],
            },
            "rules": {
                "versions": {"allow": ">=1.2 <3", "deny": "1.4.1 || 1.4.2"},
                "step": "Minor",
                "prereleases": "Deny",
                "deprecated": "Warn",
                "range": "Bounded",
                "catalogs": ["operatorhubio"],
                "bypass": "ByPermission",
                "windows": [{"schedule": "0 22 * * 1-5", "duration": "6h", "timeZone": "Europe/Berlin"}],
                "conditions": [{
                    "expression": "from == null || to.major == from.major || user.groups.exists(g, g == 'platform')",
                    "message": "major upgrades are the platform team's",
                }],
            },
        },
        "status": {"anything": 1},
    });
    assert_eq!(faults(&object), Vec::<String>::new());
    assert_eq!(UpgradePolicy::read(&object).name(), "production");
    assert_eq!(faults(&spec(&json!({}))), Vec::<String>::new());
}

#[test]
fn objects_of_another_kind() {
    for (key, value, want) in [
        (
            "apiVersion",
            json!(null),
            "apiVersion: missing: expected olmguard.dev/v1alpha1",
        ),
        (
            "apiVersion",
            json!("olmguard.dev/v2"),
            "apiVersion: found \"olmguard.dev/v2\", expected olmguard.dev/v1alpha1",
        ),
        (
            "kind",
            json!("ConfigMap"),
            "kind: found \"ConfigMap\", expected UpgradePolicy",
        ),
        (
            "kind",
            json!(7),
            "kind: expected UpgradePolicy, found integer",
        ),
        (
            "metadata",
            json!(null),
            "metadata: missing: expected a mapping with a name",
        ),
        (
            "metadata",
            json!([]),
            "metadata: expected a mapping, found array",
        ),
        (
            "metadata",
            json!({}),
            "metadata.name: missing: expected a name of lower-case letters, digits, - and .",
        ),
        (
            "metadata",
            json!({"name": ""}),
            "metadata.name: empty: expected a name of lower-case letters, digits, - and .",
        ),
        (
            "metadata",
            json!({"name": "A b"}),
            "metadata.name: \"A b\" is not a name of lower-case letters, digits, - and .",
        ),
        (
            "metadata",
            json!({"name": "a".repeat(254)}),
            "metadata.name: too long: expected at most 253 bytes, found 254",
        ),
        (
            "spec",
            json!(null),
            "spec: missing: expected a mapping with match and rules",
        ),
        ("spec", json!("x"), "spec: expected a mapping, found string"),
        (
            "rules",
            json!({}),
            "rules: unknown key: expected one of apiVersion, kind, metadata, spec, status",
        ),
    ] {
        let mut object = spec(&json!({}));
        object[key] = value;
        assert_eq!(faults(&object), [want]);
    }
    assert_eq!(faults(&json!(5)), ["expected a mapping, found integer"]);
    assert_eq!(UpgradePolicy::read(&json!(5)).name(), "");
}

#[test]
fn fields_of_the_spec() {
    let long = "x".repeat(300);
    for (written, want) in [
        (
            json!({"enforcment": "Warn"}),
            "spec.enforcment: unknown key (did you mean enforcement?): expected one of enforcement, match, rules",
        ),
        (
            json!({"enforcement": "warn"}),
            "spec.enforcement: unknown value \"warn\" (did you mean Warn?): expected one of Deny, Warn",
        ),
        (
            json!({"enforcement": true}),
            "spec.enforcement: expected Deny or Warn, found boolean",
        ),
        (
            json!({"enforcement": long}),
            "spec.enforcement: too long: expected at most 253 bytes, found 300",
        ),
        (
            json!({"match": []}),
            "spec.match: expected a mapping, found array",
        ),
        (
            json!({"match": {"package": []}}),
            "spec.match.package: unknown key (did you mean packages?): expected one of packages, extensionSelector, namespaces",
        ),
        (
            json!({"match": {"packages": "a"}}),
            "spec.match.packages: expected a list of package names, found string",
        ),
        (
            json!({"match": {"packages": []}}),
            "spec.match.packages: empty: expected a list of package names",
        ),
        (
            json!({"match": {"packages": [""]}}),
            "spec.match.packages[0]: empty: expected a package name, with * for any characters",
        ),
        (
            json!({"match": {"packages": ["a", "b?"]}}),
            "spec.match.packages[1]: \"b?\" is not a package name, with * for any characters",
        ),
        (
            json!({"match": {"packages": vec!["a"; 65]}}),
            "spec.match.packages: too many: expected at most 64 entries, found 65",
        ),
        (
            json!({"match": {"namespaces": ["argo*"]}}),
            "spec.match.namespaces[0]: \"argo*\" is not the name of a namespace (no wildcard)",
        ),
        (
            json!({"match": {"extensionSelector": {"labels": {}}}}),
            "spec.match.extensionSelector.labels: unknown key: expected one of matchLabels, matchExpressions",
        ),
        (
            json!({"match": {"extensionSelector": {"matchLabels": {"a": 1}}}}),
            "spec.match.extensionSelector.matchLabels.a: expected a string, found integer",
        ),
        (
            json!({"match": {"extensionSelector": {"matchLabels": []}}}),
            "spec.match.extensionSelector.matchLabels: expected a mapping, found array",
        ),
        (
            json!({"match": {"extensionSelector": {"matchExpressions": {}}}}),
            "spec.match.extensionSelector.matchExpressions: expected a list of requirements, found object",
        ),
        (
            json!({"match": {"extensionSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}}),
            "spec.match.extensionSelector: not a valid label selector: \"Is\" is not a valid label selector operator",
        ),
        (
            json!({"match": {"extensionSelector": {"matchExpressions": [{"key": "a", "operator": "In", "value": "b"}]}}}),
            "spec.match.extensionSelector.matchExpressions[0].value: unknown key (did you mean values?): expected one of key, operator, values",
        ),
        (
            json!({"rules": 1}),
            "spec.rules: expected a mapping, found integer",
        ),
    ] {
        assert_eq!(faults(&spec(&written)), [want]);
    }
}

#[test]
fn fields_of_the_rules() {
    for (written, want) in [
        (
            json!({"steps": "Minor"}),
            "steps: unknown key (did you mean step?): expected one of versions, step, prereleases, deprecated, range, catalogs, bypass, windows, conditions",
        ),
        (
            json!({"a\nb": 1}),
            "a\\nb: unknown key: expected one of versions, step, prereleases, deprecated, range, catalogs, bypass, windows, conditions",
        ),
        (
            json!({"versions": ">=1"}),
            "versions: expected a mapping, found string",
        ),
        (
            json!({"versions": {}}),
            "versions: empty: expected allow, deny or both",
        ),
        (
            json!({"versions": {"allowed": "1", "deny": "2"}}),
            "versions.allowed: unknown key (did you mean allow?): expected one of allow, deny",
        ),
        (
            json!({"versions": {"allow": ">=1.2 <<3"}}),
            "versions.allow: not a valid version range: improper constraint: \">=1.2 <<3\"",
        ),
        (
            json!({"versions": {"deny": ""}}),
            "versions.deny: empty: expected a version range such as \">=1.2 <3\"",
        ),
        (
            json!({"versions": {"deny": 1.4}}),
            "versions.deny: expected a version range such as \">=1.2 <3\", found number",
        ),
        (
            json!({"versions": {"deny": "1".repeat(513)}}),
            "versions.deny: too long: expected at most 512 bytes, found 513",
        ),
        (
            json!({"step": "minor"}),
            "step: unknown value \"minor\" (did you mean Minor?): expected one of Patch, Minor, Major",
        ),
        (
            json!({"step": 1}),
            "step: expected Patch, Minor or Major, found integer",
        ),
        (
            json!({"prereleases": "Warn"}),
            "prereleases: unknown value \"Warn\": expected one of Deny, Allow",
        ),
        (
            json!({"deprecated": false}),
            "deprecated: expected Deny, Warn or Allow, found boolean",
        ),
        (
            json!({"range": "Open"}),
            "range: unknown value \"Open\": expected one of Pinned, Bounded, Any",
        ),
        (
            json!({"catalogs": []}),
            "catalogs: empty: expected a list of catalog names",
        ),
        (
            json!({"catalogs": ["A"]}),
            "catalogs[0]: \"A\" is not the name of a ClusterCatalog",
        ),
        (
            json!({"catalogs": [["a"]]}),
            "catalogs[0]: expected the name of a ClusterCatalog, found array",
        ),
        (
            json!({"bypass": "ByPermision"}),
            "bypass: unknown value \"ByPermision\" (did you mean ByPermission?): expected one of Deny, ByPermission, Allow",
        ),
    ] {
        assert_eq!(
            faults(&spec(&json!({"rules": written}))),
            [format!("spec.rules.{want}")]
        );
    }
}

#[test]
fn windows_and_conditions() {
    for (written, want) in [
        (
            json!({"windows": {}}),
            "windows: expected a list of windows, found object",
        ),
        (
            json!({"windows": ["0 0 * * *"]}),
            "windows[0]: expected a mapping, found string",
        ),
        (
            json!({"conditions": "true"}),
            "conditions: expected a list of conditions, found string",
        ),
        (
            json!({"conditions": [{"expresion": "true", "expression": "true"}]}),
            "conditions[0].expresion: unknown key (did you mean expression?): expected one of expression, message",
        ),
        (
            json!({"conditions": [{"message": "no"}]}),
            "conditions[0].expression: missing: expected a CEL expression such as \"to.minor < 7\"",
        ),
        (
            json!({"conditions": [{"expression": true}]}),
            "conditions[0].expression: expected a CEL expression such as \"to.minor < 7\", found boolean",
        ),
        (
            json!({"conditions": [{"expression": "true", "message": "m".repeat(1025)}]}),
            "conditions[0].message: too long: expected at most 1024 bytes, found 1025",
        ),
        (
            json!({"conditions": [{"expression": "1".repeat(1025)}]}),
            "conditions[0].expression: too long: expected at most 1024 bytes, found 1025",
        ),
    ] {
        assert_eq!(
            faults(&spec(&json!({"rules": written}))),
            [format!("spec.rules.{want}")]
        );
    }
}

#[test]
fn all_faults_are_reported_with_places_in_texts() {
    let policy = UpgradePolicy::read(&spec(&json!({
        "enforcement": "No",
        "rules": {
            "versions": {"deny": ">=1 <<2"},
            "conditions": [{"expression": "true"}, {"expression": "true && frm == null"}],
        },
    })));
    let faults = policy.faults().iter();
    let found: Vec<_> = faults
        .map(|fault| (fault.path.as_str(), fault.at()))
        .collect();
    assert_eq!(
        found,
        [
            ("spec.enforcement", None),
            ("spec.rules.versions.deny", Some(5)),
            ("spec.rules.conditions[1].expression", Some(8)),
        ]
    );
}

#[test]
fn the_number_of_faults_is_bounded() {
    let keys = (0..1000).map(|n| (n.to_string(), json!(1)));
    let rules: serde_json::Map<String, Value> = keys.collect();
    assert_eq!(faults(&spec(&json!({ "rules": &rules }))).len(), 64);
    // A broken match matches everything, also if its own fault is not among those that are kept.
    let mut written = rules;
    written.insert("match".to_owned(), json!({"packages": ["other", 1]}));
    let policy = UpgradePolicy::read(&spec(&Value::Object(written)));
    let facts = crate::facts::Facts::install("1.0.0");
    assert!(policy.faults().len() == 64 && policy.matches(&facts.change().subject));
}

#[test]
fn conditions_share_a_budget() {
    let pairs = json!({"expression": "user.groups.all(a, user.groups.all(b, a == b))"});
    let one = json!({"rules": {"conditions": [{"expression": "to.major < 7"}, pairs]}});
    assert_eq!(faults(&spec(&one)), Vec::<String>::new());
    let two = json!({"rules": {"conditions": [pairs, pairs, {"expression": "to.major < 7"}]}});
    assert_eq!(
        faults(&spec(&two)),
        [
            "spec.rules.conditions[1].expression: not a valid CEL expression: the conditions of the \
             policy are too costly together: expected fewer comprehensions, or over smaller lists"
        ]
    );
}
