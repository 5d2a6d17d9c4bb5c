//! A release: what tells two builds of one version apart.
//!
//! Mirrors `Release` of operator-registry (`alpha/model`) and the helper of operator-controller's
//! `bundleutil` that came before it. A dot-separated list with the syntax and order of prerelease
//! identifiers; an empty one is below all others.

use std::cmp::Ordering;
use std::fmt;

use super::go;
use super::identifier::{Identifier, IdentifierError, Identifiers, pieces};
use crate::heap::Heap;

/// How long a release may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseLimit {
    /// As long as it likes: OLM 1.8 to 1.10.
    Unlimited,
    /// At most 20 bytes: OLM 1.11 and later.
    Bytes20,
}

/// A release, e.g. `2` or `20260101.rc-1`; perhaps empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(Option<Box<Identifiers>>);

impl Heap for Release {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl Release {
    /// The empty release, the lowest.
    pub const EMPTY: Self = Self(None);

    /// Reads a release; the empty text is the empty release.
    ///
    /// # Errors
    ///
    /// Over the limit, or some identifier is refused; all of those are reported.
    pub fn parse(text: &str, limit: ReleaseLimit) -> Result<Self, ReleaseError> {
        if text.is_empty() {
            return Ok(Self::EMPTY);
        }
        if limit == ReleaseLimit::Bytes20 && text.len() > MAX_BYTES {
            return Err(ReleaseError::TooLong(text.into()));
        }
        Identifiers::read(text, Identifier::blang)
            .map(|list| Self(Some(Box::new(list))))
            .map_err(|_| ReleaseError::Segments {
                release: text.into(),
                faults: faults(text),
            })
    }

    /// Whether it is the empty release.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The text; `""` for the empty release.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().map_or("", Identifiers::as_str)
    }

    /// The order of releases, in which none at all and the empty one are the same.
    pub(crate) fn cmp_optional(one: Option<&Self>, other: Option<&Self>) -> Ordering {
        one.unwrap_or(&Self::EMPTY)
            .cmp(other.unwrap_or(&Self::EMPTY))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a release is refused; printed as upstream prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// Over the limit, which upstream counts in bytes whatever it says.
    #[error("invalid release {}: exceeds maximum length of {MAX_BYTES} characters", go::quote(.0))]
    TooLong(Box<str>),
    /// Some identifiers are refused.
    #[error("invalid release {}: {}", go::quote(release), segments(faults))]
    Segments {
        /// The text as given.
        release: Box<str>,
        /// The index of each refused identifier, from 0, and why.
        faults: Box<[(usize, IdentifierError)]>,
    },
}

fn faults(text: &str) -> Box<[(usize, IdentifierError)]> {
    pieces(text)
        .enumerate()
        .filter_map(|(index, (_, piece))| Some((index, Identifier::blang(piece).err()?)))
        .collect()
}

fn segments(faults: &[(usize, IdentifierError)]) -> String {
    let lines: Vec<_> = faults
        .iter()
        .map(|(index, error)| format!("segment {index}: {error}"))
        .collect();
    lines.join("\n")
}

const MAX_BYTES: usize = 20;
