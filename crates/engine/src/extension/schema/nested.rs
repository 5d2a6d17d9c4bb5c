//! The CRDs of `olm.operatorframework.io/v1alpha1` with `spec.source.catalog`: v0.14 to v0.18.
//!
//! One table for each form, with the rules of the newest release that has it; `form` tells the
//! forms apart. Rules that are not known for a release are left out, not guessed. Source:
//! operator-controller, `api/v1alpha1/clusterextension_types.go` at those tags.

use super::flat;
use super::label_selector::LABEL_SELECTOR;
use super::rule::{ANY_TEXT, Field, ObjectRules, Schema, Text};
use super::v1;

/// v0.14: `channel`, `installNamespace`.
pub(super) static V0_14: Schema = ObjectRules::of(&[Field::optional(
    "spec",
    &ObjectRules::of(&[
        Field::optional("source", &V0_14_SOURCE),
        Field::optional("installNamespace", &flat::INSTALL_NAMESPACE),
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
    Field::optional("version", &v1::VERSION),
    Field::optional("channel", &flat::CHANNEL),
    Field::optional("selector", &LABEL_SELECTOR),
    Field::optional("upgradeConstraintPolicy", &flat::UPGRADE_CONSTRAINT_POLICY),
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
pub(super) static V0_15: Schema = ObjectRules::of(&[Field::optional(
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
    Field::optional("version", &v1::VERSION),
    Field::optional("channel", &Text::up_to(253)),
    Field::optional("selector", &LABEL_SELECTOR),
    Field::optional("upgradeConstraintPolicy", &flat::UPGRADE_CONSTRAINT_POLICY),
]);

/// v0.17 (and v0.16): `channels`, `install.namespace`.
pub(super) static V0_17: Schema = ObjectRules::of(&[Field::optional(
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
    Field::optional("version", &v1::VERSION),
    Field::optional("channels", &V0_17_CHANNELS),
    Field::optional("selector", &LABEL_SELECTOR),
    Field::optional("upgradeConstraintPolicy", &v1::UPGRADE_CONSTRAINT_POLICY),
]);
static V0_17_CHANNELS: Schema = Schema::List {
    max_items: usize::MAX,
    items: &ANY_TEXT,
};

/// v0.18: `channels`, `namespace`; its catalog is that of v1.0.
pub(super) static V0_18: Schema = ObjectRules::of(&[Field::optional(
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
