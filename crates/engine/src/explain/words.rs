//! One text about an edit, for callers that decide by the judgement and need no whole answer.

use crate::explain::answer::{causes, cited, upstream};
use crate::explain::message::{self, Lines, MessageFacts};
use crate::judge::{Edit, FoundAdvice, Judgement};

/// Why an edit is refused or undecided, in one sentence; of several causes the first.
pub fn reason(edit: &Edit<'_>, judgement: &Judgement<'_>) -> Option<String> {
    let first = |facts: &MessageFacts<'_>| causes(facts).into_iter().next();
    let cause = of_facts(edit, judgement, &FoundAdvice::default(), first)?;
    Some(cause.message)
}

/// The same at length, as [`Answer::message`](crate::explain::Answer::message) has it.
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
    of_facts(edit, judgement, found, message::message)
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
