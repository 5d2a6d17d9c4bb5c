//! The faults that each CRD reports, row by row: the upstream admission tests of the v1 CRD
//! (operator-controller, `controllers/clusterextension_admission_test.go`), then every rule.
//!
//! The wording was compared with what k8s.io/apiextensions-apiserver v0.36.1 answers for a schema
//! with one rule of each kind.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod older;
mod v1;

const NEWEST: SchemaRelease = SchemaRelease::v1(11);

/// The findings of the CRD in `object`, one `path: message` per line.
fn findings(shape: Shape, olm: SchemaRelease, object: &Value) -> Vec<String> {
    let findings = check(shape, olm, object).into_iter();
    findings
        .map(|finding| format!("{}: {}", finding.path, finding.message))
        .collect()
}

/// `object` with the field at `pointer` (RFC 6901) set. Missing parents are created.
fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let mut at = &mut object;
    for name in pointer.split('/').skip(1) {
        at = &mut at[name];
    }
    *at = value;
    object
}

/// `object` without the field `name` of the object at `pointer`.
fn without(mut object: Value, pointer: &str, name: &str) -> Value {
    object
        .pointer_mut(pointer)
        .unwrap()
        .as_object_mut()
        .unwrap()
        .remove(name);
    object
}

fn any_json() -> impl Strategy<Value = Value> {
    let names = [
        "spec",
        "source",
        "sourceType",
        "catalog",
        "packageName",
        "version",
        "channel",
        "channels",
        "selector",
        "matchLabels",
        "matchExpressions",
        "key",
        "operator",
        "values",
        "install",
        "namespace",
        "serviceAccount",
        "name",
        "preflight",
        "crdUpgradeSafety",
        "config",
        "inline",
        "upgradeConstraintPolicy",
        "installNamespace",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "Catalog|Inline|Ignore|>=1.0.0".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        let name = prop_oneof![
            prop::sample::select(names.to_vec()).prop_map(str::to_owned),
            ".{0,3}"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_answered(object in any_json(), minor in 0..=12u8) {
        for shape in [Shape::V1, Shape::V1Alpha1Nested, Shape::V1Alpha1Flat, Shape::Operator] {
            let findings = check(shape, SchemaRelease::v1(minor), &object);
            prop_assert!(findings.len() <= 32);
            for finding in findings {
                let text = format!("{}{}", finding.path, finding.message);
                prop_assert!(!text.chars().any(char::is_control), "{text:?}");
            }
        }
    }

    #[test]
    fn fields_that_no_crd_knows_are_no_finding(value in any_json()) {
        let object = v1::extension();
        for pointer in ["/unknown", "/spec/unknown", "/spec/source/catalog/unknown"] {
            let object = with(object.clone(), pointer, value.clone());
            prop_assert_eq!(findings(Shape::V1, NEWEST, &object), Vec::<String>::new());
        }
    }
}

#[test]
fn a_manifest_wrong_in_every_item_stays_short() {
    let channels = json!(vec!["Bad Channel"; 100_000]);
    let object = with(v1::extension(), "/spec/source/catalog/channels", channels);
    let findings = findings(Shape::V1, NEWEST, &object);
    assert_eq!(findings.len(), 32);
    let first = "spec.source.catalog.channels: Too many: 100000: must have at most 256 items";
    assert_eq!(findings[0], first);
}

mod fixed {
    use serde_json::json;

    use super::super::*;

    fn said(shape: Shape, minor: u8, old: &Value, new: &Value) -> Vec<String> {
        let findings = check_edit(shape, SchemaRelease::v1(minor), old, new);
        let said = |finding: &Finding| format!("{}: {}", finding.path, finding.message);
        findings.iter().map(said).collect()
    }

    fn v1(namespace: &Value, account: &Value, package: &Value) -> Value {
        json!({"spec": {"namespace": namespace, "serviceAccount": {"name": account},
            "source": {"sourceType": "Catalog", "catalog": {"packageName": package}}}})
    }

    #[test]
    fn v1_says_it_of_three_fields_in_the_words_of_the_release() {
        let old = v1(&json!("a"), &json!("b"), &json!("c"));
        let new = v1(&json!("x"), &json!("y"), &json!("z"));
        let namespace = "spec.namespace: namespace is immutable";
        let package = "spec.source.catalog.packageName: packageName is immutable";
        let account = "spec.serviceAccount.name: name is immutable";
        let cleared = format!("{account} once set but may be cleared");
        assert_eq!(
            said(Shape::V1, 10, &old, &new),
            [namespace, account, package]
        );
        assert_eq!(
            said(Shape::V1, 11, &old, &new),
            [namespace, &cleared, package]
        );
        assert_eq!(said(Shape::V1, 11, &old, &old), [""; 0]);
    }

    #[test]
    fn what_is_added_cleared_or_of_another_type_is_no_change() {
        let set = v1(&json!("a"), &json!("b"), &json!("c"));
        for other in [json!(null), json!(1)] {
            let other = v1(&other, &other, &other);
            assert_eq!(said(Shape::V1, 11, &set, &other), [""; 0]);
            assert_eq!(said(Shape::V1, 11, &other, &set), [""; 0]);
        }
        assert_eq!(said(Shape::V1, 11, &set, &json!({})), [""; 0]);
    }

    #[test]
    fn each_older_shape_has_its_own() {
        let old = json!({"spec": {"packageName": "a", "namespace": "a", "installNamespace": "a",
            "install": {"namespace": "a"}, "serviceAccount": {"name": "a"},
            "source": {"catalog": {"packageName": "a"}}}});
        let new: Value = serde_json::from_str(&old.to_string().replace("\"a\"", "\"b\"")).unwrap();
        assert_eq!(
            said(Shape::V1Alpha1Nested, 0, &old, &new),
            [
                "spec.namespace: namespace is immutable",
                "spec.installNamespace: installNamespace is immutable",
                "spec.install.namespace: namespace is immutable",
                "spec.serviceAccount.name: name is immutable",
                "spec.source.catalog.packageName: packageName is immutable",
            ]
        );
        assert_eq!(
            said(Shape::V1Alpha1Flat, 0, &old, &new),
            [
                "spec.installNamespace: installNamespace is immutable",
                "spec.serviceAccount.name: name is immutable",
            ]
        );
        assert_eq!(said(Shape::Operator, 0, &old, &new), [""; 0]);
    }
}
