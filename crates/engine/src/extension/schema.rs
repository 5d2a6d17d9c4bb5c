//! The faults that the CRD of an extension would report, without an API server.
//!
//! Mirrors the schemas and CEL rules of operator-controller's CRDs (`helm/olmv1/base/operator-controller/crd/standard`,
//! before v1.4 `config/base/...`), and how k8s.io/apiextensions-apiserver applies them. A `null` field is dropped
//! before validation. A field that the CRD does not have is pruned and is never a fault. Lengths are in characters. The
//! rules are tables (`v1`, `v1alpha1`); `walk` applies them.
//!
//! Rules that compare with the old object (`check_edit`) have their own function, because most callers have no old
//! object. In `metadata`, only types are checked. `status` and the rules of the experimental CRD are omitted.

mod cluster_catalog;
mod rule;
#[cfg(test)]
mod tests;
mod v1;
mod v1alpha1;
mod walk;

use std::ops::RangeInclusive;

use rule::{ANY_TEXT, Field, ObjectRules, Schema};
use serde_json::Value;

use crate::extension::{Json, Shape};

pub use crate::extension::schema::rule::{Correction, Finding};

pub(super) use crate::extension::schema::walk::UnknownField;

/// The release of OLM that the CRD belongs to: v1.N. Each shape before v1 uses the last release that had it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SchemaRelease {
    minor: u8,
}

impl SchemaRelease {
    /// OLM v1.`minor`.
    pub const fn v1(minor: u8) -> Self {
        Self { minor }
    }

    pub(super) const fn minor(self) -> u8 {
        self.minor
    }
}

/// The findings of the CRD in `object`, in the order of its fields; empty if the CRD accepts it.
///
/// `olm` chooses the CRD of [`Shape::V1`]. For an older shape, the CRD is that of the newest release with the form of
/// `object`. At most 32 findings are reported.
pub fn check(shape: Shape, olm: SchemaRelease, object: &Value) -> Vec<Finding> {
    let spec = walk::walk(schema(shape, object), olm, object);
    let is_object = object.is_object();
    let metadata = is_object.then(|| walk::walk(&OBJECT, olm, object));
    let mut findings = metadata.unwrap_or_default();
    findings.extend(spec);
    findings.truncate(walk::MOST_FINDINGS);
    findings
}

/// The findings of the CRD in an edit from `old` to `new`, without those in `new` alone: changes of immutable fields,
/// in the order of the fields. Both objects must have this shape.
pub fn check_edit(shape: Shape, olm: SchemaRelease, old: &Value, new: &Value) -> Vec<Finding> {
    let rules = fixed(shape).iter();
    rules
        .filter(|rule| rule.releases.contains(&olm.minor))
        .filter(|rule| {
            let both = rule.text(old).zip(rule.text(new));
            both.is_some_and(|(old, new)| old != new)
        })
        .map(|rule| Finding::fixed(rule.path, rule.message))
        .collect()
}

/// The findings of the CRD in a `ClusterCatalog` of `olm.operatorframework.io/v1`, in the order of its fields. At most
/// 32 findings are reported.
pub fn check_catalog(object: &Value) -> Vec<Finding> {
    walk::walk(&cluster_catalog::CLUSTER_CATALOG, NEWEST, object)
}

/// The fields that the CRD does not have, and the paths of the fields that it has. Without a release, the fields of all
/// releases and of both CRDs count as known.
pub(super) fn unknown<'o>(
    shape: Shape,
    olm: Option<SchemaRelease>,
    object: impl Json<'o>,
) -> (Vec<UnknownField<'o>>, Vec<String>) {
    let schema = schema(shape, object);
    let unknown = walk::unknown(schema, olm, object);
    let known = unknown.first().map(|_| walk::paths(schema, olm));
    (unknown, known.unwrap_or_default())
}

/// The unknown fields of a `ClusterCatalog`, and the paths of the known ones.
pub(super) fn unknown_in_catalog(object: &Value) -> (Vec<UnknownField<'_>>, Vec<String>) {
    let schema = &cluster_catalog::CLUSTER_CATALOG;
    let unknown = walk::unknown(schema, Some(NEWEST), object);
    (unknown, walk::paths(schema, Some(NEWEST)))
}

/// All releases have the same CRD for catalogs.
const NEWEST: SchemaRelease = SchemaRelease::v1(u8::MAX);

fn schema<'a>(shape: Shape, object: impl Json<'a>) -> &'static Schema {
    match shape {
        Shape::V1 => &v1::CLUSTER_EXTENSION,
        Shape::V1Alpha1Nested => v1alpha1::nested(object),
        Shape::V1Alpha1Flat => &v1alpha1::V0_13,
        Shape::Operator => &v1alpha1::OPERATOR,
    }
}

// === `metadata`: types that an API server decodes before any rule of a CRD ===
//
// Source: apimachinery, [`pkg/apis/meta/v1/types.go`] (`ObjectMeta`): the fields that users write.
//
// [`pkg/apis/meta/v1/types.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.1/pkg/apis/meta/v1/types.go

static OBJECT: Schema = ObjectRules::of(&[Field::optional("metadata", &METADATA)]);

static METADATA: Schema = ObjectRules::of(&[
    Field::optional("name", &ANY_TEXT),
    Field::optional("generateName", &ANY_TEXT),
    Field::optional("namespace", &ANY_TEXT),
    Field::optional("labels", &Schema::Map(&ANY_TEXT)),
    Field::optional("annotations", &Schema::Map(&ANY_TEXT)),
    Field::optional("finalizers", &TEXTS),
    Field::optional("deletionTimestamp", &ANY_TEXT),
]);

static TEXTS: Schema = Schema::List {
    max_items: usize::MAX,
    items: &ANY_TEXT,
};

// === Immutable fields of the CRDs ===
//
// Each is a transition rule, `self == oldSelf`, on a string. It is evaluated only if both the old object and the new
// one have the field, so adding and removing the field both pass.
//
// Source: operator-controller, [`api/v1/clusterextension_types.go`] and its predecessors. For older shapes, the rules
// are those of the newest release known to have each field. `packageName` of the flat shape was mutable.
//
// [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

/// A field that cannot change once it is set.
struct ImmutableField {
    /// The path as the API server prints it.
    path: &'static str,
    /// The message about a change.
    message: &'static str,
    /// The minor releases of OLM v1 whose CRD has the rule.
    releases: RangeInclusive<u8>,
}

impl ImmutableField {
    const fn always(path: &'static str, message: &'static str) -> Self {
        Self {
            path,
            message,
            releases: 0..=u8::MAX,
        }
    }

    const fn within(self, releases: RangeInclusive<u8>) -> Self {
        Self { releases, ..self }
    }

    /// The value, if it is a string. A value of another type is a separate finding, and the API server then evaluates
    /// no CEL rule.
    fn text<'a>(&self, object: &'a Value) -> Option<&'a str> {
        let mut keys = self.path.split('.');
        keys.try_fold(object, |value, key| value.get(key))?.as_str()
    }
}

fn fixed(shape: Shape) -> &'static [ImmutableField] {
    match shape {
        Shape::V1 => &V1,
        Shape::V1Alpha1Nested => &NESTED,
        Shape::V1Alpha1Flat => &FLAT,
        Shape::Operator => &[],
    }
}

const NAMESPACE: ImmutableField =
    ImmutableField::always("spec.namespace", "namespace is immutable");
const PACKAGE: ImmutableField = ImmutableField::always(
    "spec.source.catalog.packageName",
    "packageName is immutable",
);
const SERVICE_ACCOUNT: ImmutableField =
    ImmutableField::always("spec.serviceAccount.name", "name is immutable");
const INSTALL_NAMESPACE: ImmutableField =
    ImmutableField::always("spec.installNamespace", "installNamespace is immutable");

static V1: [ImmutableField; 4] = [
    NAMESPACE,
    SERVICE_ACCOUNT.within(0..=10),
    ImmutableField::always(
        "spec.serviceAccount.name",
        "name is immutable once set but may be cleared",
    )
    .within(11..=u8::MAX),
    PACKAGE,
];

static NESTED: [ImmutableField; 5] = [
    NAMESPACE,
    INSTALL_NAMESPACE,
    ImmutableField::always("spec.install.namespace", "namespace is immutable"),
    SERVICE_ACCOUNT,
    PACKAGE,
];

static FLAT: [ImmutableField; 2] = [INSTALL_NAMESPACE, SERVICE_ACCOUNT];
