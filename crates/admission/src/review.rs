//! One review: its edit, and the part of it that is checked.

use serde_json::Value;

use crate::ReviewError;
use crate::decode::{Filters, decode};
use crate::fields::{
    asked, bounded_text, constant, identify, name, object, optional_text, required_object,
    required_text,
};
use olmguard_catalog::word_set;
use olmguard_engine::explain::{self, Answer, answer_unasked, not_judged};
use olmguard_engine::extension::{
    Extension, Filter, FilterError, FilterProblem, Identity, Installed, Json, RecognisedObject,
    Shape, UnknownCause,
};
use olmguard_engine::judge::{
    Basis, Edit, Exemption, Requester, Ruling, Stop, UnansweredReason, UserInfo, exemption,
};
use olmguard_policy::{Moment, limits};

/// One `AdmissionReview` with a request.
#[derive(Clone, Debug)]
pub struct Review {
    uid: String,
    operation: ReviewOperation,
    is_dry_run: bool,
    user: Option<String>,
    requester: Requester,
    object_uid: Option<String>,
    subject: ReviewSubject,
}

/// The subject of a review.
#[derive(Clone, Debug)]
enum ReviewSubject {
    /// An edit that is not judged, with the object that it is about.
    Exempt(Box<Identity>, Exemption),
    Change(Box<ExtensionEdit>),
}

impl Review {
    /// Reads a review from the bytes of a request body. The caller reads the clock once, when the request arrives, and
    /// uses that moment for everything that follows from the review.
    pub fn from_bytes(body: &[u8], at: Moment) -> Result<Self, ReviewError> {
        let body = decode(body)?;
        Self::kept(&body.review, body.filters, at)
    }

    /// Reads a review that is already JSON.
    ///
    /// Unknown fields are ignored. A review of anything but an edit of an extension is valid too: its answer is that
    /// it is not judged.
    pub fn read(review: &Value, at: Moment) -> Result<Self, ReviewError> {
        Self::kept(review, Filters::Comparable, at)
    }

    fn kept<'a>(review: impl Json<'a>, filters: Filters, at: Moment) -> Result<Self, ReviewError> {
        object(review)?;
        constant(review, "kind", KIND)?;
        constant(review, "apiVersion", API_VERSION)?;
        let request = required_object(review, "request")?;
        let uid = bounded_text(review, "request.uid")?;
        let operation = ReviewOperation::of(required_text(review, "request.operation")?);
        let subresource = optional_text(review, "request.subResource")?;
        let subject = match (operation, subresource) {
            (ReviewOperation::Create | ReviewOperation::Update, "") => {
                let object = required_object(review, "request.object")?;
                edited(operation, (request, object), filters)
            }
            _ => ReviewSubject::Exempt(Box::new(asked(request)), Exemption::Operation),
        };
        Ok(Self {
            uid: uid.to_owned(),
            operation,
            is_dry_run: request.get("dryRun").and_then(Json::as_bool) == Some(true),
            user: user(request),
            requester: requester(request, at),
            object_uid: object_uid(request),
            subject,
        })
    }

    /// The UID of the review.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The user and the time of the request, as upgrade policies read them.
    pub fn requester(&self) -> &Requester {
        &self.requester
    }

    /// The operation on the object.
    pub fn operation(&self) -> ReviewOperation {
        self.operation
    }

    /// Whether the request is a dry run, so the API server will not persist the object.
    pub fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    /// The object under review, as far as it can be identified.
    pub fn identity(&self) -> &Identity {
        match &self.subject {
            ReviewSubject::Exempt(identity, _) => identity,
            ReviewSubject::Change(change) => &change.new.identity,
        }
    }

    /// `metadata.uid` of the object, if it has one.
    pub fn object_uid(&self) -> Option<&str> {
        self.object_uid.as_deref()
    }

    /// The new state of the extension; `None` if there is nothing to judge.
    pub fn extension(&self) -> Option<&Extension> {
        match &self.subject {
            ReviewSubject::Exempt(..) => None,
            ReviewSubject::Change(change) => Some(&change.new),
        }
    }

    /// The user name that the API server reports: `userInfo.username`.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Judges the review. The API server validates an object against the CRD before it calls a webhook, so the rules
    /// of the CRD are not repeated.
    pub fn answer(&self, basis: Basis<'_>) -> Answer {
        self.judged(|edit| explain::answer(basis, edit))
    }

    /// Like [`Self::answer`], and also returns the names of all successors: [`explain::answer_with_successors`].
    pub fn answer_with_successors(&self, basis: Basis<'_>) -> (Answer, Option<Vec<String>>) {
        match self.edit() {
            Err(exemption) => (not_judged(exemption), None),
            Ok(edit) => explain::answer_with_successors(basis, &edit),
        }
    }

    /// Like [`Self::answer`], for a caller with a deadline: [`explain::answer_until`].
    pub fn answer_until(
        &self,
        basis: Basis<'_>,
        stop: &Stop,
        refused: impl FnOnce(Answer),
    ) -> Answer {
        self.judged(|edit| explain::answer_until(basis, edit, stop, refused))
    }

    /// The answer to an edit that is never judged, whatever the catalogs contain; it needs no catalog.
    pub fn settled(&self) -> Option<Answer> {
        match self.edit() {
            Err(exemption) => Some(not_judged(exemption)),
            Ok(edit) => {
                let exemption = exemption(&edit).filter(|exempt| !exempt.takes_catalogs())?;
                Some(answer_unasked(&edit, Ruling::NotJudged(exemption)))
            }
        }
    }

    /// The answer if time or room to judge the review was missing.
    ///
    /// Edits that are never judged stay so: label edits and removals of finalizers are not held up. The same is true
    /// of changes of `spec.config`, which are denied only for known faults.
    pub fn unanswered(&self, cause: UnansweredReason) -> Answer {
        self.judged(|edit| {
            let exempt = exemption(edit).filter(|exempt| *exempt != Exemption::Stricter);
            let ruling = exempt.map_or(Ruling::Unanswered(cause), Ruling::NotJudged);
            answer_unasked(edit, ruling)
        })
    }

    fn judged(&self, answer: impl FnOnce(&Edit<'_>) -> Answer) -> Answer {
        self.edit().map_or_else(not_judged, |edit| answer(&edit))
    }

    /// The edit to judge, or why there is none. The CRD's rules are not repeated, because the API server checks them
    /// first.
    fn edit(&self) -> Result<Edit<'_>, &Exemption> {
        match &self.subject {
            ReviewSubject::Exempt(_, exemption) => Err(exemption),
            ReviewSubject::Change(change) => Ok(Edit {
                new: &change.new,
                old: change.old.as_ref(),
                installed: &change.new.installed,
                schema: &[],
                requester: &self.requester,
            }),
        }
    }
}

/// Reads a creation or an update of an object of any kind.
fn edited<'a, J: Json<'a>>(
    operation: ReviewOperation,
    (request, object): (J, J),
    filters: Filters,
) -> ReviewSubject {
    let (mut identity, recognised) = identify(object, request);
    identity.name = identity.name.or_else(|| name(request));
    let exemption = match recognised {
        RecognisedObject::Other => Exemption::Kind,
        RecognisedObject::UnknownVersion => Exemption::UnknownVersion {
            api_version: identity.api_version(),
            kind: identity.kind.clone(),
        },
        RecognisedObject::Extension(shape) => {
            let change =
                ExtensionEdit::read((identity, shape), operation, (request, object), filters);
            return ReviewSubject::Change(Box::new(change));
        }
    };
    ReviewSubject::Exempt(Box::new(identity), exemption)
}

/// Reads the uid of the object. The API server generates it, so a text that is too long is not a uid.
fn object_uid<'a>(request: impl Json<'a>) -> Option<String> {
    let uid = request.at(&["object", "metadata", "uid"])?.as_str()?;
    let is_uid = !uid.is_empty() && uid.len() <= OBJECT_UID;
    is_uid.then(|| uid.to_owned())
}

fn user<'a>(request: impl Json<'a>) -> Option<String> {
    let name = request.get("userInfo")?.get("username")?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Reads the user for upgrade policies. Texts and lists are truncated just beyond the limits of policies, so a value
/// that exceeds a limit still does.
fn requester<'a>(request: impl Json<'a>, at: Moment) -> Requester {
    let info = request.get("userInfo");
    let groups = info.and_then(|info| info.get("groups")?.items());
    let groups = groups.into_iter().flatten().filter_map(Json::as_str);
    let groups = groups.take(limits::SUBJECT_ENTRIES + 1);
    let name = info.and_then(|info| info.get("username")?.as_str());
    Requester {
        user: Some(UserInfo {
            name: name.map(beginning).unwrap_or_default(),
            groups: groups.map(beginning).collect(),
        }),
        at,
    }
}

fn beginning(text: &str) -> String {
    let end = text.ceil_char_boundary(limits::SCOPE_BYTES + 1);
    text.get(..end).unwrap_or(text).to_owned()
}

pub(super) const KIND: &str = "AdmissionReview";

pub(super) const API_VERSION: &str = "admission.k8s.io/v1";

/// The maximum length of an object's uid. The API server generates 36 bytes.
const OBJECT_UID: usize = 64;

// === The edit of an extension in a request: the new object, the old object and the installed bundle ===
//
// Invariant: the installed bundle is read only from the old object, whatever status the new object claims.

/// An edit of an extension.
#[derive(Clone, Debug)]
struct ExtensionEdit {
    new: Extension,
    old: Option<Extension>,
}

impl ExtensionEdit {
    /// Reads the edit of an object with this identity and shape.
    fn read<'a, J: Json<'a>>(
        (identity, shape): (Identity, Shape),
        operation: ReviewOperation,
        (request, object): (J, J),
        filters: Filters,
    ) -> Self {
        let old = match operation {
            ReviewOperation::Update => Some(old_extension(request)),
            ReviewOperation::Create | ReviewOperation::Other => None,
        };
        let new = Extension {
            installed: installed(old.as_ref()),
            ..Extension::requested(identity, shape, object)
        };
        let mut change = Self {
            new,
            old: old.flatten(),
        };
        match filters {
            Filters::Comparable => {}
            Filters::Alike => change.keep_no_entries(),
            Filters::Different => change.tell_apart(),
        }
        change
    }

    /// Drops the entries of both filters, which are equal and too many to keep: the filters differ only in their
    /// texts.
    fn keep_no_entries(&mut self) {
        for extension in [&mut self.new].into_iter().chain(&mut self.old) {
            if let (false, Ok(filter)) = (is_flat(extension.shape), &mut extension.filter) {
                *filter = std::mem::take(filter).too_large();
            }
        }
    }

    /// Marks the old filter as unreadable, because the kept parts of both filters can be equal although the filters
    /// differ. In a flat shape nothing that was omitted counts.
    fn tell_apart(&mut self) {
        if let Some(old) = &mut self.old
            && !(is_flat(old.shape) && is_flat(self.new.shape))
        {
            old.filter = Err(FilterError {
                field: old.fields.prefix().to_owned(),
                problem: FilterProblem::TooLarge {
                    most: Filter::MOST_ENTRIES,
                },
            });
        }
    }
}

/// Whether objects of a shape request at most one channel and select no catalogs.
fn is_flat(shape: Shape) -> bool {
    matches!(shape, Shape::V1Alpha1Flat | Shape::Operator)
}

/// Reads the old object. If it is unreadable, the installed bundle is unknown, which is not a reason to refuse.
fn old_extension<'a>(request: impl Json<'a>) -> Option<Extension> {
    let object = request.get("oldObject").filter(|old| old.is_object())?;
    match identify(object, request) {
        (identity, RecognisedObject::Extension(shape)) => {
            Some(Extension::of(identity, shape, object))
        }
        (_, RecognisedObject::UnknownVersion | RecognisedObject::Other) => None,
    }
}

/// The installed bundle according to the old object, if the operation has one.
fn installed(old: Option<&Option<Extension>>) -> Installed {
    match old {
        None => Installed::Nothing,
        Some(None) => Installed::Unknown(UnknownCause::NoOldObject),
        Some(Some(old)) => old.installed.clone(),
    }
}

// === The operation on the object under review ===

word_set! {
    /// The operation on the object under review.
    pub enum ReviewOperation {
        /// The object is created.
        Create => "CREATE",
        /// The object is updated.
        Update => "UPDATE",
        /// Any other operation, which is never judged.
        Other => "OTHER",
    }
}

impl ReviewOperation {
    pub(super) fn of(word: &str) -> Self {
        let mut known = Self::ALL.into_iter();
        known
            .find(|operation| operation.as_str() == word)
            .unwrap_or(Self::Other)
    }
}
