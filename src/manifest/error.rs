//! Reasons why a document cannot be read, worded with the way out.

use std::fmt;

use super::position::Position;
use olmguard_catalog::yaml_scalar::ScalarError;

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
#[non_exhaustive]
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
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DocumentFormat {
    /// YAML, typed as Kubernetes does.
    Yaml,
    /// JSON.
    Json,
}

impl fmt::Display for DocumentFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yaml => "YAML",
            Self::Json => "JSON",
        })
    }
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
