//! Bundles and CRDs of the cases.

use serde_json::{Value, json};

use crate::image::bundle::BundleSource;

/// Returns the name of a bundle.
pub(super) fn name(package: &str, version: &str) -> String {
    format!("{package}.v{version}")
}

/// Returns the smallest bundle of a package that can be installed.
pub(super) fn smallest(package: &str, version: &str) -> BundleSource {
    BundleSource::new(package, &name(package, version), version)
}

/// Returns the smallest bundle with a CRD that it owns.
pub(super) fn with_crd(package: &str, version: &str, crd: Value) -> BundleSource {
    let mut bundle = smallest(package, version).beside(crd);
    put(
        &mut bundle.csv,
        "/spec/customresourcedefinitions",
        owned(package),
    );
    bundle
}

/// Makes a bundle support only these install modes.
pub(super) fn support(bundle: &mut BundleSource, modes: &[&str]) {
    let modes = modes
        .iter()
        .map(|mode| json!({ "type": mode, "supported": true }));
    put(&mut bundle.csv, "/spec/installModes", modes.collect());
}

/// Returns the catalog metadata of a bundle, as opm reads it from the CSV.
pub(super) fn metadata(bundle: &BundleSource) -> Value {
    let of_csv = [
        ("installModes", "/spec/installModes"),
        ("apiServiceDefinitions", "/spec/apiservicedefinitions"),
        ("crdDescriptions", "/spec/customresourcedefinitions"),
    ];
    let fields = of_csv.into_iter().filter_map(|(field, pointer)| {
        Some((field.to_owned(), bundle.csv.pointer(pointer)?.clone()))
    });
    Value::Object(fields.collect())
}

fn owned(package: &str) -> Value {
    json!({ "owned": [{ "name": crd_name(package), "kind": "Widget", "version": "v1" }] })
}

/// Returns the name of a package's CRD.
pub(super) fn crd_name(package: &str) -> String {
    format!("widgets.{package}.example.com")
}

/// Returns the CRD of a package, with a schema that covers every feature.
pub(super) fn crd(package: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": crd_name(package) },
        "spec": {
            "group": format!("{package}.example.com"),
            "scope": "Namespaced",
            "names": { "kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget" },
            "versions": [version("v1")],
        },
    })
}

/// Returns a version of the CRD that is served and stored.
pub(super) fn version(name: &str) -> Value {
    json!({
        "name": name, "served": true, "storage": true,
        "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": { "type": "string", "maxLength": 20 },
                "size": { "type": "integer", "minimum": 2, "maximum": 10 },
                "color": { "type": "string", "enum": ["green", "red"], "default": "red" },
                "code": { "type": "string", "pattern": "^[a-z]+$" },
                "note": { "type": "string" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "limits": { "type": "object", "additionalProperties": { "type": "string" } },
            },
        } } } },
    })
}

/// Inserts a value at a pointer whose parent exists: a member, or an item at the end of a list if the key is `-`.
pub(super) fn put(into: &mut Value, pointer: &str, value: Value) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    match into.pointer_mut(parent) {
        Some(Value::Object(parent)) => {
            parent.insert(key.to_owned(), value);
        }
        Some(Value::Array(parent)) if key == "-" => parent.push(value),
        _ => {}
    }
}

/// Removes the value at a pointer.
pub(super) fn take(from: &mut Value, pointer: &str) {
    if let Some((parent, key)) = pointer.rsplit_once('/')
        && let Some(Value::Object(parent)) = from.pointer_mut(parent)
    {
        parent.remove(key);
    }
}
