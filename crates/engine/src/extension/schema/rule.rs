//! The vocabulary in which a CRD's rules are written down as tables.
//!
//! Each rule says what a JSON schema or a CEL expression of a CRD says. A table is finite and
//! not recursive, so whatever walks an object by one goes no deeper than the table.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

/// What the value of a field must be.
pub(super) enum Schema {
    /// Anything: its rules are not known.
    Anything,
    /// `true` or `false`.
    Boolean,
    /// An object with any fields, at least so many.
    FreeObject { min_properties: usize },
    /// A whole number.
    Integer { least: i64, most: i64 },
    /// A list of at most so many items.
    List {
        max_items: usize,
        items: &'static Self,
    },
    /// An object with any names, and values of one kind.
    Map(&'static Self),
    /// An object with the fields of a table; others are pruned.
    Object(ObjectRules),
    /// A string.
    Text(Text),
}

/// The rules for an object.
pub(super) struct ObjectRules {
    /// The fewest fields that must be left after pruning.
    pub(super) min_properties: usize,
    /// Its fields, in the order in which findings are wanted.
    pub(super) fields: &'static [Field],
    /// A rule over several fields.
    pub(super) rule: Option<ObjectRule>,
}

/// A field of an object. One name may stand twice, for different releases.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) need: Need,
    /// The minor releases of OLM v1 whose CRD has the field so.
    pub(super) releases: RangeInclusive<u8>,
    pub(super) crd: Crd,
    pub(super) schema: &'static Schema,
}

/// Which of the two CRDs of a release has a field.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Crd {
    /// Both.
    Standard,
    /// The experimental one alone.
    Experimental,
}

/// Whether a field may be left out.
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
        /// Words of another shape, each with the word that means the same here.
        foreign: &'static [(&'static str, &'static str)],
    },
    /// Anything of this form and number of characters.
    Form {
        characters: RangeInclusive<usize>,
        rule: Option<TextRule>,
    },
    /// Anything of all these forms.
    Forms {
        most_characters: usize,
        rules: &'static [TextRule],
    },
}

/// A form that a string must have, and how the API server says that it does not.
#[derive(Clone, Copy)]
pub(super) struct TextRule {
    pub(super) accepts: fn(&str) -> bool,
    pub(super) refusal: TextRefusal,
}

/// How the API server words the refusal of a string.
#[derive(Clone, Copy)]
pub(super) enum TextRefusal {
    /// A CEL rule with this message.
    Message(&'static str),
    /// A CEL rule with this message over a version range.
    Range(&'static str),
    /// This `pattern` of the JSON schema.
    Pattern(&'static str),
}

/// A CEL rule over the fields of an object.
pub(super) struct ObjectRule {
    pub(super) accepts: fn(&Map<String, Value>) -> bool,
    pub(super) message: &'static str,
}

impl ObjectRules {
    /// An object of these fields, under no further rule.
    pub(super) const fn of(fields: &'static [Field]) -> Schema {
        Schema::Object(Self {
            min_properties: 0,
            fields,
            rule: None,
        })
    }

    /// An object of these fields under a rule over them.
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
            name,
            need: Need::Required,
            releases: 0..=u8::MAX,
            crd: Crd::Standard,
            schema,
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
    /// A string of at most so many characters, under no further rule.
    pub(super) const fn up_to(characters: usize) -> Schema {
        Schema::Text(Self::Form {
            characters: 0..=characters,
            rule: None,
        })
    }

    /// A string of so many characters and this form.
    pub(super) const fn ruled(characters: RangeInclusive<usize>, rule: TextRule) -> Schema {
        Schema::Text(Self::Form {
            characters,
            rule: Some(rule),
        })
    }
}

/// Whether a field is there: CEL's `has`, after `null` fields were dropped.
pub(super) fn has(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name).is_some_and(|value| !value.is_null())
}

/// Any string.
pub(super) static ANY_TEXT: Schema = Text::up_to(usize::MAX);
