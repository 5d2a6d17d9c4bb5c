//! What is kept of a review: JSON whose texts are those of the body, wherever nothing is escaped.

use std::borrow::Cow;

use serde_json::{Number, Value};

use olmguard_catalog::json_type::JsonType;
use olmguard_engine::extension::Json;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node<'de> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'de, str>),
    List(Vec<Self>),
    Map(Map<'de>),
}

/// A JSON map: its entries in byte order of their keys, no key twice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Map<'de> {
    entries: Vec<(Cow<'de, str>, Node<'de>)>,
}

impl<'de> Map<'de> {
    /// An empty map with room for so many entries.
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self {
            entries: Vec::with_capacity(entries),
        }
    }

    /// The map of these entries; of equal keys the last one counts.
    pub(super) fn of(mut entries: Vec<(Cow<'de, str>, Node<'de>)>) -> Self {
        entries.reverse();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.dedup_by(|(a, _), (b, _)| a == b);
        Self { entries }
    }

    /// Sets one key of few: the entries after it are moved.
    pub(super) fn set(&mut self, key: Cow<'de, str>, value: Node<'de>) {
        let at = self.entries.partition_point(|(other, _)| *other < key);
        match self.entries.get_mut(at) {
            Some((other, old)) if *other == key => *old = value,
            _ => self.entries.insert(at, (key, value)),
        }
    }
}

impl<'a> Json<'a> for &'a Node<'_> {
    fn kind(self) -> JsonType {
        match self {
            Node::Null => JsonType::Null,
            Node::Bool(_) => JsonType::Boolean,
            Node::Number(number) if number.is_f64() => JsonType::Number,
            Node::Number(_) => JsonType::Integer,
            Node::Text(_) => JsonType::String,
            Node::List(_) => JsonType::Array,
            Node::Map(_) => JsonType::Object,
        }
    }

    fn get(self, key: &str) -> Option<Self> {
        let Node::Map(map) = self else { return None };
        let (_, value) = map.entries.iter().find(|(found, _)| found == key)?;
        Some(value)
    }

    fn as_str(self) -> Option<&'a str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    fn as_bool(self) -> Option<bool> {
        match self {
            Node::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn items(self) -> Option<impl Iterator<Item = Self>> {
        match self {
            Node::List(items) => Some(items.iter()),
            _ => None,
        }
    }

    fn keys(self) -> impl Iterator<Item = &'a str> {
        let entries = match self {
            Node::Map(map) => map.entries.as_slice(),
            _ => &[],
        };
        entries.iter().map(|(key, _)| &**key)
    }

    fn to_value(self) -> Cow<'a, Value> {
        Cow::Owned(match self {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            Node::Number(number) => Value::Number(number.clone()),
            Node::Text(text) => Value::String(text.clone().into_owned()),
            Node::List(items) => items
                .iter()
                .map(|item| item.to_value().into_owned())
                .collect(),
            Node::Map(map) => map
                .entries
                .iter()
                .map(|(key, value)| (key.clone().into_owned(), value.to_value().into_owned()))
                .collect(),
        })
    }
}
