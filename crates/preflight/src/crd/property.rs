//! What changes between the schemas at one path.

use std::fmt;

use serde_json::{Map, Value};

use crate::crd::schema::{
    Kind, Paths, SchemaNode, fields, flag, items, present, same, same_field, text,
};
use crate::crd::{CrdGeneration, json};
use olmguard_catalog::version::go;

/// A change of a property that refuses a replacement; printed as upstream prints it, its name first.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum PropertyChange {
    /// The type.
    Type {
        /// The old one.
        from: String,
        /// The new one; empty for none, and for a removed field.
        to: String,
    },
    /// Any value was allowed before; the allowed ones, in byte order.
    EnumAdded(Vec<String>),
    /// These values are no longer allowed, in byte order.
    EnumRemoved(Vec<String>),
    /// The default value, as JSON.
    Default {
        /// The old one.
        from: Option<String>,
        /// The new one.
        to: Option<String>,
    },
    /// These fields are required now, in byte order.
    Required(Vec<String>),
    /// A lower bound.
    Minimum {
        /// The field of the schema.
        field: &'static str,
        /// The old bound.
        from: Option<String>,
        /// The new one.
        to: String,
    },
    /// An upper bound.
    Maximum {
        /// The field of the schema.
        field: &'static str,
        /// The old bound.
        from: Option<String>,
        /// The new one.
        to: String,
    },
    /// The pattern.
    Pattern {
        /// The old one.
        from: String,
        /// The new one.
        to: String,
    },
    /// Whether null is allowed, from now on.
    Nullable(bool),
    /// The alternatives.
    OneOf {
        /// What upstream says of it.
        change: OneOfChange,
        /// Both lists, as JSON.
        schemas: (String, String),
    },
    /// Something that crdify does not understand.
    Unhandled {
        /// The fields that differ, with both their values as JSON.
        fields: Vec<(&'static str, String, String)>,
    },
}

/// A change of `oneOf`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OneOfChange {
    /// There were no alternatives.
    Constrained,
    /// An alternative is gone.
    Removed,
    /// An alternative is new.
    Added,
}

impl PropertyChange {
    /// Whether upstream writes its names in random order.
    pub(super) fn is_in_random_order(&self) -> bool {
        matches!(self, Self::Required(names) if names.len() > 1)
    }

    /// Whether it is found in a map of objects, where every change of what the map holds is found, harmless ones too.
    pub fn is_of_map(&self) -> bool {
        match self {
            Self::Unhandled { fields } => fields
                .iter()
                .all(|(name, ..)| *name == "additionalProperties"),
            _ => false,
        }
    }
}

/// The changes from one version to another, in byte order of the paths. What is new in the other is not looked at.
pub(super) fn changes(
    from: &Paths<'_>,
    to: &Paths<'_>,
    generation: CrdGeneration,
) -> Vec<(String, PropertyChange)> {
    let nothing = Map::new();
    let mut changes = Vec::new();
    for (path, old) in from.iter() {
        let new = to.get(path).unwrap_or(&nothing);
        let found = of_node(old, new, generation);
        changes.extend(found.into_iter().map(|change| (path.to_owned(), change)));
    }
    changes
}

fn of_node(old: &SchemaNode, new: &SchemaNode, generation: CrdGeneration) -> Vec<PropertyChange> {
    let mut found = Vec::new();
    found.extend(of_type(old, new));
    found.extend(of_enum(old, new));
    found.extend(of_default(old, new));
    found.extend(of_required(old, new));
    found.extend(BOUNDS.iter().filter_map(|bound| bound.change(old, new)));
    if generation >= CrdGeneration::V1_9 {
        found.extend(of_pattern(old, new));
        found.extend(of_nullable(old, new));
    }
    if generation >= CrdGeneration::V1_10 {
        found.extend(of_one_of(old, new));
    }
    found.extend(of_others(old, new, generation));
    found
}

fn of_type(old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
    let (from, to) = (text(old.get("type")), text(new.get("type")));
    (from != to).then(|| PropertyChange::Type {
        from: from.to_owned(),
        to: to.to_owned(),
    })
}

fn of_enum(old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
    let values = |schema: &SchemaNode| {
        let mut values: Vec<String> = items(schema.get("enum")).map(enum_value).collect();
        values.sort_unstable();
        values
    };
    let (from, to) = (values(old), values(new));
    if from.is_empty() {
        return (!to.is_empty()).then_some(PropertyChange::EnumAdded(to));
    }
    let gone = from
        .into_iter()
        .filter(|value| to.binary_search(value).is_err());
    let gone: Vec<String> = gone.collect();
    (!gone.is_empty()).then_some(PropertyChange::EnumRemoved(gone))
}

/// Null is the empty text.
fn enum_value(value: &Value) -> String {
    present(Some(value)).map(json::text).unwrap_or_default()
}

fn of_default(old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
    let value = |schema: &SchemaNode| present(schema.get("default")).map(json::text);
    let (from, to) = (value(old), value(new));
    (from != to).then_some(PropertyChange::Default { from, to })
}

fn of_required(old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
    let names = |schema| items(schema).filter_map(Value::as_str);
    let known: Vec<&str> = names(old.get("required")).collect();
    let added = names(new.get("required")).filter(|name| !known.contains(name));
    let mut added: Vec<String> = added.map(str::to_owned).collect();
    added.sort_unstable();
    added.dedup();
    (!added.is_empty()).then_some(PropertyChange::Required(added))
}

/// A field that bounds values.
struct Bound {
    field: &'static str,
    side: BoundSide,
    is_float: bool,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum BoundSide {
    Lower,
    Upper,
}

const fn bound(field: &'static str, side: BoundSide, is_float: bool) -> Bound {
    Bound {
        field,
        side,
        is_float,
    }
}

const BOUNDS: [Bound; 8] = [
    bound("minimum", BoundSide::Lower, true),
    bound("minLength", BoundSide::Lower, false),
    bound("minItems", BoundSide::Lower, false),
    bound("minProperties", BoundSide::Lower, false),
    bound("maximum", BoundSide::Upper, true),
    bound("maxLength", BoundSide::Upper, false),
    bound("maxItems", BoundSide::Upper, false),
    bound("maxProperties", BoundSide::Upper, false),
];

impl Bound {
    fn change(&self, old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
        let value = |schema: &SchemaNode| schema.get(self.field).and_then(Value::as_f64);
        let (from, to) = (value(old), value(new)?);
        let is_stricter = |from: f64| match self.side {
            BoundSide::Lower => to > from,
            BoundSide::Upper => to < from,
        };
        if !from.is_none_or(is_stricter) {
            return None;
        }
        let field = self.field;
        let (from, to) = (from.map(|from| self.text(from)), self.text(to));
        Some(match self.side {
            BoundSide::Lower => PropertyChange::Minimum { field, from, to },
            BoundSide::Upper => PropertyChange::Maximum { field, from, to },
        })
    }

    fn text(&self, value: f64) -> String {
        if self.is_float {
            json::float_text(value)
        } else {
            format!("{value:.0}")
        }
    }
}

fn of_pattern(old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
    let (from, to) = (text(old.get("pattern")), text(new.get("pattern")));
    (from != to).then(|| PropertyChange::Pattern {
        from: from.to_owned(),
        to: to.to_owned(),
    })
}

fn of_nullable(old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
    let (from, to) = (flag(old.get("nullable")), flag(new.get("nullable")));
    (from != to).then_some(PropertyChange::Nullable(to))
}

/// Alternatives are compared as sets, whatever they are called and documented as.
fn of_one_of(old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
    let (from, to) = (alternatives(old), alternatives(new));
    let is_in = |all: &[SchemaNode], one: &SchemaNode| all.iter().any(|other| same(one, other));
    let change = if from.is_empty() && !to.is_empty() {
        OneOfChange::Constrained
    } else if from.iter().any(|one| !is_in(&to, one)) {
        OneOfChange::Removed
    } else if to.iter().any(|one| !is_in(&from, one)) {
        OneOfChange::Added
    } else {
        return None;
    };
    let schemas = |schema: &SchemaNode| schema.get("oneOf").map(json::text).unwrap_or_default();
    Some(PropertyChange::OneOf {
        change,
        schemas: (schemas(old), schemas(new)),
    })
}

fn alternatives(schema: &SchemaNode) -> Vec<SchemaNode> {
    let entries = items(schema.get("oneOf")).filter_map(Value::as_object);
    let bare = entries.map(|entry| {
        let mut entry = entry.clone();
        entry.retain(|name, _| {
            !["description", "title", "example", "externalDocs"].contains(&name.as_str())
        });
        entry
    });
    bare.collect()
}

/// Any difference in a field that no validation is about.
fn of_others(
    old: &SchemaNode,
    new: &SchemaNode,
    generation: CrdGeneration,
) -> Option<PropertyChange> {
    let others = fields().filter(|(name, _)| !is_handled(name, generation));
    let differs =
        |(name, kind): &(&'static str, Kind)| !same_field(*kind, old.get(*name), new.get(*name));
    let value = |value: Option<&Value>| value.map(json::text).unwrap_or_default();
    let fields = others.filter(differs);
    let fields: Vec<_> = fields
        .map(|(name, _)| (name, value(old.get(name)), value(new.get(name))))
        .collect();
    (!fields.is_empty()).then_some(PropertyChange::Unhandled { fields })
}

fn is_handled(field: &str, generation: CrdGeneration) -> bool {
    match field {
        "pattern" | "nullable" => generation >= CrdGeneration::V1_9,
        "oneOf" => generation >= CrdGeneration::V1_10,
        "type" | "enum" | "default" | "required" | "description" | "properties" | "items" => true,
        _ => BOUNDS.iter().any(|bound| bound.field == field),
    }
}

impl fmt::Display for PropertyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, text) = match self {
            Self::Type { from, to } => ("type", changed("type changed", from, to)),
            Self::EnumAdded(values) => (
                "enum",
                listed(
                    "enum constraint added when there was none previously :",
                    values,
                ),
            ),
            Self::EnumRemoved(values) => ("enum", listed("allowed enum values removed :", values)),
            Self::Default { from, to } => ("default", default_text(from.as_deref(), to.as_deref())),
            Self::Required(names) => ("required", listed("new required fields:", names)),
            Self::Minimum { field, from, to } => {
                (*field, bounded("minimum", "increased", from.as_deref(), to))
            }
            Self::Maximum { field, from, to } => {
                (*field, bounded("maximum", "decreased", from.as_deref(), to))
            }
            Self::Pattern { from, to } => ("pattern", pattern_text(from, to)),
            Self::Nullable(true) => ("nullable", String::from("nullable added : false -> true")),
            Self::Nullable(false) => ("nullable", String::from("nullable removed : true -> false")),
            Self::OneOf { change, .. } => ("oneOf", String::from(change.text())),
            Self::Unhandled { .. } => ("unhandled", String::from("unhandled changes found")),
        };
        write!(f, "{name}: {text}")
    }
}

impl OneOfChange {
    fn text(self) -> &'static str {
        match self {
            Self::Constrained => "oneOf constraint added when there was none previously",
            Self::Removed => "allowed oneOf schemas removed",
            Self::Added => "allowed oneOf schemas added",
        }
    }
}

fn changed(what: &str, from: &str, to: &str) -> String {
    format!("{what} : {} -> {}", go::quote(from), go::quote(to))
}

fn listed(what: &str, items: &[String]) -> String {
    format!("{what} [{}]", items.join(" "))
}

fn bounded(bound: &str, verb: &str, from: Option<&str>, to: &str) -> String {
    match from {
        Some(from) => format!("{bound} {verb} : {from} -> {to}"),
        None => format!("{bound} constraint added when there was none previously : {to}"),
    }
}

fn pattern_text(from: &str, to: &str) -> String {
    let what = match (from, to) {
        ("", _) => "pattern added",
        (_, "") => "pattern removed",
        _ => "pattern changed",
    };
    changed(what, from, to)
}

fn default_text(from: Option<&str>, to: Option<&str>) -> String {
    let quote = |value: Option<&str>| go::quote(value.unwrap_or_default());
    match (from, to) {
        (None, _) => format!(
            "default added when there was none previously : {}",
            quote(to)
        ),
        (Some(_), None) => format!("default value removed : {}", quote(from)),
        (Some(from), Some(to)) => changed("default value changed", from, to),
    }
}
