//! What a CRD refuses, in the API server's own words.
//!
//! Mirrors k8s.io/apiextensions-apiserver (`pkg/apiserver/validation`) over k8s.io/kube-openapi
//! (`pkg/validation/errors`). Where a CRD's rule has a message, that message stands alone; the
//! limit of a `Too long` goes without its unit, which changed between Kubernetes releases.

use std::borrow::Cow;
use std::fmt;

use serde_json::Number;

use crate::extension::schema::rule::TextRefusal;
use olmguard_catalog::json::JsonType;
use olmguard_catalog::version::go;
use olmguard_catalog::version::suggestion::{self, Suggestion};

/// One thing that a CRD refuses of an object.
///
/// Invariant: both texts are printable. What the user wrote is quoted in them as Go's `%q` does,
/// and cut where it is longer than any name that Kubernetes takes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The field: `spec.source.catalog.version`; empty for the object itself.
    pub path: String,
    /// What the API server says about it: `invalid version expression`.
    pub message: String,
    /// What to write instead, if that is known.
    pub instead: Option<Correction>,
}

/// What to write in the place of a refused value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Correction {
    /// The word of this shape that means what the word means in another shape.
    Word(&'static str),
    /// The nearest range that is valid, or no range.
    Range(Suggestion),
}

impl Finding {
    pub(super) fn required(at: &FieldPath<'_>) -> Self {
        Self::new(at, "Required value")
    }

    pub(super) fn wrong_type(at: &FieldPath<'_>, expected: JsonType, found: JsonType) -> Self {
        let subject = in_body(at);
        let message =
            format!("Invalid value: \"{found}\": {subject}must be of type {expected}: \"{found}\"");
        Self::new(at, message)
    }

    pub(super) fn refused(at: &FieldPath<'_>, text: &str, refusal: TextRefusal) -> Self {
        match refusal {
            TextRefusal::Message(message) => Self::new(at, message),
            TextRefusal::Range(message) => Self {
                instead: suggestion::constraint(text).map(Correction::Range),
                ..Self::new(at, message)
            },
            TextRefusal::Pattern(pattern) => {
                let (text, subject) = (go::quote(text), in_body(at));
                Self::new(
                    at,
                    format!("Invalid value: {text}: {subject}should match '{pattern}'"),
                )
            }
        }
    }

    pub(super) fn rule(at: &FieldPath<'_>, message: &str) -> Self {
        Self::new(at, message)
    }

    /// A rule over the old value and the new one. The path is of the program's own words.
    pub(super) fn fixed(path: &str, message: &str) -> Self {
        Self {
            path: path.to_owned(),
            message: message.to_owned(),
            instead: None,
        }
    }

    pub(super) fn too_few_properties(at: &FieldPath<'_>, found: usize, least: usize) -> Self {
        let subject = in_body(at);
        let message =
            format!("Invalid value: {found}: {subject}should have at least {least} properties");
        Self::new(at, message)
    }

    pub(super) fn too_small(at: &FieldPath<'_>, found: &Number, least: i64) -> Self {
        let subject = in_body(at);
        let message =
            format!("Invalid value: {found}: {subject}should be greater than or equal to {least}");
        Self::new(at, message)
    }

    pub(super) fn too_large(at: &FieldPath<'_>, found: &Number, most: i64) -> Self {
        let subject = in_body(at);
        let message =
            format!("Invalid value: {found}: {subject}should be less than or equal to {most}");
        Self::new(at, message)
    }

    pub(super) fn too_long(at: &FieldPath<'_>, most: usize) -> Self {
        Self::new(at, format!("Too long: may not be more than {most}"))
    }

    pub(super) fn too_many(at: &FieldPath<'_>, found: usize, most: usize) -> Self {
        Self::new(
            at,
            format!("Too many: {found}: must have at most {most} items"),
        )
    }

    pub(super) fn too_short(at: &FieldPath<'_>, text: &str, least: usize) -> Self {
        let (text, subject) = (go::quote(text), in_body(at));
        let message =
            format!("Invalid value: {text}: {subject}should be at least {least} chars long");
        Self::new(at, message)
    }

    pub(super) fn unsupported(
        at: &FieldPath<'_>,
        word: &str,
        words: &[&str],
        instead: Option<&'static str>,
    ) -> Self {
        let supported: Vec<String> = words.iter().map(|word| go::quote(word)).collect();
        let (word, supported) = (go::quote(&excerpt(word)), supported.join(", "));
        let message = format!("Unsupported value: {word}: supported values: {supported}");
        Self {
            instead: instead.map(Correction::Word),
            ..Self::new(at, message)
        }
    }

    fn new(at: &FieldPath<'_>, message: impl Into<String>) -> Self {
        Self {
            path: at.to_string(),
            message: message.into(),
            instead: None,
        }
    }
}

/// The subject of a message of kube-openapi: the field again, nothing for the object itself.
fn in_body(at: &FieldPath<'_>) -> String {
    match at {
        FieldPath::Root => String::new(),
        FieldPath::Field(..) | FieldPath::Item(..) => format!("{at} in body "),
    }
}

// === Places in an object ===

/// A place in an object; each part knows the one above it.
#[derive(Clone, Copy)]
pub(super) enum FieldPath<'a> {
    /// The object itself.
    Root,
    /// A field, or a value of a map.
    Field(&'a Self, &'a str),
    /// An item of a list.
    Item(&'a Self, usize),
}

/// Names of maps are the user's, so they are escaped as Go's `%q` would, and cut.
impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(&go::escape(&excerpt(name))),
            Self::Field(parent, name) => write!(f, "{parent}.{}", go::escape(&excerpt(name))),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// `text`, or its beginning and `...` if it is longer than any name that Kubernetes takes.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    let beginning = text
        .char_indices()
        .nth(MOST_CHARACTERS)
        .and_then(|(end, _)| text.get(..end));
    beginning.map_or(Cow::Borrowed(text), |beginning| {
        Cow::Owned(format!("{beginning}..."))
    })
}

/// A label key of full length: 253 characters of prefix, a slash, 63 of name.
const MOST_CHARACTERS: usize = 317;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_longer_texts_are_cut() {
        let full = "é".repeat(317);
        assert_eq!(excerpt(&full), full);
        assert_eq!(excerpt(&format!("{full}é")), format!("{full}..."));
        assert_eq!(excerpt(""), "");
    }
}
