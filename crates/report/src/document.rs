//! A complete report: its result, the messages about unreadable input, and tables. Each row of a
//! table has details that are collapsed.
//!
//! ```text
//! Document { result, faults, totals, sections: [Section { heads, rows: [Row { cells, details }] }] }
//! ```
//!
//! All texts are unescaped: each format escapes them.

mod html;
mod markdown;
#[cfg(test)]
mod tests;

use crate::finding::Finding;
use crate::text::Tone;

/// A report with tables.
#[derive(Clone, Debug)]
pub struct Document {
    /// The kind of the report, by which a bot finds its own comment again.
    pub name: &'static str,
    /// The command that prints the report.
    pub command: &'static str,
    /// The result, in one line.
    pub result: Content,
    /// Messages about unreadable input, and further messages of the run.
    pub faults: Vec<Finding>,
    /// The totals, worst first.
    pub totals: Vec<Total>,
    /// The tables.
    pub sections: Vec<Section>,
}

/// Number of rows with a finding. A page offers the finding as a filter.
#[derive(Clone, Debug)]
pub struct Total {
    /// The id of the finding in [`Row::findings`].
    pub id: &'static str,
    /// The name of the finding for people.
    pub label: String,
    /// Number of rows with the finding.
    pub count: usize,
    /// The tone of the finding.
    pub tone: Tone,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Section {
    /// The subject of the table.
    pub caption: &'static str,
    /// The layout on a page.
    pub layout: Layout,
    /// The headings, one for each cell of a row.
    pub heads: Vec<Head>,
    /// The rows.
    pub rows: Vec<Row>,
    /// The noun for the details of a row, singular and plural.
    pub details: [&'static str; 2],
}

/// The heading of a column.
#[derive(Clone, Debug)]
pub struct Head {
    text: String,
    /// Whether only a page has the column, because a comment is narrow.
    is_of_pages: bool,
}

/// The layout of a table on a narrow screen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// The cells of a row are below each other.
    List,
    /// The table is scrolled.
    Matrix,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The tone of the row.
    pub tone: Tone,
    /// The ids of its findings.
    pub findings: Vec<&'static str>,
    /// The contents, one for each heading. The first starts with the name of the row.
    pub cells: Vec<Content>,
    /// The details, which are shown on a click.
    pub details: Details,
}

/// The collapsed details of a row.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// A word that is visible while the details are collapsed.
    pub summary: String,
    /// The items, each with an optional label.
    pub items: Vec<(Option<String>, String)>,
    /// Terms with their texts; only on a page.
    pub facts: Vec<(String, String)>,
}

/// The content of a cell: our own words, external texts, and line breaks.
#[derive(Clone, Debug, Default)]
pub struct Content(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Words(String),
    Foreign(String),
    Break,
}

impl Head {
    /// Creates a column that only a page has.
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
    /// Creates a content of our own words, without external text.
    pub fn words(words: impl Into<String>) -> Self {
        Self(vec![Piece::Words(words.into())])
    }

    /// Creates a content of external text.
    pub fn foreign(text: impl Into<String>) -> Self {
        Self(vec![Piece::Foreign(text.into())])
    }

    /// Appends external text.
    pub fn and_foreign(mut self, text: impl Into<String>) -> Self {
        self.0.push(Piece::Foreign(text.into()));
        self
    }

    /// Appends our own words.
    pub fn and_words(mut self, words: impl Into<String>) -> Self {
        self.0.push(Piece::Words(words.into()));
        self
    }

    /// Appends external text on a new line.
    pub fn then_foreign(mut self, text: impl Into<String>) -> Self {
        self.0.push(Piece::Break);
        self.and_foreign(text)
    }

    /// The texts without any escaping.
    fn plain(&self) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Words(text) | Piece::Foreign(text) => text,
            Piece::Break => "\n",
        });
        pieces.collect()
    }
}

impl Details {
    /// Creates details of lines without labels.
    pub fn lines(summary: impl Into<String>, lines: impl IntoIterator<Item = String>) -> Self {
        Self {
            summary: summary.into(),
            items: lines.into_iter().map(|line| (None, line)).collect(),
            facts: Vec::new(),
        }
    }
}
