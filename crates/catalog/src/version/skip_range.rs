//! `skipRange` of a channel entry: a range in the grammar of blang/semver v4.
//!
//! Mirrors `ParseRange` ([`range.go`]). Nothing but the ASCII blank separates comparators, one-byte
//! tokens vanish, and every token with an `x` in it is a wildcard. Prereleases take part like any
//! version. OLM ignores a `skipRange` that does not parse.
//!
//! An empty OR group (`a || || b`) parses upstream and panics when it is evaluated: that is
//! [`Membership::Crashes`] here.
//!
//! [`range.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/range.go

mod parse;

use smallvec::SmallVec;

use crate::memory::{flat, heap_of};
use crate::version::comparator::{Comparator, Hull};
use crate::version::cursor::{ExpectedPart, RangeFault};
use crate::version::go::quote;
use crate::version::semantic::{Version, VersionError};
use crate::version::skip_range::parse::{OR, RangeToken, expand_wildcards, read_comparator, split};

/// A range of versions from which an entry can be upgraded to, e.g. `>=1.0.0 <1.2.3`.
#[derive(Clone, Debug)]
pub struct SkipRange {
    text: Box<str>,
    /// The groups that upstream gets to: the groups before the first empty one. Nearly always there is one, which takes
    /// no allocation for the list.
    groups: SmallVec<[Box<[Comparator]>; 1]>,
    otherwise: Membership,
}

/// Whether a version is in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// It is.
    Holds,
    /// It is not.
    HoldsNot,
    /// Upstream panics over the question.
    Crashes,
}

flat!(Membership);
heap_of!(SkipRange: text, groups; otherwise);

impl SkipRange {
    /// Reads `text` as blang's `ParseRange`. The empty text is an error.
    ///
    /// # Errors
    ///
    /// The first fault in upstream's order: stray bars, wildcards without a number, then the
    /// comparators from left to right.
    pub fn parse(text: &str) -> Result<Self, SkipRangeError> {
        let tokens = split(text);
        check_bars(text, &tokens)?;
        let tokens = expand_wildcards(text, tokens)?;
        let parts = || tokens.split(|token| token.text == OR);
        // Lists of just this length: thousands of ranges stay in memory.
        let mut groups = SmallVec::<[Box<[Comparator]>; 1]>::with_capacity(parts().count());
        for group in parts() {
            let mut compiled = Vec::with_capacity(group.len());
            for token in group {
                compiled.push(read_comparator(text, token)?);
            }
            groups.push(compiled.into_boxed_slice());
        }
        let empty = groups.iter().position(|group| group.is_empty());
        let otherwise = if empty.is_some() {
            Membership::Crashes
        } else {
            Membership::HoldsNot
        };
        groups.truncate(empty.unwrap_or(groups.len()));
        groups.shrink_to_fit();
        Ok(Self {
            text: text.into(),
            groups,
            otherwise,
        })
    }

    /// The text as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the version is in the range. Allocates nothing.
    pub fn takes(&self, version: &Version) -> Membership {
        let point = version.point();
        let holds = |group: &[Comparator]| group.iter().all(|comparator| comparator.admits(point));
        if self.groups.iter().any(|group| holds(group)) {
            Membership::Holds
        } else {
            self.otherwise
        }
    }

    /// An interval that includes all of the range; `None` if the range is empty.
    pub(crate) fn hull(&self) -> Option<Hull<'_>> {
        let groups = self.groups.iter();
        groups
            .map(|group| Hull::of_group(group.iter()))
            .reduce(Hull::unite)
    }

    /// The interval that the range is, if it is one: a list of comparators that all have to hold, each for all
    /// versions between two ends.
    pub(crate) fn interval(&self) -> Option<Hull<'_>> {
        let [group] = &*self.groups else {
            return None;
        };
        let is_span = |comparator: &Comparator| matches!(comparator, Comparator::Within(_));
        let is_one = self.otherwise == Membership::HoldsNot && group.iter().all(is_span);
        is_one.then(|| Hull::of_group(group.iter()))
    }

    /// Whether some group holds versions without limit above. Groups behind an empty one hold none.
    pub fn is_open_above(&self) -> bool {
        self.groups
            .iter()
            .any(|group| group.iter().all(Comparator::is_open_above))
    }

    pub(crate) fn groups(&self) -> &[Box<[Comparator]>] {
        &self.groups
    }

    /// What becomes of a version that no group holds.
    pub fn otherwise(&self) -> Membership {
        self.otherwise
    }
}

fn check_bars(text: &str, tokens: &[RangeToken<'_>]) -> Result<(), SkipRangeError> {
    let is_bars = |token: &RangeToken<'_>| token.text == OR;
    if let Some(first) = tokens.first().filter(|token| is_bars(token)) {
        let fault = RangeFault::new(text, first.at, ExpectedPart::Comparator);
        return Err(SkipRangeError::new(SkipRangeErrorKind::FirstIsOr, fault));
    }
    if tokens.last().is_none_or(is_bars) {
        let fault = RangeFault::new(text, text.len(), ExpectedPart::Comparator);
        return Err(SkipRangeError::new(SkipRangeErrorKind::LastIsOr, fault));
    }
    Ok(())
}

/// Why blang refuses a range; printed as blang prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SkipRangeError {
    kind: SkipRangeErrorKind,
    fault: RangeFault,
}

impl SkipRangeError {
    fn new(kind: SkipRangeErrorKind, fault: RangeFault) -> Self {
        Self { kind, fault }
    }

    fn no_version(typed: &str, token: &RangeToken<'_>) -> Self {
        let kind = SkipRangeErrorKind::NoVersion(token.text.as_ref().into());
        Self::new(
            kind,
            RangeFault::new(typed, token.at, ExpectedPart::Version),
        )
    }

    /// What is wrong.
    pub fn kind(&self) -> &SkipRangeErrorKind {
        &self.kind
    }

    /// Where, in the text as typed.
    pub fn fault(&self) -> RangeFault {
        self.fault
    }
}

/// What blang finds wrong with a range. Texts are those after wildcards are expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_below_and_above_a_range() {
        for (range, version, above, below) in [
            (">=1.3.0 <1.4.0", "1.2.9", true, false),
            (">=1.3.0 <1.4.0", "1.3.0", false, false),
            (">=1.3.0 <1.4.0", "1.4.0-rc.1", false, false),
            (">=1.3.0 <1.4.0", "1.4.0", false, true),
            (">1.3.0 <=1.4.0", "1.3.0", true, false),
            (">1.3.0 <=1.4.0", "1.3.1-0", false, false),
            (">1.3.0 <=1.4.0", "1.4.0", false, false),
            (">1.3.0 <=1.4.0", "1.4.1-0", false, true),
            ("1.1.5", "1.1.4", true, false),
            ("1.1.5", "1.1.5+build", false, false),
            ("1.1.5", "1.1.6", false, true),
            ("1.1.5 || 2.0.0", "1.5.0", false, false),
            ("1.1.5 || 2.0.0", "2.0.1", false, true),
            (">=1.0.0", "9.9.9", false, false),
            (">=1.0.0 !=1.0.0", "1.0.0", true, false),
            (">2.0.0 <1.0.0", "1.5.0", true, true),
        ] {
            let extent = SkipRange::parse(range).expect("a range").extent();
            let extent = extent.expect("few comparators");
            let version = Version::parse(version).expect("a version");
            let found = (extent.is_above(&version), extent.is_below(&version));
            assert_eq!(found, (above, below), "{range} {version}");
        }
    }
}
