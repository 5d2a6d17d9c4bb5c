//! Reading single fields of a review, with errors that name them.

use crate::ReviewError;
use olmguard_catalog::version::go;
use olmguard_engine::extension::{Identity, Json, RecognisedObject};

/// The value of a field that must be these words exactly.
pub(super) fn constant<'a>(
    object: impl Json<'a>,
    key: &str,
    field: &'static str,
    expected: &'static str,
) -> Result<(), ReviewError> {
    let found = object.get(key);
    match found.and_then(Json::as_str) {
        Some(text) if text == expected => Ok(()),
        Some(text) => Err(ReviewError::Field {
            field,
            found: quoted(text),
            expected,
        }),
        None => Err(wrong(field, found, expected)),
    }
}

/// The text of a field that must have one.
pub(super) fn required_text<'a>(
    object: impl Json<'a>,
    key: &str,
    field: &'static str,
) -> Result<&'a str, ReviewError> {
    let found = object.get(key);
    match found.and_then(Json::as_str) {
        Some("") => Err(ReviewError::Field {
            field,
            found: quoted(""),
            expected: NON_EMPTY,
        }),
        Some(text) => Ok(text),
        None => Err(wrong(field, found, NON_EMPTY)),
    }
}

/// The text of a field that must have one, of a length that can be echoed and logged.
pub(super) fn bounded_text<'a>(
    object: impl Json<'a>,
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
pub(super) fn object<'a>(review: impl Json<'a>) -> Result<(), ReviewError> {
    if review.is_object() {
        return Ok(());
    }
    Err(wrong("the body", Some(review), "an object"))
}

/// The text of a field that may be absent or `null`, which is as good as empty.
pub(super) fn optional_text<'a>(
    object: impl Json<'a>,
    key: &str,
    field: &'static str,
) -> Result<&'a str, ReviewError> {
    let Some(found) = object.get(key).filter(|found| !found.is_null()) else {
        return Ok("");
    };
    let text = found.as_str();
    text.ok_or_else(|| wrong(field, Some(found), "a string"))
}

/// A field that must hold a map.
pub(super) fn required_object<'a, J: Json<'a>>(
    object: J,
    key: &str,
    field: &'static str,
) -> Result<J, ReviewError> {
    let found = object.get(key);
    found
        .filter(|found| found.is_object())
        .ok_or_else(|| wrong(field, found, "an object"))
}

fn wrong<'a>(
    field: &'static str,
    found: Option<impl Json<'a>>,
    expected: &'static str,
) -> ReviewError {
    let found = found.map_or_else(|| "absent".to_owned(), |value| value.kind().to_string());
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

// === The name of the object of a request: from the object, otherwise from the request ===

/// The object's names, and what it is by them.
///
/// Where it lacks `apiVersion` or `kind`, those of the request stand in for both.
pub(super) fn identify<'a, J: Json<'a>>(object: J, request: J) -> (Identity, RecognisedObject) {
    let own = Identity::read(object);
    let identity = if own.version.is_empty() || own.kind.is_empty() {
        Identity {
            name: own.name,
            generate_name: own.generate_name,
            ..asked(request)
        }
    } else {
        own
    };
    let recognised = identity.recognise(object);
    (identity, recognised)
}

/// The object as the request names it.
pub(super) fn asked<'a>(request: impl Json<'a>) -> Identity {
    let text = |key| {
        let kind = request.get("kind").and_then(|kind| kind.get(key));
        kind.and_then(Json::as_str).unwrap_or_default().to_owned()
    };
    Identity {
        group: text("group"),
        version: text("version"),
        kind: text("kind"),
        name: name(request),
        generate_name: None,
    }
}

/// The name that the request has; there is none where it is still to be made.
pub(super) fn name<'a>(request: impl Json<'a>) -> Option<String> {
    let name = request.get("name").and_then(Json::as_str)?;
    (!name.is_empty()).then(|| name.to_owned())
}
