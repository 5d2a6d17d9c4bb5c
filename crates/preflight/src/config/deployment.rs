//! `deploymentConfig`: the settings that operator-controller applies to the deployments of a bundle.
//!
//! Its fields have types of Kubernetes' core API. The schema of operator-controller checks what the table of types
//! contains: types and required fields. Unknown fields are refused only at the first level.
//!
//! Upstream: operator-controller, `internal/operator-controller/rukpak/bundle/registryv1bundleconfig.json`.

use serde_json::Value;

use super::{ConfigFault, type_fault};
use crate::types::{TYPES, Type, TypeForm, has_shape, quantity_fault};
use olmguard_catalog::json::JsonType;

/// Returns the faults of a `deploymentConfig`: each fault of its own fields, and one fault for each value whose type
/// does not match its field.
pub(super) fn faults(config: &Value) -> Vec<ConfigFault> {
    let path = "deploymentConfig";
    let Some(fields) = config.as_object() else {
        return vec![type_fault(path, config, JsonType::Object)];
    };
    let (mut faults, mut quantities) = (Vec::new(), Vec::new());
    for (name, value) in fields {
        if let Some((_, form)) = FIELDS.iter().find(|(field, _)| field == name) {
            let path = format!("{path}.{name}");
            faults.extend(own_field(&path, value, form, &mut quantities));
        }
    }
    let unknown = fields.keys().filter(|name| !is_deployment_field(name));
    faults.extend(ConfigFault::unknown(path, unknown.cloned().collect()));
    if faults.is_empty() {
        // The schema accepts any text. Go's decoder trims quantities and validates them.
        let mut quantities = quantities.iter();
        let fault = quantities.find_map(|text| quantity_fault(text.trim()));
        faults.extend(fault.map(ConfigFault::Quantity));
    }
    faults
}

/// Whether a `deploymentConfig` can have a field of this name.
pub fn is_deployment_field(name: &str) -> bool {
    FIELDS.iter().any(|(field, _)| *field == name)
}

/// The fields of a `deploymentConfig` itself.
const FIELDS: [(&str, &str); 9] = [
    ("affinity", "Affinity"),
    ("annotations", "{string}"),
    ("env", "[EnvVar]"),
    ("envFrom", "[EnvFromSource]"),
    ("nodeSelector", "{string}"),
    ("resources", "ResourceRequirements"),
    ("tolerations", "[Toleration]"),
    ("volumeMounts", "[VolumeMount]"),
    ("volumes", "[Volume]"),
];

/// Returns the faults of a field, and collects its quantities.
fn own_field<'v>(
    path: &str,
    value: &'v Value,
    form: &str,
    quantities: &mut Vec<&'v str>,
) -> Vec<ConfigFault> {
    match (TypeForm::read(form), value) {
        (TypeForm::List(item), Value::Array(items)) => {
            let wrong = items.iter().filter(|value| !is_of(value, item, quantities));
            wrong.map(|_| ConfigFault::Failed).collect()
        }
        (TypeForm::Map(_), Value::Object(entries)) => {
            let wrong = entries.iter().filter(|(_, value)| !value.is_string());
            let faults = wrong.map(|(key, value)| {
                // Escaped as in a JSON pointer.
                let key = key.replace('~', "~0").replace('/', "~1");
                type_fault(&format!("{path}.{key}"), value, JsonType::String)
            });
            faults.collect()
        }
        (TypeForm::List(_), other) => vec![type_fault(path, other, JsonType::Array)],
        (TypeForm::Map(_), other) => vec![type_fault(path, other, JsonType::Object)],
        (TypeForm::Named(name), value) if !is_of(value, name, quantities) => {
            vec![ConfigFault::Failed]
        }
        (TypeForm::Named(_), _) => Vec::new(),
    }
}

/// Whether a value matches a type. Collects its quantities. Types contain each other only in values, so the recursion
/// is as deep as the value.
fn is_of<'v>(value: &'v Value, form: &str, quantities: &mut Vec<&'v str>) -> bool {
    match (TypeForm::read(form), value) {
        (TypeForm::List(item), Value::Array(items)) => {
            items.iter().all(|value| is_of(value, item, quantities))
        }
        (TypeForm::Map(item), Value::Object(entries)) => {
            entries.values().all(|value| is_of(value, item, quantities))
        }
        (TypeForm::Named(name), value) => is_named(value, name, quantities),
        _ => false,
    }
}

fn is_named<'v>(value: &'v Value, name: &str, quantities: &mut Vec<&'v str>) -> bool {
    match TYPES.get(name) {
        Some(Type::OneOf(forms)) => forms.iter().any(|form| is_of(value, form, quantities)),
        Some(Type::Struct(fields)) => value.as_object().is_some_and(|value| {
            fields.iter().all(|field| match value.get(field.name) {
                Some(value) => is_of(value, field.form, quantities),
                None => !field.is_required,
            })
        }),
        None => {
            quantities.extend(value.as_str().filter(|_| name == "quantity"));
            has_shape(value, name)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(config: &Value) -> Vec<String> {
        faults(config).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_field_has_a_type() {
        for (field, form) in FIELDS {
            let name = form.trim_matches(['[', ']', '{', '}']);
            assert!(name == "string" || TYPES.contains_key(name), "{field}");
        }
    }

    #[test]
    fn own_fields_are_named_and_what_is_below_only_fails() {
        assert_eq!(said(&json!({"env": [{"name": "A", "bogus": 1}]})), [""; 0]);
        assert_eq!(
            said(&json!({"env": [{"value": "1"}, {"name": "B"}]})),
            ["validation failed"]
        );
        assert_eq!(
            said(&json!({"env": "x", "bogus": 1})),
            [
                "invalid type for field \"deploymentConfig.env\": got string, want array",
                "unknown field \"bogus\""
            ]
        );
        assert_eq!(
            said(&json!({"nodeSelector": {"a~b/c": true}})),
            [
                "invalid type for field \"deploymentConfig.nodeSelector.a~0b~1c\": got boolean, want string"
            ]
        );
        assert_eq!(said(&json!({"affinity": "x"})), ["validation failed"]);
    }

    #[test]
    fn quantities_are_read_after_the_schema() {
        let limits = |cpu: Value| json!({"resources": {"limits": {"cpu": cpu}}});
        for good in [
            json!("1"),
            json!(1),
            json!("1.5Gi"),
            json!("-1e3"),
            json!("100m"),
            json!(" 100m "),
        ] {
            assert_eq!(said(&limits(good.clone())), [""; 0], "{good}");
        }
        let format = "quantities must match the regular expression";
        for (bad, expected) in [
            (json!("abc"), format),
            (json!(""), format),
            (json!("1 Gi"), format),
            (json!("1.2.3"), format),
            (json!("1KKi"), "unable to parse quantity's suffix"),
            (json!(true), "validation failed"),
        ] {
            let said = said(&limits(bad.clone()));
            assert!(
                said.len() == 1 && said.concat().contains(expected),
                "{bad}: {said:?}"
            );
        }
    }
}
