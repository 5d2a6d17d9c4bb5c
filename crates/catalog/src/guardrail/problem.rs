//! Why guardrails cannot be read.

use crate::heap::{Heap, allocated};
use crate::json_type::JsonType;
use crate::version::SkipRangeError;
use crate::version::go::quote;

/// Where guardrails cannot be read, and why.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{problem}", place(.path))]
pub struct UnreadGuardrails {
    /// The field, such as `rules[2].via`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a field of guardrails, or with all of them.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is of another type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What it has to be.
        expected: &'static str,
        /// What it is.
        found: JsonType,
    },
    /// It must be there.
    #[error("missing: expected {expected}")]
    Missing {
        /// What it has to be.
        expected: &'static str,
    },
    /// It is empty.
    #[error("empty: expected {expected}")]
    Empty {
        /// What it has to be.
        expected: &'static str,
    },
    /// It means nothing there.
    #[error("unknown key: expected one of {}", .known.join(", "))]
    UnknownKey {
        /// What means something there.
        known: &'static [&'static str],
    },
    /// It is a word of which nothing is known.
    #[error("unknown value {}: expected one of {}", quote(found), .known.join(", "))]
    UnknownWord {
        /// What it is.
        found: String,
        /// What is known.
        known: &'static [&'static str],
    },
    /// It is no range.
    #[error("not a valid skipRange: {0}")]
    Range(Box<SkipRangeError>),
    /// OLM would crash on it.
    #[error("the range has an empty OR group: expected versions on both sides of ||")]
    EmptyGroup,
    /// It is too long a range.
    #[error("the range is too long: expected at most {most} bytes")]
    RangeTooLong {
        /// How long it may be.
        most: usize,
    },
    /// It is too long a text.
    #[error("too long: expected at most {most} bytes")]
    TooLong {
        /// How long it may be.
        most: usize,
    },
    /// There are too many.
    #[error("too many: expected at most {most} rules, each waypoint counted")]
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// Another rule has it.
    #[error("two rules have the id {}: expected a unique id for each rule", quote(.0))]
    SameId(String),
    /// What holds them cannot be read, for this reason.
    #[error("{0}")]
    Text(String),
    /// There is more than one blob, or more than one property.
    #[error("the package has two of them: expected one")]
    Twice,
    /// The blob and the property do not say the same.
    #[error(
        "the blob and the property of the olm.package differ: expected only one of them, or the \
         same content in both"
    )]
    Differ,
}

impl From<SkipRangeError> for Problem {
    fn from(error: SkipRangeError) -> Self {
        Self::Range(Box::new(error))
    }
}

impl Problem {
    /// A word of which nothing is known.
    pub fn unknown_word(found: &str, known: &'static [&'static str]) -> Self {
        let found = beginning(found);
        Self::UnknownWord { found, known }
    }
}

impl UnreadGuardrails {
    /// The whole of it.
    pub fn whole(problem: Problem) -> Self {
        let path = String::new();
        Self { path, problem }
    }
}

impl Heap for UnreadGuardrails {
    /// About that of its texts.
    fn heap_bytes(&self) -> usize {
        allocated(self.path.capacity()) + allocated(self.problem.to_string().len())
    }
}

/// As much of a text as is told of it: a key or word may be as long as a blob.
pub(super) fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(MOST_TOLD);
    match text.get(..end) {
        Some(beginning) if end < text.len() => format!("{beginning}..."),
        _ => text.to_owned(),
    }
}

fn place(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("{path}: "),
    }
}

/// How many bytes of a key or word that is not known are told.
const MOST_TOLD: usize = 64;
