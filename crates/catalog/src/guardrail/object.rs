//! `UpgradeGuardrails`: guardrails of an administrator as an object of a cluster, whose `spec` holds what a document of
//! a file holds.

use serde_json::Value;

use crate::guardrail::{Guardrails, Problem, UnreadGuardrails, read};
use crate::json_type::JsonType;

/// What an object says.
#[derive(Clone, Debug)]
pub struct GuardrailsObject {
    /// `metadata.name`; empty if there is none.
    pub name: Box<str>,
    /// The package that it is about; none if that cannot be read, so that it could be any.
    pub package: Option<Box<str>>,
    /// The guardrails, or what cannot be read of the object.
    pub stated: Result<Guardrails, UnreadGuardrails>,
}

impl GuardrailsObject {
    /// The kind of these objects.
    pub const KIND: &'static str = "UpgradeGuardrails";

    /// Reads the whole object. It never fails: what cannot be read forbids every upgrade of the package.
    pub fn read(object: &Value) -> Self {
        let name = object.pointer("/metadata/name").and_then(Value::as_str);
        let (package, stated) = match spec(object) {
            Ok((package, spec)) => (Some(package.into()), read(spec).map_err(below_spec)),
            Err(unread) => (None, Err(unread)),
        };
        Self {
            name: name.unwrap_or_default().into(),
            package,
            stated,
        }
    }
}

fn spec(object: &Value) -> Result<(&str, &Value), UnreadGuardrails> {
    let spec = object.get("spec").unwrap_or(&Value::Null);
    if !spec.is_object() {
        let expected = "an object";
        let found = JsonType::of(spec);
        return Err(unread("spec", Problem::Type { expected, found }));
    }
    let expected = "the name of a package";
    match spec.get("package") {
        None => Err(unread(PACKAGE, Problem::Missing { expected })),
        Some(Value::String(package)) if package.is_empty() => {
            Err(unread(PACKAGE, Problem::Empty { expected }))
        }
        Some(Value::String(package)) => Ok((package, spec)),
        Some(other) => {
            let (expected, found) = ("a string", JsonType::of(other));
            Err(unread(PACKAGE, Problem::Type { expected, found }))
        }
    }
}

fn below_spec(unread: UnreadGuardrails) -> UnreadGuardrails {
    let path = match unread.path.as_str() {
        "" => "spec".to_owned(),
        path => format!("spec.{path}"),
    };
    UnreadGuardrails { path, ..unread }
}

fn unread(path: &str, problem: Problem) -> UnreadGuardrails {
    let path = path.to_owned();
    UnreadGuardrails { path, problem }
}

const PACKAGE: &str = "spec.package";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn says(spec: &Value, package: Option<&str>, fault: Option<&str>) {
        let object = json!({"metadata": {"name": "lantern"}, "spec": spec});
        let read = GuardrailsObject::read(&object);
        assert_eq!(&*read.name, "lantern");
        assert_eq!(read.package.as_deref(), package, "{spec}");
        let found = read.stated.err().map(|unread| unread.to_string());
        assert_eq!(found.as_deref(), fault, "{spec}");
    }

    #[test]
    fn the_spec_is_a_document() {
        let rules = json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1}]);
        says(
            &json!({"package": "p", "graph": "Semver", "rules": rules}),
            Some("p"),
            None,
        );
        says(&json!({"package": "p"}), Some("p"), None);
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_field() {
        let rules = json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 0}]);
        says(
            &json!({"package": "p", "rules": rules}),
            Some("p"),
            Some("spec.rules[0].step: expected a whole number from 1, found integer"),
        );
        says(
            &json!({"package": "p", "grph": 1}),
            Some("p"),
            Some("spec.grph: unknown key: expected one of schema, package, name, graph, rules"),
        );
    }

    #[test]
    fn without_a_package_it_is_about_any() {
        for (spec, fault) in [
            (json!(null), "spec: expected an object, found null"),
            (
                json!({}),
                "spec.package: missing: expected the name of a package",
            ),
            (
                json!({"package": ""}),
                "spec.package: empty: expected the name of a package",
            ),
            (
                json!({"package": 7}),
                "spec.package: expected a string, found integer",
            ),
        ] {
            says(&spec, None, Some(fault));
        }
    }
}
