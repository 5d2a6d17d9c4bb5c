//! Results as Markdown for the comment of a pull request: a table with a row for each extension, and
//! folded away what was said of each that has something to say.
//!
//! The first line is a comment that nobody sees, by which a bot finds the comment to write anew. Texts of
//! others stand in code, which holds neither markup nor mentions nor links. What is more than a comment
//! may hold is left out, and counted: what counts as good goes first.

use std::fmt::Write as _;

use crate::cli::commands::check::form::{CheckedExtension, Run};
use crate::cli::commands::check::trouble::{Trouble, Weight};
use olmguard_engine::explain::{one_line, plain};

/// The comment.
pub(in crate::cli::commands::check) fn markdown(run: &Run<'_>) -> String {
    let (bad, good): (Vec<_>, Vec<_>) = run.shown().partition(|told| told.is_bad());
    let shown: Vec<_> = bad.into_iter().chain(good).collect();
    let mut page = Page::new(&format!("{MARKER}\n### olmguard check: {}\n", run.summary));
    page.all("\n", run.troubles_shown().map(trouble));
    page.all(TABLE, shown.iter().map(|told| row(told)));
    page.all("\n", shown.iter().filter_map(|told| fold(told)));
    page.finish()
}

/// A text that keeps within what a comment may hold.
struct Page {
    text: String,
    left_out: usize,
}

impl Page {
    fn new(begin: &str) -> Self {
        let text = begin.to_owned();
        Self { text, left_out: 0 }
    }

    /// Adds these parts after a beginning, where there is one. After the first that finds no room
    /// nothing more is added.
    fn all(&mut self, begin: &str, parts: impl Iterator<Item = String>) {
        let mut begin = begin;
        for part in parts {
            let is_full = self.text.len() + begin.len() + part.len() > LIMIT - ROOM;
            if is_full || self.left_out > 0 {
                self.left_out += 1;
                continue;
            }
            self.text.push_str(begin);
            self.text.push_str(&part);
            begin = "";
        }
    }

    fn finish(mut self) -> String {
        if self.left_out > 0 {
            let (count, is) = (self.left_out, if self.left_out == 1 { "is" } else { "are" });
            write!(
                self.text,
                "\n{count} more {is} omitted because of the size limit; `olmguard check` prints \
                 all.\n"
            )
            .expect("a String takes everything");
        }
        self.text
    }
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
    let body = lines.join("\n");
    let fence = "`".repeat(longest_run(&body).max(2) + 1);
    let (name, token) = (html(&cut(&one_line(&told.name()), LONGEST)), told.token());
    (lines.len() > 1).then(|| {
        format!(
            "<details><summary><code>{name}</code>: {token}</summary>\n\n\
             {fence}text\n{body}\n{fence}\n\n</details>\n"
        )
    })
}

/// A text as code within a line, in a table or not.
fn code(text: &str, longest: usize) -> String {
    let text = cut(&one_line(text), longest);
    if text.is_empty() {
        return text;
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let is_edge = |edge: Option<char>| matches!(edge, Some('`' | ' '));
    // Markdown takes a space from each edge, unless there is nothing but spaces.
    let has_edge = text.contains(|character| character != ' ')
        && (is_edge(text.chars().next()) || is_edge(text.chars().next_back()));
    let gap = if has_edge { " " } else { "" };
    format!("{fence}{gap}{}{gap}{fence}", within_a_cell(&text))
}

/// A bar ends a cell, in code too, unless an odd number of backslashes stands before it.
fn within_a_cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    let mut is_odd = false;
    for character in text.chars() {
        if character == '|' {
            cell.push_str(if is_odd { "\\\\" } else { "\\" });
        }
        is_odd = character == '\\' && !is_odd;
        cell.push(character);
    }
    cell
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`');
    runs.map(str::len).max().unwrap_or_default()
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// By this a bot finds its comment again.
const MARKER: &str = "<!-- olmguard check -->";

const TABLE: &str = "
| verdict | extension | from | to | answer | what to do |
| --- | --- | --- | --- | --- | --- |
";

/// As many characters as a comment may have at GitHub; bytes are never fewer. At GitLab it is a million.
const LIMIT: usize = 65_536;

/// For the line that counts what is left out.
const ROOM: usize = 120;

/// How many characters of a text stand in a cell, and of what could not be read.
const LONGEST: usize = 200;
const LONGEST_TROUBLE: usize = 1000;
