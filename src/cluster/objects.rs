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

mod labels;
mod status;
mod upgrade_guardrails;
mod upgrade_policy;

use kube::CustomResourceExt;
use serde_json::Value;

pub use labels::{LabelOperator, LabelRequirement, LabelSelector};
pub use status::{Acceptance, Condition, GuardrailsStatus, PolicyStatus};
pub use upgrade_guardrails::{
    GuardrailKind, GuardrailRule, GuardrailsGraph, PrereleaseAction, UpgradeGuardrails,
    UpgradeGuardrailsSpec,
};
pub use upgrade_policy::{
    BypassRule, DeprecationRule, Enforcement, LargestStep, PolicyCondition, PolicyMatch,
    PolicyRules, PrereleaseRule, RangeRule, UpgradePolicy, UpgradePolicySpec, VersionRules, Window,
};

/// The definitions of all kinds, each with the name of its file.
#[expect(
    clippy::missing_panics_doc,
    reason = "a definition has string keys only"
)]
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
