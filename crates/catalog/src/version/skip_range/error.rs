//! Why a `skipRange` is refused.

use super::token::Token;
use crate::version::fault::{ExpectedPart, Fault};
use crate::version::go::quote;
use crate::version::semantic::VersionError;

/// Why blang refuses a range; printed as blang prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SkipRangeError {
    kind: SkipRangeErrorKind,
    fault: Fault,
}

impl SkipRangeError {
    pub(super) fn new(kind: SkipRangeErrorKind, fault: Fault) -> Self {
        Self { kind, fault }
    }

    pub(super) fn no_version(typed: &str, token: &Token<'_>) -> Self {
        let kind = SkipRangeErrorKind::NoVersion(token.text.as_ref().into());
        Self::new(kind, Fault::new(typed, token.at, ExpectedPart::Version))
    }

    /// What is wrong.
    pub fn kind(&self) -> &SkipRangeErrorKind {
        &self.kind
    }

    /// Where, in the text as typed.
    pub fn fault(&self) -> Fault {
        self.fault
    }
}

/// What blang finds wrong with a range. Texts are those after wildcards are expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkipRangeErrorKind {
    /// The first token is `||`.
    #[error("First element in range is '||'")]
    FirstIsOr,
    /// The last token is `||`, or there is none.
    #[error("Last element in range is '||'")]
    LastIsOr,
    /// A token without a digit.
    #[error("Could not get version from string: {}", quote(.0))]
    NoVersion(Box<str>),
    /// A comparator that cannot be read.
    #[error("Could not parse Range {}: {error}", quote(token))]
    Comparator {
        /// The token, without blanks.
        token: Box<str>,
        /// What is wrong with it.
        error: ComparatorError,
    },
}

/// What blang finds wrong with a comparator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComparatorError {
    /// An operator that blang does not know.
    #[error(
        "Could not parse comparator {} in {}",
        quote(operator),
        joined(operator, version)
    )]
    Operator {
        /// What stands before the first digit, trimmed.
        operator: Box<str>,
        /// The rest.
        version: Box<str>,
    },
    /// A version that blang does not read.
    #[error(
        "Could not parse version {} in {}: {source}",
        quote(version),
        joined(operator, version)
    )]
    Version {
        /// What stands before the first digit, trimmed.
        operator: Box<str>,
        /// The rest.
        version: Box<str>,
        /// Why.
        source: VersionError,
    },
}

fn joined(operator: &str, version: &str) -> String {
    quote(&format!("{operator}{version}"))
}
