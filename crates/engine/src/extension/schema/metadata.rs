//! The types of `metadata`, which an API server decodes before any CRD's own rules apply.
//!
//! Source: apimachinery, [`pkg/apis/meta/v1/types.go`] (`ObjectMeta`): the fields that people write.
//!
//! [`pkg/apis/meta/v1/types.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.1/pkg/apis/meta/v1/types.go

use crate::extension::schema::rule::{ANY_TEXT, Field, ObjectRules, Schema};

pub(super) static OBJECT: Schema = ObjectRules::of(&[Field::optional("metadata", &METADATA)]);

static METADATA: Schema = ObjectRules::of(&[
    Field::optional("name", &ANY_TEXT),
    Field::optional("generateName", &ANY_TEXT),
    Field::optional("namespace", &ANY_TEXT),
    Field::optional("labels", &TEXTS),
    Field::optional("annotations", &TEXTS),
    Field::optional("finalizers", &LIST),
    Field::optional("deletionTimestamp", &ANY_TEXT),
]);

static TEXTS: Schema = Schema::Map(&ANY_TEXT);

static LIST: Schema = Schema::List {
    max_items: usize::MAX,
    items: &ANY_TEXT,
};
