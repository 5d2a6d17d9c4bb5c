//! The schema of a version: its fields, when two of them are the same, and the path of each schema in it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::crd::{CrdGeneration, json};

/// A schema as it is written.
pub(super) type SchemaNode = Map<String, Value>;

/// What a field of a schema holds. Absent, null, and what is empty are the same, but for pointers of Go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Text,
    Flag,
    /// A pointer to a flag or a text: absent is not `false` and not empty.
    Pointer,
    Number,
    Json,
    JsonList,
    Texts,
    Schema,
    Schemas,
    SchemaMap,
    /// A schema or a list of schemas.
    Items,
    /// A schema or a flag.
    SchemaOrFlag,
    /// Schemas or lists of names.
    Dependencies,
    Docs,
}

/// Every field. Upstream: apiextensions-apiserver, `pkg/apis/apiextensions/types_jsonschema.go`.
pub(super) const FIELDS: [(&str, Kind); 42] = [
    ("id", Kind::Text),
    ("$schema", Kind::Text),
    ("$ref", Kind::Pointer),
    ("description", Kind::Text),
    ("type", Kind::Text),
    ("format", Kind::Text),
    ("title", Kind::Text),
    ("default", Kind::Json),
    ("maximum", Kind::Number),
    ("exclusiveMaximum", Kind::Flag),
    ("minimum", Kind::Number),
    ("exclusiveMinimum", Kind::Flag),
    ("maxLength", Kind::Number),
    ("minLength", Kind::Number),
    ("pattern", Kind::Text),
    ("maxItems", Kind::Number),
    ("minItems", Kind::Number),
    ("uniqueItems", Kind::Flag),
    ("multipleOf", Kind::Number),
    ("enum", Kind::JsonList),
    ("maxProperties", Kind::Number),
    ("minProperties", Kind::Number),
    ("required", Kind::Texts),
    ("items", Kind::Items),
    ("allOf", Kind::Schemas),
    ("oneOf", Kind::Schemas),
    ("anyOf", Kind::Schemas),
    ("not", Kind::Schema),
    ("properties", Kind::SchemaMap),
    ("additionalProperties", Kind::SchemaOrFlag),
    ("patternProperties", Kind::SchemaMap),
    ("dependencies", Kind::Dependencies),
    ("additionalItems", Kind::SchemaOrFlag),
    ("definitions", Kind::SchemaMap),
    ("externalDocs", Kind::Docs),
    ("example", Kind::Json),
    ("nullable", Kind::Flag),
    ("x-kubernetes-preserve-unknown-fields", Kind::Pointer),
    ("x-kubernetes-embedded-resource", Kind::Flag),
    ("x-kubernetes-int-or-string", Kind::Flag),
    ("x-kubernetes-list-map-keys", Kind::Texts),
    ("x-kubernetes-validations", Kind::JsonList),
];

/// Fields of the same kind that came later; the table above has the others.
pub(super) const POINTERS: [(&str, Kind); 2] = [
    ("x-kubernetes-list-type", Kind::Pointer),
    ("x-kubernetes-map-type", Kind::Pointer),
];

/// Every field of both tables.
pub(super) fn fields() -> impl Iterator<Item = (&'static str, Kind)> {
    FIELDS.into_iter().chain(POINTERS)
}

/// Whether two schemas are the same.
pub(super) fn same(one: &SchemaNode, other: &SchemaNode) -> bool {
    fields().all(|(name, kind)| same_field(kind, one.get(name), other.get(name)))
}

/// Whether a field is the same in both.
pub(super) fn same_field(kind: Kind, one: Option<&Value>, other: Option<&Value>) -> bool {
    let (one, other) = (present(one), present(other));
    match kind {
        Kind::Text => text(one) == text(other),
        Kind::Flag => flag(one) == flag(other),
        Kind::Pointer => one == other,
        Kind::Number => one.and_then(Value::as_f64) == other.and_then(Value::as_f64),
        Kind::Json => one.map(json::text) == other.map(json::text),
        Kind::JsonList => items(one).map(json::text).eq(items(other).map(json::text)),
        Kind::Texts => items(one).eq(items(other)),
        Kind::Schema => same_option(one, other),
        Kind::Schemas => same_list(one, other),
        Kind::SchemaMap => same_map(one, other),
        Kind::Items | Kind::SchemaOrFlag => same_either(one, other),
        Kind::Dependencies => same_dependencies(one, other),
        Kind::Docs => match (one, other) {
            (Some(one), Some(other)) => ["description", "url"]
                .iter()
                .all(|key| text(one.get(key)) == text(other.get(key))),
            (one, other) => one.is_none() && other.is_none(),
        },
    }
}

/// A value that is there and not null.
pub(super) fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

pub(super) fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn flag(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or_default()
}

/// The items of a list, if it is one.
pub(super) fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn same_option(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (
        one.and_then(Value::as_object),
        other.and_then(Value::as_object),
    ) {
        (Some(one), Some(other)) => same(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn same_list(one: Option<&Value>, other: Option<&Value>) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (items(one).collect(), items(other).collect());
    let mut both = one.iter().zip(&other);
    one.len() == other.len() && both.all(|(one, other)| same_option(Some(one), Some(other)))
}

fn same_map(one: Option<&Value>, other: Option<&Value>) -> bool {
    same_members(one, other, |one, other| same_option(Some(one), Some(other)))
}

fn same_members(
    one: Option<&Value>,
    other: Option<&Value>,
    same: impl Fn(&Value, &Value) -> bool,
) -> bool {
    let empty = Map::new();
    let one = one.and_then(Value::as_object).unwrap_or(&empty);
    let other = other.and_then(Value::as_object).unwrap_or(&empty);
    let is_there =
        |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| same(value, other));
    one.len() == other.len() && one.iter().all(is_there)
}

/// A schema, or what may stand in its place.
fn same_either(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => same(one, other),
        (Some(Value::Array(_)), Some(Value::Array(_))) => same_list(one, other),
        (one, other) => one == other,
    }
}

fn same_dependencies(one: Option<&Value>, other: Option<&Value>) -> bool {
    same_members(one, other, |one, other| match (one, other) {
        (Value::Object(one), Value::Object(other)) => same(one, other),
        (one, other) => one == other,
    })
}

// === Paths ===

/// Every schema of a version, by its path. Nothing is escaped in a path, so one can hide another.
#[derive(Default)]
pub(super) struct Paths<'a>(BTreeMap<String, &'a SchemaNode>);

/// A schema is nested deeper than this.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct TooDeep {
    pub(super) most: usize,
}

impl<'a> Paths<'a> {
    pub(super) fn of(schema: &'a SchemaNode, generation: CrdGeneration) -> Result<Self, TooDeep> {
        let mut walk = PathWalk {
            has_own_paths: generation >= CrdGeneration::V1_9,
            found: BTreeMap::new(),
        };
        walk.at(String::from("^"), schema, 0)?;
        Ok(Self(walk.found))
    }

    /// The paths, in byte order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a SchemaNode)> {
        self.0.iter().map(|(path, schema)| (path.as_str(), *schema))
    }

    pub(super) fn get(&self, path: &str) -> Option<&'a SchemaNode> {
        self.0.get(path).copied()
    }
}

/// A walk over a schema and all in it. Of two with one path the later one counts.
struct PathWalk<'a> {
    /// Whether what is no property, no item and no value of a map has a path of its own; otherwise it takes the place of
    /// what it is in.
    has_own_paths: bool,
    found: BTreeMap<String, &'a SchemaNode>,
}

impl<'a> PathWalk<'a> {
    fn at(&mut self, path: String, schema: &'a SchemaNode, depth: usize) -> Result<(), TooDeep> {
        if depth == MOST_LEVELS {
            return Err(TooDeep { most: MOST_LEVELS });
        }
        let mut children: Vec<(String, &'a SchemaNode)> = Vec::new();
        self.children(schema, &mut |suffix, child| {
            if let Value::Object(child) = child {
                children.push((format!("{path}{suffix}"), child));
            }
        });
        self.found.insert(path, schema);
        for (path, child) in children {
            self.at(path, child, depth + 1)?;
        }
        Ok(())
    }

    /// The schemas in a schema, in the order of upstream, each with what its path adds.
    fn children(&self, schema: &'a SchemaNode, each: &mut dyn FnMut(String, &'a Value)) {
        self.items(schema, each);
        for name in ["allOf", "anyOf", "oneOf"] {
            for (at, child) in items(schema.get(name)).enumerate() {
                each(self.own(format!(".{name}[{at}]")), child);
            }
        }
        if let Some(child) = schema.get("not") {
            each(self.own(String::from(".not")), child);
        }
        for (name, child) in members(schema, "properties") {
            let suffix = if name.is_empty() {
                String::from("[]")
            } else {
                format!(".{name}")
            };
            each(suffix, child);
        }
        if let Some(child) = schema.get("additionalProperties") {
            let suffix = if self.has_own_paths {
                ".additionalProperties"
            } else {
                "[*]"
            };
            each(String::from(suffix), child);
        }
        self.others(schema, each);
    }

    fn items(&self, schema: &'a SchemaNode, each: &mut dyn FnMut(String, &'a Value)) {
        match schema.get("items") {
            Some(Value::Array(list)) => {
                for (at, item) in list.iter().enumerate() {
                    each(format!("{}[{at}]", self.own(String::from(".items"))), item);
                }
            }
            Some(item) if self.has_own_paths => each(String::from(".items"), item),
            Some(item) => each(String::from("[*]"), item),
            None => {}
        }
    }

    fn others(&self, schema: &'a SchemaNode, each: &mut dyn FnMut(String, &'a Value)) {
        for (name, child) in members(schema, "patternProperties") {
            each(self.own(format!(".patternProperties[{name}]")), child);
        }
        if let Some(child) = schema.get("additionalItems") {
            each(self.own(String::from(".additionalItems")), child);
        }
        for field in ["definitions", "dependencies"] {
            for (name, child) in members(schema, field) {
                each(self.own(format!(".{field}[{name}]")), child);
            }
        }
    }

    /// What a path adds if schemas have paths of their own, otherwise nothing.
    fn own(&self, suffix: String) -> String {
        if self.has_own_paths {
            suffix
        } else {
            String::new()
        }
    }
}

fn members<'a>(
    schema: &'a SchemaNode,
    field: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let members = schema.get(field).and_then(Value::as_object);
    members.into_iter().flatten()
}

/// The levels of a schema that are read. An API server takes fewer: its own limits are on cost and size.
const MOST_LEVELS: usize = 250;
