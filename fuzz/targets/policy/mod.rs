//! A policy with one condition.

use olmguard_policy::UpgradePolicy;
use serde_json::json;

/// The policy of one expression.
pub(crate) fn policy(expression: &str) -> UpgradePolicy {
    UpgradePolicy::read(&json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
        "metadata": {"name": "fuzzed"},
        "spec": {"rules": {"conditions": [{"expression": expression}]}},
    }))
}
