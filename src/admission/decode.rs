//! From bytes to JSON, as far down as anything here looks.
//!
//! Go reads JSON of any depth up to 10,000, and of two equal keys the last one counts. A field of an
//! extension may hold any JSON (`spec.config.inline`), so what lies deeper than [`DEPTH`] is passed
//! over without being kept: it is `null` here. Nothing that is read from a review lies as deep.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::admission::ReviewError;

/// Reads a body as JSON; what lies deeper than any field that counts is `null`.
pub fn decode(body: &[u8]) -> Result<Value, ReviewError> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = Level(DEPTH).deserialize(&mut reader).map_err(not_json)?;
    reader.end().map_err(not_json)?;
    Ok(value)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what map_err hands over"
)]
fn not_json(error: serde_json::Error) -> ReviewError {
    ReviewError::Json(error.to_string())
}

/// How many levels of JSON are still kept.
#[derive(Clone, Copy)]
struct Level(usize);

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        if self.0 == 0 {
            reader.deserialize_ignored_any(IgnoredAny)?;
            return Ok(Value::Null);
        }
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(Self(self.0 - 1))? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            map.insert(key, entries.next_value_seed(Self(self.0 - 1))?);
        }
        Ok(Value::Object(map))
    }
}

/// The deepest field that counts, an item of `values` in a `matchExpressions` of a selector, is on
/// level 11 of a review.
const DEPTH: usize = 32;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn values_are_those_of_any_json_reader() {
        for text in [
            "null",
            "true",
            "[1, -1, 1.5, 18446744073709551615]",
            r#"{"a": {"b": ["\u00e4", ""]}, "c": {}}"#,
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(decode(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn of_two_keys_the_last_counts() {
        assert_eq!(decode(br#"{"a": 1, "a": 2}"#), Ok(json!({"a": 2})));
    }

    #[test]
    fn any_depth_is_read_and_little_of_it_kept() {
        let read = decode(nested(200_000).as_bytes()).unwrap();
        let kept = std::iter::successors(Some(&read), |value| value.get(0)).count();
        assert_eq!(kept, DEPTH + 1);
        assert!(decode(nested(DEPTH).as_bytes()).is_ok());
    }
}
