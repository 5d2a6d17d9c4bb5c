//! The alternatives of `oneOf`, compared as crdify does: as sets of texts.
//!
//! Go generates the text of a schema. But a schema inside a map is printed as it is in memory: a number, a flag or a
//! text behind a pointer is printed as an address. No two addresses are equal. An alternative that contains one
//! therefore equals no other, not even itself in another version.
//!
//! Upstream: crdify, [`pkg/validations/property/oneof.go`]; apiextensions-apiserver,
//! [`pkg/apis/apiextensions/v1/generated.pb.go`].
//!
//! [`pkg/validations/property/oneof.go`]: https://github.com/kubernetes-sigs/crdify/blob/bb9957dbf465/pkg/validations/property/oneof.go
//! [`pkg/apis/apiextensions/v1/generated.pb.go`]: https://github.com/kubernetes/apiextensions-apiserver/blob/v0.36.2/pkg/apis/apiextensions/v1/generated.pb.go

use std::collections::HashSet;

use serde_json::Value;

use crate::crd::schema::{
    FIELDS, Field, Kind, SchemaNode, alternative, element, items, present, same_field,
};

/// A change of the `oneOf` alternatives.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OneOfChange {
    /// There were no alternatives before.
    Constrained,
    /// An alternative is removed.
    Removed,
    /// An alternative is added.
    Added,
}

impl OneOfChange {
    /// Returns the change from one schema to another.
    pub(super) fn of(old: &SchemaNode, new: &SchemaNode) -> Option<Self> {
        if !is_compared(old, new) {
            return None;
        }
        let (from, to) = (alternatives(old, "old"), alternatives(new, "new"));
        if from.is_empty() && !to.is_empty() {
            Some(Self::Constrained)
        } else if !from.is_subset(&to) {
            Some(Self::Removed)
        } else if !to.is_subset(&from) {
            Some(Self::Added)
        } else {
            None
        }
    }

    /// Returns the alternatives that upstream lists in one of its comparisons.
    pub(super) fn names(
        self,
        old: &SchemaNode,
        new: &SchemaNode,
        comparison: &str,
    ) -> HashSet<String> {
        let of = |schema, side| alternatives(schema, &format!("{side} of {comparison}"));
        let (from, to) = (of(old, "old"), of(new, "new"));
        match self {
            Self::Removed => &from - &to,
            Self::Constrained | Self::Added => &to - &from,
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Constrained => "oneOf constraint added when there was none previously",
            Self::Removed => "allowed oneOf schemas removed",
            Self::Added => "allowed oneOf schemas added",
        }
    }
}

/// Whether upstream compares two schemas at all: whether they differ in a field without a path of its own.
fn is_compared(old: &SchemaNode, new: &SchemaNode) -> bool {
    let mut fields = FIELDS
        .iter()
        .filter(|(name, _)| !matches!(*name, "properties" | "items"));
    fields.any(|(name, kind)| !same_field(*kind, old.get(*name), new.get(*name)))
}

/// Returns the texts of the alternatives. A text with addresses is made unique to its `memory`.
fn alternatives(schema: &SchemaNode, memory: &str) -> HashSet<String> {
    let entries = items(schema.get("oneOf")).filter_map(element);
    let texts = entries.map(|entry| {
        let mut text = alternative(entry);
        if FIELDS.iter().any(|field| has_addresses(field, entry)) {
            text.push_str(memory);
        }
        text
    });
    texts.collect()
}

/// Whether the generated text of a field contains addresses.
fn has_addresses((name, kind): &Field, schema: &SchemaNode) -> bool {
    let is_generated_with = |schema: &SchemaNode| {
        let mut fields = FIELDS.iter();
        fields.any(|field| has_addresses(field, schema))
    };
    let reached = |value: &Value| value.as_object().is_some_and(is_generated_with);
    match (kind, schema.get(*name)) {
        (Kind::Schemas | Kind::Schema | Kind::Either, Some(Value::Array(list))) => {
            list.iter().any(reached)
        }
        (Kind::Schema | Kind::Either, Some(value)) => reached(value),
        (Kind::Dependencies, Some(Value::Object(members))) => members.values().any(reached),
        (Kind::SchemaMap, Some(Value::Object(members))) => {
            members.values().filter_map(element).any(is_printed_with)
        }
        _ => false,
    }
}

/// Whether a schema contains addresses if it is printed from memory.
fn is_printed_with(schema: &SchemaNode) -> bool {
    FIELDS.iter().any(|field| {
        let (name, kind) = field;
        let mut listed = items(schema.get(*name));
        match kind {
            Kind::Integer | Kind::Float | Kind::Pointer => present(schema.get(*name)).is_some(),
            Kind::Schemas => listed.any(|entry| element(entry).is_some_and(is_printed_with)),
            Kind::Objects(fields) => listed.any(|object| has_pointers(fields, object)),
            _ => has_addresses(field, schema),
        }
    })
}

fn has_pointers(fields: &[Field], object: &Value) -> bool {
    let mut pointers = fields
        .iter()
        .filter(|(_, kind)| matches!(kind, Kind::Pointer));
    pointers.any(|(name, _)| present(object.get(*name)).is_some())
}
