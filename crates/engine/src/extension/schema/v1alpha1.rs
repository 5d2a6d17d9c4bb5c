//! The CRDs before v1: `Operator`, and `ClusterExtension` of v0.9 to v0.18.
//!
//! One table for each form, with the rules of the newest release that has it. Rules that are not known for a release
//! are omitted, not guessed. Source: operator-controller, `api/v1alpha1/{operator,clusterextension}_types.go` at those
//! tags.

use crate::extension::Json;
use crate::extension::schema::rule::{
    ANY_TEXT, Field, ObjectRules, Schema, Text, TextRefusal, TextRule,
};
use crate::extension::schema::v1::{self, LABEL_SELECTOR, VERSION};

/// The rules of the newest release with the form of `object`, which has `spec.source.catalog`.
pub(super) fn nested<'a>(object: impl Json<'a>) -> &'static Schema {
    let has = |path: &[&str]| object.at(path).is_some_and(|value| !value.is_null());

    if has(&["spec", "installNamespace"]) {
        &V0_14
    } else if has(&["spec", "source", "catalog", "channel"]) {
        &V0_15
    } else if has(&["spec", "install", "namespace"]) || has(&["spec", "install", "serviceAccount"])
    {
        &V0_17
    } else {
        &V0_18
    }
}

// === `spec.source.catalog`: v0.14 to v0.18 ===

/// v0.14: `channel`, `installNamespace`.
static V0_14: Schema = ObjectRules::of(&[Field::optional(
    "spec",
    &ObjectRules::of(&[
        Field::optional("source", &V0_14_SOURCE),
        Field::optional("installNamespace", &INSTALL_NAMESPACE),
        Field::optional("serviceAccount", &SERVICE_ACCOUNT),
        Field::optional("preflight", &V0_14_PREFLIGHT),
    ]),
)]);
static V0_14_SOURCE: Schema = ObjectRules::of(&[
    Field::optional("sourceType", &ANY_TEXT),
    Field::optional("catalog", &V0_14_CATALOG),
]);
static V0_14_CATALOG: Schema = ObjectRules::of(&[
    Field::required("packageName", &Text::up_to(48)),
    Field::optional("version", &VERSION),
    Field::optional("channel", &CHANNEL),
    Field::optional("selector", &LABEL_SELECTOR),
    Field::optional("upgradeConstraintPolicy", &UPGRADE_CONSTRAINT_POLICY),
]);
static V0_14_PREFLIGHT: Schema = ObjectRules::of(&[Field::optional(
    "crdUpgradeSafety",
    &V0_14_CRD_UPGRADE_SAFETY,
)]);
static V0_14_CRD_UPGRADE_SAFETY: Schema =
    ObjectRules::of(&[Field::optional("policy", &V0_14_POLICY)]);
static V0_14_POLICY: Schema = Schema::Text(Text::Enum {
    words: &["Enabled", "Disabled"],
    foreign: &[],
});

/// v0.15: `channel`, `install.namespace`.
static V0_15: Schema = ObjectRules::of(&[Field::optional(
    "spec",
    &ObjectRules::of(&[
        Field::optional("source", &V0_15_SOURCE),
        Field::optional("install", &INSTALL_WITH_NAMESPACE),
    ]),
)]);
static V0_15_SOURCE: Schema = ObjectRules::of(&[
    Field::optional("sourceType", &ANY_TEXT),
    Field::optional("catalog", &V0_15_CATALOG),
]);
static V0_15_CATALOG: Schema = ObjectRules::of(&[
    Field::required("packageName", &ANY_TEXT),
    Field::optional("version", &VERSION),
    Field::optional("channel", &Text::up_to(253)),
    Field::optional("selector", &LABEL_SELECTOR),
    Field::optional("upgradeConstraintPolicy", &UPGRADE_CONSTRAINT_POLICY),
]);

/// v0.17 (and v0.16): `channels`, `install.namespace`.
static V0_17: Schema = ObjectRules::of(&[Field::optional(
    "spec",
    &ObjectRules::of(&[
        Field::optional("source", &V0_17_SOURCE),
        Field::optional("install", &INSTALL_WITH_NAMESPACE),
    ]),
)]);
static V0_17_SOURCE: Schema = ObjectRules::of(&[
    Field::optional("sourceType", &ANY_TEXT),
    Field::optional("catalog", &V0_17_CATALOG),
]);
static V0_17_CATALOG: Schema = ObjectRules::of(&[
    Field::required("packageName", &ANY_TEXT),
    Field::optional("version", &VERSION),
    Field::optional("channels", &V0_17_CHANNELS),
    Field::optional("selector", &LABEL_SELECTOR),
    Field::optional("upgradeConstraintPolicy", &v1::UPGRADE_CONSTRAINT_POLICY),
]);
static V0_17_CHANNELS: Schema = Schema::List {
    max_items: usize::MAX,
    items: &ANY_TEXT,
};

/// v0.18: `channels`, `namespace`; the same `catalog` as in v1.0.
static V0_18: Schema = ObjectRules::of(&[Field::optional(
    "spec",
    &ObjectRules::of(&[
        Field::optional("source", &V0_18_SOURCE),
        Field::optional("namespace", &ANY_TEXT),
        Field::optional("serviceAccount", &SERVICE_ACCOUNT),
        Field::optional("install", &V0_18_INSTALL),
    ]),
)]);
static V0_18_SOURCE: Schema = ObjectRules::of(&[
    Field::optional("sourceType", &ANY_TEXT),
    Field::optional("catalog", &v1::CATALOG),
]);
static V0_18_INSTALL: Schema = ObjectRules::of(&[Field::optional("preflight", &V0_18_PREFLIGHT)]);
static V0_18_PREFLIGHT: Schema = ObjectRules::of(&[Field::optional(
    "crdUpgradeSafety",
    &V0_18_CRD_UPGRADE_SAFETY,
)]);
static V0_18_CRD_UPGRADE_SAFETY: Schema =
    ObjectRules::of(&[Field::optional("enforcement", &v1::ENFORCEMENT)]);

static INSTALL_WITH_NAMESPACE: Schema = ObjectRules::of(&[
    Field::optional("namespace", &ANY_TEXT),
    Field::optional("serviceAccount", &SERVICE_ACCOUNT),
    Field::optional("preflight", &Schema::Anything),
]);
static SERVICE_ACCOUNT: Schema = ObjectRules::of(&[Field::optional("name", &ANY_TEXT)]);

// === Fields directly below `spec`: `Operator` up to v0.8, `ClusterExtension` of v0.9 to v0.13 ===

pub(super) static OPERATOR: Schema = ObjectRules::of(&[Field::optional("spec", &OPERATOR_SPEC)]);

static OPERATOR_SPEC: Schema = ObjectRules::of(&[
    Field::required("packageName", &PACKAGE_NAME),
    Field::optional("version", &VERSION),
    Field::optional("channel", &CHANNEL),
    Field::optional("upgradeConstraintPolicy", &UPGRADE_CONSTRAINT_POLICY),
]);

pub(super) static V0_13: Schema = ObjectRules::of(&[Field::optional("spec", &V0_13_SPEC)]);

static V0_13_SPEC: Schema = ObjectRules::of(&[
    Field::required("packageName", &PACKAGE_NAME),
    Field::optional("version", &VERSION),
    Field::optional("channel", &CHANNEL),
    Field::optional("upgradeConstraintPolicy", &UPGRADE_CONSTRAINT_POLICY),
    Field::required("installNamespace", &INSTALL_NAMESPACE),
    Field::required("serviceAccount", &V0_13_SERVICE_ACCOUNT),
    Field::optional("preflight", &V0_13_PREFLIGHT),
]);

static PACKAGE_NAME: Schema = Text::ruled(
    0..=48,
    &[TextRule {
        accepts: |name| name.split('-').all(is_group),
        refusal: TextRefusal::Pattern("^[a-z0-9]+(-[a-z0-9]+)*$"),
    }],
);

/// A channel of `Operator` and of `ClusterExtension` up to v0.14.
static CHANNEL: Schema = Text::ruled(
    0..=48,
    &[TextRule {
        accepts: |name| name.split(['.', '-']).all(is_group),
        refusal: TextRefusal::Pattern(r"^[a-z0-9]+([\.-][a-z0-9]+)*$"),
    }],
);

/// The policy in the words used from v0.7 to v0.15.
static UPGRADE_CONSTRAINT_POLICY: Schema = Schema::Text(Text::Enum {
    words: &["Enforce", "Ignore"],
    foreign: &[("CatalogProvided", "Enforce"), ("SelfCertified", "Ignore")],
});

/// The namespace of v0.10 to v0.14.
static INSTALL_NAMESPACE: Schema = Text::up_to(63);

static V0_13_SERVICE_ACCOUNT: Schema = ObjectRules::of(&[Field::required("name", &ANY_TEXT)]);

static V0_13_PREFLIGHT: Schema = ObjectRules::of(&[Field::optional(
    "crdUpgradeSafety",
    &V0_13_CRD_UPGRADE_SAFETY,
)]);
static V0_13_CRD_UPGRADE_SAFETY: Schema =
    ObjectRules::of(&[Field::optional("disabled", &Schema::Boolean)]);

fn is_group(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}
