//! The review of a `ClusterCatalog`: its edit and its reply. The effects of the edit are checked elsewhere.

use serde_json::value::RawValue;

use crate::ReviewError;
use crate::object_review::{ObjectRequest, is_leaving, parsed_object};
use crate::reply::{Enforcement, ReplyStatus, ReviewOutcome, object_reply};
use olmguard_engine::explain::{only_observed_of_catalog, warn_first};
use olmguard_engine::judge::Verdict;
use olmguard_engine::snapshot::{CatalogEdit, CatalogState};
use olmguard_views::audit_change::CatalogRefusal;

/// A review of a catalog.
#[derive(Clone, Debug)]
pub struct CatalogReview {
    uid: String,
    group: String,
    kind: String,
    subject: CatalogSubject,
}

/// The subject of a review.
#[derive(Clone, Debug)]
pub enum CatalogSubject {
    /// Nothing that affects resolution: another kind, a subresource such as the status, an object that is already
    /// being deleted, or an edit that changes nothing relevant.
    Idle,
    /// An edit that cannot be read, with the reason.
    Unreadable(String),
    /// An edit.
    Edit(Box<CatalogEdit>),
}

impl CatalogReview {
    /// Reads a review and its objects from the bytes of a request body.
    ///
    /// # Errors
    /// If the body is not a review.
    pub fn from_bytes(body: &[u8]) -> Result<Self, ReviewError> {
        let request = ObjectRequest::read(body)?;
        let subject = CatalogSubject::of(&request).unwrap_or_else(CatalogSubject::Unreadable);
        Ok(Self {
            subject,
            uid: request.uid.into_owned(),
            group: request.kind.group.into_owned(),
            kind: request.kind.kind.into_owned(),
        })
    }

    /// The uid of the review.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The subject of the review.
    pub fn subject(&self) -> &CatalogSubject {
        &self.subject
    }

    /// The name of the edited catalog; empty if it is unknown or if nothing is edited.
    pub fn catalog(&self) -> &str {
        match &self.subject {
            CatalogSubject::Edit(edit) => edit.name(),
            CatalogSubject::Idle | CatalogSubject::Unreadable(_) => "",
        }
    }

    /// Returns the body of a reply that allows the edit with these warnings.
    pub fn allowed(&self, warnings: &[String]) -> Vec<u8> {
        object_reply(&self.uid, None, warnings)
    }

    /// Returns the body of the reply to an edit that upgrade policies deny: a refusal, or in `Observe` mode a warning.
    pub fn denied(
        &self,
        refusal: &CatalogRefusal,
        warnings: &[String],
        enforcement: Enforcement,
    ) -> Vec<u8> {
        match enforcement.outcome(Verdict::Deny) {
            ReviewOutcome::Refused => {
                let named = (&*self.group, &*self.kind, self.catalog());
                let status = ReplyStatus::of_catalog(named, refusal);
                object_reply(&self.uid, Some(status), warnings)
            }
            ReviewOutcome::Admitted | ReviewOutcome::LetThrough => {
                let mut warnings = warnings.to_vec();
                warn_first(&mut warnings, only_observed_of_catalog(&refusal.message));
                self.allowed(&warnings)
            }
        }
    }
}

/// The API version of `ClusterCatalog` that is read.
const VERSION: &str = "v1";

impl CatalogSubject {
    fn of(request: &ObjectRequest<'_>) -> Result<Self, String> {
        let (has_old, has_new) = match &*request.operation {
            "CREATE" => (false, true),
            "UPDATE" => (true, true),
            "DELETE" => (true, false),
            _ => return Ok(Self::Idle),
        };
        let api_version = format!("{}/", request.kind.group);
        let is_catalog = CatalogState::is_described_by(&api_version, &request.kind.kind);
        // Fields of other versions may have another meaning.
        if !is_catalog || request.kind.version != VERSION || !request.is_whole() {
            return Ok(Self::Idle);
        }
        let object = |is_there: bool, object: Option<&RawValue>| {
            is_there.then(|| parsed_object(object)).transpose()
        };
        let old = object(has_old, request.old_object)?;
        let new = object(has_new, request.object)?;
        // A DELETE has only an old object.
        if new.as_ref().or(old.as_ref()).is_some_and(is_leaving) {
            return Ok(Self::Idle);
        }
        let edit = CatalogEdit::read(old.as_ref(), new.as_ref());
        let edit = edit.map_err(|error| error.to_string())?;
        Ok(if edit.is_idle() {
            Self::Idle
        } else {
            Self::Edit(Box::new(edit))
        })
    }
}
