//! One review: what is asked, and what of it is judged.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::admission::fields::{constant, optional_text, required_object, required_text};
use crate::admission::{Operation, ReviewError, decode};
use crate::explain::{self, Answer, not_judged};
use crate::extension::{
    Extension, Identity, Installed, Recognised, Rollout, UnknownCause, recognise,
};
use crate::judge::{Edit, Exemption};
use crate::snapshot::Snapshot;

/// One `AdmissionReview` with a request.
#[derive(Clone, Debug)]
pub struct Review {
    uid: String,
    operation: Operation,
    dry_run: DryRun,
    identity: Identity,
    subject: Subject,
}

/// Whether what is reviewed is to be persisted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DryRun {
    Yes,
    No,
}

/// What a review is about.
#[derive(Clone, Debug)]
enum Subject {
    Exempt(Exemption),
    Change(Box<Change>),
}

/// An edit of an extension.
#[derive(Clone, Debug)]
struct Change {
    new: Extension,
    old: Option<Extension>,
    installed: Installed,
}

impl Review {
    /// Reads a review from the bytes of a request's body.
    pub fn from_bytes(body: &[u8]) -> Result<Self, ReviewError> {
        Self::read(&decode(body)?)
    }

    /// Reads a review that is already JSON.
    ///
    /// Unknown fields are passed over. What is no edit of an extension is a review all the same:
    /// its answer is that it is not judged.
    pub fn read(review: &Value) -> Result<Self, ReviewError> {
        constant(review, "kind", "kind", KIND)?;
        constant(review, "apiVersion", "apiVersion", API_VERSION)?;
        let request = required_object(review, "request", "request")?;
        let uid = required_text(request, "uid", "request.uid")?;
        let operation = required_text(request, "operation", "request.operation")?;
        let operation = Operation::of(operation);
        let subresource = optional_text(request, "subResource", "request.subResource")?;
        let (identity, subject) = match (operation, subresource) {
            (Operation::Create | Operation::Update, "") => edited(operation, request)?,
            _ => (asked(request), Subject::Exempt(Exemption::Operation)),
        };
        Ok(Self {
            uid: uid.to_owned(),
            operation,
            dry_run: DryRun::read(request),
            identity,
            subject,
        })
    }

    /// The words by which the API server knows it again.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// What is done to the object.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Whether the API server asks only what would be.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run == DryRun::Yes
    }

    /// Which object it is about, as far as that can be told.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The extension as it is to be; absent where there is nothing to judge.
    pub fn extension(&self) -> Option<&Extension> {
        match &self.subject {
            Subject::Exempt(_) => None,
            Subject::Change(change) => Some(&change.new),
        }
    }

    /// Judges it. The CRD has spoken before an API server asks, so its rules are not repeated.
    pub fn answer(&self, snapshot: &Snapshot) -> Answer {
        match &self.subject {
            Subject::Exempt(exemption) => not_judged(exemption),
            Subject::Change(change) => explain::answer(
                snapshot,
                &Edit {
                    new: &change.new,
                    old: change.old.as_ref(),
                    installed: &change.installed,
                    schema: &[],
                },
            ),
        }
    }
}

impl DryRun {
    fn read(request: &Value) -> Self {
        match request.get("dryRun") {
            Some(Value::Bool(true)) => Self::Yes,
            _ => Self::No,
        }
    }
}

/// A creation or an update, of whatever kind.
fn edited(operation: Operation, request: &Value) -> Result<(Identity, Subject), ReviewError> {
    let object = required_object(request, "object", "request.object")?;
    let object = typed(object, request);
    let mut identity = Identity::read(&object);
    if identity.name.is_none() {
        identity.name = name(request);
    }
    let subject = match recognise(&object) {
        Recognised::Other => Subject::Exempt(Exemption::Kind),
        Recognised::UnknownVersion => Subject::Exempt(Exemption::UnknownVersion {
            api_version: api_version(&identity.group, &identity.version),
            kind: identity.kind.clone(),
        }),
        Recognised::Extension(shape) => {
            let new = Extension::read(shape, &object);
            Subject::Change(Box::new(Change::of(operation, new, request)))
        }
    };
    Ok((identity, subject))
}

impl Change {
    /// The status of the new object is whatever its writer likes: it is never looked at.
    fn of(operation: Operation, mut new: Extension, request: &Value) -> Self {
        new.installed = Installed::Nothing;
        new.rollout = Rollout::Settled;
        let old = match operation {
            Operation::Update => old_extension(request),
            Operation::Create | Operation::Other => {
                return Self {
                    new,
                    old: None,
                    installed: Installed::Nothing,
                };
            }
        };
        let installed = old.as_ref().map(|old| old.installed.clone());
        new.installed = installed.clone().unwrap_or(UNKNOWN);
        Self {
            new,
            old,
            installed: installed.unwrap_or(UNKNOWN),
        }
    }
}

/// Without a readable old object nothing tells what is installed, and that is no reason to refuse.
fn old_extension(request: &Value) -> Option<Extension> {
    let object = request.get("oldObject").filter(|old| old.is_object())?;
    let object = typed(object, request);
    match recognise(&object) {
        Recognised::Extension(shape) => Some(Extension::read(shape, &object)),
        Recognised::UnknownVersion | Recognised::Other => None,
    }
}

/// The object with its `apiVersion` and `kind`, those of the request where it says none.
fn typed<'a>(object: &'a Value, request: &Value) -> Cow<'a, Value> {
    let says = |key| {
        object
            .get(key)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.is_empty())
    };
    let Value::Object(fields) = object else {
        return Cow::Borrowed(object);
    };
    if says("apiVersion") && says("kind") {
        return Cow::Borrowed(object);
    }
    let kind = asked(request);
    let mut fields: Map<String, Value> = fields.clone();
    fields.insert(
        "apiVersion".to_owned(),
        api_version(&kind.group, &kind.version).into(),
    );
    fields.insert("kind".to_owned(), kind.kind.into());
    Cow::Owned(Value::Object(fields))
}

/// The object as the request itself names it.
fn asked(request: &Value) -> Identity {
    let text = |key| {
        let kind = request.get("kind").and_then(|kind| kind.get(key));
        kind.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    Identity {
        group: text("group"),
        version: text("version"),
        kind: text("kind"),
        name: name(request),
    }
}

fn name(request: &Value) -> Option<String> {
    let name = request.get("name").and_then(Value::as_str)?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

pub(super) const KIND: &str = "AdmissionReview";
pub(super) const API_VERSION: &str = "admission.k8s.io/v1";
const UNKNOWN: Installed = Installed::Unknown(UnknownCause::WrongType {
    field: "request.oldObject",
});
