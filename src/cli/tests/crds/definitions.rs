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
//! Invariant: a definition never removes an unknown field. A typo that an API server removed would be a rule that
//! nobody enforces; one that is kept makes the object invalid, and it says so.

#![expect(
    clippy::doc_markdown,
    reason = "the comments are the descriptions of fields"
)]
#![expect(
    unreachable_pub,
    reason = "what KubeSchema derives is within a function"
)]

use std::collections::BTreeMap;

use kube::{CustomResourceExt, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::upgrade_guardrails::UpgradeGuardrails;
use super::upgrade_policy::UpgradePolicy;

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

/// The derive lets every optional field be `null`. An API server would store that, and the reader of a policy refuses
/// it: without it, an API server removes a `null` as it does for its own kinds. Bounds are whole numbers here, as an API
/// server writes them.
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
