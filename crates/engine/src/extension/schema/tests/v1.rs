//! The v1 CRD.

use super::*;

mod install;
mod source;

pub(super) fn extension() -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "argocd"},
        "spec": {
            "namespace": "argocd",
            "serviceAccount": {"name": "argocd-installer"},
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "argocd-operator"}},
        },
    })
}

#[track_caller]
fn says(object: &Value, want: &[&str]) {
    assert_eq!(findings(Shape::V1, NEWEST, object), want, "{object}");
}

#[track_caller]
fn field_says(pointer: &str, value: Value, want: &[&str]) {
    says(&with(extension(), pointer, value), want);
}

/// All of `texts` are taken at `pointer`.
#[track_caller]
fn takes(pointer: &str, texts: &[&str]) {
    for text in texts {
        field_says(pointer, json!(text), &[]);
    }
}

/// All of `texts` are refused at `pointer`, with this finding.
#[track_caller]
fn refuses(pointer: &str, texts: &[&str], finding: &str) {
    for text in texts {
        field_says(pointer, json!(text), &[finding]);
    }
}

const PACKAGE_NAME: &str = "/spec/source/catalog/packageName";
const VERSION: &str = "/spec/source/catalog/version";
const POLICY: &str = "/spec/source/catalog/upgradeConstraintPolicy";

const SUBDOMAIN: &str = "must be a valid DNS1123 subdomain. It must contain only lowercase \
    alphanumeric characters, hyphens (-) or periods (.), start and end with an alphanumeric \
    character, and be no longer than 253 characters";

#[test]
fn the_smallest_extension_is_taken() {
    says(&extension(), &[]);
    says(&without(extension(), "/spec", "serviceAccount"), &[]);
    says(&without(extension(), "", "spec"), &[]);
}

#[test]
fn whole_objects() {
    says(&json!({}), &[]);
    says(
        &json!({"spec": {}}),
        &[
            "spec.namespace: Required value",
            "spec.source: Required value",
        ],
    );
    says(
        &json!([]),
        &[": Invalid value: \"array\": must be of type object: \"array\""],
    );
    says(
        &json!({"spec": []}),
        &["spec: Invalid value: \"array\": spec in body must be of type object: \"array\""],
    );
    let mut wrong = with(extension(), VERSION, json!("latest"));
    wrong = with(wrong, POLICY, json!("Never"));
    says(
        &with(wrong, PACKAGE_NAME, json!(7)),
        &[
            "spec.source.catalog.packageName: Invalid value: \"integer\": \
             spec.source.catalog.packageName in body must be of type string: \"integer\"",
            "spec.source.catalog.version: invalid version expression",
            "spec.source.catalog.upgradeConstraintPolicy: Unsupported value: \"Never\": supported \
             values: \"CatalogProvided\", \"SelfCertified\"",
        ],
    );
}
