//! The review of an `UpgradePolicy` or `UpgradeGuardrails` object, which checks that olmguard can read it. Also the
//! parts that it shares with the review of any object that is read whole.
//!
//! An object with faults is refused with all of them, so no one applies a policy that denies more than its text says.
//! A deletion is never refused. Nor is a change that does not affect the spec, or of an object that is being deleted:
//! every policy can be edited and deleted, whatever it contains. A policy is also never refused because of others: if
//! the known policies and this one are too costly together, warnings name those that no longer fit.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ReviewError;
use crate::decode::{pointed_at, text};
use crate::reply::{InvalidField, ReplyStatus, bounded, object_reply};
use crate::review::{API_VERSION, KIND};
use olmguard_catalog::guardrail::GuardrailsObject;
use olmguard_engine::explain::too_costly_together;
use olmguard_engine::json_values;
use olmguard_engine::judge::UpgradePolicies;
use olmguard_policy::{GROUP, UpgradePolicy};

/// The result of the review of an object.
#[derive(Clone, Debug)]
pub struct ObjectReview {
    uid: String,
    kind: ObjectKind,
    /// The warnings for an object that is allowed, or the reason for the refusal.
    outcome: Result<Vec<String>, Box<ReplyStatus<'static>>>,
}

/// The kind of the reviewed object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ObjectKind {
    /// An `UpgradePolicy`.
    UpgradePolicy,
    /// An `UpgradeGuardrails` object.
    UpgradeGuardrails,
    /// Anything else, which is always allowed.
    Other,
}

/// The parts of an object that decide whether its spec must be read.
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
    /// Reads a review and its object from the bytes of a request body, given the known policies.
    ///
    /// # Errors
    /// If the body is not a review.
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

    /// The kind of the reviewed object.
    pub fn kind(&self) -> ObjectKind {
        self.kind
    }

    /// Whether the API server may store the object.
    pub fn is_allowed(&self) -> bool {
        self.outcome.is_ok()
    }

    /// Returns the body of the reply.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.outcome {
            Ok(warnings) => object_reply(&self.uid, None, warnings),
            Err(refusal) => object_reply(&self.uid, Some((**refusal).clone()), &[]),
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
        let whole = |problem| InvalidField::new(String::new(), problem);
        let object =
            parsed_object(self.object).map_err(|problem| refused("", &[whole(problem)]))?;
        let checked = match kind {
            ObjectKind::UpgradePolicy => of_policy(&object, known),
            _ => of_guardrails(&object),
        };
        let name = object.pointer("/metadata/name").and_then(Value::as_str);
        checked.map_err(|faults| refused(name.unwrap_or_default(), &faults).into())
    }

    /// Whether the object is being deleted, or its spec equals the old one. Both are known for objects of any size.
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

    /// The spec as the API server writes it: with the keys of each map in order.
    fn spec(&self) -> Option<&'a str> {
        self.spec.map(RawValue::get)
    }
}

/// Checks a policy. Returns warnings, or all faults.
fn of_policy(object: &Value, known: &UpgradePolicies) -> Result<Vec<String>, Vec<InvalidField>> {
    let policy = UpgradePolicy::read(object);
    let faults = policy.faults().iter().map(|fault| InvalidField {
        pointed_at: fault
            .at()
            .and_then(|at| pointed_at(object, &fault.path, at)),
        ..InvalidField::new(fault.path.clone(), fault.problem.to_string())
    });
    match faults.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(too_costly_together(&known.too_costly_with(&policy))),
        faults => Err(faults),
    }
}

fn of_guardrails(object: &Value) -> Result<Vec<String>, Vec<InvalidField>> {
    let stated = GuardrailsObject::read(object).stated;
    stated.map(|_| Vec::new()).map_err(|unread| {
        let problem = unread.problem.to_string();
        vec![InvalidField::new(unread.path, problem)]
    })
}

// === The request of the review of an object that is read whole, unlike an extension ===

/// The request of a review.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectRequest<'a> {
    pub(super) uid: Cow<'a, str>,
    pub(super) kind: GroupVersionKind<'a>,
    pub(super) operation: Cow<'a, str>,
    #[serde(default)]
    sub_resource: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) old_object: Option<&'a RawValue>,
}

/// The kind of the object.
#[derive(Deserialize)]
pub(super) struct GroupVersionKind<'a> {
    pub(super) group: Cow<'a, str>,
    #[serde(default)]
    pub(super) version: Cow<'a, str>,
    pub(super) kind: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    api_version: Cow<'a, str>,
    kind: Cow<'a, str>,
    #[serde(borrow)]
    request: ObjectRequest<'a>,
}

impl<'a> ObjectRequest<'a> {
    /// Reads a review from the bytes of a request body; its objects are not read yet.
    ///
    /// # Errors
    /// If the body is not a review.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, ReviewError> {
        // An error of serde repeats a text that it does not expect, which can be the whole body.
        let read: Envelope<'_> = serde_json::from_str(text(body)?)
            .map_err(|error| ReviewError::Json(bounded(error.to_string(), LONGEST).into()))?;
        read.check()?;
        Ok(read.request)
    }

    /// Whether the request is about the whole object, and not about a subresource such as its status.
    pub(super) fn is_whole(&self) -> bool {
        self.sub_resource.as_deref().unwrap_or_default().is_empty()
    }
}

impl Envelope<'_> {
    fn check(&self) -> Result<(), ReviewError> {
        let wrong = |field, found: &str, expected| ReviewError::Field {
            field,
            found: format!("{:?}", bounded(found, LONGEST)),
            expected,
        };
        if self.kind != KIND {
            return Err(wrong("kind", &self.kind, KIND));
        }
        if self.api_version != API_VERSION {
            return Err(wrong("apiVersion", &self.api_version, API_VERSION));
        }
        match self.request.uid.len() {
            1..=LONGEST => Ok(()),
            _ => Err(wrong(
                "request.uid",
                &self.request.uid,
                "a string of 1 to 128 bytes",
            )),
        }
    }
}

/// Parses the object in a request, or returns why it cannot be read.
///
/// A text larger than any readable object is not parsed, because it would be many times as large in memory. A map with
/// one value takes 640 bytes there, so two objects with the maximum number of values fit into the memory of a large
/// review.
pub(super) fn parsed_object(object: Option<&RawValue>) -> Result<Value, String> {
    let text = object.map_or("null", RawValue::get);
    if text.len() > LARGEST {
        return Err(format!(
            "larger than {LARGEST} bytes: expected a smaller object"
        ));
    }
    let counted = json_values::at_most(MOST_VALUES, text.as_bytes());
    let read = counted.and_then(|()| serde_json::from_str(text));
    read.map_err(|error| error.to_string())
}

/// Whether an object is being deleted.
pub(super) fn is_leaving(object: &Value) -> bool {
    let leaving = object.pointer("/metadata/deletionTimestamp");
    leaving.is_some_and(|at| !at.is_null())
}

/// The maximum size in bytes of an object that is read. No object within the limits of its kind is larger.
const LARGEST: usize = 1 << 20;

/// The maximum number of values in an object that is read.
const MOST_VALUES: usize = 20_000;

/// The maximum length in bytes of a `uid`, and of a word that an error repeats.
const LONGEST: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_up_to_its_limit() {
        let text = |bytes: usize| format!("{:?}", "x".repeat(bytes - 2));
        let read = |text: &str| {
            let object: Box<RawValue> = serde_json::from_str(text).unwrap();
            parsed_object(Some(&object))
        };
        assert!(read(&text(LARGEST)).is_ok());
        assert_eq!(
            read(&text(LARGEST + 1)).unwrap_err(),
            "larger than 1048576 bytes: expected a smaller object"
        );
        assert_eq!(parsed_object(None), Ok(Value::Null));
    }
}
