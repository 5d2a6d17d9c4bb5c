//! The reply to the API server: a review with a response and without the request.
//!
//! A refusal has both code 403 and reason Forbidden: kubectl hides the message of Invalid (422) and retries after a
//! Conflict (409).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::review::{API_VERSION, KIND, Review};
use olmguard_catalog::version::go;
use olmguard_catalog::word_set;
use olmguard_engine::explain::{Answer, ResolvedBundle, let_through, only_observed, warn_first};
use olmguard_engine::extension::{Identity, InstalledBundle};
use olmguard_engine::judge::{Token, Verdict};
use olmguard_views::audit_change::CatalogRefusal;

/// The reply to a review, ready to be written as JSON.
#[derive(Clone, Debug)]
pub struct Reply<'a> {
    outcome: ReviewOutcome,
    response: Response<'a>,
}

/// An `AdmissionReview` with a response.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: &'a Response<'a>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<ReplyStatus<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: Cow<'a, [String]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: BTreeMap<&'static str, Cow<'a, str>>,
}

/// The part of a `meta/v1` `Status` that an API server reads from a refusal.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReplyStatus<'a> {
    #[serde(rename = "status")]
    outcome: &'static str,
    message: Cow<'a, str>,
    reason: &'static str,
    details: Details<'a>,
    code: u16,
}

#[derive(Clone, Debug, Serialize)]
struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    group: Cow<'a, str>,
    kind: Cow<'a, str>,
    causes: Vec<StatusCause<'a>>,
}

#[derive(Clone, Debug, Serialize)]
struct StatusCause<'a> {
    reason: &'static str,
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    field: Cow<'a, str>,
}

impl Review {
    /// Returns the reply that carries this answer.
    pub fn reply<'a>(&'a self, answer: &'a Answer, enforcement: Enforcement) -> Reply<'a> {
        let outcome = enforcement.outcome(answer.verdict());
        let refused = outcome == ReviewOutcome::Refused;
        Reply {
            outcome,
            response: Response {
                uid: self.uid(),
                allowed: !refused,
                status: refused.then(|| ReplyStatus::of(self.identity(), answer)),
                warnings: enforcement.warnings(answer),
                audit_annotations: annotations(answer),
            },
        }
    }
}

impl Reply<'_> {
    /// The instruction to the API server.
    pub fn outcome(&self) -> ReviewOutcome {
        self.outcome
    }

    /// Returns the text that users see, in at most `most` bytes: the reason for the refusal, or the warnings. Lines
    /// are kept whole, except the first.
    pub fn note(&self, most: usize) -> Option<String> {
        let refusal = self.response.status.as_ref();
        let text = match refusal {
            Some(status) => Cow::Borrowed(&*status.message),
            None => Cow::Owned(self.response.warnings.join("\n")),
        };
        let mut lines = text.lines();
        let mut note = bounded(lines.next()?, most).into_owned();
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
    pub fn to_bytes(&self) -> Vec<u8> {
        self.response.to_bytes()
    }
}

/// Returns the body of the reply to the review of an object that is read whole. A status means that the object is
/// refused.
pub(super) fn object_reply(
    uid: &str,
    status: Option<ReplyStatus<'_>>,
    warnings: &[String],
) -> Vec<u8> {
    let response = Response {
        uid,
        allowed: status.is_none(),
        status,
        warnings: warnings.into(),
        audit_annotations: BTreeMap::new(),
    };
    response.to_bytes()
}

impl Response<'_> {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size());
        let envelope = Envelope {
            api_version: API_VERSION,
            kind: KIND,
            response: self,
        };
        serde_json::to_writer(&mut bytes, &envelope)
            .expect("texts, numbers and maps of texts are JSON");
        bytes
    }

    /// The approximate size in bytes, if little text needs escaping.
    fn size(&self) -> usize {
        let status = self.status.as_ref().map_or(0, ReplyStatus::size);
        let warnings = self.warnings.iter().map(String::len).sum::<usize>();
        let annotations = self.audit_annotations.values().map(|value| value.len());
        FRAME + status + warnings + annotations.sum::<usize>()
    }
}

impl<'a> ReplyStatus<'a> {
    fn of(identity: &'a Identity, answer: &'a Answer) -> Self {
        let causes = answer.causes.iter().map(|cause| StatusCause {
            reason: answer.token.as_str(),
            message: (&*cause.message).into(),
            field: bounded(&*cause.field, FIELD),
        });
        let details = Details {
            name: identity.name.as_deref().map(|name| bounded(name, NAME)),
            group: (&*identity.group).into(),
            kind: (&*identity.kind).into(),
            causes: causes.collect(),
        };
        Self::forbidden(
            answer.message.as_deref().unwrap_or_default().into(),
            details,
        )
    }

    /// Builds the refusal of the object with this group, kind and name.
    pub(super) fn of_object(
        (group, kind, name): (&'a str, &'a str, &str),
        faults: &[InvalidField],
    ) -> Self {
        let name = Some(bounded(name.to_owned(), NAME)).filter(|name| !name.is_empty());
        let causes = faults.iter().map(|fault| StatusCause {
            reason: "FieldValueInvalid",
            message: fault.problem.clone().into(),
            field: bounded(fault.field.clone(), FIELD),
        });
        let words: Vec<_> = faults.iter().map(InvalidField::words).collect();
        let named = name.as_deref().unwrap_or("without a name");
        let message = format!("{kind} {named} is not valid: {}", words.join("\n"));
        let details = Details {
            name,
            group: group.into(),
            kind: kind.into(),
            causes: causes.collect(),
        };
        Self::forbidden(message.into(), details)
    }

    /// Builds the refusal of an edit of the catalog with this group, kind and name.
    pub(super) fn of_catalog(
        (group, kind, name): (&'a str, &'a str, &'a str),
        refusal: &'a CatalogRefusal,
    ) -> Self {
        let causes = refusal.causes.iter().map(|cause| StatusCause {
            reason: Token::Policy.as_str(),
            message: cause.into(),
            field: "".into(),
        });
        let details = Details {
            name: Some(bounded(name, NAME)).filter(|name| !name.is_empty()),
            group: bounded(group, NAME),
            kind: bounded(kind, NAME),
            causes: causes.collect(),
        };
        Self::forbidden((&*refusal.message).into(), details)
    }

    fn size(&self) -> usize {
        let causes = self.details.causes.iter();
        let causes = causes.map(|cause| FRAME / 4 + cause.message.len() + cause.field.len());
        FRAME + self.message.len() + causes.sum::<usize>()
    }

    fn forbidden(message: Cow<'a, str>, details: Details<'a>) -> Self {
        Self {
            outcome: "Failure",
            message,
            reason: "Forbidden",
            details,
            code: 403,
        }
    }
}

/// The approximate size in bytes of a reply without its texts; a status adds it a second time.
const FRAME: usize = 384;

/// The maximum length in bytes of a field in a cause: its path may contain a key that a user wrote.
pub(super) const FIELD: usize = 200;

/// The maximum length in bytes of a name. No object has a longer one.
pub(super) const NAME: usize = 253;

/// An invalid field and its problem.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct InvalidField {
    pub(super) field: String,
    pub(super) problem: String,
    /// The line of the field's text, with a caret below the place.
    pub(super) pointed_at: Option<String>,
}

impl InvalidField {
    pub(super) fn new(field: String, problem: String) -> Self {
        Self {
            field,
            problem,
            pointed_at: None,
        }
    }

    /// Returns the field, the problem and the place as text.
    pub(super) fn words(&self) -> String {
        let field = match bounded(&*self.field, FIELD) {
            field if field.is_empty() => String::new(),
            field => format!("{field}: "),
        };
        match &self.pointed_at {
            None => format!("{field}{}", self.problem),
            Some(pointed_at) => format!("{field}{}\n{pointed_at}", self.problem),
        }
    }
}

// === Annotations for the audit log: the same keys on every answer, with bounded values ===
//
// Upstream: the API server puts the name of the webhook before each key and accepts any value. Annotations are logged
// with every edit, so these values have no control characters and at most [`LONGEST`] bytes.

/// Returns the annotations of an answer, by key.
pub fn annotations(answer: &Answer) -> BTreeMap<&'static str, Cow<'_, str>> {
    let next = &answer.advice.allowed_next;
    let installed = answer.installed.as_ref().map(InstalledBundle::line);
    let resolved = answer.resolved.as_ref().map(ResolvedBundle::line);
    let catalog = answer.catalog.as_ref();
    let digest = catalog.and_then(|catalog| catalog.digest.as_deref());
    let known: [(_, Option<Cow<'_, str>>); 7] = [
        ("verdict", Some(answer.verdict().as_str().into())),
        ("token", Some(answer.token.as_str().into())),
        ("installed", installed.map(Cow::Owned)),
        ("resolved", resolved.map(Cow::Owned)),
        ("next", (!next.is_empty()).then(|| list(next).into())),
        (
            "catalog",
            catalog.map(|catalog| Cow::Borrowed(&*catalog.name)),
        ),
        ("digest", digest.map(Cow::Borrowed)),
    ];
    let known = known.into_iter();
    known
        .filter_map(|(key, value)| Some((key, bounded(value?, LONGEST))))
        .collect()
}

/// Joins the items that fit, followed by `...` if some do not.
fn list(items: &[String]) -> String {
    let mut list = String::new();
    for item in items {
        let gap = if list.is_empty() { "" } else { "," };
        if list.len() + gap.len() + item.len() + CUT.len() >= LONGEST {
            return format!("{list}{gap}{CUT}");
        }
        list.push_str(gap);
        list.push_str(item);
    }
    list
}

/// The maximum length of a value in bytes.
pub(super) const LONGEST: usize = 256;

// === Texts of users, bounded and on one line, because an API server logs and stores each reply ===

/// Returns at most `most` bytes of a text, escaped, with "..." at the end if it was truncated.
///
/// The omitted part is not escaped first, because a text can be as long as a whole request.
pub(super) fn bounded<'a>(text: impl Into<Cow<'a, str>>, most: usize) -> Cow<'a, str> {
    let text = text.into();
    if text.len() <= most && go::is_plain(&text) {
        return text;
    }
    Cow::Owned(escaped(&text, most))
}

fn escaped(text: &str, most: usize) -> String {
    let escaped = go::escape(start(text, most));
    if text.len() <= most && escaped.len() <= most {
        return escaped;
    }
    format!("{}{CUT}", start(&escaped, most - CUT.len()))
}

fn start(text: &str, most: usize) -> &str {
    let end = text.floor_char_boundary(most);
    text.get(..end).unwrap_or_default()
}

pub(super) const CUT: &str = "...";

// === The consequence of a verdict: whether the server denies, and its warning if it does not ===

/// The configuration of how verdicts are enforced.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Enforcement {
    /// Whether edits are refused at all.
    pub mode: Mode,
    /// The consequence for an undecided edit.
    pub on_undecided: OnUndecided,
}

/// Whether edits are refused.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Edits are refused.
    #[default]
    Enforce,
    /// No edit is refused. A warning reports the edits that would be.
    Observe,
}

/// The consequence for an edit that the facts are not sufficient to decide.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnUndecided {
    /// The edit is allowed with a warning.
    #[default]
    Warn,
    /// The edit is refused.
    Deny,
}

word_set! {
    /// The instruction to the API server.
    pub enum ReviewOutcome {
        /// The edit is admitted: nothing forbids it, or it is not judged.
        Admitted => "admitted",
        /// The edit is admitted with a warning, although it is undecided, or denied in `Observe` mode.
        LetThrough => "let_through",
        /// The edit is refused.
        Refused => "refused",
    }
}

impl Enforcement {
    /// The outcome of an edit with this verdict.
    pub(super) fn outcome(self, verdict: Verdict) -> ReviewOutcome {
        match (verdict, self.mode) {
            (Verdict::Allow | Verdict::NotJudged, _) => ReviewOutcome::Admitted,
            (Verdict::Undecided, _) if self.on_undecided == OnUndecided::Warn => {
                ReviewOutcome::LetThrough
            }
            (Verdict::Undecided | Verdict::Deny, Mode::Observe) => ReviewOutcome::LetThrough,
            (Verdict::Undecided | Verdict::Deny, Mode::Enforce) => ReviewOutcome::Refused,
        }
    }

    /// The warnings, the most important one first: that the edit is allowed although it is not judged as allowed.
    fn warnings(self, answer: &Answer) -> Cow<'_, [String]> {
        let verdict = answer.verdict();
        if self.outcome(verdict) != ReviewOutcome::LetThrough {
            return Cow::Borrowed(&answer.warnings);
        }
        let first = match (verdict, self.on_undecided) {
            (Verdict::Undecided, OnUndecided::Warn) => let_through(answer),
            _ => only_observed(answer),
        };
        let mut warnings = answer.warnings.clone();
        warn_first(&mut warnings, first);
        Cow::Owned(warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_room_for_what_says_that_more_follows() {
        let most = "x".repeat(LONGEST - CUT.len() - 1);
        let more = format!("{most}x");
        for (items, expected) in [
            (vec![&most], most.clone()),
            (vec![&most, &more], format!("{most},{CUT}")),
            (vec![&more], CUT.to_owned()),
        ] {
            let items: Vec<_> = items.into_iter().cloned().collect();
            assert_eq!(list(&items), expected);
        }
    }

    #[test]
    fn a_text_past_its_limit_is_cut_at_a_character() {
        for (text, expected) in [
            ("", ""),
            ("abcdefgh", "abcdefgh"),
            ("abcdefghi", "abcde..."),
            ("ääää", "ääää"),
            ("äääää", "ää..."),
            ("a\n\u{1b}", "a\\n\\x1b"),
            ("a\n\n\u{1b}", "a\\n\\n..."),
            ("\u{10ffff}", "\\U001..."),
        ] {
            assert_eq!(bounded(text, 8), expected, "{text:?}");
        }
        assert_eq!(bounded("ä".repeat(1 << 20), 9), "äää...");
    }
}
