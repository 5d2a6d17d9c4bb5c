//! A report as a whole: its result, what could not be read, and tables with a row for each thing, whose details are
//! folded away.
//!
//! ```text
//! Document { result, faults, totals, sections: [Section { heads, rows: [Row { cells, details }] }] }
//! ```
//!
//! All texts are as they were read: each form escapes what it must.

mod html;
mod markdown;
#[cfg(test)]
mod tests;

use crate::finding::Finding;
use crate::text::Tone;

/// A report with tables.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its kind: by this a bot finds its comment again.
    pub name: &'static str,
    /// The command that prints it.
    pub command: &'static str,
    /// What is found, in a line.
    pub result: Content,
    /// What could not be read, and what else is worth knowing of the run.
    pub faults: Vec<Finding>,
    /// What is counted, the worst first.
    pub totals: Vec<Total>,
    /// Its tables.
    pub sections: Vec<Section>,
}

/// How many rows have a finding; the filter of a page offers it.
#[derive(Clone, Debug)]
pub struct Total {
    /// The word for it in [`Row::findings`].
    pub id: &'static str,
    /// The same for people.
    pub label: String,
    /// How many have it.
    pub count: usize,
    /// How bad that is.
    pub tone: Tone,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Section {
    /// What it is about.
    pub caption: &'static str,
    /// How it is laid out on a page.
    pub layout: Layout,
    /// A head for each cell of a row.
    pub heads: Vec<Head>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// What the details of a row are, of one row and of several.
    pub details: [&'static str; 2],
}

/// A head of a column.
#[derive(Clone, Debug)]
pub struct Head {
    text: String,
    /// Whether only a page has the column: a comment is narrow.
    is_of_pages: bool,
}

/// What a narrow screen shows of a table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// The cells of a row below each other.
    List,
    /// The table, to be scrolled.
    Matrix,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// How bad it is.
    pub tone: Tone,
    /// The ids of its findings.
    pub findings: Vec<&'static str>,
    /// A content for each head; the first begins with the name of the row.
    pub cells: Vec<Content>,
    /// What is shown on a click.
    pub details: Details,
}

/// What is folded away of a row.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// What a reader sees of them before: a word.
    pub summary: String,
    /// Each with its label, or without one.
    pub items: Vec<(Option<String>, String)>,
    /// Terms, each with a text; only on a page.
    pub facts: Vec<(String, String)>,
}

/// What stands in a cell: words of ours, texts of others, lines of both.
#[derive(Clone, Debug, Default)]
pub struct Content(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Words(String),
    Foreign(String),
    Break,
}

impl Head {
    /// A column that only a page has.
    pub fn of_pages(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_of_pages: true,
        }
    }
}

impl From<&str> for Head {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_of_pages: false,
        }
    }
}

impl Content {
    /// Words of ours, which hold nothing of others.
    pub fn words(words: impl Into<String>) -> Self {
        Self(vec![Piece::Words(words.into())])
    }

    /// A text of others.
    pub fn foreign(text: impl Into<String>) -> Self {
        Self(vec![Piece::Foreign(text.into())])
    }

    /// The same, and a text of others behind it.
    pub fn and_foreign(mut self, text: impl Into<String>) -> Self {
        self.0.push(Piece::Foreign(text.into()));
        self
    }

    /// The same, and words of ours behind it.
    pub fn and_words(mut self, words: impl Into<String>) -> Self {
        self.0.push(Piece::Words(words.into()));
        self
    }

    /// The same, and a text of others in the next line.
    pub fn then_foreign(mut self, text: impl Into<String>) -> Self {
        self.0.push(Piece::Break);
        self.and_foreign(text)
    }

    /// Its texts as they are.
    fn plain(&self) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Words(text) | Piece::Foreign(text) => text,
            Piece::Break => "\n",
        });
        pieces.collect()
    }
}

impl Details {
    /// Lines without labels.
    pub fn lines(summary: impl Into<String>, lines: impl IntoIterator<Item = String>) -> Self {
        Self {
            summary: summary.into(),
            items: lines.into_iter().map(|line| (None, line)).collect(),
            facts: Vec::new(),
        }
    }
}
