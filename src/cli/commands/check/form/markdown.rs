//! Results as Markdown for the comment of a pull request: a table with a row for each extension, and
//! folded away what was said of each that has something to say.
//!
//! The first line is a comment that no one sees, by which a bot finds the comment to write anew. If not all has room,
//! what counts as good is left out first.

use crate::cli::commands::check::form::{CheckedExtension, Run};
use crate::cli::commands::check::trouble::{Trouble, Weight};
use crate::cli::output::markdown::{
    LONGEST, LONGEST_TROUBLE, MESSAGES, Noun, Page, ROWS, code, folded,
};
use olmguard_engine::explain::{one_line, plain};

/// The comment.
pub(in crate::cli::commands::check) fn markdown(run: &Run<'_>) -> String {
    let (bad, good): (Vec<_>, Vec<_>) = run.shown().partition(|told| told.is_bad());
    let shown: Vec<_> = bad.into_iter().chain(good).collect();
    let mut page = Page::new(&format!("{MARKER}\n### olmguard check: {}\n", run.summary));
    page.all("\n", MESSAGES, run.troubles_shown().map(trouble));
    page.all(TABLE, ROWS, shown.iter().map(|told| row(told)));
    page.all("\n", DETAILS, shown.iter().filter_map(|told| fold(told)));
    page.finish("olmguard check")
}

fn trouble(trouble: &Trouble) -> String {
    let word = match trouble.weight {
        Weight::Error => "error",
        Weight::Warning => "warning",
        Weight::Note => "note",
    };
    format!("- {word}: {}\n", code(&trouble.line(), LONGEST_TROUBLE))
}

fn row(told: &CheckedExtension<'_>) -> String {
    let verdict = plain::past(told.answer.verdict);
    let name = code(&told.name(), LONGEST);
    let place = code(&told.case.place.to_string(), LONGEST);
    let answer = code(told.token(), LONGEST);
    let cells = [
        plain::from(told.answer),
        plain::to(told.answer),
        plain::remedy(told.answer),
    ];
    let [from, to, remedy] = cells.map(|cell| code(&cell.unwrap_or_default(), LONGEST));
    format!("| {verdict} | {name}<br>{place} | {from} | {to} | {answer} | {remedy} |\n")
}

/// What was said of one; nothing where that says no more than its row.
fn fold(told: &CheckedExtension<'_>) -> Option<String> {
    let mut lines = vec![one_line(&told.case.place.to_string())];
    if told.answer.message.is_some() {
        lines.push(told.text());
    }
    lines.extend(told.warnings().map(|warning| format!("warning: {warning}")));
    (lines.len() > 1).then(|| folded(&told.name(), told.token(), &lines.join("\n")))
}

/// What is folded away of an extension.
const DETAILS: Noun = ["block of details", "blocks of details"];

/// By this a bot finds its comment again.
const MARKER: &str = "<!-- olmguard check -->";

const TABLE: &str = "
| verdict | extension | from | to | answer | what to do |
| --- | --- | --- | --- | --- | --- |
";
