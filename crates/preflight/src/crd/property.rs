//! The changes between the two schemas at one path.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;

use serde_json::{Number, Value};

use crate::crd::alternatives::OneOfChange;
use crate::crd::paths::{ComparisonBudget, ComparisonLimit, Paths};
use crate::crd::schema::{
    EMPTY, FIELDS, SchemaNode, flag, items, present, same_field, same_named, text,
};
use crate::crd::{CrdGeneration, json};
use olmguard_catalog::version::go;

/// A change of a property that prevents a replacement. Printed as upstream prints it, with its name first.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum PropertyChange {
    /// The type changes.
    Type {
        /// The old type.
        from: String,
        /// The new type; empty for no type, and for a removed field.
        to: String,
    },
    /// The values are restricted to an enum, although any value was allowed before. The enum values are in byte order.
    EnumAdded(Vec<String>),
    /// Enum values are removed; the values are in byte order.
    EnumRemoved(Vec<String>),
    /// The default value changes; values are JSON.
    Default {
        /// The old default.
        from: Option<String>,
        /// The new default.
        to: Option<String>,
    },
    /// Fields become required; the names are in byte order.
    Required(Vec<String>),
    /// A lower bound is added or raised, or an upper bound is added or lowered.
    Bound {
        /// The field of the schema.
        field: &'static str,
        /// The old bound.
        from: Option<String>,
        /// The new bound.
        to: String,
    },
    /// The pattern changes.
    Pattern {
        /// The old pattern.
        from: String,
        /// The new pattern.
        to: String,
    },
    /// Null becomes allowed or forbidden; the value is whether it is allowed now.
    Nullable(bool),
    /// The `oneOf` alternatives change.
    OneOf(OneOfChange),
    /// A change that crdify does not handle.
    Unhandled {
        /// The fields that differ.
        fields: Vec<&'static str>,
    },
}

impl PropertyChange {
    /// Whether upstream prints the names in random order.
    pub(super) fn is_in_random_order(&self) -> bool {
        matches!(self, Self::Required(names) if names.len() > 1)
    }

    /// Whether the change is reported for a map of objects. Upstream reports every change of the map's values,
    /// including harmless ones.
    pub fn is_of_map(&self) -> bool {
        match self {
            Self::Unhandled { fields } => fields == &["additionalProperties"],
            _ => false,
        }
    }
}

/// A change between the schemas of two versions at one path.
#[derive(Debug)]
pub(super) struct NodeChange<'p, 'a> {
    pub(super) path: &'p str,
    pub(super) change: PropertyChange,
    from: &'a SchemaNode,
    to: &'a SchemaNode,
}

impl NodeChange<'_, '_> {
    /// Whether upstream prints the same for two equal changes. It also prints the values of unhandled fields, and the
    /// alternatives that are removed or added.
    pub(super) fn has_values_of(&self, other: &Self) -> bool {
        let same = |name: &str| {
            same_named(name, self.from, other.from) && same_named(name, self.to, other.to)
        };
        match &self.change {
            PropertyChange::Unhandled { fields } => fields.iter().all(|name| same(name)),
            PropertyChange::OneOf(change) => {
                let known = change.names(self.from, self.to, "this");
                known == change.names(other.from, other.to, "that")
            }
            _ => true,
        }
    }
}

/// Returns the changes from one version to another, in byte order of the paths. Paths that only the other version has
/// are not compared.
pub(super) fn changes<'p, 'a>(
    from: &'p Paths<'a>,
    to: &'p Paths<'a>,
    generation: CrdGeneration,
    budget: &mut ComparisonBudget,
) -> Result<Vec<NodeChange<'p, 'a>>, ComparisonLimit> {
    let mut found = Vec::new();
    for (path, from, to) in from.beside(to) {
        let to = to.unwrap_or(&EMPTY);
        let fields = compared(from).chain(compared(to));
        budget.spend_work(fields.map(|(_, value)| json::size(value)).sum())?;
        for change in of_node(from, to, generation) {
            // Twice, because the line of the finding repeats the text.
            budget.spend_text(2 * change.to_string().len())?;
            found.push(NodeChange {
                path,
                change,
                from,
                to,
            });
        }
    }
    Ok(found)
}

fn of_node(old: &SchemaNode, new: &SchemaNode, generation: CrdGeneration) -> Vec<PropertyChange> {
    let mut found = Vec::new();
    if compared(old).eq(compared(new)) {
        return found;
    }
    found.extend(of_type(old, new));
    found.extend(of_enum(old, new));
    found.extend(of_default(old, new));
    found.extend(of_required(old, new));
    found.extend(BOUNDS.iter().filter_map(|field| of_bound(field, old, new)));
    if generation >= CrdGeneration::V1_9 {
        found.extend(of_pattern(old, new));
        found.extend(of_nullable(old, new));
    }
    if generation >= CrdGeneration::V1_10 {
        found.extend(OneOfChange::of(old, new).map(PropertyChange::OneOf));
    }
    found.extend(of_others(old, new, generation));
    found
}

/// The fields that are compared here. Schemas with a path of their own are compared at that path.
fn compared(schema: &SchemaNode) -> impl Iterator<Item = (&String, &Value)> {
    let is_elsewhere = |name: &str| matches!(name, "properties" | "items");
    schema.iter().filter(move |(name, _)| !is_elsewhere(name))
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
        values.dedup();
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

/// Returns the text of an enum value. Null is an empty text.
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
    let known: HashSet<&str> = names(old.get("required")).collect();
    let added = names(new.get("required")).filter(|name| !known.contains(name));
    let mut added: Vec<String> = added.map(str::to_owned).collect();
    added.sort_unstable();
    added.dedup();
    (!added.is_empty()).then_some(PropertyChange::Required(added))
}

/// The fields that set a bound on values.
const BOUNDS: [&str; 8] = [
    "minimum",
    "minLength",
    "minItems",
    "minProperties",
    "maximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];

fn of_bound(field: &'static str, old: &SchemaNode, new: &SchemaNode) -> Option<PropertyChange> {
    let (from, to) = (old.get(field), new.get(field));
    let (from, to) = (from.and_then(Value::as_number), to?.as_number()?);
    // Floats are compared with the precision of 53 bits, whatever the text contains.
    let is_float = matches!(field, "minimum" | "maximum");
    let compare = if is_float {
        compare_floats
    } else {
        compare_numbers
    };
    let stricter = if is_lower(field) {
        Ordering::Greater
    } else {
        Ordering::Less
    };
    if from.is_some_and(|from| compare(to, from) != stricter) {
        return None;
    }
    let text = |value: &Number| match value.as_f64().filter(|_| is_float) {
        Some(float) => json::float_text(float),
        None => json::integer_text(value),
    };
    let (from, to) = (from.map(text), text(to));
    Some(PropertyChange::Bound { field, from, to })
}

/// Whether a field sets a lower bound, and not an upper one.
fn is_lower(field: &str) -> bool {
    field.starts_with("min")
}

/// Compares integers exactly and other numbers as floats. JSON has no NaN.
fn compare_numbers(one: &Number, other: &Number) -> Ordering {
    if let (Some(one), Some(other)) = (one.as_i64(), other.as_i64()) {
        return one.cmp(&other);
    }
    compare_floats(one, other)
}

fn compare_floats(one: &Number, other: &Number) -> Ordering {
    let order = one.as_f64().partial_cmp(&other.as_f64());
    order.unwrap_or(Ordering::Equal)
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

/// Returns the differences in fields that no validation handles.
fn of_others(
    old: &SchemaNode,
    new: &SchemaNode,
    generation: CrdGeneration,
) -> Option<PropertyChange> {
    let others = FIELDS
        .iter()
        .filter(|(name, _)| !is_handled(name, generation));
    let differing = others
        .filter(|(name, kind)| !same_field(*kind, old.get(*name), new.get(*name)))
        .map(|(name, _)| *name);
    let fields: Vec<_> = differing.collect();
    (!fields.is_empty()).then_some(PropertyChange::Unhandled { fields })
}

fn is_handled(field: &str, generation: CrdGeneration) -> bool {
    match field {
        "pattern" | "nullable" => generation >= CrdGeneration::V1_9,
        "oneOf" => generation >= CrdGeneration::V1_10,
        "type" | "enum" | "default" | "required" | "description" | "properties" | "items" => true,
        _ => BOUNDS.contains(&field),
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
            Self::Bound { field, from, to } => (*field, bound_text(field, from.as_deref(), to)),
            Self::Pattern { from, to } => ("pattern", pattern_text(from, to)),
            Self::Nullable(true) => ("nullable", String::from("nullable added : false -> true")),
            Self::Nullable(false) => ("nullable", String::from("nullable removed : true -> false")),
            Self::OneOf(change) => ("oneOf", String::from(change.text())),
            Self::Unhandled { .. } => ("unhandled", String::from("unhandled changes found")),
        };
        write!(f, "{name}: {text}")
    }
}

fn changed(what: &str, from: &str, to: &str) -> String {
    format!("{what} : {} -> {}", go::quote(from), go::quote(to))
}

fn listed(what: &str, items: &[String]) -> String {
    format!("{what} [{}]", items.join(" "))
}

fn bound_text(field: &str, from: Option<&str>, to: &str) -> String {
    let (bound, verb) = if is_lower(field) {
        ("minimum", "increased")
    } else {
        ("maximum", "decreased")
    };
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
