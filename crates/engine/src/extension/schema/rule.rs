//! The types that describe the rules of a CRD as tables, and the findings of a rule.
//!
//! Each rule mirrors a JSON schema or a CEL expression of a CRD. A table is finite and not
//! recursive, so a walk through an object never goes deeper than the table.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value};

use olmguard_catalog::json::JsonType;
use olmguard_catalog::version::go;
use olmguard_catalog::version::suggestion::{self, Suggestion};

/// The rules for the value of a field.
pub(super) enum Schema {
    /// Any value: the rules are not known.
    Anything,
    /// `true` or `false`.
    Boolean,
    /// An object with any fields, at least `min_properties`.
    FreeObject { min_properties: usize },
    /// A whole number.
    Integer { least: i64, most: i64 },
    /// A list with at most `max_items` items.
    List {
        max_items: usize,
        items: &'static Self,
    },
    /// An object with any field names, and values of one schema.
    Map(&'static Self),
    /// An object with the fields of a table. Other fields are pruned.
    Object(ObjectRules),
    /// A string.
    Text(Text),
}

/// The rules for an object.
pub(super) struct ObjectRules {
    /// The fewest fields that must remain after pruning.
    pub(super) min_properties: usize,
    /// The fields, in the order of their findings.
    pub(super) fields: &'static [Field],
    /// A rule over several fields.
    pub(super) rule: Option<ObjectRule>,
}

/// A field of an object. A name may occur twice, for different releases.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) need: Need,
    /// The minor releases of OLM v1 whose CRD has this definition of the field.
    pub(super) releases: RangeInclusive<u8>,
    pub(super) crd: Crd,
    pub(super) schema: &'static Schema,
}

/// The CRDs of a release that have a field.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Crd {
    /// Both CRDs.
    Standard,
    /// Only the experimental CRD.
    Experimental,
}

/// Whether a field may be omitted.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Need {
    Optional,
    Required,
}

/// The rules for a string.
pub(super) enum Text {
    /// One of these words, in the order of the CRD.
    Enum {
        words: &'static [&'static str],
        /// Words of another shape, each with the equivalent word of this shape.
        foreign: &'static [(&'static str, &'static str)],
    },
    /// A string with this number of characters and all these forms.
    Form {
        characters: RangeInclusive<usize>,
        rules: &'static [TextRule],
    },
}

/// A form that a string must have, and the message of the API server if it does not.
#[derive(Clone, Copy)]
pub(super) struct TextRule {
    pub(super) accepts: fn(&str) -> bool,
    pub(super) refusal: TextRefusal,
}

/// The message of the API server for a refused string.
#[derive(Clone, Copy)]
pub(super) enum TextRefusal {
    /// The message of a CEL rule.
    Message(&'static str),
    /// The message of a CEL rule on a version range.
    Range(&'static str),
    /// A `pattern` of the JSON schema.
    Pattern(&'static str),
}

/// A CEL rule over the fields of an object.
pub(super) struct ObjectRule {
    pub(super) accepts: fn(&Map<String, Value>) -> bool,
    pub(super) message: &'static str,
}

impl ObjectRules {
    /// An object with these fields and without a further rule.
    pub(super) const fn of(fields: &'static [Field]) -> Schema {
        Schema::Object(Self {
            min_properties: 0,
            fields,
            rule: None,
        })
    }

    /// An object with these fields and a rule on them.
    pub(super) const fn ruled(fields: &'static [Field], rule: ObjectRule) -> Schema {
        Schema::Object(Self {
            min_properties: 0,
            fields,
            rule: Some(rule),
        })
    }
}

impl Field {
    pub(super) const fn optional(name: &'static str, schema: &'static Schema) -> Self {
        Self {
            name,
            need: Need::Optional,
            releases: 0..=u8::MAX,
            crd: Crd::Standard,
            schema,
        }
    }

    pub(super) const fn required(name: &'static str, schema: &'static Schema) -> Self {
        Self {
            need: Need::Required,
            ..Self::optional(name, schema)
        }
    }

    /// The same field, but only in these minor releases.
    pub(super) const fn within(self, releases: RangeInclusive<u8>) -> Self {
        Self { releases, ..self }
    }

    /// The same field, but only in the experimental CRD.
    pub(super) const fn experimental(self) -> Self {
        Self {
            crd: Crd::Experimental,
            ..self
        }
    }

    /// Whether this CRD of a release has the field.
    pub(super) fn is_in(&self, crd: Crd, minor: u8) -> bool {
        self.crd == crd && self.releases.contains(&minor)
    }
}

impl Text {
    /// A string with at most this number of characters and without a further rule.
    pub(super) const fn up_to(characters: usize) -> Schema {
        Self::ruled(0..=characters, &[])
    }

    /// A string with this number of characters and all these forms.
    pub(super) const fn ruled(
        characters: RangeInclusive<usize>,
        rules: &'static [TextRule],
    ) -> Schema {
        Schema::Text(Self::Form { characters, rules })
    }
}

/// Whether a field is present: CEL's `has`, after `null` fields are dropped.
pub(super) fn has(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name).is_some_and(|value| !value.is_null())
}

/// Any string.
pub(super) static ANY_TEXT: Schema = Text::up_to(usize::MAX);

// === The findings of a CRD, in the API server's own words ===
//
// Mirrors k8s.io/apiextensions-apiserver (`pkg/apiserver/validation`) on top of k8s.io/kube-openapi
// (`pkg/validation/errors`). If a rule of the CRD has a message, the finding consists of that
// message alone. The limit in `Too long` has no unit, because the unit changed between Kubernetes
// releases.

/// One fault that a CRD reports in an object.
///
/// Invariant: both texts are printable. Text of the user is quoted as Go's `%q` does, and cut if it
/// is longer than any name that Kubernetes accepts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The field, such as `spec.source.catalog.version`; empty for the object itself.
    pub path: String,
    /// The message of the API server, such as `invalid version expression`.
    pub message: String,
    /// The value to write instead, if one is known.
    pub instead: Option<Correction>,
}

/// The replacement for a refused value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Correction {
    /// The word of this shape for a word of another shape.
    Word(&'static str),
    /// The nearest valid range, or no range.
    Range(Suggestion),
}

impl Finding {
    pub(super) fn required(at: &FieldPath<'_>) -> Self {
        Self::new(at, "Required value")
    }

    pub(super) fn wrong_type(at: &FieldPath<'_>, expected: JsonType, found: JsonType) -> Self {
        let problem = format!("must be of type {expected}: \"{found}\"");
        Self::invalid(at, format_args!("\"{found}\""), &problem)
    }

    pub(super) fn refused(at: &FieldPath<'_>, text: &str, refusal: TextRefusal) -> Self {
        match refusal {
            TextRefusal::Message(message) => Self::new(at, message),
            TextRefusal::Range(message) => Self {
                instead: suggestion::constraint(text).map(Correction::Range),
                ..Self::new(at, message)
            },
            TextRefusal::Pattern(pattern) => {
                Self::invalid(at, go::quote(text), &format!("should match '{pattern}'"))
            }
        }
    }

    /// A finding of a rule on the old value and the new one. The path comes from the program, not
    /// from the user.
    pub(super) fn fixed(path: &str, message: &str) -> Self {
        Self {
            path: path.to_owned(),
            message: message.to_owned(),
            instead: None,
        }
    }

    pub(super) fn too_few_properties(at: &FieldPath<'_>, found: usize, least: usize) -> Self {
        Self::invalid(
            at,
            found,
            &format!("should have at least {least} properties"),
        )
    }

    pub(super) fn too_small(at: &FieldPath<'_>, found: &Number, least: i64) -> Self {
        Self::invalid(
            at,
            found,
            &format!("should be greater than or equal to {least}"),
        )
    }

    pub(super) fn too_large(at: &FieldPath<'_>, found: &Number, most: i64) -> Self {
        Self::invalid(
            at,
            found,
            &format!("should be less than or equal to {most}"),
        )
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
        let problem = format!("should be at least {least} chars long");
        Self::invalid(at, go::quote(text), &problem)
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

    /// A value, and its problem as kube-openapi words it: with the field again.
    fn invalid(at: &FieldPath<'_>, found: impl fmt::Display, problem: &str) -> Self {
        let subject = in_body(at);
        Self::new(at, format!("Invalid value: {found}: {subject}{problem}"))
    }

    pub(super) fn new(at: &FieldPath<'_>, message: impl Into<String>) -> Self {
        Self {
            path: at.to_string(),
            message: message.into(),
            instead: None,
        }
    }
}

/// The subject of a kube-openapi message: the field again, or nothing for the object itself.
fn in_body(at: &FieldPath<'_>) -> String {
    match at {
        FieldPath::Root => String::new(),
        FieldPath::Field(..) | FieldPath::Item(..) => format!("{at} in body "),
    }
}

// === Paths in an object ===

/// A path in an object. Each part refers to its parent.
#[derive(Clone, Copy)]
pub(super) enum FieldPath<'a> {
    /// The object itself.
    Root,
    /// A field, or a value of a map.
    Field(&'a Self, &'a str),
    /// An item of a list.
    Item(&'a Self, usize),
}

/// Names in maps come from the user, so they are escaped as Go's `%q` does, and cut.
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

/// Returns `text`, or its beginning and `...` if it is longer than any name that Kubernetes
/// accepts.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    let beginning = text
        .char_indices()
        .nth(MOST_CHARACTERS)
        .and_then(|(end, _)| text.get(..end));
    beginning.map_or(Cow::Borrowed(text), |beginning| {
        Cow::Owned(format!("{beginning}..."))
    })
}

/// The longest label key: a prefix of 253 characters, a slash, and a name of 63.
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
