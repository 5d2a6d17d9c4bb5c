//! What goes back to the API server: a review with a response, and never the request.
//!
//! A refusal has code 403 and reason Forbidden, both set: kubectl hides the message of Invalid (422)
//! and tries again after a Conflict (409).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::admission::annotations::annotations;
use crate::admission::bounded::bounded;
use crate::admission::enforcement::{Consequence, Enforcement, Leave, Outcome};
use crate::admission::object_review::ObjectFault;
use crate::admission::review::{API_VERSION, KIND, Review};
use olmguard_engine::explain::{Answer, let_through, only_observed, warn_first};
use olmguard_engine::extension::Identity;
use olmguard_engine::judge::Token;
use olmguard_views::audit_change::CatalogRefusal;

/// An `AdmissionReview` with a response, ready to be written as JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    #[serde(skip)]
    outcome: Outcome,
    api_version: &'static str,
    kind: &'static str,
    response: Response,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    uid: String,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    audit_annotations: BTreeMap<&'static str, String>,
}

/// The part of a `meta/v1` `Status` that an API server takes from a refusal.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Status {
    #[serde(rename = "status")]
    outcome: &'static str,
    message: String,
    reason: &'static str,
    details: Details,
    code: u16,
}

#[derive(Clone, Debug, Serialize)]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    group: String,
    kind: String,
    causes: Vec<StatusCause>,
}

#[derive(Clone, Debug, Serialize)]
struct StatusCause {
    reason: &'static str,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    field: String,
}

impl Review {
    /// The reply that carries this answer.
    pub fn reply(&self, answer: &Answer, enforcement: Enforcement) -> Reply {
        let course = enforcement.course(answer.verdict);
        let outcome = course.outcome();
        let refused = outcome == Outcome::Refused;
        Reply {
            outcome,
            api_version: API_VERSION,
            kind: KIND,
            response: Response {
                uid: self.uid().to_owned(),
                allowed: !refused,
                status: refused.then(|| Status::of(self.identity(), answer)),
                warnings: warnings(answer, course),
                audit_annotations: annotations(answer),
            },
        }
    }
}

impl Reply {
    /// What the API server is told to do.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// What people are told, in at most so many bytes, of whole lines but for the first: why the edit is refused, or
    /// the warnings.
    pub fn note(&self, most: usize) -> Option<String> {
        let refusal = self.response.status.as_ref();
        let text = match refusal {
            Some(status) => status.message.clone(),
            None => self.response.warnings.join("\n"),
        };
        let mut lines = text.lines();
        let mut note = bounded(lines.next()?, most);
        for line in lines {
            if note.len() + 1 + line.len() > most {
                break;
            }
            note.push('\n');
            note.push_str(line);
        }
        Some(note)
    }

    /// The bytes of the reply's body.
    #[expect(
        clippy::missing_panics_doc,
        reason = "texts and maps of texts are always JSON"
    )]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts, numbers and maps of texts are JSON")
    }
}

/// The most important one first: that the edit goes through all the same.
fn warnings(answer: &Answer, course: Consequence) -> Vec<String> {
    let message = answer.message.as_deref().unwrap_or_default();
    let mut warnings = answer.warnings.clone();
    match course {
        Consequence::LetThrough(Leave::Undecided) => {
            warn_first(&mut warnings, let_through(message));
        }
        Consequence::LetThrough(Leave::Observed) => {
            warn_first(&mut warnings, only_observed(message));
        }
        Consequence::Admit | Consequence::Refuse => {}
    }
    warnings
}

impl Status {
    fn of(identity: &Identity, answer: &Answer) -> Self {
        let causes = answer.causes.iter().map(|cause| StatusCause {
            reason: answer.token.as_str(),
            message: cause.message.clone(),
            field: bounded(&cause.field, FIELD),
        });
        let details = Details {
            name: identity.name.as_deref().map(|name| bounded(name, NAME)),
            group: identity.group.clone(),
            kind: identity.kind.clone(),
            causes: causes.collect(),
        };
        Self::forbidden(answer.message.clone().unwrap_or_default(), details)
    }

    /// The refusal of an object of a group, kind and name.
    pub(super) fn of_object(
        (group, kind, name): (&str, &str, &str),
        faults: &[ObjectFault],
    ) -> Self {
        let name = Some(bounded(name, NAME)).filter(|name| !name.is_empty());
        let causes = faults.iter().map(|fault| StatusCause {
            reason: "FieldValueInvalid",
            message: fault.problem.clone(),
            field: bounded(&fault.field, FIELD),
        });
        let words: Vec<_> = faults.iter().map(ObjectFault::words).collect();
        let named = name.as_deref().unwrap_or("without a name");
        let message = format!("{kind} {named} is not valid: {}", words.join("\n"));
        let details = Details {
            name,
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes: causes.collect(),
        };
        Self::forbidden(message, details)
    }

    /// The refusal of an edit of a catalog of a group, kind and name.
    pub(super) fn of_catalog(
        (group, kind, name): (&str, &str, &str),
        refusal: &CatalogRefusal,
    ) -> Self {
        let causes = refusal.causes.iter().map(|cause| StatusCause {
            reason: Token::Policy.as_str(),
            message: cause.clone(),
            field: String::new(),
        });
        let details = Details {
            name: Some(bounded(name, NAME)).filter(|name| !name.is_empty()),
            group: bounded(group, NAME),
            kind: bounded(kind, NAME),
            causes: causes.collect(),
        };
        Self::forbidden(refusal.message.clone(), details)
    }

    fn forbidden(message: String, details: Details) -> Self {
        Self {
            outcome: "Failure",
            message,
            reason: "Forbidden",
            details,
            code: 403,
        }
    }
}

/// The most bytes of the field that a cause names: its path may hold a key that a user wrote.
pub(super) const FIELD: usize = 200;

/// The most bytes of a name: no object has a longer one.
pub(super) const NAME: usize = 253;
