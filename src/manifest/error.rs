//! Reasons why a document cannot be read, worded with the way out.

use super::placeholder::starting;
use super::position::Position;
use olmguard_catalog::yaml_scalar::{ScalarError, unquoted};

/// What is wrong with one document, and where in the file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{at}: {kind}")]
pub struct DocumentError {
    /// 0-based index of the document in its file.
    pub index: usize,
    /// The place of what is wrong.
    pub at: Position,
    /// What it is.
    #[source]
    pub kind: DocumentErrorKind,
}

/// What is wrong with a document.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DocumentErrorKind {
    /// The text breaks the format's grammar.
    #[error("invalid {format}: {found}")]
    Syntax {
        /// The format that the document was read in.
        format: DocumentFormat,
        /// The parser's own words.
        found: Box<str>,
    },
    /// An unfinished merge.
    #[error(
        "found the conflict marker {marker:?} of a merge: expected one of the two sides, so resolve the \
         conflict"
    )]
    Conflict {
        /// The marker, without the name of a side.
        marker: Box<str>,
    },
    /// A template that no one has rendered.
    #[error("found {opening:?} of a template: expected plain YAML or JSON, so render it first")]
    Template {
        /// What the template begins with: `{{`, or a whole placeholder.
        opening: Box<str>,
    },
    /// A value such as an unquoted `>=1.2.0`.
    #[error(
        "a value that starts with \">\" is a block of text in YAML: write {line:?} with quotes around the value"
    )]
    Unquoted {
        /// The line.
        line: Box<str>,
    },
    /// Bytes that are no text.
    #[error("found bytes that are not UTF-8: expected text, so save the file as UTF-8")]
    NotUtf8,
    /// A character that YAML forbids.
    #[error(
        "found the control character {found:?}: expected text, \
         so remove it, or write \"\\x..\" in quotes"
    )]
    ControlCharacter {
        /// The character.
        found: char,
    },
    /// A mapping has one key twice.
    #[error(
        "duplicate key {key:?}: expected each key once, but it has a value at {first} already; remove \
         one of them"
    )]
    DuplicateKey {
        /// The key, cut where it is long.
        key: Box<str>,
        /// The place of its first value.
        first: Position,
    },
    /// A mapping or list in a key's place.
    #[error("found a {found} as a key: expected a string, so quote it if it is one")]
    KeyNotScalar {
        /// `mapping` or `list`.
        found: &'static str,
    },
    /// A scalar has no value in JSON.
    #[error(transparent)]
    Scalar(#[from] ScalarError),
    /// An alias to a node that is not complete yet.
    #[error(
        "found an alias to the value it is part of: expected one to an earlier value, \
         so write the value out"
    )]
    AliasOfItself,
    /// An alias where the value must be written out, since it is read in bounded memory.
    #[error("found an alias: expected the value itself, so write it out")]
    AliasRefused,
    /// The value of `<<` cannot be merged.
    #[error(
        "merge key \"<<\" has a {found}: expected a mapping or a list of mappings, \
         or quotes around the key"
    )]
    Merge {
        /// The JSON type of what is there.
        found: &'static str,
    },
    /// A second document that no `---` announces.
    #[error("found a second document after \"...\": expected \"---\" between two documents")]
    SecondDocument,
    /// Nested too deep.
    #[error("nested deeper than {limit} levels: expected at most that, so split the document")]
    TooDeep {
        /// The most levels allowed.
        limit: usize,
    },
    /// Too many values.
    #[error(
        "more than {limit} values once aliases are replaced: expected at most that, \
         so split the document"
    )]
    TooManyNodes {
        /// The most values allowed.
        limit: usize,
    },
    /// Too much text.
    #[error(
        "more than {limit} bytes of text once aliases are replaced: expected at most that, \
         so split the document"
    )]
    TooMuchText {
        /// The most bytes allowed.
        limit: usize,
    },
}

/// How a document is written.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub enum DocumentFormat {
    /// YAML, typed as Kubernetes does.
    #[display("YAML")]
    Yaml,
    /// JSON.
    #[display("JSON")]
    Json,
}

/// A fault before it is known which document of the file it is in.
#[derive(Debug)]
pub(super) struct DocumentFault {
    pub(super) at: Position,
    pub(super) kind: DocumentErrorKind,
    /// What stands before this place was read without fault.
    pub(super) reached: Position,
}

impl DocumentFault {
    /// Of the text before it all is read but for one character: the first of two brackets.
    pub(super) fn new(at: Position, kind: impl Into<DocumentErrorKind>) -> Self {
        let column = at.column.saturating_sub(1).max(1);
        Self {
            at,
            kind: kind.into(),
            reached: Position { column, ..at },
        }
    }

    /// The same, where reading was known to be well only up to a place before it.
    pub(super) fn after(self, reached: Position) -> Self {
        Self { reached, ..self }
    }

    pub(super) fn in_document(self, index: usize) -> DocumentError {
        DocumentError {
            index,
            at: self.at,
            kind: self.kind,
        }
    }
}

// A better reason why a document cannot be read, from its text: an unfinished merge, or a template that
// was not rendered.

/// The fault in those terms, if its text has one of the two. It begins at line `first_line` of the
/// file.
pub(super) fn explain(fault: DocumentFault, text: &str, first_line: u32) -> DocumentFault {
    let found = conflict(text, first_line).or_else(|| template(&fault, text, first_line));
    let found = found.or_else(|| range(&fault, text, first_line));
    found.unwrap_or(fault)
}

/// A version range without quotes, which is a block of text to YAML.
fn range(fault: &DocumentFault, text: &str, first_line: u32) -> Option<DocumentFault> {
    let index = fault.at.line.checked_sub(first_line)?;
    let line = text.lines().nth(usize::try_from(index).ok()?)?;
    let line = unquoted(line.as_bytes())?;
    let is_syntax = matches!(fault.kind, DocumentErrorKind::Syntax { .. });
    is_syntax.then(|| DocumentFault::new(fault.at, DocumentErrorKind::Unquoted { line }))
}

/// Git writes a marker at the beginning of a line, where no mapping goes on with text of its own; the
/// first one counts.
fn conflict(text: &str, first_line: u32) -> Option<DocumentFault> {
    let is_marker = |line: &str| {
        let label = MARKERS.iter().find_map(|marker| line.strip_prefix(marker));
        label.is_some_and(|label| label.is_empty() || label.starts_with(' ')) || line == MIDDLE
    };
    let (marker, line) = text
        .lines()
        .zip(first_line..)
        .find(|(line, _)| is_marker(line))?;
    let marker = marker.split(' ').next().unwrap_or_default();
    let kind = DocumentErrorKind::Conflict {
        marker: marker.into(),
    };
    Some(DocumentFault::new(Position { line, column: 1 }, kind))
}

/// The text has a placeholder where a value, an item or a line of its own would begin, and that is
/// as far as reading came, or the first character of it was read yet. Within a text that was read, such as a script's, it is nothing special.
fn template(fault: &DocumentFault, text: &str, first_line: u32) -> Option<DocumentFault> {
    let could_be_one = matches!(
        fault.kind,
        DocumentErrorKind::Syntax { .. } | DocumentErrorKind::KeyNotScalar { .. }
    );
    let lines = text.lines().zip(first_line..);
    let up_to_it = lines.take_while(|(_, number)| *number <= fault.at.line);
    let mut openings = up_to_it.flat_map(|(line, number)| openings(line, number));
    let (at, opening) = openings.find(|(at, _)| {
        let column = at.column.saturating_add(1);
        let second = Position { column, ..*at };
        second >= fault.reached
    })?;
    let opening = opening.into();
    could_be_one.then(|| DocumentFault::new(at, DocumentErrorKind::Template { opening }))
}

/// The place of a placeholder that starts the line, a value, or an item, and its opening.
fn openings(line: &str, number: u32) -> impl Iterator<Item = (Position, &str)> {
    let mut before = None;
    let starts = line.char_indices().zip(1..).filter(move |((_, c), _)| {
        let begins = matches!(before, None | Some(':' | '-' | '[' | ','));
        before = Some(*c).filter(|c| !c.is_whitespace()).or(before);
        begins && !c.is_whitespace()
    });
    starts.filter_map(move |((at, _), column)| {
        let rest = line.get(at..)?;
        let block = BLOCKS.iter().find(|block| rest.starts_with(**block));
        let opening = block.copied().or_else(|| starting(rest))?;
        Some((
            Position {
                line: number,
                column,
            },
            opening,
        ))
    })
}

/// What may begin a part of a template that goes on for several lines.
const BLOCKS: [&str; 3] = ["{{", "{%", "{#"];

/// With the name of a side behind them, perhaps.
const MARKERS: [&str; 3] = ["<<<<<<<", "|||||||", ">>>>>>>"];

/// Alone on its line.
const MIDDLE: &str = "=======";
