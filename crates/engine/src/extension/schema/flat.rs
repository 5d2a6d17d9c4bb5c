//! The CRDs with the fields straight below `spec`: `Operator` and the first `ClusterExtension`.
//!
//! The rules are those of the newest release with each: v0.8 for `Operator`, v0.13 for
//! `ClusterExtension`. Source: operator-controller, `api/v1alpha1/{operator,clusterextension}_
//! types.go` at those tags.

use super::rule::{ANY_TEXT, Field, ObjectRules, Refusal, Schema, Text, TextRule};
use super::v1::VERSION;

pub(super) static OPERATOR: Schema = ObjectRules::of(&[Field::optional("spec", &OPERATOR_SPEC)]);

static OPERATOR_SPEC: Schema = ObjectRules::of(&[
    Field::required("packageName", &PACKAGE_NAME),
    Field::optional("version", &VERSION),
    Field::optional("channel", &CHANNEL),
    Field::optional("upgradeConstraintPolicy", &UPGRADE_CONSTRAINT_POLICY),
]);

pub(super) static CLUSTER_EXTENSION: Schema = ObjectRules::of(&[Field::optional("spec", &SPEC)]);

static SPEC: Schema = ObjectRules::of(&[
    Field::required("packageName", &PACKAGE_NAME),
    Field::optional("version", &VERSION),
    Field::optional("channel", &CHANNEL),
    Field::optional("upgradeConstraintPolicy", &UPGRADE_CONSTRAINT_POLICY),
    Field::required("installNamespace", &INSTALL_NAMESPACE),
    Field::required("serviceAccount", &SERVICE_ACCOUNT),
    Field::optional("preflight", &PREFLIGHT),
]);

static PACKAGE_NAME: Schema = Text::ruled(
    0..=48,
    TextRule {
        accepts: |name| name.split('-').all(is_group),
        refusal: Refusal::Pattern("^[a-z0-9]+(-[a-z0-9]+)*$"),
    },
);

/// A channel of `Operator` and of `ClusterExtension` up to v0.14.
pub(super) static CHANNEL: Schema = Text::ruled(
    0..=48,
    TextRule {
        accepts: |name| name.split(['.', '-']).all(is_group),
        refusal: Refusal::Pattern(r"^[a-z0-9]+([\.-][a-z0-9]+)*$"),
    },
);

/// The policy in the words used from v0.7 to v0.15.
pub(super) static UPGRADE_CONSTRAINT_POLICY: Schema = Schema::Text(Text::Enum {
    words: &["Enforce", "Ignore"],
    foreign: &[("CatalogProvided", "Enforce"), ("SelfCertified", "Ignore")],
});

/// The namespace of v0.10 to v0.14.
pub(super) static INSTALL_NAMESPACE: Schema = Text::up_to(63);

static SERVICE_ACCOUNT: Schema = ObjectRules::of(&[Field::required("name", &ANY_TEXT)]);

static PREFLIGHT: Schema =
    ObjectRules::of(&[Field::optional("crdUpgradeSafety", &CRD_UPGRADE_SAFETY)]);
static CRD_UPGRADE_SAFETY: Schema =
    ObjectRules::of(&[Field::optional("disabled", &Schema::Boolean)]);

fn is_group(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}
