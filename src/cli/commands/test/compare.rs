//! What is expected of an answer, and what it is.

use crate::cli::commands::test::suite::Expectation;
use olmguard_catalog::version::go;
use olmguard_engine::explain::{Answer, one_line, plain};

/// One thing that is not as expected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Difference {
    /// A key of `expect`.
    pub(super) field: &'static str,
    pub(super) expected: String,
    pub(super) found: String,
}

/// Everything that is not as expected.
pub(super) fn differences(expected: &Expectation, answer: &Answer) -> Vec<Difference> {
    let verdict = expected
        .verdict
        .filter(|verdict| *verdict != answer.verdict());
    let verdict =
        verdict.map(|verdict| word("verdict", verdict.as_str(), answer.verdict().as_str()));
    let token = expected.token.filter(|token| *token != answer.token);
    let token = token.map(|token| word("token", token.as_str(), answer.token.as_str()));
    let resolved = expected.resolved.as_ref();
    let resolved = resolved.and_then(|version| self::resolved(version, answer));
    let warnings = expected.warnings.iter();
    let warnings = warnings.flat_map(|texts| warnings_of(texts, answer));
    let message = expected.message.iter();
    let message = message.filter_map(|text| message_of(text, answer));
    let words = verdict.into_iter().chain(token).chain(resolved);
    words.chain(warnings).chain(message).collect()
}

fn word(field: &'static str, expected: &str, found: &str) -> Difference {
    Difference {
        field,
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

fn resolved(version: &str, answer: &Answer) -> Option<Difference> {
    let found = answer.resolved.as_ref().and_then(|_| plain::to(answer));
    let is_it = found.as_deref() == Some(version);
    let found = found.map_or_else(|| "nothing".to_owned(), |found| go::escape(&found));
    (!is_it).then(|| word("resolved", &go::escape(version), &found))
}

fn warnings_of(texts: &[String], answer: &Answer) -> Vec<Difference> {
    let all: Vec<_> = answer
        .warnings
        .iter()
        .map(|warning| one_line(warning))
        .collect();
    let found = match all.as_slice() {
        [] => "no warning".to_owned(),
        all => all.join("; "),
    };
    if texts.is_empty() {
        let is_none = answer.warnings.is_empty();
        return Vec::from_iter((!is_none).then(|| word("warnings", "no warning", &found)));
    }
    let missing = texts
        .iter()
        .filter(|text| !answer.warnings.iter().any(|one| one.contains(*text)));
    let missing = missing.map(|text| {
        word(
            "warnings",
            &format!("a warning with {}", go::quote(text)),
            &found,
        )
    });
    missing.collect()
}

fn message_of(text: &str, answer: &Answer) -> Option<Difference> {
    let message = answer.message.as_deref();
    let has_it = message.is_some_and(|message| message.contains(text));
    let found = match message.and_then(|message| message.lines().next()) {
        Some(first) => one_line(first),
        None => "no message".to_owned(),
    };
    let expected = format!("a message with {}", go::quote(text));
    (!has_it).then(|| word("message", &expected, &found))
}
