//! Versions, releases and the two range grammars, read as OLM's Go libraries read them.
//!
//! Two libraries decide, and they agree on little. `github.com/blang/semver/v4` reads every bundle
//! version ([`Version`]) and `skipRange` ([`SkipRange`]). `github.com/Masterminds/semver/v3` reads
//! `spec.source.catalog.version` ([`Constraint`]). Both give upstream's answers here, error texts
//! included. The two grammars share only the left-to-right reader (`RangeCursor`) and the version
//! order (`point`, `interval`), onto which both compile their comparators.
//!
//! ```text
//! text -> Constraint (Masterminds) --+
//!                                    +--> comparators over the order --> matches, takes
//! text -> SkipRange (blang) ---------+                                \-> meaning (for words)
//! ```
//!
//! Invariants: build metadata never affects order or matching. A value that exists was accepted by
//! upstream's parser. Nothing is parsed or allocated while a version is matched.

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

// === A cursor over range texts, and the position of a fault in them ===
//
// All delimiters of the grammars are ASCII, so every position where the cursor stops is a character
// boundary.

/// Reads `text` forward. A clone keeps a position to return to.
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

    /// Skips `token` if it comes next. Returns whether it did.
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

    /// Skips all bytes that `belongs` accepts, and returns them.
    pub(crate) fn eat_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
        self.since(start)
    }

    /// Skips white space as RE2's `\s` defines it, and returns its length in bytes.
    pub(crate) fn eat_blanks(&mut self) -> usize {
        self.eat_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r'))
            .len()
    }

    /// The text from `start` up to the current position.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }
}

/// The position of a fault in the text as typed, for a caret under it. `explain` words it.
/// Upstream's messages name no position, so the same scan finds it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeFault {
    /// Byte offset of a character, or the length of the text if something is missing at its end.
    pub at: usize,
    /// The character at that offset; `None` at the end.
    pub found: Option<char>,
    /// The part that was expected at that offset.
    pub expected: ExpectedPart,
}

impl RangeFault {
    /// Creates a fault at byte `at` of `text`. A length limit can be within a character; the fault
    /// is then at the start of the character.
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

/// The part that a range needs at some position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedPart {
    /// The end of the text, at this position or before.
    End,
    /// A comparator: an optional operator and a version.
    Comparator,
    /// A separator between two comparators: a space, a comma or `||`.
    Separator,
    /// An operator of the grammar.
    Operator,
    /// A valid version.
    Version,
    /// A numeric prerelease identifier without a leading zero.
    NoLeadingZero,
    /// A version on each side of this hyphen, separated from it by spaces.
    HyphenRange,
}
