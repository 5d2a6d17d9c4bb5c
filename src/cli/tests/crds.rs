//! The files in `deploy/crds`, which are generated from the types in this module.
//!
//! The test writes them with `OLMGUARD_BLESS=1`.

mod definitions;

use serde_json::{Value, json};

use crate::cli::output::yaml;
use definitions::definitions;
use olmguard_fixtures::committed::compare;
use olmguard_policy::{UpgradePolicy, limits};

#[test]
fn the_definitions_are_those_of_the_types() {
    for (name, mut definition) in definitions() {
        let metadata = &mut definition["metadata"];
        metadata["labels"] = json!({
            "app.kubernetes.io/name": "olmguard", "app.kubernetes.io/part-of": "olmguard",
        });
        metadata["annotations"] = json!({ KEEP: "keep" });
        let text = format!("{TITLE}{}", yaml::document(&definition));
        assert_eq!(read(&text), definition);
        compare(&format!("deploy/crds/{name}.yaml"), &text);
        let template = format!("{{{{- if .Values.crds.enabled }}}}\n{text}{{{{- end }}}}\n");
        compare(
            &format!("deploy/chart/templates/crd-{name}.yaml"),
            &template,
        );
    }
}

/// An object that matches its schema can still have faults. An object without faults always matches.
#[test]
fn the_limits_are_those_of_the_reader() {
    let [(_, policy), _] = definitions();
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    let limit = |path: &str, key: &str| {
        let path = path.replace('.', "/properties/").replace("[]", "/items");
        let found = policy.pointer(&format!("{spec}/{path}/{key}"));
        found
            .and_then(Value::as_u64)
            .and_then(|found| usize::try_from(found).ok())
    };
    for (path, key, expected) in [
        ("match.packages", "maxItems", limits::LIST_ENTRIES),
        ("match.packages[]", "maxLength", limits::NAME_BYTES),
        ("match.namespaces", "maxItems", limits::LIST_ENTRIES),
        (
            "match.extensionSelector.matchLabels",
            "maxProperties",
            limits::LIST_ENTRIES,
        ),
        (
            "match.extensionSelector.matchExpressions[].key",
            "maxLength",
            limits::LABEL_BYTES,
        ),
        ("rules.versions.allow", "maxLength", limits::RANGE_BYTES),
        ("rules.versions.deny", "maxLength", limits::RANGE_BYTES),
        ("rules.catalogs", "maxItems", limits::LIST_ENTRIES),
        ("rules.windows", "maxItems", limits::LIST_ENTRIES),
        (
            "rules.windows[].schedule",
            "maxLength",
            limits::SCHEDULE_BYTES,
        ),
        (
            "rules.windows[].duration",
            "maxLength",
            limits::DURATION_BYTES,
        ),
        ("rules.windows[].timeZone", "maxLength", limits::NAME_BYTES),
        ("rules.conditions", "maxItems", limits::LIST_ENTRIES),
        (
            "rules.conditions[].expression",
            "maxLength",
            limits::EXPRESSION_BYTES,
        ),
        (
            "rules.conditions[].message",
            "maxLength",
            limits::MESSAGE_BYTES,
        ),
    ] {
        assert_eq!(limit(path, key), Some(expected), "{path} {key}");
    }
}

/// An allowed policy, and the same policy with a typo, which only the reader detects.
#[test]
fn what_can_be_read_fits_and_a_typo_is_kept() {
    let [(_, policy), (_, guardrails)] = definitions();
    let fits = |definition: &Value, spec: Value| {
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let object = json!({ "spec": spec });
        let fault = jsonschema::validate(schema, &object).err();
        fault.map(|fault| fault.to_string())
    };
    let whole = json!({
        "enforcement": "Warn",
        "match": {
            "packages": ["argocd-operator", "strimzi-*"],
            "extensionSelector": {
                "matchLabels": {"tier": "production"},
                "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a"]}],
            },
            "namespaces": ["argocd"],
        },
        "rules": {
            "versions": {"allow": ">=1.2 <3", "deny": "1.4.1 || 1.4.2"}, "step": "Minor",
            "prereleases": "Deny", "deprecated": "Warn", "range": "Bounded",
            "catalogs": ["operatorhubio"], "bypass": "Deny",
            "windows": [{"schedule": "0 22 * * 1-5", "duration": "6h", "timeZone": "Europe/Berlin"}],
            "conditions": [{"expression": "true", "message": "no"}],
        },
    });
    let object = json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
        "metadata": {"name": "whole"}, "spec": whole.clone(),
    });
    assert_eq!(UpgradePolicy::read(&object).faults(), []);
    assert_eq!(fits(&policy, whole), None);
    assert_eq!(
        fits(&policy, json!({"rules": {"stpe": "Minor"}, "macth": {}})),
        None
    );
    assert!(fits(&policy, json!({"rules": {"step": "Tiny"}})).is_some());
    let rules = json!([{"id": "a", "kind": "PassThrough", "via": ">=1.3.0 <1.4.0-0"}]);
    assert_eq!(
        fits(&guardrails, json!({"package": "p", "rules": rules})),
        None
    );
    assert!(fits(&guardrails, json!({"rules": rules})).is_some());
}

fn read(text: &str) -> Value {
    let mut documents = crate::manifest::documents(text.as_bytes());
    documents.next().expect("one").expect("YAML").value
}

const TITLE: &str = "\
# From the types in src/cli/tests/crds. This test writes the file: OLMGUARD_BLESS=1 cargo test --lib crds
";

/// `helm uninstall` keeps the definitions, and with them every policy. kubectl ignores the annotation.
const KEEP: &str = "helm.sh/resource-policy";
