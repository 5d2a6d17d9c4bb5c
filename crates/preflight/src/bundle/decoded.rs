//! Checks that a manifest can be decoded into the Go type of its kind.
//!
//! Upstream: apimachinery, [`pkg/runtime/converter.go`]: fields are read in the order of their struct, and the first
//! error ends the decoding. `null` fits every type, unknown fields are skipped, and a whole number is an integer in
//! any notation. Formats of times, releases and base64 are not checked here: any text is accepted.
//!
//! [`pkg/runtime/converter.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/runtime/converter.go

use std::fmt;

use serde_json::Value;

use crate::types::{TYPES, Type, TypeField, TypeForm, has_shape, quantity_fault};
use olmguard_catalog::members::{FieldProblem, beginning};
use olmguard_catalog::version::Version;

/// A field whose value does not have the required type, so operator-controller cannot read the manifest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WrongField {
    path: String,
    problem: FieldProblem,
    upstream: Option<String>,
}

impl WrongField {
    /// Returns the first wrong field of a `ClusterServiceVersion` or a CRD. Other objects are not decoded into a type.
    pub fn of(manifest: &Value) -> Option<Self> {
        let kind = super::text(manifest, "/kind");
        let is_read = matches!(kind, "ClusterServiceVersion" | "CustomResourceDefinition");
        is_read.then(|| decode(manifest, kind).err())?
    }

    /// Returns the first wrong field in the head of a document, which every object has. Go does not check the heads of
    /// objects in a list.
    ///
    /// Upstream: cli-runtime, [`pkg/resource/metadata_decoder.go`].
    ///
    /// [`pkg/resource/metadata_decoder.go`]: https://github.com/kubernetes/cli-runtime/blob/v0.36.2/pkg/resource/metadata_decoder.go
    pub fn of_head(document: &Value) -> Option<Self> {
        let head = [("apiVersion", "string"), ("metadata", "ObjectMeta")].into_iter();
        let mut wrong =
            head.filter_map(|(name, form)| member(name, document.get(name)?, form).err());
        wrong.next()
    }

    /// The error text of operator-controller, after the file name; `None` if the text is not known.
    pub fn upstream(&self) -> Option<&str> {
        self.upstream.as_deref()
    }

    fn new(expected: &'static str, found: &Value, upstream: Option<String>) -> Self {
        Self {
            path: String::new(),
            problem: FieldProblem::other_type(expected, found),
            upstream,
        }
    }

    /// Prefixes the path with the part that contains the field.
    fn within(mut self, part: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{part}{joint}{}", self.path);
        self
    }
}

impl fmt::Display for WrongField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)
    }
}

/// Decodes a value. Types contain each other only in values, so the recursion is as deep as the value.
fn decode(value: &Value, form: &str) -> Result<(), WrongField> {
    if value.is_null() {
        return Ok(());
    }
    match TypeForm::read(form) {
        TypeForm::List(item) => list(value, item),
        TypeForm::Map(item) => {
            let entries = value.as_object().ok_or_else(|| {
                let upstream = format!("cannot restore map from {}", go_kind(value));
                WrongField::new("a map", value, Some(upstream))
            })?;
            let mut entries = entries.iter();
            entries.try_for_each(|(key, value)| member(key, value, item))
        }
        TypeForm::Named(name) => match TYPES.get(name) {
            Some(Type::Struct(fields)) => structure(value, fields),
            Some(Type::OneOf(forms)) => one_of(value, forms),
            None => primitive(value, name),
        },
    }
}

fn list(value: &Value, item: &str) -> Result<(), WrongField> {
    let items = value.as_array().ok_or_else(|| {
        let upstream = format!("cannot restore slice from {}", go_kind(value));
        WrongField::new("a list", value, Some(upstream))
    })?;
    let mut items = items.iter().enumerate();
    items.try_for_each(|(at, value)| {
        decode(value, item).map_err(|wrong| wrong.within(&format!("[{at}]")))
    })
}

fn structure(value: &Value, fields: &[TypeField]) -> Result<(), WrongField> {
    let members = value.as_object().ok_or_else(|| {
        let upstream = format!("cannot restore struct from: {}", go_kind(value));
        WrongField::new("a map", value, Some(upstream))
    })?;
    fields
        .iter()
        .try_for_each(|field| match members.get(field.name) {
            Some(value) => member(field.name, value, field.form),
            None => Ok(()),
        })
}

fn member(key: &str, value: &Value, form: &str) -> Result<(), WrongField> {
    decode(value, form).map_err(|wrong| wrong.within(&beginning(key, LONGEST_KEY)))
}

/// Decodes a type with a decoder of its own, which chooses the form by the kind of the value. The error texts are
/// those of Go's JSON library, and are not known here.
fn one_of(value: &Value, forms: &[&'static str]) -> Result<(), WrongField> {
    let of_its_kind = forms.iter().find(|form| is_of_kind(value, form));
    let Some(form) = of_its_kind.or(forms.last()) else {
        return Ok(());
    };
    decode(value, form).map_err(|wrong| WrongField {
        upstream: None,
        ..wrong
    })
}

fn is_of_kind(value: &Value, form: &str) -> bool {
    match TypeForm::read(form) {
        TypeForm::List(_) => value.is_array(),
        TypeForm::Map(_) => value.is_object(),
        TypeForm::Named(name) if TYPES.contains_key(name) => value.is_object(),
        TypeForm::Named(name) => primitive(value, name).is_ok(),
    }
}

fn primitive(value: &Value, name: &str) -> Result<(), WrongField> {
    let text = value.as_str();
    let is_readable = match name {
        "version" => text.is_some_and(is_version),
        "quantity" => text.is_none_or(|text| quantity_fault(text.trim()).is_none()),
        _ => true,
    };
    if has_shape(value, name) && is_readable {
        return Ok(());
    }
    let upstream = of_primitive(value, name);
    Err(WrongField::new(expected(name), value, upstream))
}

fn expected(name: &str) -> &'static str {
    match name {
        "boolean" => "a boolean",
        "int32" | "int64" => "a whole number",
        "float64" => "a number",
        "version" => "a semantic version",
        "quantity" => "a quantity",
        _ => "a string",
    }
}

/// Whether `ParseTolerant` of blang/semver reads the text: with a `v` prefix, leading zeros, or missing last numbers.
fn is_version(text: &str) -> bool {
    let text = text.trim();
    let parts: Vec<_> = text
        .strip_prefix('v')
        .unwrap_or(text)
        .splitn(3, '.')
        .collect();
    let is_short = parts.len() < 3;
    if is_short && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return false;
    }
    let parts = parts.iter().map(|part| without_zeros(part));
    let mut parts: Vec<_> = parts.collect();
    parts.resize(3, "0".to_owned());
    Version::parse(&parts.join(".")).is_ok()
}

fn without_zeros(part: &str) -> String {
    if part.len() < 2 {
        return part.to_owned();
    }
    let kept = part.trim_start_matches('0');
    let zero = if kept.starts_with(|c: char| c.is_ascii_digit()) {
        ""
    } else {
        "0"
    };
    format!("{zero}{kept}")
}

/// Returns the text for a value that is not a `name`. For a number in place of a string, upstream would print the Go
/// type of the field, which the table does not contain.
fn of_primitive(value: &Value, name: &str) -> Option<String> {
    let go_type = if name == "boolean" { "bool" } else { name };
    match (name, go_kind(value)) {
        ("string", "int64") | ("bytes" | "version" | "quantity", _) => None,
        ("int32" | "int64", "float64") => Some(format!("cannot convert float64 to {name}")),
        _ => Some(format!("unrecognized type: {go_type}")),
    }
}

/// Returns the kind that Go's JSON decoder gives a value.
fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

/// The maximum length of a key in a path, because a key can be as long as a manifest.
const LONGEST_KEY: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn csv(spec: &Value) -> Value {
        json!({"kind": "ClusterServiceVersion", "metadata": {"name": "p.v1"}, "spec": spec})
    }

    fn crd(schema: &Value) -> Value {
        json!({"kind": "CustomResourceDefinition", "spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}})
    }

    #[test]
    fn what_go_reads_has_no_wrong_field() {
        for manifest in [
            csv(&json!({})),
            csv(&json!({"installModes": null, "bogus": 5, "minKubeVersion": ""})),
            csv(&json!({"version": "v01.2", "release": 1})),
            csv(&json!({"version": "1.2.03-rc.1+a"})),
            csv(&json!({"webhookdefinitions": [{"containerPort": 443.0, "targetPort": "https"}]})),
            csv(&json!({"webhookdefinitions": [null, {"targetPort": 8443}]})),
            crd(
                &json!({"additionalProperties": true, "items": [{"type": "string"}], "default": 5}),
            ),
            crd(
                &json!({"properties": {"a": {"additionalProperties": {"maximum": 1}, "items": 5}}}),
            ),
            json!({"kind": "Role", "rules": 5}),
        ] {
            assert_eq!(WrongField::of(&manifest), None, "{manifest}");
        }
    }

    #[test]
    fn every_document_has_the_head_of_an_object() {
        let of = |head: Value| WrongField::of_head(&head).map(|wrong| wrong.to_string());
        for right in [
            json!({}),
            json!({"apiVersion": null, "metadata": null, "rules": 5}),
            json!({"metadata": {"labels": null, "annotations": {"a": null}, "other": 5}}),
            json!({"kind": "List", "items": [{"metadata": 5}]}),
        ] {
            assert_eq!(of(right), None);
        }
        for (head, expected) in [
            (
                json!({"apiVersion": 1}),
                "apiVersion: expected a string, found integer",
            ),
            (
                json!({"metadata": []}),
                "metadata: expected a map, found array",
            ),
            (
                json!({"metadata": {"labels": {"version": 1.1}}}),
                "metadata.labels.version: expected a string, found number",
            ),
        ] {
            assert_eq!(of(head).as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_first_wrong_field_is_named_with_the_text_of_go() {
        for (manifest, expected, upstream) in [
            (
                csv(&json!({"installModes": 5, "displayName": true})),
                "spec.displayName: expected a string, found boolean",
                Some("unrecognized type: string"),
            ),
            (
                csv(&json!({"installModes": 5})),
                "spec.installModes: expected a list, found integer",
                Some("cannot restore slice from int64"),
            ),
            (
                csv(&json!({"installModes": [{"supported": "true"}]})),
                "spec.installModes[0].supported: expected a boolean, found string",
                Some("unrecognized type: bool"),
            ),
            (
                csv(&json!({"version": ""})),
                "spec.version: expected a semantic version, found string",
                None,
            ),
            (
                csv(
                    &json!({"install": {"spec": {"deployments": [{"spec": {"template": {"spec":
                    {"overhead": {"cpu": "fast"}}}}}]}}}),
                ),
                "spec.install.spec.deployments[0].spec.template.spec.overhead.cpu: expected a quantity, found string",
                None,
            ),
            (
                csv(&json!({"version": "1.2-rc.1"})),
                "spec.version: expected a semantic version, found string",
                None,
            ),
            (
                csv(&json!({"displayName": 5})),
                "spec.displayName: expected a string, found integer",
                None,
            ),
            (
                csv(&json!({"install": {"spec": {"deployments": [{"spec": {"replicas": 1.5}}]}}})),
                "spec.install.spec.deployments[0].spec.replicas: expected a whole number, found number",
                Some("cannot convert float64 to int32"),
            ),
            (
                csv(&json!({"labels": ["a"]})),
                "spec.labels: expected a map, found array",
                Some("cannot restore map from slice"),
            ),
            (
                csv(&json!({"provider": "me"})),
                "spec.provider: expected a map, found string",
                Some("cannot restore struct from: string"),
            ),
            (
                crd(&json!({"properties": {"a": {"type": ["string"]}}})),
                "spec.versions[0].schema.openAPIV3Schema.properties.a.type: expected a string, found array",
                Some("unrecognized type: string"),
            ),
            (
                crd(&json!({"additionalProperties": {"type": 5}})),
                "spec.versions[0].schema.openAPIV3Schema.additionalProperties.type: expected a string, found integer",
                None,
            ),
        ] {
            let wrong = WrongField::of(&manifest).unwrap();
            assert_eq!(wrong.to_string(), expected);
            assert_eq!(wrong.upstream(), upstream, "{expected}");
        }
    }
}
