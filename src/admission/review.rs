//! One review: what is asked, and what of it is judged.

use serde_json::Value;

use crate::admission::change::Change;
use crate::admission::decode::{Filters, decode};
use crate::admission::fields::{
    bounded_text, constant, object, optional_text, required_object, required_text,
};
use crate::admission::named::{asked, identify, name};
use crate::admission::{Operation, ReviewError};
use olmguard_engine::explain::{self, Answer, exempted, not_judged, unanswered};
use olmguard_engine::extension::{Extension, Identity, Json, RecognisedObject};
use olmguard_engine::judge::{Basis, Exemption, Requester, Stop, UnansweredReason, exemption};
use olmguard_policy::{Moment, limits};

/// One `AdmissionReview` with a request.
#[derive(Clone, Debug)]
pub struct Review {
    uid: String,
    operation: Operation,
    dry_run: DryRun,
    user: Option<String>,
    requester: Requester,
    object_uid: Option<String>,
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
    /// What is not judged, and which object it is about.
    Exempt(Box<Identity>, Exemption),
    Change(Box<Change>),
}

impl Review {
    /// Reads a review from the bytes of a request's body.
    pub fn from_bytes(body: &[u8]) -> Result<Self, ReviewError> {
        let body = decode(body)?;
        Self::kept(body.review(), body.filters)
    }

    /// Reads a review that is already JSON.
    ///
    /// Unknown fields are passed over. What is no edit of an extension is a review all the same:
    /// its answer is that it is not judged.
    pub fn read(review: &Value) -> Result<Self, ReviewError> {
        Self::kept(review, Filters::Comparable)
    }

    fn kept<'a>(review: impl Json<'a>, filters: Filters) -> Result<Self, ReviewError> {
        object(review)?;
        constant(review, "kind", "kind", KIND)?;
        constant(review, "apiVersion", "apiVersion", API_VERSION)?;
        let request = required_object(review, "request", "request")?;
        let uid = bounded_text(request, "uid", "request.uid")?;
        let operation = required_text(request, "operation", "request.operation")?;
        let operation = Operation::of(operation);
        let subresource = optional_text(request, "subResource", "request.subResource")?;
        let subject = match (operation, subresource) {
            (Operation::Create | Operation::Update, "") => edited(operation, request, filters)?,
            _ => Subject::Exempt(Box::new(asked(request)), Exemption::Operation),
        };
        Ok(Self {
            uid: uid.to_owned(),
            operation,
            dry_run: DryRun::read(request),
            user: user(request),
            requester: requester(request),
            object_uid: object_uid(request),
            subject,
        })
    }

    /// The words by which the API server knows it again.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The same review, asked at this moment: the clock is read where a request comes in, once for all that is made of
    /// it.
    #[must_use]
    pub fn at(mut self, moment: Moment) -> Self {
        self.requester.at = moment;
        self
    }

    /// Who asks, and when, as upgrade policies read it.
    pub fn requester(&self) -> &Requester {
        &self.requester
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
        match &self.subject {
            Subject::Exempt(identity, _) => identity,
            Subject::Change(change) => &change.new.identity,
        }
    }

    /// `metadata.uid` of the object; absent where it has none.
    pub fn object_uid(&self) -> Option<&str> {
        self.object_uid.as_deref()
    }

    /// The extension as it is to be; absent where there is nothing to judge.
    pub fn extension(&self) -> Option<&Extension> {
        match &self.subject {
            Subject::Exempt(..) => None,
            Subject::Change(change) => Some(&change.new),
        }
    }

    /// Who asks, as the API server knows them: `userInfo.username`.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Judges it. The CRD has spoken before an API server asks, so its rules are not repeated.
    pub fn answer(&self, basis: Basis<'_>) -> Answer {
        match &self.subject {
            Subject::Exempt(_, exemption) => not_judged(exemption),
            Subject::Change(change) => explain::answer(basis, &change.edit(&self.requester)),
        }
    }

    /// The same with the names of all successors: [`explain::answer_with_successors`].
    pub fn answer_with_successors(&self, basis: Basis<'_>) -> (Answer, Option<Vec<String>>) {
        match &self.subject {
            Subject::Exempt(_, exemption) => (not_judged(exemption), None),
            Subject::Change(change) => {
                explain::answer_with_successors(basis, &change.edit(&self.requester))
            }
        }
    }

    /// [`Self::answer`] for a caller that cannot wait without end: [`explain::answer_until`].
    pub fn answer_until(
        &self,
        basis: Basis<'_>,
        stop: &Stop,
        refused: impl FnOnce(Answer),
    ) -> Answer {
        match &self.subject {
            Subject::Exempt(_, exemption) => not_judged(exemption),
            Subject::Change(change) => {
                explain::answer_until(basis, &change.edit(&self.requester), stop, refused)
            }
        }
    }

    /// The answer that needs no catalog: to what is never judged, whatever the catalogs have.
    pub fn settled(&self) -> Option<Answer> {
        match &self.subject {
            Subject::Exempt(_, exemption) => Some(not_judged(exemption)),
            Subject::Change(change) => {
                let edit = change.edit(&self.requester);
                let exemption = exemption(&edit).filter(|exempt| !exempt.takes_catalogs())?;
                Some(exempted(&edit, exemption))
            }
        }
    }

    /// The answer where there was no time or no room to judge it.
    ///
    /// What is never judged stays so: no label edit and no removal of a finalizer is held up.
    pub fn unanswered(&self, cause: UnansweredReason) -> Answer {
        self.settled().unwrap_or_else(|| match &self.subject {
            Subject::Exempt(_, exemption) => not_judged(exemption),
            Subject::Change(change) => unanswered(&change.edit(&self.requester), cause),
        })
    }
}

impl DryRun {
    fn read<'a>(request: impl Json<'a>) -> Self {
        match request.get("dryRun").and_then(Json::as_bool) {
            Some(true) => Self::Yes,
            _ => Self::No,
        }
    }
}

/// A creation or an update, of whatever kind.
fn edited<'a>(
    operation: Operation,
    request: impl Json<'a>,
    filters: Filters,
) -> Result<Subject, ReviewError> {
    let object = required_object(request, "object", "request.object")?;
    let (mut identity, recognised) = identify(object, request);
    identity.name = identity.name.or_else(|| name(request));
    let exemption = match recognised {
        RecognisedObject::Other => Exemption::Kind,
        RecognisedObject::UnknownVersion => Exemption::UnknownVersion {
            api_version: identity.api_version(),
            kind: identity.kind.clone(),
        },
        RecognisedObject::Extension(shape) => {
            let change = Change::read((identity, shape), operation, (request, object), filters);
            return Ok(Subject::Change(Box::new(change)));
        }
    };
    Ok(Subject::Exempt(Box::new(identity), exemption))
}

/// A uid is generated by the API server; another text is none.
fn object_uid<'a>(request: impl Json<'a>) -> Option<String> {
    let uid = request.at(&["object", "metadata", "uid"])?.as_str()?;
    let is_uid = !uid.is_empty() && uid.len() <= OBJECT_UID;
    is_uid.then(|| uid.to_owned())
}

fn user<'a>(request: impl Json<'a>) -> Option<String> {
    let name = request.get("userInfo")?.get("username")?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Who asks, for upgrade policies: texts and lists are kept up to just beyond what policies read, so that what is too
/// long or too many stays so.
fn requester<'a>(request: impl Json<'a>) -> Requester {
    let info = request.get("userInfo");
    let groups = info.and_then(|info| info.get("groups")?.items());
    let groups = groups.into_iter().flatten().filter_map(Json::as_str);
    Requester {
        user: info
            .and_then(|info| info.get("username")?.as_str())
            .map(beginning)
            .unwrap_or_default(),
        groups: groups
            .take(limits::SUBJECT_ENTRIES + 1)
            .map(beginning)
            .collect(),
        at: Moment::from_unix_seconds(0),
    }
}

fn beginning(text: &str) -> String {
    let end = text.ceil_char_boundary(limits::SCOPE_BYTES + 1);
    text.get(..end).unwrap_or(text).to_owned()
}

pub(super) const KIND: &str = "AdmissionReview";
pub(super) const API_VERSION: &str = "admission.k8s.io/v1";
/// What the API server generates has 36 bytes.
const OBJECT_UID: usize = 64;
