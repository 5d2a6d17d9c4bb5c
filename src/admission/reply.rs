//! What goes back to the API server: a review with a response, and never the request.
//!
//! A refusal has code 403 and reason Forbidden, both set: kubectl hides the message of Invalid (422)
//! and tries again after a Conflict (409).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::admission::annotations::annotations;
use crate::admission::review::{API_VERSION, KIND, Review};
use crate::explain::{Answer, let_through};
use crate::extension::Identity;
use crate::judge::Verdict;

/// What becomes of an edit that the facts do not tell about.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum OnUndecided {
    /// It is allowed, and a warning says so.
    #[default]
    Warn,
    /// It is refused.
    Deny,
}

/// An `AdmissionReview` with a response, ready to be written as JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
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
struct Status {
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
    field: String,
}

/// What the API server is told to do.
enum Outcome {
    Admit,
    AdmitWarned,
    Refuse,
}

impl Review {
    /// The reply that carries this answer.
    pub fn reply(&self, answer: &Answer, on_undecided: OnUndecided) -> Reply {
        let outcome = Outcome::of(answer.verdict, on_undecided);
        let status = match outcome {
            Outcome::Refuse => Some(Status::of(self.identity(), answer)),
            Outcome::Admit | Outcome::AdmitWarned => None,
        };
        Reply {
            api_version: API_VERSION,
            kind: KIND,
            response: Response {
                uid: self.uid().to_owned(),
                allowed: status.is_none(),
                status,
                warnings: outcome.warnings(answer),
                audit_annotations: annotations(answer),
            },
        }
    }
}

impl Reply {
    /// Whether the edit goes through.
    pub fn allowed(&self) -> bool {
        self.response.allowed
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

impl Outcome {
    fn of(verdict: Verdict, on_undecided: OnUndecided) -> Self {
        match (verdict, on_undecided) {
            (Verdict::Allow | Verdict::NotJudged, _) => Self::Admit,
            (Verdict::Undecided, OnUndecided::Warn) => Self::AdmitWarned,
            (Verdict::Undecided, OnUndecided::Deny) | (Verdict::Deny, _) => Self::Refuse,
        }
    }

    fn warnings(&self, answer: &Answer) -> Vec<String> {
        let first = match self {
            Self::AdmitWarned => answer.message.as_deref().map(let_through),
            Self::Admit | Self::Refuse => None,
        };
        let others = answer.warnings.iter().cloned();
        first
            .into_iter()
            .chain(others)
            .take(MOST_WARNINGS)
            .collect()
    }
}

impl Status {
    fn of(identity: &Identity, answer: &Answer) -> Self {
        let causes = answer.causes.iter().map(|cause| StatusCause {
            reason: answer.token.as_str(),
            message: cause.message.clone(),
            field: cause.field.clone(),
        });
        Self {
            outcome: "Failure",
            message: answer.message.clone().unwrap_or_default(),
            reason: "Forbidden",
            details: Details {
                name: identity.name.clone(),
                group: identity.group.clone(),
                kind: identity.kind.clone(),
                causes: causes.collect(),
            },
            code: 403,
        }
    }
}

/// The most warnings of one answer: an API server drops what is too much in all.
const MOST_WARNINGS: usize = 5;
