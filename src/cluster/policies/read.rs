//! Reads the objects of policies, one or all of a cluster, and creates the report about each.

use std::sync::Arc;

use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::cluster::object::{MOST_PAGES, Names, name, pages, served};
use crate::cluster::{FaultClass, WatchFault};
use crate::policy_objects::{ACCEPTED, KINDS, NOT_CHECKED, as_written};
use olmguard_catalog::guardrail::GuardrailsObject;
use olmguard_policy::{GROUP, KIND, PolicyProblem, UpgradePolicy};
use olmguard_server::telemetry::metrics::WatchedResource;

/// An object, with the content of its spec. A policy is as written: its content does not include whether the cluster
/// checks permissions.
#[derive(Clone, Debug)]
pub(super) struct ReadObject<T> {
    pub(super) object: ObjectState,
    pub(super) content: T,
}

/// The content of one kind of object.
pub(super) trait PolicyContent: Send + Sized + 'static {
    const KIND: &'static str;
    const RESOURCE: WatchedResource;

    fn of(object: &Value) -> Self;
    /// Returns the reason why the content is invalid, in one line.
    fn fault(&self) -> Option<String>;
}

/// The parts of an object other than its spec.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ObjectState {
    pub(super) name: Box<str>,
    uid: Option<Box<str>>,
    pub(super) generation: Option<i64>,
    /// The status at the time when the object was read.
    pub(super) status: Value,
}

impl<T: PolicyContent> ReadObject<T> {
    pub(super) fn of(object: &Value) -> Self {
        Self {
            object: ObjectState::of(object),
            content: T::of(object),
        }
    }
}

impl PolicyContent for UpgradePolicy {
    const KIND: &'static str = KIND;
    const RESOURCE: WatchedResource = WatchedResource::UpgradePolicies;

    fn of(object: &Value) -> Self {
        Self::read(object)
    }

    fn fault(&self) -> Option<String> {
        self.faults().first().map(ToString::to_string)
    }
}

impl PolicyContent for GuardrailsObject {
    const KIND: &'static str = Self::KIND;
    const RESOURCE: WatchedResource = WatchedResource::UpgradeGuardrails;

    fn of(object: &Value) -> Self {
        Self::read(object)
    }

    fn fault(&self) -> Option<String> {
        self.stated.as_ref().err().map(ToString::to_string)
    }
}

impl ObjectState {
    pub(super) fn of(object: &Value) -> Self {
        let generation = object.pointer("/metadata/generation");
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        Self {
            name: name(object).into(),
            uid: uid.map(Into::into),
            generation: generation.and_then(Value::as_i64),
            status: object.get("status").cloned().unwrap_or_default(),
        }
    }

    /// Whether both are states of the same object with the same spec: the API server increments the generation with
    /// each change of the spec.
    pub(super) fn is_same_spec(&self, other: &Self) -> bool {
        self.generation.is_some() && self.generation == other.generation && self.uid == other.uid
    }
}

// === All current policies of a cluster, for commands, which do not watch them ===

/// The reason why the policies of a cluster are not known.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("policies are unknown: cannot list {resource}: {}{}", .fault.words, .fault.way_out_of_list())]
pub struct PoliciesError {
    /// The listed resource, such as `upgradepolicies.olmguard.dev`.
    pub resource: String,
    /// The fault of the request.
    pub fault: WatchFault,
}

/// An object of either kind.
pub(in crate::cluster) struct ListedPolicy {
    pub(in crate::cluster) kind: &'static str,
    pub(in crate::cluster) object: Value,
}

/// Lists every object of both kinds as written, and whether the cluster checks the permission; none if the cluster does
/// not serve them.
///
/// # Errors
/// Fails if a kind that the cluster serves cannot be listed.
pub async fn list(client: &Client) -> Result<Vec<Value>, PoliciesError> {
    let listed = list_whole(client).await?;
    let written = listed.iter().map(|one| as_written(one.kind, &one.object));
    Ok(written.collect())
}

/// Lists the objects, including the fields that the API server adds.
pub(in crate::cluster) async fn list_whole(
    client: &Client,
) -> Result<Vec<ListedPolicy>, PoliciesError> {
    let mut policies = Vec::new();
    for (kind, plural) in KINDS {
        let resource = GroupVersionKind::gvk(GROUP, "v1alpha1", kind);
        let resource = ApiResource::from_gvk_with_plural(&resource, plural);
        let api = Api::all_with(client.clone(), &resource);
        let take = |object| policies.push(ListedPolicy { kind, object });
        match pages(&api, MOST_PAGES, take).await {
            Ok(()) => {}
            Err(fault) if is_absent(client, &fault).await => {}
            Err(fault) => {
                let resource = format!("{plural}.{GROUP}");
                return Err(PoliciesError { resource, fault });
            }
        }
    }
    Ok(policies)
}

/// Whether a list fails because the cluster does not serve the kind. Without permission to list, the status is 403 in
/// either case.
async fn is_absent(client: &Client, fault: &WatchFault) -> bool {
    match fault.class {
        FaultClass::NotServed => true,
        FaultClass::Forbidden => {
            let policies = served(client, POLICIES).await;
            let guardrails = served(client, GUARDRAILS).await;
            matches!((policies, guardrails), (Ok(None), Ok(None)))
        }
        _ => false,
    }
}

/// The definitions of `UpgradePolicy`, preferred version first.
pub(super) const POLICIES: &Names = &[(GROUP, "v1alpha1", KIND)];

/// The definitions of `UpgradeGuardrails`, preferred version first.
pub(super) const GUARDRAILS: &Names = &[(GROUP, "v1alpha1", GuardrailsObject::KIND)];

// === The report about each object, for its status ===

/// The reports about all objects.
#[derive(Clone, Debug, Default)]
pub struct Reports(pub(super) Arc<[ObjectReport]>);

/// The report about one object.
#[derive(Clone, Debug)]
pub(super) struct ObjectReport {
    pub(super) kind: &'static str,
    pub(super) state: ObjectState,
    pub(super) acceptance: AcceptedCondition,
    /// The policy, to count the extensions that it matches; none for guardrails.
    pub(super) policy: Option<UpgradePolicy>,
}

/// The condition `Accepted`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct AcceptedCondition {
    pub(super) is_accepted: bool,
    /// The reason as one word.
    pub(super) reason: &'static str,
    /// The reason as a sentence, with the field.
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
    /// Returns the plural name of the resource.
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

    /// Returns the names and messages of the objects that are not accepted.
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

/// Returns the status to write, if it differs from the current one.
pub(super) fn due(report: &ObjectReport, matched: Option<i64>, now: &str) -> Option<Value> {
    let status = status(report, matched, now);
    (status != report.state.status).then_some(status)
}

/// Returns the status. The time of the last transition stays if the condition has not changed.
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

/// Removes unknown members, which are not written.
fn without_null(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// Returns the time from which the condition has this status.
fn since<'v>(status: &'v Value, word: &str) -> Option<&'v str> {
    let conditions = status.get("conditions")?.as_array()?;
    let mut accepted = conditions.iter().filter(|one| one["type"] == ACCEPTED);
    let same = accepted.find(|one| one["status"] == word)?;
    same.get("lastTransitionTime")?.as_str()
}

const INVALID: &str = "Invalid";
