//! The structure of a `LabelSelector` in a CRD: types only.
//!
//! Keys, operators and values are not validated by the CRD but when the selector is compiled
//! ([`olmguard_catalog::selector`]).

use super::rule::{ANY_TEXT, Field, ObjectRules, Schema};

pub(super) static LABEL_SELECTOR: Schema = ObjectRules::of(&[
    Field::optional("matchLabels", &Schema::Map(&ANY_TEXT)),
    Field::optional("matchExpressions", &MATCH_EXPRESSIONS),
]);

static MATCH_EXPRESSIONS: Schema = Schema::List {
    max_items: usize::MAX,
    items: &REQUIREMENT,
};

static REQUIREMENT: Schema = ObjectRules::of(&[
    Field::required("key", &ANY_TEXT),
    Field::required("operator", &ANY_TEXT),
    Field::optional(
        "values",
        &Schema::List {
            max_items: usize::MAX,
            items: &ANY_TEXT,
        },
    ),
]);
