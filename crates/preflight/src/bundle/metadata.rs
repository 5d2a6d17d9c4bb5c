//! Whether Go can read what is said about a bundle beside its manifests: `metadata/annotations.yaml`, and the properties
//! in `metadata/properties.yaml` and in the annotation `olm.properties` of its `ClusterServiceVersion`.
//!
//! Go finds the members of an object by their names in any case, and `null` is as good as nothing. In YAML, a number or a
//! truth value is a string where a string is expected.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The package that the first document of `metadata/annotations.yaml` names, empty if it names none. `None` if Go cannot
/// read the document.
pub fn package_of(document: &Value) -> Option<String> {
    let is_annotations = |annotations: &Value| {
        let is_scalar = |name| members(annotations, name, is_scalar);
        ANNOTATIONS.into_iter().all(is_scalar)
    };
    if !members(document, "annotations", is_annotations) {
        return None;
    }
    let annotations = named(document, "annotations").into_iter();
    let mut packages = annotations.flat_map(|annotations| named(annotations, PACKAGE));
    Some(match packages.rfind(|package| !package.is_null()) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(scalar) => scalar.to_string(),
    })
}

/// The members with this name in any case, in the order of their names: Go lets a later one replace an earlier one.
fn named<'v>(object: &'v Value, name: &str) -> Vec<&'v Value> {
    let members = object.as_object().into_iter().flatten();
    let named = members.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    let named: BTreeMap<_, _> = named.collect();
    named.into_values().collect()
}

const PACKAGE: &str = "operators.operatorframework.io.bundle.package.v1";

/// The annotations that have a field in Go.
const ANNOTATIONS: [&str; 3] = [
    PACKAGE,
    "operators.operatorframework.io.bundle.channels.v1",
    "operators.operatorframework.io.bundle.channel.default.v1",
];

/// Whether Go can read the annotation `olm.properties` of a `ClusterServiceVersion`, which can be missing.
pub(super) fn has_readable_properties(csv: &Value) -> bool {
    let properties = csv.pointer("/metadata/annotations/olm.properties");
    properties.and_then(Value::as_str).is_none_or(is_list)
}

/// Whether this is the JSON of a list of properties.
fn is_list(json: &str) -> bool {
    type Property<'j> = BTreeMap<String, &'j RawValue>;
    let list = serde_json::from_str::<Option<Vec<Option<Property<'_>>>>>(json);
    let is_read = |(name, value): (String, &RawValue)| {
        !name.eq_ignore_ascii_case("type") || value.get().starts_with(['"', 'n'])
    };
    list.is_ok_and(|list| list.into_iter().flatten().flatten().flatten().all(is_read))
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

/// Whether Go can read the members of this name, if there are any.
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
