//! Reading single fields of a review, with errors that name them.

use serde_json::Value;

use crate::admission::ReviewError;
use crate::json_type::JsonType;
use crate::version::go;

/// The value of a field that must be these words exactly.
pub(super) fn constant(
    object: &Value,
    key: &str,
    field: &'static str,
    expected: &'static str,
) -> Result<(), ReviewError> {
    match object.get(key) {
        Some(Value::String(found)) if found == expected => Ok(()),
        Some(Value::String(found)) => Err(ReviewError::Field {
            field,
            found: quoted(found),
            expected,
        }),
        found => Err(wrong(field, found, expected)),
    }
}

/// The text of a field that must have one.
pub(super) fn required_text<'a>(
    object: &'a Value,
    key: &str,
    field: &'static str,
) -> Result<&'a str, ReviewError> {
    match object.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(Value::String(text)) => Err(ReviewError::Field {
            field,
            found: quoted(text),
            expected: NON_EMPTY,
        }),
        found => Err(wrong(field, found, NON_EMPTY)),
    }
}

/// The text of a field that must have one, of a length that can be echoed and logged.
pub(super) fn bounded_text<'a>(
    object: &'a Value,
    key: &str,
    field: &'static str,
) -> Result<&'a str, ReviewError> {
    let text = required_text(object, key, field)?;
    if text.len() <= LONGEST_KEPT {
        return Ok(text);
    }
    Err(ReviewError::Field {
        field,
        found: format!("a string of {} bytes", text.len()),
        expected: "a string of at most 128 bytes",
    })
}

/// The review itself must be a map.
pub(super) fn object(review: &Value) -> Result<(), ReviewError> {
    match review {
        Value::Object(_) => Ok(()),
        found => Err(wrong("the body", Some(found), "an object")),
    }
}

/// The text of a field that may be absent or `null`, which is as good as empty.
pub(super) fn optional_text<'a>(
    object: &'a Value,
    key: &str,
    field: &'static str,
) -> Result<&'a str, ReviewError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        found => Err(wrong(field, found, "a string")),
    }
}

/// A field that must hold a map.
pub(super) fn required_object<'a>(
    object: &'a Value,
    key: &str,
    field: &'static str,
) -> Result<&'a Value, ReviewError> {
    match object.get(key) {
        Some(found @ Value::Object(_)) => Ok(found),
        found => Err(wrong(field, found, "an object")),
    }
}

fn wrong(field: &'static str, found: Option<&Value>, expected: &'static str) -> ReviewError {
    let found = found.map_or_else(
        || "absent".to_owned(),
        |value| JsonType::of(value).to_string(),
    );
    ReviewError::Field {
        field,
        found,
        expected,
    }
}

fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(LONGEST).collect();
    let cut = if shown.len() < text.len() { "..." } else { "" };
    format!("{}{cut}", go::quote(&shown))
}

const NON_EMPTY: &str = "a string that is not empty";

/// The most bytes of a `uid`: an API server's have 36.
const LONGEST_KEPT: usize = 128;

/// How many characters of a value an error repeats.
const LONGEST: usize = 60;
