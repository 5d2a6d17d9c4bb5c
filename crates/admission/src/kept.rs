//! The kept part of a review: JSON whose texts borrow from the body unless they contain escapes.

use std::borrow::Cow;

use serde_json::{Number, Value};

use olmguard_catalog::json::{Json, JsonType};
use olmguard_engine::json_values;

/// A value of a review, as far as it is kept.
#[derive(Debug)]
pub(super) enum KeptValue<'de> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'de, str>),
    List(Vec<Self>),
    /// The entries of a map, each key once. If the map can have arbitrary keys, the entries are in byte order of their
    /// keys. A list takes less memory than a tree, and no map has many entries.
    Map(Vec<(Cow<'de, str>, Self)>),
    /// A value of any type, as written in the body. It is not parsed until something reads all of it.
    Whole(&'de str),
}

impl<'a> Json<'a> for &'a KeptValue<'_> {
    fn kind(self) -> JsonType {
        match self {
            KeptValue::Null => JsonType::Null,
            KeptValue::Bool(_) => JsonType::Boolean,
            KeptValue::Number(number) if number.is_f64() => JsonType::Number,
            KeptValue::Number(_) => JsonType::Integer,
            KeptValue::Text(_) => JsonType::String,
            KeptValue::List(_) => JsonType::Array,
            KeptValue::Map(_) => JsonType::Object,
            KeptValue::Whole(text) => kind_of(text),
        }
    }

    fn get(self, key: &str) -> Option<Self> {
        let mut entries = self.entries()?;
        entries.find_map(|(known, value)| (known == key).then_some(value))
    }

    fn as_str(self) -> Option<&'a str> {
        match self {
            KeptValue::Text(text) => Some(text),
            _ => None,
        }
    }

    fn as_bool(self) -> Option<bool> {
        match self {
            KeptValue::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn items(self) -> Option<impl Iterator<Item = Self>> {
        match self {
            KeptValue::List(items) => Some(items.iter()),
            _ => None,
        }
    }

    fn entries(self) -> Option<impl Iterator<Item = (&'a str, Self)>> {
        match self {
            KeptValue::Map(entries) => Some(entries.iter().map(|(key, value)| (&**key, value))),
            _ => None,
        }
    }

    /// The value, if it is kept whole. `None` if it is larger than [`LARGEST_WHOLE`], has more than [`MOST_VALUES`]
    /// values, or is nested deeper than serde reads.
    fn whole(self) -> Option<Value> {
        match self {
            KeptValue::Whole(text) if text.len() <= LARGEST_WHOLE => {
                json_values::at_most(MOST_VALUES, text.as_bytes()).ok()?;
                serde_json::from_str(text).ok()
            }
            _ => None,
        }
    }
}

/// Returns the type of a value, by its first byte.
fn kind_of(text: &str) -> JsonType {
    match text.as_bytes().first() {
        Some(b'{') => JsonType::Object,
        Some(b'[') => JsonType::Array,
        Some(b'"') => JsonType::String,
        Some(b't' | b'f') => JsonType::Boolean,
        Some(b'n') => JsonType::Null,
        _ => JsonType::Number,
    }
}

/// The maximum size in bytes of a value that is read whole. Only the configuration of an extension is kept whole,
/// which has some hundreds.
const LARGEST_WHOLE: usize = 1 << 16;
/// The maximum number of values in it. Two such objects fit into the memory of an ordinary review.
const MOST_VALUES: usize = 750;

#[cfg(test)]
mod tests {
    use super::*;

    impl KeptValue<'_> {
        /// Converts the value as serde reads it.
        pub(crate) fn to_value(&self) -> Value {
            match self {
                Self::Null => Value::Null,
                Self::Bool(value) => Value::Bool(*value),
                Self::Number(number) => Value::Number(number.clone()),
                Self::Text(text) => Value::String(text.clone().into_owned()),
                Self::Whole(_) => self.whole().unwrap_or_default(),
                Self::List(items) => items.iter().map(Self::to_value).collect(),
                Self::Map(entries) => {
                    let entries = entries.iter();
                    let entries = entries.map(|(key, value)| (key.to_string(), value.to_value()));
                    Value::Object(entries.collect())
                }
            }
        }
    }
}
