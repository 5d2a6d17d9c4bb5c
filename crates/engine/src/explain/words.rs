//! One text about an edit, for callers that decide by the judgement and need no whole answer.

use crate::explain::answer::{self, causes, cited, upstream};
use crate::explain::exempt;
use crate::explain::message::{self, Lines, MessageFacts};
use crate::explain::refusal::installed;
use crate::extension::UnknownCause;
use crate::judge::{Edit, FoundAdvice, Judgement};

/// Why an edit is refused or undecided, in one sentence; of several causes the first.
pub fn reason(edit: &Edit<'_>, judgement: &Judgement<'_>) -> Option<String> {
    let first = |facts: &MessageFacts<'_>| causes(facts).into_iter().next();
    let cause = of_facts(edit, judgement, &FoundAdvice::default(), first)?;
    Some(cause.message)
}

/// Why an edit is not judged, if it is not.
pub fn exemption(judgement: &Judgement<'_>) -> Option<String> {
    answer::exemption(&judgement.ruled.ruling).map(exempt::why)
}

/// Why it is not known what is installed.
pub fn unknown(cause: &UnknownCause) -> &'static str {
    installed::reason(cause)
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
    of_facts(edit, judgement, found, |facts| {
        message::message(facts, message::lacking(facts).as_deref())
    })
}

fn of_facts<T>(
    edit: &Edit<'_>,
    judgement: &Judgement<'_>,
    found: &FoundAdvice<'_>,
    words: impl FnOnce(&MessageFacts<'_>) -> T,
) -> T {
    let upstream = upstream(edit, judgement);
    words(&MessageFacts {
        extension: edit.new,
        request: edit.request().as_ref(),
        judgement,
        advice: &found.advice,
        dead_end: found.dead_end.as_ref(),
        catalog: cited(judgement),
        upstream: upstream.as_deref(),
    })
}
