//! Access to JSON values in any representation, and the types of JSON values.

use std::fmt;

use serde_json::Value;

/// A reference to a JSON value. Its texts live for `'a`.
///
/// There are two implementations: serde's own values, for manifests, and the values of a review,
/// which borrow from its body.
pub trait Json<'a>: Copy {
    /// The type of the value.
    fn kind(self) -> JsonType;

    /// Returns the value of a key; `None` if this is not a map or has no such key.
    fn get(self, key: &str) -> Option<Self>;

    /// Returns the text, if the value is a string.
    fn as_str(self) -> Option<&'a str>;

    /// Returns the value, if it is a boolean.
    fn as_bool(self) -> Option<bool>;

    /// Returns the items, if the value is a list.
    fn items(self) -> Option<impl Iterator<Item = Self>>;

    /// Returns the entries, each key once, if the value is a map. If the map can have arbitrary
    /// keys, the entries are in byte order of their keys.
    fn entries(self) -> Option<impl Iterator<Item = (&'a str, Self)>>;

    /// Returns the complete value; `None` if parts of it were not kept.
    fn whole(self) -> Option<Value>;

    /// Whether the value is `null`.
    fn is_null(self) -> bool {
        self.kind() == JsonType::Null
    }

    /// Whether the value is a map.
    fn is_object(self) -> bool {
        self.kind() == JsonType::Object
    }

    /// Returns the value at a path of keys.
    fn at(self, path: &[&str]) -> Option<Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }
}

impl<'a> Json<'a> for &'a Value {
    fn kind(self) -> JsonType {
        JsonType::of(self)
    }

    fn get(self, key: &str) -> Option<Self> {
        Value::get(self, key)
    }

    fn as_str(self) -> Option<&'a str> {
        Value::as_str(self)
    }

    fn as_bool(self) -> Option<bool> {
        Value::as_bool(self)
    }

    fn items(self) -> Option<impl Iterator<Item = Self>> {
        self.as_array().map(|items| items.iter())
    }

    fn entries(self) -> Option<impl Iterator<Item = (&'a str, Self)>> {
        let entries = self.as_object()?.iter();
        Some(entries.map(|(key, value)| (key.as_str(), value)))
    }

    fn whole(self) -> Option<Value> {
        Some(self.clone())
    }
}

// === The types of JSON values, in the words of an API server's type errors ===

word_set! {
    /// The type of a JSON value. A number is an integer if it has no fraction and no exponent, and
    /// fits 64 bits.
    pub enum JsonType {
        /// A list.
        Array => "array",
        /// `true` or `false`.
        Boolean => "boolean",
        /// A number without a fraction and exponent that fits 64 bits.
        Integer => "integer",
        /// `null`.
        Null => "null",
        /// Any other number.
        Number => "number",
        /// A map.
        Object => "object",
        /// A string.
        String => "string",
    }
}

impl JsonType {
    /// Returns the type of `value`.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// Whether YAML can read a plain scalar as a value of this type.
    pub fn is_scalar(self) -> bool {
        matches!(self, Self::Boolean | Self::Integer | Self::Number)
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Appends bytes as Go decodes them: each byte that is not part of a character becomes U+FFFD.
pub(crate) fn push_lossy(text: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words() {
        let rows = [
            (json!([]), "array"),
            (json!(true), "boolean"),
            (json!(1), "integer"),
            (json!(-1), "integer"),
            (json!(u64::MAX), "integer"),
            (json!(1.1), "number"),
            (json!(null), "null"),
            (json!({}), "object"),
            (json!(""), "string"),
        ];
        for (value, word) in rows {
            assert_eq!(JsonType::of(&value).to_string(), word, "{value}");
        }
    }
}
