//! The kinds that olmguard adds to a cluster, as their definitions describe them.
//!
//! ```text
//! types --derive--> deploy/crds/*.yaml      what an API server checks
//! object (JSON) --> olmguard_policy, guardrail::read   what olmguard decides by
//! ```
//!
//! The types only describe: objects are watched as JSON, so an object that does not fit its definition, for example
//! one that is older than it, is still read as far as it can be read.
//!
//! Invariant: a definition never removes an unknown field. If an API server removed a typo, no one would enforce the
//! rule. A typo that is kept makes the object invalid, and its status reports it.

#![expect(
    clippy::doc_markdown,
    reason = "the comments are the descriptions of fields"
)]
#![expect(clippy::duplicated_attributes, reason = "each column has a type")]
#![expect(
    unreachable_pub,
    reason = "what KubeSchema derives is within a function"
)]

use std::collections::BTreeMap;

use kube::{CustomResource, CustomResourceExt, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The definitions of all kinds, each with the name of its file.
pub fn definitions() -> [(&'static str, Value); 2] {
    [
        ("upgradepolicies", UpgradePolicy::crd()),
        ("upgradeguardrails", UpgradeGuardrails::crd()),
    ]
    .map(|(name, definition)| {
        let mut definition = serde_json::to_value(definition).expect("string keys only");
        simplify(&mut definition);
        (name, definition)
    })
}

/// Removes `null`, which the derive allows for every optional field: an API server would store it, and the reader of a
/// policy refuses it. Without it, an API server drops a `null`, as it does for its own kinds. Also makes bounds whole
/// numbers, as an API server writes them.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("nullable").is_some_and(Value::is_boolean) {
                members.remove("nullable");
            }
            members.values_mut().for_each(simplify);
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(simplify);
        }
        Value::Number(number) => {
            let whole = number.as_f64().filter(|bound| bound.fract() == 0.0);
            if let Some(whole) = whole.and_then(|bound| format!("{bound:.0}").parse::<u64>().ok()) {
                *number = whole.into();
            }
        }
        _ => {}
    }
}

// === The status, in which olmguard reports about an object ===

/// What olmguard reports about an `UpgradePolicy`.
#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyStatus {
    /// The generation that the conditions are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// How many ClusterExtensions the policy matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub matched: Option<i64>,
    /// Accepted: whether olmguard can read the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// What olmguard reports about an `UpgradeGuardrails` object.
#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GuardrailsStatus {
    /// The generation that the conditions are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// Accepted: whether olmguard can read the guardrails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// One condition, as in `meta/v1`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    #[schemars(length(max = 316))]
    pub kind: String,
    /// Whether it holds.
    pub status: Acceptance,
    /// The generation that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// When the status changed last.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// The reason in one word.
    #[schemars(
        length(min = 1, max = 1024),
        regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    )]
    pub reason: String,
    /// The reason in words, with the field.
    #[schemars(length(max = 32768))]
    pub message: String,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Acceptance {
    True,
    False,
    Unknown,
}

// === Label selectors, with the limits of a policy ===

/// Labels that an object must have.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct LabelSelector {
    /// Labels with these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxProperties" = 64))]
    pub match_labels: Option<BTreeMap<String, String>>,
    /// Conditions on labels, all of which must hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub match_expressions: Option<Vec<LabelRequirement>>,
}

/// A condition on one label.
#[derive(Clone, Debug, Deserialize, KubeSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
#[x_kube(validation = Rule::new("(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)")
    .message("In and NotIn need values; Exists and DoesNotExist have none"))]
pub struct LabelRequirement {
    /// The key of the label.
    #[schemars(length(min = 1, max = 317))]
    pub key: String,
    /// How its value is compared.
    pub operator: LabelOperator,
    /// The values, for In and NotIn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(max = 63)))]
    pub values: Option<Vec<String>>,
}

/// How the value of a label is compared.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum LabelOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

// === UpgradePolicy, with the limits of `olmguard_policy::limits`, which a test compares ===

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

// === UpgradeGuardrails: the rules of a guardrails file, as an object ===

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
