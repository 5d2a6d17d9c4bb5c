//! Dot-separated identifiers, the parts of a prerelease or a release.
//!
//! Mirrors `NewPRVersion` of blang/semver ([`semver.go`]) and, for the operands of a range, the
//! prerelease checks of Masterminds/semver ([`version.go`]). Identifiers are parsed once; comparing
//! two lists allocates nothing.
//!
//! Invariant: no numeric identifier has a leading zero, so equal lists have equal texts.
//!
//! [`semver.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/semver.go
//! [`version.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/version.go

use std::cmp::Ordering;

use crate::memory::heap_of;
use crate::version::go::{self, NumberError};

/// The reason why blang rejects a prerelease or release identifier, displayed as blang prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentifierError {
    /// The identifier is empty.
    #[error("Prerelease is empty")]
    Empty,
    /// The identifier has several digits, and starts with 0.
    #[error("Numeric PreRelease version must not contain leading zeroes {}", go::quote(.0))]
    LeadingZero(Box<str>),
    /// The identifier has only digits, and is too large.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// The identifier has a character other than an ASCII letter, a digit or `-`.
    #[error("Invalid character(s) found in prerelease {}", go::quote(.0))]
    Character(Box<str>),
}

/// One identifier. The derived order is `SemVer`'s: numbers by value, below all text; text by
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Identifier {
    Numeric(u64),
    Text(Box<str>),
}

impl Identifier {
    /// Reads an identifier of a bundle's version or release.
    pub(crate) fn blang(text: &str) -> Result<Self, IdentifierError> {
        if text.is_empty() {
            Err(IdentifierError::Empty)
        } else if has_leading_zero(text) {
            Err(IdentifierError::LeadingZero(text.into()))
        } else if go::is_digits(text) {
            Ok(Self::Numeric(go::parse_digits(text)?))
        } else if text.bytes().all(is_identifier_byte) {
            Ok(Self::Text(text.into()))
        } else {
            Err(IdentifierError::Character(text.into()))
        }
    }

    /// Reads an identifier of a Masterminds operand. The scanner has already checked the
    /// characters.
    ///
    /// Masterminds compares numbers beyond 64 bits as text.
    pub(crate) fn masterminds(text: &str) -> Result<Self, LeadingZero> {
        if has_leading_zero(text) {
            return Err(LeadingZero);
        }
        Ok(match go::is_digits(text).then(|| go::parse_digits(text)) {
            Some(Ok(number)) => Self::Numeric(number),
            _ => Self::Text(text.into()),
        })
    }
}

heap_of!(enum Identifier: Text(text); Numeric);

/// A numeric identifier with a leading zero: the only fault of a scanned Masterminds identifier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeadingZero;

/// A list of identifiers with its text. The order is the order of prereleases in `SemVer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identifiers {
    text: Box<str>,
    list: Box<[Identifier]>,
}

heap_of!(Identifiers: text, list);

impl Identifiers {
    /// Reads the dot-separated `text`. An error includes the byte offset of the first invalid
    /// identifier.
    pub(crate) fn read<E>(
        text: &str,
        identifier: impl Fn(&str) -> Result<Identifier, E>,
    ) -> Result<Self, (usize, E)> {
        let list = pieces(text)
            .map(|(at, piece)| identifier(piece).map_err(|error| (at, error)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            text: text.into(),
            list,
        })
    }

    /// The list of the single identifier `0`, the lowest of all lists.
    pub(crate) fn zero() -> Self {
        Self {
            text: "0".into(),
            list: Box::new([Identifier::Numeric(0)]),
        }
    }

    /// The next list in the order: nothing is between `alpha` and `alpha.0`.
    pub(crate) fn successor(&self) -> Self {
        let list = self
            .list
            .iter()
            .cloned()
            .chain([Identifier::Numeric(0)])
            .collect();
        Self {
            text: format!("{}.0", self.text).into(),
            list,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl Ord for Identifiers {
    fn cmp(&self, other: &Self) -> Ordering {
        self.list.cmp(&other.list)
    }
}

impl PartialOrd for Identifiers {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Splits `text` at its dots, and returns the pieces with their byte offsets.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split('.').scan(0, |next, piece| {
        let at = *next;
        *next += piece.len() + 1;
        Some((at, piece))
    })
}

/// Whether `SemVer` allows the byte in an identifier.
pub(crate) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// Whether `text` is a number of several digits that starts with 0.
pub(crate) fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && go::is_digits(text)
}
