//! One text about an edit, for callers that decide by the judgement and need no whole answer.

use crate::explain::facts::MessageFacts;
use crate::explain::message::{self, Lines};
use crate::explain::refusal::{self, RefusalWords};
use crate::explain::text::cut_middle;
use crate::extension::UnknownCause;
use crate::judge::{Edit, Exemption, FoundAdvice, Judgement};
use olmguard_catalog::version::go;

/// Why an edit is refused or undecided, in one sentence; of several causes the first.
pub fn reason(edit: &Edit<'_>, judgement: &Judgement<'_>) -> Option<String> {
    let found = FoundAdvice::default();
    let refusal = RefusalWords::of(&MessageFacts::of(edit, judgement, &found))?;
    let first = refusal.causes.into_iter().next()?;
    Some(first.message)
}

/// The reason at length, as [`Answer::message`](crate::explain::Answer::message) has it.
pub fn message(
    edit: &Edit<'_>,
    judgement: &Judgement<'_>,
    found: &FoundAdvice<'_>,
) -> Option<String> {
    Some(lines(edit, judgement, found)?.text())
}

/// The same at length, in one line.
pub fn line(edit: &Edit<'_>, judgement: &Judgement<'_>, found: &FoundAdvice<'_>) -> Option<String> {
    Some(lines(edit, judgement, found)?.in_one_line())
}

fn lines(edit: &Edit<'_>, judgement: &Judgement<'_>, found: &FoundAdvice<'_>) -> Option<Lines> {
    let facts = MessageFacts::of(edit, judgement, found);
    Some(message::message(&facts, &RefusalWords::of(&facts)?))
}

/// Why it is not known what is installed.
pub fn unknown(cause: &UnknownCause) -> &'static str {
    refusal::unknown(cause)
}

/// Why an edit is not judged, if it is not.
pub fn exemption(judgement: &Judgement<'_>) -> Option<String> {
    judgement.ruled.ruling.exemption().map(why_exempt)
}

/// Why an edit is not judged.
pub(super) fn why_exempt(exemption: &Exemption) -> String {
    match exemption {
        Exemption::Operation => "the request neither creates nor updates the object".to_owned(),
        Exemption::Kind => "not an extension".to_owned(),
        Exemption::UnknownVersion { .. } => "an unknown API version".to_owned(),
        Exemption::Deleting => "it is being deleted".to_owned(),
        Exemption::Unchanged => "what it requests has not changed".to_owned(),
        Exemption::Source(source) => {
            format!(
                "its source is {}, not Catalog",
                cut_middle(&go::escape(source), 40)
            )
        }
        Exemption::Stricter => "it only turns the override off".to_owned(),
    }
}
