//! The report about each object, for its status.

use std::sync::Arc;

use serde_json::{Value, json};

use super::read::{ObjectState, PolicyContent, ReadObject};
use crate::policy_objects::{ACCEPTED, NOT_CHECKED};
use olmguard_catalog::guardrail::GuardrailsObject;
use olmguard_policy::{PolicyProblem, UpgradePolicy};

/// What there is to report about all objects.
#[derive(Clone, Debug, Default)]
pub struct Reports(pub(super) Arc<[ObjectReport]>);

/// What there is to report about one object.
#[derive(Clone, Debug)]
pub(super) struct ObjectReport {
    pub(super) kind: &'static str,
    pub(super) state: ObjectState,
    pub(super) acceptance: AcceptedCondition,
    /// The policy, which tells what it matches; none for guardrails.
    pub(super) policy: Option<UpgradePolicy>,
}

/// The condition `Accepted`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct AcceptedCondition {
    pub(super) is_accepted: bool,
    /// The reason in one word.
    pub(super) reason: &'static str,
    /// The reason in words, with the field.
    pub(super) message: String,
}

impl ObjectReport {
    pub(super) fn of_policy(read: &ReadObject<UpgradePolicy>, policy: UpgradePolicy) -> Self {
        Self {
            kind: UpgradePolicy::KIND,
            state: read.object.clone(),
            acceptance: AcceptedCondition::of_policy(&policy),
            policy: Some(policy),
        }
    }

    pub(super) fn of_guardrails(read: &ReadObject<GuardrailsObject>) -> Self {
        let fault = read.content.fault();
        Self {
            kind: GuardrailsObject::KIND,
            state: read.object.clone(),
            acceptance: AcceptedCondition::new(fault.as_slice(), INVALID),
            policy: None,
        }
    }
}

impl ObjectReport {
    /// The resource of the kind.
    pub(super) fn plural(&self) -> &'static str {
        match self.policy {
            Some(_) => "upgradepolicies",
            None => "upgradeguardrails",
        }
    }
}

impl AcceptedCondition {
    fn of_policy(policy: &UpgradePolicy) -> Self {
        let faults = policy.faults();
        let needs_permission = |problem: &_| matches!(problem, PolicyProblem::PermissionNotChecked);
        let reason = match faults {
            [only] if needs_permission(&only.problem) => NOT_CHECKED,
            _ => INVALID,
        };
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        Self::new(&faults, reason)
    }

    fn new(faults: &[String], reason: &'static str) -> Self {
        match faults {
            [] => Self {
                is_accepted: true,
                reason: "Valid",
                message: "olmguard checks edits by this object".to_owned(),
            },
            [first, more @ ..] => Self {
                is_accepted: false,
                reason,
                message: match more.len() {
                    0 => first.clone(),
                    more => format!("{first}; and {more} more"),
                },
            },
        }
    }
}

impl Reports {
    pub(super) fn of(&self, kind: &str) -> impl Iterator<Item = &ObjectReport> {
        self.0.iter().filter(move |report| report.kind == kind)
    }

    /// Names and messages of the objects that are not accepted.
    pub(super) fn faults(&self, kind: &str) -> Vec<(String, String)> {
        let invalid = self
            .of(kind)
            .filter(|report| !report.acceptance.is_accepted);
        let named = invalid.map(|report| {
            let name = report.state.name.to_string();
            (name, report.acceptance.message.clone())
        });
        named.collect()
    }
}

/// The status that an object has to have, if it is another one than it has.
pub(super) fn due(report: &ObjectReport, matched: Option<i64>, now: &str) -> Option<Value> {
    let status = status(report, matched, now);
    (status != report.state.status).then_some(status)
}

/// The condition to write; the time of the last change stays if nothing has changed.
fn status(report: &ObjectReport, matched: Option<i64>, now: &str) -> Value {
    let word = if report.acceptance.is_accepted {
        "True"
    } else {
        "False"
    };
    let condition = json!({
        "type": ACCEPTED,
        "status": word,
        "reason": report.acceptance.reason,
        "message": report.acceptance.message,
        "lastTransitionTime": since(&report.state.status, word).unwrap_or(now),
        "observedGeneration": report.state.generation,
    });
    without_null(json!({
        "observedGeneration": report.state.generation,
        "matched": matched,
        "conditions": [without_null(condition)],
    }))
}

/// What is not known is not written.
fn without_null(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// Since when the condition has this status.
fn since<'v>(status: &'v Value, word: &str) -> Option<&'v str> {
    let conditions = status.get("conditions")?.as_array()?;
    let mut accepted = conditions.iter().filter(|one| one["type"] == ACCEPTED);
    let same = accepted.find(|one| one["status"] == word)?;
    same.get("lastTransitionTime")?.as_str()
}

const INVALID: &str = "Invalid";
