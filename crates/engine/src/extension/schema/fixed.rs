//! The fields that a CRD lets nobody change.
//!
//! Each is a transition rule, `self == oldSelf`, on a text: it is evaluated where the field is in the
//! old object and in the new one, so adding it and taking it away both pass.
//!
//! Source: operator-controller, [`api/v1/clusterextension_types.go`] and its predecessors. For older
//! shapes the rules are those known of the newest release with each field; `packageName` of the flat
//! shape could be changed.
//!
//! [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::extension::Shape;
use crate::extension::schema::{Finding, SchemaRelease};

/// A field that stays as it is once it is set.
struct ImmutableField {
    /// As the API server writes it.
    path: &'static str,
    /// What it says about a change.
    message: &'static str,
    /// The minor releases of OLM v1 whose CRD says it so.
    releases: RangeInclusive<u8>,
}

/// What the CRD would refuse of an edit that makes `new` of `old`, both of this shape, in the order
/// of the fields.
pub(super) fn check(
    shape: Shape,
    olm: SchemaRelease,
    (old, new): (&Value, &Value),
) -> Vec<Finding> {
    let rules = fixed(shape).iter();
    rules
        .filter(|rule| rule.releases.contains(&olm.minor))
        .filter(|rule| {
            let both = rule.text(old).zip(rule.text(new));
            both.is_some_and(|(old, new)| old != new)
        })
        .map(|rule| Finding::fixed(rule.path, rule.message))
        .collect()
}

impl ImmutableField {
    const fn always(path: &'static str, message: &'static str) -> Self {
        Self {
            path,
            message,
            releases: 0..=u8::MAX,
        }
    }

    const fn within(self, releases: RangeInclusive<u8>) -> Self {
        Self { releases, ..self }
    }

    /// Of another type it is a fault of its own, and the API server evaluates no CEL rule.
    fn text<'a>(&self, object: &'a Value) -> Option<&'a str> {
        let mut keys = self.path.split('.');
        keys.try_fold(object, |value, key| value.get(key))?.as_str()
    }
}

fn fixed(shape: Shape) -> &'static [ImmutableField] {
    match shape {
        Shape::V1 => &V1,
        Shape::V1Alpha1Nested => &NESTED,
        Shape::V1Alpha1Flat => &FLAT,
        Shape::Operator => &[],
    }
}

const NAMESPACE: ImmutableField =
    ImmutableField::always("spec.namespace", "namespace is immutable");
const PACKAGE: ImmutableField = ImmutableField::always(
    "spec.source.catalog.packageName",
    "packageName is immutable",
);
const SERVICE_ACCOUNT: ImmutableField =
    ImmutableField::always("spec.serviceAccount.name", "name is immutable");
const INSTALL_NAMESPACE: ImmutableField =
    ImmutableField::always("spec.installNamespace", "installNamespace is immutable");

static V1: [ImmutableField; 4] = [
    NAMESPACE,
    SERVICE_ACCOUNT.within(0..=10),
    ImmutableField::always(
        "spec.serviceAccount.name",
        "name is immutable once set but may be cleared",
    )
    .within(11..=u8::MAX),
    PACKAGE,
];

static NESTED: [ImmutableField; 5] = [
    NAMESPACE,
    INSTALL_NAMESPACE,
    ImmutableField::always("spec.install.namespace", "namespace is immutable"),
    SERVICE_ACCOUNT,
    PACKAGE,
];

static FLAT: [ImmutableField; 2] = [INSTALL_NAMESPACE, SERVICE_ACCOUNT];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(shape: Shape, minor: u8, old: &Value, new: &Value) -> Vec<String> {
        let findings = check(shape, SchemaRelease::v1(minor), (old, new));
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
