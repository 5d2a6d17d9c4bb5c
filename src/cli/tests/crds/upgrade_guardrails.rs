//! `UpgradeGuardrails`: the rules of a guardrails file, as an object.

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

use super::definitions::GuardrailsStatus;

/// Which upgrade steps of a package are safe.
#[derive(Clone, CustomResource, Debug, Deserialize, KubeSchema, PartialEq, Serialize)]
#[kube(
    group = "olmguard.dev",
    version = "v1alpha1",
    kind = "UpgradeGuardrails",
    plural = "upgradeguardrails",
    singular = "upgradeguardrails",
    shortname = "upg",
    category = "olmguard",
    status = "GuardrailsStatus",
    derive = "PartialEq",
    doc = "Which upgrade steps of a package are safe. The spec has the keys of a document of a guardrails file.",
    printcolumn(name = "Package", type_ = "string", json_path = ".spec.package"),
    printcolumn(
        name = "Accepted",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Accepted\")].status"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct UpgradeGuardrailsSpec {
    /// The package that the rules are about.
    #[schemars(length(min = 1, max = 253))]
    pub package: String,
    /// The upgrade edges before the rules apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GuardrailsGraph>,
    /// The rules. Each one only forbids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["id".into()]))]
    pub rules: Option<Vec<GuardrailRule>>,
}

/// The upgrade edges before the rules apply.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum GuardrailsGraph {
    Catalog,
    Semver,
    CatalogOrSemver,
}

/// One rule. Which keys it has depends on its kind.
#[derive(Clone, Debug, Deserialize, KubeSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
#[x_kube(
    validation = Rule::new("(self.kind == 'PassThrough') == has(self.via)")
        .message("kind PassThrough, and no other kind, needs via"),
    validation = Rule::new("(self.kind == 'Waypoints') == has(self.versions)")
        .message("kind Waypoints, and no other kind, needs versions"),
    validation = Rule::new("(self.kind == 'MaxMinorStep') == has(self.step)")
        .message("kind MaxMinorStep, and no other kind, needs step"),
    validation = Rule::new("(self.kind == 'Prerelease') == has(self.action)")
        .message("kind Prerelease, and no other kind, needs action"),
    validation = Rule::new("!has(self.from) || self.kind in ['PassThrough', 'LatestPatchFirst']")
        .message("only the kinds PassThrough and LatestPatchFirst have from"),
    validation = Rule::new("!has(self.to) || self.kind == 'PassThrough'")
        .message("only kind PassThrough has to")
)]
pub struct GuardrailRule {
    /// The name of the rule.
    #[schemars(length(min = 1, max = 1024))]
    pub id: String,
    /// What the rule forbids.
    pub kind: GuardrailKind,
    /// What a denial reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
    /// Whether upgradeConstraintPolicy: SelfCertified lifts the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypassable: Option<bool>,
    /// The range that no step can skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub via: Option<String>,
    /// Only steps from versions in this range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub from: Option<String>,
    /// Only steps to versions in this range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub to: Option<String>,
    /// The versions or ranges that no step can skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256), inner(length(min = 1, max = 512)))]
    pub versions: Option<Vec<String>>,
    /// How many minor versions a step must not skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub step: Option<i64>,
    /// Whether steps from a release to a prerelease are denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<PrereleaseAction>,
}

/// What a rule forbids.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum GuardrailKind {
    PassThrough,
    Waypoints,
    LatestPatchFirst,
    MaxMinorStep,
    Prerelease,
}

/// What happens to a step from a release to a prerelease.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum PrereleaseAction {
    Deny,
    Allow,
}
