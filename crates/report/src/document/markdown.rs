//! A document as Markdown, for the comment on a pull request.
//!
//! The first line is an invisible comment by which a bot finds its comment to update it. External
//! texts are formatted as code, which can have no markup, mentions or links. Content beyond the
//! size limit of a comment is omitted from the end of each table, and counted.

use std::fmt::Write as _;

use super::{Content, Document, Head, Piece, Row, Section};
use crate::finding::Finding;
use crate::text::clean;
use olmguard_catalog::version::go::one_line;

impl Document {
    /// Formats the document as a comment.
    pub fn to_markdown(&self) -> String {
        let Self { name, command, .. } = self;
        let result = content(&self.result);
        let mut page = Page::new(format!("<!-- {name} -->\n### {command}: {result}\n"));
        page.all("\n", MESSAGES, self.faults.iter().map(fault));
        for section in &self.sections {
            let rows = section.rows.iter().map(|one| row(one, &section.heads));
            page.all(&head(section), ROWS, rows);
            page.all("\n", section.details, section.rows.iter().filter_map(fold));
        }
        page.finish(command)
    }
}

fn fault(fault: &Finding) -> String {
    let text = code(&fault.text, LONGEST_FAULT);
    format!("- {}: {text}\n", fault.severity)
}

fn head(section: &Section) -> String {
    let heads = section.heads.iter().filter(|head| !head.is_of_pages);
    let heads: Vec<_> = heads.map(|head| head.text.to_lowercase()).collect();
    let rules = vec!["---"; heads.len()];
    format!("\n| {} |\n| {} |\n", heads.join(" | "), rules.join(" | "))
}

fn row(row: &Row, heads: &[Head]) -> String {
    let cells = row.cells.iter().zip(heads);
    let cells = cells.filter(|(_, head)| !head.is_of_pages);
    let cells: Vec<_> = cells
        .map(|(cell, _)| within_a_cell(&content(cell)))
        .collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The collapsed details of a row, if it has any.
fn fold(row: &Row) -> Option<String> {
    let name = row.cells.iter().find_map(Content::first_foreign);
    let lines = row.details.items.iter().map(|(label, text)| match label {
        Some(label) => format!("{label}: {text}"),
        None => text.clone(),
    });
    let lines = lines.map(|lines| clean(&lines));
    let lines: Vec<_> = lines.collect();
    let behind = &row.details.summary;
    (!lines.is_empty()).then(|| folded(name.unwrap_or_default(), behind, &lines.join("\n")))
}

fn content(content: &Content) -> String {
    let pieces = content.0.iter().map(|piece| match piece {
        Piece::Words(words) => words.clone(),
        Piece::Foreign(text) => code(text, LONGEST),
        Piece::Break => "<br>".to_owned(),
    });
    pieces.collect()
}

impl Content {
    fn first_foreign(&self) -> Option<&str> {
        self.0.iter().find_map(|piece| match piece {
            Piece::Foreign(text) => Some(&**text),
            Piece::Words(_) | Piece::Break => None,
        })
    }
}

/// A text that stays within the size limit of a comment.
struct Page {
    text: String,
    /// The number of omitted parts of each kind.
    left_out: Vec<(usize, Noun)>,
}

/// The noun for a part of a page, singular and plural.
type Noun = [&'static str; 2];

impl Page {
    fn new(text: String) -> Self {
        let left_out = Vec::new();
        Self { text, left_out }
    }

    /// Appends these parts, with `begin` before the first. After the first part that does not fit,
    /// nothing more is appended.
    fn all(&mut self, begin: &str, noun: Noun, parts: impl Iterator<Item = String>) {
        let (mut begin, mut left_out) = (begin, 0);
        for part in parts {
            let is_full = self.text.len() + begin.len() + part.len() > LIMIT - ROOM;
            if is_full || left_out > 0 || !self.left_out.is_empty() {
                left_out += 1;
                continue;
            }
            self.text.push_str(begin);
            self.text.push_str(&part);
            begin = "";
        }
        if left_out > 0 {
            self.left_out.push((left_out, noun));
        }
    }

    /// Returns the page. If parts were omitted, it names the command that prints everything.
    fn finish(mut self, command: &str) -> String {
        if let Some(what) = self.omitted() {
            write!(
                self.text,
                "\n{what} omitted because of the size limit; `{command}` prints all.\n"
            )
            .expect("a String takes everything");
        }
        self.text
    }

    /// The omitted parts, with a count for each kind, and the verb.
    fn omitted(&self) -> Option<String> {
        let total: usize = self.left_out.iter().map(|(count, _)| count).sum();
        let counted = self.left_out.iter().map(|(count, [one, many])| {
            let noun = if *count == 1 { one } else { many };
            format!("{count} {noun}")
        });
        let counted: Vec<_> = counted.collect();
        let (last, others) = counted.split_last()?;
        let what = match others {
            [] => last.clone(),
            others => format!("{} and {last}", others.join(", ")),
        };
        Some(format!("{what} {}", if total == 1 { "is" } else { "are" }))
    }
}

/// Formats a text that is collapsed behind a name, and shown verbatim.
fn folded(name: &str, behind: &str, body: &str) -> String {
    let fence = "`".repeat(longest_run(body).max(2) + 1);
    let name = html(&cut(&one_line(name), LONGEST));
    format!(
        "<details><summary><code>{name}</code>: {behind}</summary>\n\n\
         {fence}text\n{body}\n{fence}\n\n</details>\n"
    )
}

/// Formats a text as inline code.
fn code(text: &str, longest: usize) -> String {
    let text = cut(&one_line(text), longest);
    if text.is_empty() {
        return text;
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let is_edge = |edge: Option<char>| matches!(edge, Some('`' | ' '));
    // Markdown removes a space from each end, unless there are only spaces.
    let has_edge = text.contains(|character| character != ' ')
        && (is_edge(text.chars().next()) || is_edge(text.chars().next_back()));
    let gap = if has_edge { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

/// Escapes bars, which end a cell of a table, in code too, unless an odd number of backslashes
/// precedes them.
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

/// The size limit of a comment at GitHub in characters; a text never has fewer bytes. GitLab's
/// limit is a million.
const LIMIT: usize = 65_536;

/// Room for the line with the counts of omitted parts.
const ROOM: usize = 240;

/// Parts of every document: messages about unreadable input, and rows of a table.
const MESSAGES: Noun = ["message", "messages"];
const ROWS: Noun = ["row of the table", "rows of the table"];

/// Maximum number of characters of a text in a cell, and of a message about unreadable input.
const LONGEST: usize = 200;
const LONGEST_FAULT: usize = 1000;
