//! `UpgradePolicy`: which edits of ClusterExtensions the administrators of a cluster allow.
//!
//! The limits are those of `olmguard_policy::limits`; a test compares them.

#![expect(
    clippy::doc_markdown,
    reason = "the comments are the descriptions of fields"
)]
#![expect(clippy::duplicated_attributes, reason = "each column has a type")]
#![expect(
    unreachable_pub,
    reason = "what KubeSchema derives is within a function"
)]

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::definitions::{LabelSelector, PolicyStatus};

/// Which edits of ClusterExtensions the administrators of a cluster allow.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[kube(
    group = "olmguard.dev",
    version = "v1alpha1",
    kind = "UpgradePolicy",
    plural = "upgradepolicies",
    shortname = "upol",
    category = "olmguard",
    status = "PolicyStatus",
    derive = "PartialEq",
    doc = "Which edits of ClusterExtensions the administrators of a cluster allow. A policy only restricts.",
    printcolumn(
        name = "Enforcement",
        type_ = "string",
        json_path = ".spec.enforcement"
    ),
    printcolumn(
        name = "Accepted",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Accepted\")].status"
    ),
    printcolumn(name = "Matched", type_ = "integer", json_path = ".status.matched"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct UpgradePolicySpec {
    /// Whether an edit that violates a rule is denied, or allowed with a warning.
    #[serde(default)]
    pub enforcement: Enforcement,
    /// The ClusterExtensions that the policy applies to: all parts that are set must match. Without it: all.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<PolicyMatch>,
    /// What is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<PolicyRules>,
}

/// What happens if an edit violates a rule.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Enforcement {
    #[default]
    Deny,
    Warn,
}

/// Which ClusterExtensions a policy applies to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct PolicyMatch {
    /// Names of packages. The only wildcard is `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)))]
    pub packages: Option<Vec<String>>,
    /// Labels of the ClusterExtension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension_selector: Option<LabelSelector>,
    /// Values of spec.namespace of the ClusterExtension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)))]
    pub namespaces: Option<Vec<String>>,
}

/// What is allowed. A rule that is not set allows everything.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct PolicyRules {
    /// The versions that a ClusterExtension can resolve to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<VersionRules>,
    /// The largest step from the installed version in one edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<LargestStep>,
    /// Whether a ClusterExtension can resolve to a prerelease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prereleases: Option<PrereleaseRule>,
    /// Whether a ClusterExtension can resolve to a deprecated bundle, channel or package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<DeprecationRule>,
    /// How much spec.source.catalog.version can leave to OLM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<RangeRule>,
    /// Names of the catalogs that a ClusterExtension can resolve from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)))]
    pub catalogs: Option<Vec<String>>,
    /// Who can set upgradeConstraintPolicy: SelfCertified. ByPermission: users with the verb bypass on the
    /// ClusterExtension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<BypassRule>,
    /// When an edit can change the installed version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub windows: Option<Vec<Window>>,
    /// CEL expressions that must be true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub conditions: Option<Vec<PolicyCondition>>,
}

/// Ranges in the grammar of spec.source.catalog.version.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct VersionRules {
    /// Only versions in this range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub allow: Option<String>,
    /// No version in this range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub deny: Option<String>,
}

/// The largest step.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum LargestStep {
    Patch,
    Minor,
    Major,
}

/// What happens to prereleases.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum PrereleaseRule {
    Deny,
    Allow,
}

/// What happens to deprecated bundles, channels and packages.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum DeprecationRule {
    Deny,
    Warn,
    Allow,
}

/// One version, an upper bound, or anything.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum RangeRule {
    Pinned,
    Bounded,
    Any,
}

/// Who can skip upgrade edges.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum BypassRule {
    Deny,
    ByPermission,
    Allow,
}

/// A time in which edits can change the installed version.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Window {
    /// When the window opens: five fields of cron.
    #[schemars(length(min = 1, max = 128))]
    pub schedule: String,
    /// How long it is open, for example 6h.
    #[schemars(length(min = 1, max = 64))]
    pub duration: String,
    /// The time zone of the schedule, for example Europe/Berlin. Without it: UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub time_zone: Option<String>,
}

/// A CEL expression and what a denial reports.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct PolicyCondition {
    /// The expression, which must be true.
    #[schemars(length(min = 1, max = 1024))]
    pub expression: String,
    /// What the denial reports if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}
