//! The reasons why a document cannot be read, with advice on how to fix it.

use super::placeholder::starting;
use super::position::Position;
use super::tree::{MAX_DEPTH, MAX_NODES, MAX_TEXT};
use olmguard_catalog::yaml_scalar::{ScalarError, unquoted};

/// The problem of one document, with its place in the file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{at}: {kind}")]
pub struct DocumentError {
    /// 0-based index of the document in its file.
    pub index: usize,
    /// The place of the problem.
    pub at: Position,
    /// The problem.
    #[source]
    pub kind: DocumentErrorKind,
}

/// The problem of a document.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DocumentErrorKind {
    /// The text violates the grammar of the format.
    #[error("invalid {format}: {found}")]
    Syntax {
        /// The format that the document was read in.
        format: DocumentFormat,
        /// The message of the parser.
        found: Box<str>,
    },
    /// The file has an unfinished merge.
    #[error(
        "found the conflict marker {marker:?} of a merge: expected one of the two sides, so resolve the \
         conflict"
    )]
    Conflict {
        /// The marker, without the name of a side.
        marker: Box<str>,
    },
    /// The text is a template that was not rendered.
    #[error("found {opening:?} of a template: expected plain YAML or JSON, so render it first")]
    Template {
        /// The opening of the template: `{{`, or a whole placeholder.
        opening: Box<str>,
    },
    /// A value such as `>=1.2.0` has no quotes.
    #[error(
        "a value that starts with \">\" is a block of text in YAML: write {line:?} with quotes around the value"
    )]
    Unquoted {
        /// The line.
        line: Box<str>,
    },
    /// The bytes are not text.
    #[error("found bytes that are not UTF-8: expected text, so save the file as UTF-8")]
    NotUtf8,
    /// The text contains a character that YAML forbids.
    #[error(
        "found the control character {found:?}: expected text, \
         so remove it, or write \"\\x..\" in quotes"
    )]
    ControlCharacter {
        /// The character.
        found: char,
    },
    /// A mapping has the same key twice.
    #[error(
        "duplicate key {key:?}: expected each key once, but it has a value at {first} already; remove \
         one of them"
    )]
    DuplicateKey {
        /// The key, truncated if it is long.
        key: Box<str>,
        /// The place of its first value.
        first: Position,
    },
    /// A mapping or a list is used as a key.
    #[error("found a {found} as a key: expected a string, so quote it if it is one")]
    KeyNotScalar {
        /// `mapping` or `list`.
        found: &'static str,
    },
    /// A scalar has no value in JSON.
    #[error(transparent)]
    Scalar(#[from] ScalarError),
    /// An alias refers to a node that is not complete yet.
    #[error(
        "found an alias to the value it is part of: expected one to an earlier value, \
         so write the value out"
    )]
    AliasOfItself,
    /// An alias is used where values must be written out, because they are read in bounded memory.
    #[error("found an alias: expected the value itself, so write it out")]
    AliasRefused,
    /// The value of `<<` cannot be merged.
    #[error(
        "merge key \"<<\" has a {found}: expected a mapping or a list of mappings, \
         or quotes around the key"
    )]
    Merge {
        /// The JSON type of the value.
        found: &'static str,
    },
    /// A second document starts without `---`.
    #[error("found a second document after \"...\": expected \"---\" between two documents")]
    SecondDocument,
    /// The document is nested too deeply.
    #[error("nested deeper than {MAX_DEPTH} levels: expected at most that, so split the document")]
    TooDeep,
    /// The document has too many values.
    #[error(
        "more than {MAX_NODES} values once aliases are replaced: expected at most that, \
         so split the document"
    )]
    TooManyNodes,
    /// The document has too much text.
    #[error(
        "more than {MAX_TEXT} bytes of text once aliases are replaced: expected at most that, \
         so split the document"
    )]
    TooMuchText,
}

/// The format of a document.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub enum DocumentFormat {
    /// YAML, with types as in Kubernetes.
    #[display("YAML")]
    Yaml,
    /// JSON.
    #[display("JSON")]
    Json,
}

/// A fault whose document in the file is not known yet.
#[derive(Debug)]
pub(super) struct DocumentFault {
    pub(super) at: Position,
    pub(super) kind: DocumentErrorKind,
    /// The text before this place was read without a fault.
    pub(super) reached: Position,
}

impl DocumentFault {
    /// Creates a fault. All text before it counts as read except one character: the first of two
    /// brackets.
    pub(super) fn new(at: Position, kind: impl Into<DocumentErrorKind>) -> Self {
        let column = at.column.saturating_sub(1).max(1);
        Self {
            at,
            kind: kind.into(),
            reached: Position { column, ..at },
        }
    }

    /// Sets the place up to which reading was successful.
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

// A better reason why a document cannot be read, derived from its text: an unfinished merge, or a
// template that was not rendered.

/// Replaces a fault by one of these reasons, if the text shows it. The text starts at line
/// `first_line` of the file.
pub(super) fn explain(fault: DocumentFault, text: &str, first_line: u32) -> DocumentFault {
    let found = conflict(text, first_line).or_else(|| template(&fault, text, first_line));
    let found = found.or_else(|| range(&fault, text, first_line));
    found.unwrap_or(fault)
}

/// Detects a version range without quotes, which YAML reads as the start of a block of text.
fn range(fault: &DocumentFault, text: &str, first_line: u32) -> Option<DocumentFault> {
    let index = fault.at.line.checked_sub(first_line)?;
    let line = text.lines().nth(usize::try_from(index).ok()?)?;
    let line = unquoted(line.as_bytes())?;
    let is_syntax = matches!(fault.kind, DocumentErrorKind::Syntax { .. });
    is_syntax.then(|| DocumentFault::new(fault.at, DocumentErrorKind::Unquoted { line }))
}

/// Detects a conflict marker; the first one counts. Git writes a marker at the start of a line,
/// where no mapping continues with such text.
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

/// Detects a placeholder at the start of a value, an item or a line. It must be the place that
/// reading reached, or its first character must be the last one read. Inside a text that was read,
/// such as a script, a placeholder has no special meaning.
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

/// Returns the openings of placeholders that start the line, a value, or an item, with their
/// places.
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
        let line = number;
        Some((Position { line, column }, opening))
    })
}

/// The openings of template parts that can span several lines.
const BLOCKS: [&str; 3] = ["{{", "{%", "{#"];

/// Conflict markers, which the name of a side can follow.
const MARKERS: [&str; 3] = ["<<<<<<<", "|||||||", ">>>>>>>"];

/// The conflict marker between both sides, alone on its line.
const MIDDLE: &str = "=======";
