//! Reading single fields of a review, with errors that name them.

use crate::ReviewError;
use olmguard_catalog::version::go;
use olmguard_engine::extension::{Identity, Json, RecognisedObject};

/// Checks that a field has exactly the expected value.
pub(super) fn constant<'a>(
    review: impl Json<'a>,
    field: &'static str,
    expected: &'static str,
) -> Result<(), ReviewError> {
    let found = at(review, field);
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

/// Returns the non-empty text of a required field.
pub(super) fn required_text<'a>(
    review: impl Json<'a>,
    field: &'static str,
) -> Result<&'a str, ReviewError> {
    let found = at(review, field);
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

/// Returns the non-empty text of a required field, if it is short enough to be echoed and logged.
pub(super) fn bounded_text<'a>(
    review: impl Json<'a>,
    field: &'static str,
) -> Result<&'a str, ReviewError> {
    let text = required_text(review, field)?;
    if text.len() <= LONGEST_KEPT {
        return Ok(text);
    }
    Err(ReviewError::Field {
        field,
        found: format!("a string of {} bytes", text.len()),
        expected: "a string of at most 128 bytes",
    })
}

/// Checks that the review itself is a JSON object.
pub(super) fn object<'a>(review: impl Json<'a>) -> Result<(), ReviewError> {
    if review.is_object() {
        return Ok(());
    }
    Err(wrong("the body", Some(review), "an object"))
}

/// Returns the text of an optional field. Absent and `null` count as empty.
pub(super) fn optional_text<'a>(
    review: impl Json<'a>,
    field: &'static str,
) -> Result<&'a str, ReviewError> {
    let Some(found) = at(review, field).filter(|found| !found.is_null()) else {
        return Ok("");
    };
    let text = found.as_str();
    text.ok_or_else(|| wrong(field, Some(found), "a string"))
}

/// Returns the value of a field that must be a JSON object.
pub(super) fn required_object<'a, J: Json<'a>>(
    review: J,
    field: &'static str,
) -> Result<J, ReviewError> {
    let found = at(review, field);
    found
        .filter(|found| found.is_object())
        .ok_or_else(|| wrong(field, found, "an object"))
}

/// Returns the value of a field of the review, such as `request.uid`.
fn at<'a, J: Json<'a>>(review: J, field: &str) -> Option<J> {
    let mut keys = field.split('.');
    keys.try_fold(review, Json::get)
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

/// The maximum length of a `uid` in bytes. An API server generates 36.
const LONGEST_KEPT: usize = 128;

/// The maximum number of characters of a value that an error repeats.
const LONGEST: usize = 60;

// === The identity of the object of a request: from the object, otherwise from the request ===

/// Returns the identity of the object, and the kind of object that it identifies.
///
/// If the object has no `apiVersion` or no `kind`, those of the request replace both.
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

/// The identity of the object according to the request.
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

/// The name in the request; `None` if the API server will generate it.
pub(super) fn name<'a>(request: impl Json<'a>) -> Option<String> {
    let name = request.get("name").and_then(Json::as_str)?;
    (!name.is_empty()).then(|| name.to_owned())
}
