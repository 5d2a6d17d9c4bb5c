//! The fields of a schema, and their equality.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::crd::json;
use olmguard_catalog::version::go;

/// A schema as written.
pub(super) type SchemaNode = Map<String, Value>;

/// The type of a field in a schema. Absent, null and empty values are equal, except for Go
/// pointers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    Flag,
    /// A pointer to a flag or a text: an absent value differs from `false` and from an empty text.
    Pointer,
    Integer,
    Float,
    Json,
    /// A list of JSON or of texts.
    List,
    Schema,
    Schemas,
    SchemaMap,
    /// A schema, or a flag or a list of schemas instead.
    Either,
    /// A map whose values are schemas or lists of names.
    Dependencies,
    /// An object with these fields.
    Object(&'static [Field]),
    /// A list of objects with these fields.
    Objects(&'static [Field]),
}

/// The name and the type of a field.
pub(super) type Field = (&'static str, Kind);

/// All fields. Upstream: apiextensions-apiserver, `pkg/apis/apiextensions/types_jsonschema.go`.
pub(super) const FIELDS: [Field; 44] = [
    ("id", Kind::Text),
    ("$schema", Kind::Text),
    ("$ref", Kind::Pointer),
    ("description", Kind::Text),
    ("type", Kind::Text),
    ("format", Kind::Text),
    ("title", Kind::Text),
    ("default", Kind::Json),
    ("maximum", Kind::Float),
    ("exclusiveMaximum", Kind::Flag),
    ("minimum", Kind::Float),
    ("exclusiveMinimum", Kind::Flag),
    ("maxLength", Kind::Integer),
    ("minLength", Kind::Integer),
    ("pattern", Kind::Text),
    ("maxItems", Kind::Integer),
    ("minItems", Kind::Integer),
    ("uniqueItems", Kind::Flag),
    ("multipleOf", Kind::Float),
    ("enum", Kind::List),
    ("maxProperties", Kind::Integer),
    ("minProperties", Kind::Integer),
    ("required", Kind::List),
    ("items", Kind::Either),
    ("allOf", Kind::Schemas),
    ("oneOf", Kind::Schemas),
    ("anyOf", Kind::Schemas),
    ("not", Kind::Schema),
    ("properties", Kind::SchemaMap),
    ("additionalProperties", Kind::Either),
    ("patternProperties", Kind::SchemaMap),
    ("dependencies", Kind::Dependencies),
    ("additionalItems", Kind::Either),
    ("definitions", Kind::SchemaMap),
    ("externalDocs", Kind::Object(&DOCS)),
    ("example", Kind::Json),
    ("nullable", Kind::Flag),
    ("x-kubernetes-preserve-unknown-fields", Kind::Pointer),
    ("x-kubernetes-embedded-resource", Kind::Flag),
    ("x-kubernetes-int-or-string", Kind::Flag),
    ("x-kubernetes-list-type", Kind::Pointer),
    ("x-kubernetes-list-map-keys", Kind::List),
    ("x-kubernetes-map-type", Kind::Pointer),
    ("x-kubernetes-validations", Kind::Objects(&RULE)),
];

const DOCS: [Field; 2] = [("description", Kind::Text), ("url", Kind::Text)];

/// A CEL rule. An API server omits empty fields, so a manifest that contains them is equal.
const RULE: [Field; 6] = [
    ("rule", Kind::Text),
    ("message", Kind::Text),
    ("messageExpression", Kind::Text),
    ("reason", Kind::Pointer),
    ("fieldPath", Kind::Text),
    ("optionalOldSelf", Kind::Pointer),
];

/// Whether a field has the same value in both schemas.
pub(super) fn same_field(kind: Kind, one: Option<&Value>, other: Option<&Value>) -> bool {
    one == other || canonical(kind, one) == canonical(kind, other)
}

/// Whether the named field has the same value in both schemas. True for names that are not fields
/// of a schema.
pub(super) fn same_named(name: &str, one: &SchemaNode, other: &SchemaNode) -> bool {
    let mut fields = FIELDS.iter().filter(|(field, _)| *field == name);
    fields.all(|(_, kind)| same_field(*kind, one.get(name), other.get(name)))
}

/// Returns the text of a `oneOf` alternative as crdify compares it: without its titles and
/// documentation.
pub(super) fn alternative(schema: &SchemaNode) -> String {
    let of_words = ["description", "title", "example", "externalDocs"];
    let fields = FIELDS.iter().filter(|(name, _)| !of_words.contains(name));
    let mut text = String::new();
    write_fields(fields, schema, &mut text);
    text
}

/// Returns a value that is present and not null.
pub(super) fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

pub(super) fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn flag(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or_default()
}

/// Returns the items of a list; no items for any other value.
pub(super) fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// A schema without fields.
pub(super) static EMPTY: LazyLock<SchemaNode> = LazyLock::new(SchemaNode::new);

/// Returns a schema in a list or a map of schemas. Go reads null there as an empty schema.
pub(super) fn element(value: &Value) -> Option<&SchemaNode> {
    match value {
        Value::Object(schema) => Some(schema),
        Value::Null => Some(&EMPTY),
        _ => None,
    }
}

// === Canonical text ===

/// Returns a text that is equal for two values if and only if Go reads the same from them. It is
/// empty for values that count as absent.
///
/// The text is written once per value, so long lists are compared in linear time.
fn canonical(kind: Kind, value: Option<&Value>) -> String {
    let mut text = String::new();
    if let Some(value) = present(value) {
        write(kind, value, &mut text);
    }
    text
}

fn write(kind: Kind, value: &Value, text: &mut String) {
    match (kind, value) {
        (Kind::Text, Value::String(string)) if string.is_empty() => {}
        (Kind::Flag, Value::Bool(false)) => {}
        (Kind::List, Value::Array(items)) if items.is_empty() => {}
        (Kind::Integer, Value::Number(number)) => text.push_str(&json::integer_text(number)),
        (Kind::Float, Value::Number(number)) => {
            // Turns minus zero into zero.
            let number = number.as_f64().unwrap_or_default() + 0.0;
            text.push_str(&json::float_text(number));
        }
        (Kind::Schema | Kind::Either, Value::Object(schema)) => {
            write_fields(FIELDS.iter(), schema, text);
        }
        (Kind::Schemas | Kind::Either, Value::Array(items)) => {
            write_list(items, &FIELDS, text);
        }
        (Kind::Text, Value::String(_))
        | (Kind::Flag, Value::Bool(_))
        | (Kind::List, Value::Array(_))
        | (Kind::Pointer | Kind::Json | Kind::Either, _) => json::write(value, text),
        (Kind::SchemaMap | Kind::Dependencies, Value::Object(members)) => {
            write_map(kind, members, text);
        }
        (Kind::Object(fields), Value::Object(members)) => {
            write_fields(fields.iter(), members, text);
        }
        (Kind::Objects(fields), Value::Array(items)) => write_list(items, fields, text),
        _ => {}
    }
}

fn write_fields<'f>(
    fields: impl Iterator<Item = &'f Field>,
    members: &SchemaNode,
    text: &mut String,
) {
    text.push('{');
    for (name, kind) in fields {
        let Some(value) = present(members.get(*name)) else {
            continue;
        };
        let before = text.len();
        text.push_str(name);
        text.push(':');
        let start = text.len();
        write(*kind, value, text);
        if text.len() == start {
            text.truncate(before);
        } else {
            text.push(',');
        }
    }
    text.push('}');
}

fn write_list(items: &[Value], fields: &'static [Field], text: &mut String) {
    if items.is_empty() {
        return;
    }
    text.push('[');
    for item in items.iter().map(element) {
        write_fields(fields.iter(), item.unwrap_or(&EMPTY), text);
        text.push(',');
    }
    text.push(']');
}

fn write_map(kind: Kind, members: &SchemaNode, text: &mut String) {
    if members.is_empty() {
        return;
    }
    text.push('{');
    for (name, value) in members {
        go::write_json_string(name, text);
        text.push(':');
        match (kind, element(value)) {
            (Kind::Dependencies, _) if !value.is_object() => json::write(value, text),
            (_, schema) => write_fields(FIELDS.iter(), schema.unwrap_or(&EMPTY), text),
        }
        text.push(',');
    }
    text.push('}');
}
