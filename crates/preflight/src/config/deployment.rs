//! `deploymentConfig`: what operator-controller lays over the deployments of a bundle.
//!
//! Its fields are types of Kubernetes' core API, and the schema of operator-controller asks for what the table of types
//! has: types and required fields. No unknown field is refused below the first level.
//!
//! Upstream: operator-controller, `internal/operator-controller/rukpak/bundle/registryv1bundleconfig.json`.

use serde_json::{Map, Value};

use super::{ConfigFault, JsonWord, type_fault};
use crate::types::{TYPES, Type, TypeForm, has_shape, quantity_fault};

/// The faults of a `deploymentConfig`: each fault of its own fields, and one fault for each value that does not have the
/// type of its field.
pub(super) fn faults(config: &Value) -> Vec<ConfigFault> {
    let path = "deploymentConfig";
    let Some(fields) = config.as_object() else {
        return vec![type_fault(path, config, JsonWord::Object)];
    };
    let mut faults = Vec::new();
    for (name, value) in fields {
        if let Some((_, form)) = FIELDS.iter().find(|(field, _)| field == name) {
            own_field(&format!("{path}.{name}"), value, form, &mut faults);
        }
    }
    let unknown = fields.keys().filter(|name| !is_deployment_field(name));
    faults.extend(ConfigFault::unknown(unknown.cloned().collect()));
    if faults.is_empty() {
        faults.extend(quantities(fields));
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

fn own_field(path: &str, value: &Value, form: &str, faults: &mut Vec<ConfigFault>) {
    match (TypeForm::read(form), value) {
        (TypeForm::List(item), Value::Array(items)) => {
            let wrong = items.iter().filter(|value| !is_of(value, item));
            faults.extend(wrong.map(|_| ConfigFault::Failed));
        }
        (TypeForm::Map(_), Value::Object(entries)) => {
            let wrong = entries.iter().filter(|(_, value)| !value.is_string());
            faults.extend(wrong.map(|(key, value)| {
                // As a JSON pointer has it.
                let key = key.replace('~', "~0").replace('/', "~1");
                type_fault(&format!("{path}.{key}"), value, JsonWord::String)
            }));
        }
        (TypeForm::List(_), other) => faults.push(type_fault(path, other, JsonWord::Array)),
        (TypeForm::Map(_), other) => faults.push(type_fault(path, other, JsonWord::Object)),
        (TypeForm::Named(name), value) if !is_of(value, name) => faults.push(ConfigFault::Failed),
        (TypeForm::Named(_), _) => {}
    }
}

/// Whether a value is of a type. Types contain each other only in values, so this recurses as deep as the value.
fn is_of(value: &Value, form: &str) -> bool {
    match TypeForm::read(form) {
        TypeForm::List(item) => match value {
            Value::Array(items) => items.iter().all(|value| is_of(value, item)),
            _ => false,
        },
        TypeForm::Map(item) => match value {
            Value::Object(entries) => entries.values().all(|value| is_of(value, item)),
            _ => false,
        },
        TypeForm::Named(name) => is_named(value, name),
    }
}

fn is_named(value: &Value, name: &str) -> bool {
    match TYPES.get(name) {
        Some(Type::OneOf(forms)) => forms.iter().any(|form| is_of(value, form)),
        Some(Type::Struct(fields)) => value.as_object().is_some_and(|value| {
            fields.iter().all(|field| match value.get(field.name) {
                Some(value) => is_of(value, field.form),
                None => !field.is_required,
            })
        }),
        None => has_shape(value, name),
    }
}

// === Quantities: the schema takes any text, the decoder does not ===

/// The first quantity that cannot be read.
fn quantities(fields: &Map<String, Value>) -> Option<ConfigFault> {
    let mut found = None;
    for (name, value) in fields {
        if let Some((_, form)) = FIELDS.iter().find(|(field, _)| field == name) {
            in_quantities(value, form, &mut |text| {
                // Go's decoder of quantities trims them.
                found = found.or_else(|| quantity_fault(text.trim()));
            });
        }
    }
    found.map(ConfigFault::Quantity)
}

fn in_quantities(value: &Value, form: &str, each: &mut dyn FnMut(&str)) {
    match (TypeForm::read(form), value) {
        (TypeForm::List(item), Value::Array(items)) => {
            for value in items {
                in_quantities(value, item, each);
            }
        }
        (TypeForm::Map(item), Value::Object(entries)) => {
            entries
                .values()
                .for_each(|value| in_quantities(value, item, each));
        }
        (TypeForm::Named("quantity"), Value::String(text)) => each(text),
        (TypeForm::Named(name), value) => match TYPES.get(name) {
            Some(Type::OneOf(forms)) => {
                for form in forms {
                    in_quantities(value, form, each);
                }
            }
            Some(Type::Struct(fields)) => {
                for field in fields {
                    if let Some(value) = value.get(field.name) {
                        in_quantities(value, field.form, each);
                    }
                }
            }
            _ => {}
        },
        _ => {}
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
