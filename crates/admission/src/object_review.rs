//! Review of an `UpgradePolicy` or `UpgradeGuardrails` object: whether olmguard can read it.
//!
//! What cannot be read is refused with every fault, so that nobody applies a policy that denies more than it says. A
//! deletion is never refused, nor is a change of an object that leaves its spec as it is or is on its way out: whatever a
//! policy says, it can be edited and deleted. Nor is a policy refused because of others: where the policies that are known
//! and this one are too costly together, warnings name those that no longer fit.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ReviewError;
use crate::decode::pointed_at;
use crate::envelope::{self, ObjectRequest};
use crate::reply::{InvalidField, ReplyStatus};
use olmguard_catalog::guardrail::GuardrailsObject;
use olmguard_engine::explain::too_costly_together;
use olmguard_engine::judge::UpgradePolicies;
use olmguard_policy::{GROUP, UpgradePolicy};

/// What is answered to the review of an object.
#[derive(Clone, Debug)]
pub struct ObjectReview {
    uid: String,
    kind: ObjectKind,
    /// Warnings beside an object that is allowed, or why it is refused.
    outcome: Result<Vec<String>, Box<ReplyStatus<'static>>>,
}

/// What is reviewed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ObjectKind {
    /// An `UpgradePolicy`.
    UpgradePolicy,
    /// An `UpgradeGuardrails` object.
    UpgradeGuardrails,
    /// Anything else, which is always allowed.
    Other,
}

/// The parts of an object that decide whether its spec is read.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(default)]
    metadata: OutlineMetadata,
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OutlineMetadata {
    deletion_timestamp: Option<IgnoredAny>,
}

impl ObjectReview {
    /// Reads a review from the bytes of a request's body, and the object in it, where these policies are known.
    ///
    /// # Errors
    /// If it is no review.
    pub fn from_bytes(body: &[u8], known: &UpgradePolicies) -> Result<Self, ReviewError> {
        let request = ObjectRequest::read(body)?;
        let kind = request.object_kind();
        Ok(Self {
            kind,
            outcome: request.outcome(kind, known),
            uid: request.uid.into_owned(),
        })
    }

    /// The uid of the review.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// What is reviewed.
    pub fn kind(&self) -> ObjectKind {
        self.kind
    }

    /// Whether the API server is told to store the object.
    pub fn is_allowed(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The bytes of the reply's body.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.outcome {
            Ok(warnings) => envelope::reply(&self.uid, None, warnings),
            Err(refusal) => envelope::reply(&self.uid, Some(refusal), &[]),
        }
    }
}

impl ObjectRequest<'_> {
    fn object_kind(&self) -> ObjectKind {
        let is_edited = matches!(&*self.operation, "CREATE" | "UPDATE");
        let is_whole = self.is_whole();
        match (&*self.kind.group, &*self.kind.kind) {
            (GROUP, "UpgradePolicy") if is_edited && is_whole => ObjectKind::UpgradePolicy,
            (GROUP, "UpgradeGuardrails") if is_edited && is_whole => ObjectKind::UpgradeGuardrails,
            _ => ObjectKind::Other,
        }
    }

    fn outcome(
        &self,
        kind: ObjectKind,
        known: &UpgradePolicies,
    ) -> Result<Vec<String>, Box<ReplyStatus<'static>>> {
        let word = match kind {
            ObjectKind::UpgradePolicy => "UpgradePolicy",
            ObjectKind::UpgradeGuardrails => "UpgradeGuardrails",
            ObjectKind::Other => return Ok(Vec::new()),
        };
        let refused =
            |name: &str, faults: &[_]| ReplyStatus::of_object((GROUP, word, name), faults);
        if self.leaves_spec() {
            return Ok(Vec::new());
        }
        let object = parsed(self.object).map_err(|fault| refused("", &[fault]))?;
        let checked = match kind {
            ObjectKind::UpgradePolicy => of_policy(&object, known),
            _ => of_guardrails(&object),
        };
        let name = object.pointer("/metadata/name").and_then(Value::as_str);
        checked.map_err(|faults| refused(name.unwrap_or_default(), &faults).into())
    }

    /// Whether the object is being deleted, or has the spec of the old one. Neither depends on how large an object is.
    fn leaves_spec(&self) -> bool {
        let Some(object) = Outline::of(self.object) else {
            return false;
        };
        let old = self.old_object.and_then(|old| Outline::of(Some(old)));
        object.metadata.deletion_timestamp.is_some()
            || old.is_some_and(|old| old.spec() == object.spec())
    }
}

impl<'a> Outline<'a> {
    fn of(object: Option<&'a RawValue>) -> Option<Self> {
        serde_json::from_str(object?.get()).ok()
    }

    /// As the API server writes it: with the keys of each map in order.
    fn spec(&self) -> Option<&'a str> {
        self.spec.map(RawValue::get)
    }
}

fn parsed(object: Option<&RawValue>) -> Result<Value, InvalidField> {
    envelope::parsed(object).map_err(whole)
}

fn whole(problem: String) -> InvalidField {
    InvalidField {
        field: String::new(),
        problem,
        pointed_at: None,
    }
}

/// Warnings, or every fault.
fn of_policy(object: &Value, known: &UpgradePolicies) -> Result<Vec<String>, Vec<InvalidField>> {
    let policy = UpgradePolicy::read(object);
    let faults = policy.faults().iter().map(|fault| InvalidField {
        field: fault.path.clone(),
        problem: fault.problem.to_string(),
        pointed_at: fault
            .at()
            .and_then(|at| pointed_at(object, &fault.path, at)),
    });
    match faults.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(too_costly_together(&known.too_costly_with(&policy))),
        faults => Err(faults),
    }
}

fn of_guardrails(object: &Value) -> Result<Vec<String>, Vec<InvalidField>> {
    let stated = GuardrailsObject::read(object).stated;
    stated.map(|_| Vec::new()).map_err(|unread| {
        vec![InvalidField {
            problem: unread.problem.to_string(),
            field: unread.path,
            pointed_at: None,
        }]
    })
}
