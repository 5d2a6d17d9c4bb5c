//! Versions, releases and the two range grammars, as OLM's Go libraries read them.
//!
//! Two libraries decide, and they agree on little. `github.com/blang/semver/v4` reads every bundle
//! version ([`Version`]) and `skipRange` ([`SkipRange`]); `github.com/Masterminds/semver/v3` reads
//! `spec.source.catalog.version` ([`Constraint`]). Both answer here as upstream does, error texts
//! included, and the two grammars never mix: what they share is how a text is read from left to right
//! (`RangeCursor`), and the order of versions (`point`, `interval`), onto which both compile their comparators.
//!
//! ```text
//! text -> Constraint (Masterminds) --+
//!                                    +--> comparators over the order --> matches, takes
//! text -> SkipRange (blang) ---------+                                \-> meaning (for words)
//! ```
//!
//! Invariants: build metadata never takes part in an order or a match; a value that exists was
//! accepted by upstream's parser; nothing is parsed or allocated while a version is matched.

pub mod comparator;
mod constraint;
pub mod crd;
pub mod go;
mod identifier;
mod masterminds;
pub mod meaning;
mod semantic;
mod skip_range;
pub mod suggestion;
mod version_release;

pub(crate) use self::comparator::Hull;
pub(crate) use self::constraint::Group;

pub use self::constraint::{Constraint, ConstraintError, ConstraintErrorKind};
pub use self::masterminds::{
    Masterminds, MastermindsError, MastermindsErrorKind, MastermindsVersion,
};
pub use self::meaning::Extent;
pub use self::semantic::{Component, Version, VersionError, VersionErrorKind};
pub use self::skip_range::{
    ComparatorError, Membership, SkipRange, SkipRangeError, SkipRangeErrorKind,
};
pub use self::version_release::{
    BundleReleaseSupport, LegacyRelease, RecordedVersion, Release, ReleaseError, ReleaseLimit,
    VersionRelease, VersionReleaseError,
};
pub use crate::version::identifier::IdentifierError;

// === Range texts, read from left to right, and the place where one went wrong ===
//
// All delimiters of the grammars are ASCII, so every position it stops at is a character boundary.

/// Reads `text` forward. Cloning one keeps a place to come back to.
#[derive(Clone, Debug)]
pub(crate) struct RangeCursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> RangeCursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self::starting(text, 0)
    }

    pub(crate) fn starting(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Steps over `token` if it comes next.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let comes = self
            .text
            .as_bytes()
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(token.as_bytes()));
        if comes {
            self.at += token.len();
        }
        comes
    }

    /// Steps over all bytes that `belongs` accepts, and returns them.
    pub(crate) fn eat_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
        self.since(start)
    }

    /// Steps over blanks as RE2's `\s` knows them, and returns how many there were.
    pub(crate) fn eat_blanks(&mut self) -> usize {
        self.eat_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r'))
            .len()
    }

    /// The text from `start` up to here.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }
}

/// The place of a fault in the text as typed, for a caret under it. `explain` words it. Upstream's messages name no
/// position: the same scan finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeFault {
    /// Byte offset of a character; the text's length where something is missing at its end.
    pub at: usize,
    /// The character there; none at the end.
    pub found: Option<char>,
    /// What should have stood there.
    pub expected: ExpectedPart,
}

impl RangeFault {
    /// The fault at byte `at` of `text`, which can be within a character if a limit is there.
    pub(crate) fn new(text: &str, at: usize, expected: ExpectedPart) -> Self {
        let at = text.floor_char_boundary(at);
        let found = text.get(at..).and_then(|rest| rest.chars().next());
        Self {
            at,
            found,
            expected,
        }
    }
}

/// What a range needs at some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedPart {
    /// The end of the text, at the latest.
    End,
    /// A comparator: an operator, if any, and a version.
    Comparator,
    /// Something between two comparators: a blank, a comma or `||`.
    Separator,
    /// An operator that the grammar knows.
    Operator,
    /// A version that can be read.
    Version,
    /// A numeric prerelease identifier that does not start with 0, as this one does.
    NoLeadingZero,
    /// Two versions around this hyphen, and nothing glued to them.
    HyphenRange,
}
