//! One object, as read, with what its status is about.

use serde_json::Value;

use crate::cluster::object::name;
use olmguard_catalog::guardrail::GuardrailsObject;
use olmguard_policy::UpgradePolicy;

/// An `UpgradePolicy`. The policy is as written: whether the cluster asks for permissions is not in it.
#[derive(Clone, Debug)]
pub(super) struct ReadPolicy {
    pub(super) object: ObjectState,
    pub(super) policy: UpgradePolicy,
}

/// An `UpgradeGuardrails` object.
#[derive(Clone, Debug)]
pub(super) struct ReadGuardrails {
    pub(super) object: ObjectState,
    pub(super) guardrails: GuardrailsObject,
}

/// What an object has besides its spec.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ObjectState {
    pub(super) name: Box<str>,
    uid: Option<Box<str>>,
    pub(super) generation: Option<i64>,
    /// As it was when the object was seen.
    pub(super) status: Value,
}

impl ReadPolicy {
    pub(super) fn of(object: &Value) -> Self {
        Self {
            object: ObjectState::of(object),
            policy: UpgradePolicy::read(object),
        }
    }
}

impl ReadGuardrails {
    pub(super) fn of(object: &Value) -> Self {
        Self {
            object: ObjectState::of(object),
            guardrails: GuardrailsObject::read(object),
        }
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

    /// Whether both are states of one object with one spec: an API server counts each change of a spec.
    pub(super) fn is_same_spec(&self, other: &Self) -> bool {
        self.generation.is_some() && self.generation == other.generation && self.uid == other.uid
    }
}
