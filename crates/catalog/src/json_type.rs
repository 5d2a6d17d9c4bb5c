//! The types of JSON values, in the words of an API server's type errors.

use std::fmt;

use serde_json::Value;

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
