//! JSON that something is read from, whatever holds it and in whatever form, and the types of its values.

use std::fmt;

use serde_json::Value;

/// A reference to a JSON value. `'a` is how long its texts live.
///
/// The program has two: serde's own, which manifests come in, and the one of a review, which borrows
/// from the body.
pub trait Json<'a>: Copy {
    /// What it is.
    fn kind(self) -> JsonType;

    /// The value of a key; none where it is no map.
    fn get(self, key: &str) -> Option<Self>;

    /// The text, if it is one.
    fn as_str(self) -> Option<&'a str>;

    /// Which of the two, if it is `true` or `false`.
    fn as_bool(self) -> Option<bool>;

    /// The items, if it is a list.
    fn items(self) -> Option<impl Iterator<Item = Self>>;

    /// The entries, each key once, if it is a map. The entries of a map whose keys may be any are in byte order of
    /// their keys.
    fn entries(self) -> Option<impl Iterator<Item = (&'a str, Self)>>;

    /// The value with all that is in it; none where not all of it is kept.
    fn whole(self) -> Option<Value>;

    /// Whether it is `null`.
    fn is_null(self) -> bool {
        self.kind() == JsonType::Null
    }

    /// Whether it is a map.
    fn is_object(self) -> bool {
        self.kind() == JsonType::Object
    }

    /// The value at a path of keys.
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

/// The type of a JSON value. A number without a fraction is an integer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JsonType {
    /// A list.
    Array,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// `null`.
    Null,
    /// A number with a fraction.
    Number,
    /// A map.
    Object,
    /// A text.
    String,
}

impl JsonType {
    /// The type of `value`.
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
}

impl JsonType {
    /// Whether YAML can read a text without quotes as such a value.
    pub fn is_scalar(self) -> bool {
        matches!(self, Self::Boolean | Self::Integer | Self::Number)
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        })
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
