//! Checks that Go can read the metadata of a bundle: `metadata/annotations.yaml`, and the properties in
//! `metadata/properties.yaml` and in the annotation `olm.properties` of its `ClusterServiceVersion`.
//!
//! Go matches the names of members in any case, and treats `null` as absent. In YAML, a number or a boolean is
//! accepted where a string is expected.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_json::value::RawValue;

use olmguard_catalog::DependencyKind;

/// Returns the package that the first document of `metadata/annotations.yaml` names, or an empty text if it names
/// none. `None` if Go cannot read the document.
pub fn package_of(document: &Value) -> Option<String> {
    let is_annotations = |annotations: &Value| {
        let is_scalar = |name| members(annotations, name, is_scalar);
        ANNOTATIONS.into_iter().all(is_scalar)
    };
    if !members(document, "annotations", is_annotations) {
        return None;
    }
    let annotations = named(document, "annotations");
    let packages = annotations.flat_map(|annotations| named(annotations, PACKAGE));
    Some(match packages.last() {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(scalar) => scalar.to_string(),
    })
}

/// Returns the members with this name in any case, in the order of their names: in Go a later one replaces an earlier
/// one, unless it is null.
fn named<'v>(object: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    let members = object.as_object().into_iter().flatten();
    let named =
        members.filter(move |(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null());
    named.map(|(_, value)| value)
}

const PACKAGE: &str = "operators.operatorframework.io.bundle.package.v1";

/// The annotations for which Go has a field.
const ANNOTATIONS: [&str; 3] = [
    PACKAGE,
    "operators.operatorframework.io.bundle.channels.v1",
    "operators.operatorframework.io.bundle.channel.default.v1",
];

/// Whether Go can read the annotation `olm.properties` of a `ClusterServiceVersion`, which is optional.
pub(super) fn has_readable_properties(csv: &Value) -> bool {
    let properties = csv.pointer("/metadata/annotations/olm.properties");
    properties.and_then(Value::as_str).is_none_or(is_list)
}

/// Whether the text is the JSON of a list of properties.
fn is_list(json: &str) -> bool {
    let is_text = |value: &RawValue| value.get().starts_with(['"', 'n']);
    properties(json).is_some_and(|mut list| list.all(|property| types(&property).all(is_text)))
}

type Property<'j> = BTreeMap<String, &'j RawValue>;

/// Returns the properties in a list. Values are not parsed, because Go reads more of them than serde.
fn properties(json: &str) -> Option<impl Iterator<Item = Property<'_>>> {
    let list = serde_json::from_str::<Option<Vec<Option<Property<'_>>>>>(json).ok()?;
    Some(list.into_iter().flatten().flatten())
}

/// Returns the members of a property that Go reads as its type.
fn types<'p, 'j>(property: &'p Property<'j>) -> impl Iterator<Item = &'j RawValue> + use<'p, 'j> {
    let named = property
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("type"));
    named.map(|(_, value)| *value)
}

/// Whether Go can read the first document of `metadata/properties.yaml`.
pub fn is_properties_file(document: &Value) -> bool {
    members(document, "properties", |list| match list {
        Value::Null => true,
        Value::Array(all) => all
            .iter()
            .all(|property| members(property, "type", is_scalar)),
        _ => false,
    })
}

/// Returns the dependencies that the first document of `metadata/properties.yaml` or `metadata/dependencies.yaml`
/// declares. A catalog stores both as properties of the bundle.
///
/// Upstream: operator-registry, [`pkg/registry/registry_to_model.go`].
///
/// [`pkg/registry/registry_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/registry/registry_to_model.go
pub fn dependencies_of(document: &Value) -> BTreeSet<DependencyKind> {
    let types = |list: &'static str| {
        let items = named(document, list).last().and_then(Value::as_array);
        let items = items.into_iter().flatten();
        items.filter_map(|item| named(item, "type").last()?.as_str())
    };
    let required = types("dependencies").map(|name| match name {
        "olm.package" => DependencyKind::Package.as_str(),
        "olm.gvk" => DependencyKind::Gvk.as_str(),
        name => name,
    });
    types("properties")
        .chain(required)
        .filter_map(DependencyKind::of)
        .collect()
}

/// Returns the dependencies in the annotation `olm.properties` of a `ClusterServiceVersion`.
pub(super) fn annotated_dependencies(csv: &Value) -> BTreeSet<DependencyKind> {
    let properties = csv.pointer("/metadata/annotations/olm.properties");
    let properties = properties
        .and_then(Value::as_str)
        .and_then(self::properties);
    let kinds = properties.into_iter().flatten().filter_map(|property| {
        let set = types(&property).filter(|value| value.get() != "null");
        // Go reads the members in the order of the text, of which the values are parts.
        let last = set.max_by_key(|value| value.get().as_ptr().addr())?;
        DependencyKind::of(&serde_json::from_str::<String>(last.get()).ok()?)
    });
    kinds.collect()
}

/// Whether Go can read all members with this name, if there are any.
fn members(object: &Value, name: &str, is_read: impl Fn(&Value) -> bool) -> bool {
    match object {
        Value::Null => true,
        Value::Object(members) => {
            let mut named = members.iter();
            named.all(|(key, value)| !key.eq_ignore_ascii_case(name) || is_read(value))
        }
        _ => false,
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_package_is_a_scalar_and_so_are_the_channels() {
        let of = |annotations: Value| package_of(&json!({"annotations": annotations}));
        let text = |text: &str| Some(text.to_owned());
        let default = "operators.operatorframework.io.bundle.channel.default.v1";
        for (annotations, expected) in [
            (json!(null), text("")),
            (json!({"other": []}), text("")),
            (json!({PACKAGE: null}), text("")),
            (json!({PACKAGE: "p", default: 1}), text("p")),
            (json!({PACKAGE: 5}), text("5")),
            (json!({PACKAGE: true}), text("true")),
            (json!({PACKAGE: ["p"]}), None),
            (json!({PACKAGE: "p", default: {}}), None),
            (json!([]), None),
        ] {
            assert_eq!(of(annotations.clone()), expected, "{annotations}");
        }
        let of = |document| package_of(&document);
        assert_eq!(
            of(json!({"Annotations": {PACKAGE.to_uppercase(): "p"}})),
            text("p")
        );
        let both =
            json!({"Annotations": {PACKAGE: "p"}, "annotations": {PACKAGE: null, "OPERATORS": 1}});
        assert_eq!(of(both), text("p"));
        assert_eq!(package_of(&json!(null)), text(""));
        assert_eq!(package_of(&json!(["a"])), None);
    }

    #[test]
    fn the_annotation_is_a_list_of_objects_whose_type_is_a_string() {
        for (json, expected) in [
            ("[]", true),
            ("null", true),
            (r#"[null, {}, {"type": "a", "value": 1e999}]"#, true),
            (r#"[{"type": null, "value": ["\ud800"]}]"#, true),
            ("", false),
            ("{", false),
            ("{}", false),
            ("[5]", false),
            (r#"[{"type": 5}]"#, false),
            (r#"[{"Type": []}]"#, false),
            ("[] []", false),
        ] {
            assert_eq!(is_list(json), expected, "{json}");
        }
    }

    #[test]
    fn dependencies_are_properties_of_these_types() {
        use DependencyKind::{Constraint, Gvk, Package};
        for (document, expected) in [
            (json!(null), &[][..]),
            (
                json!({"properties": [{"type": "olm.gvk"}, {"type": "olm.maxOpenShiftVersion"}, 5]}),
                &[],
            ),
            (
                json!({"properties": [{"type": "olm.gvk.required"}, {"Type": "olm.constraint"}]}),
                &[Gvk, Constraint],
            ),
            (
                json!({"dependencies": [{"type": "olm.package"}, {"type": "olm.gvk"}]}),
                &[Package, Gvk],
            ),
            (
                json!({"dependencies": [{"type": "olm.constraint"}, {"type": "other"}]}),
                &[Constraint],
            ),
            (json!({"dependencies": "olm.package"}), &[]),
        ] {
            let found = Vec::from_iter(dependencies_of(&document));
            assert_eq!(found, expected, "{document}");
        }
        let twice = json!([
            {"TYPE": "olm.gvk.required", "type": "a"}, {"TYPE": "olm.constraint", "type": null},
        ]);
        let found = dependencies_of(
            &json!({"Properties": [{"type": "olm.gvk.required"}], "properties": twice}),
        );
        assert_eq!(Vec::from_iter(found), [Constraint]);
        let csv = |json: &str| json!({"metadata": {"annotations": {"olm.properties": json}}});
        for (json, expected) in [
            (r#"[{"type": "olm.gvk.required", "TYPE": "a"}]"#, &[][..]),
            (r#"[{"type": "a", "TYPE": "olm.gvk.required"}]"#, &[Gvk]),
            (r#"[{"type": "olm.gvk.required", "TYPE": null}]"#, &[Gvk]),
        ] {
            let found = Vec::from_iter(annotated_dependencies(&csv(json)));
            assert_eq!(found, expected, "{json}");
        }
        let found =
            annotated_dependencies(&csv(r#"[{"type": "olm.package.required", "value": {}}]"#));
        assert_eq!(Vec::from_iter(found), [Package]);
        assert!(annotated_dependencies(&csv("{")).is_empty());
    }

    #[test]
    fn a_dependency_is_found_next_to_any_value() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for value in ["1e999", r#""\ud800""#, &deep] {
            let list =
                format!(r#"[{{"type": "olm.gvk.required"}}, {{"type": "a", "value": {value}}}]"#);
            let csv = json!({"metadata": {"annotations": {"olm.properties": list}}});
            assert!(has_readable_properties(&csv));
            let found = Vec::from_iter(annotated_dependencies(&csv));
            assert_eq!(found, [DependencyKind::Gvk], "{value}");
        }
    }

    #[test]
    fn the_file_has_a_list_of_them_and_scalars_are_strings() {
        for (document, expected) in [
            (json!(null), true),
            (json!({"properties": null, "other": 5}), true),
            (
                json!({"properties": [null, {"type": 5, "value": {}}, {"type": true}]}),
                true,
            ),
            (json!([]), false),
            (json!("a"), false),
            (json!({"properties": 5}), false),
            (json!({"Properties": {}}), false),
            (json!({"properties": ["a"]}), false),
            (json!({"properties": [{"type": ["a"]}]}), false),
        ] {
            assert_eq!(is_properties_file(&document), expected, "{document}");
        }
    }
}
