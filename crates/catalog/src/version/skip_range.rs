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

mod comparator;
mod error;
mod extent;
mod token;
mod wildcard;

pub use self::error::{ComparatorError, SkipRangeError, SkipRangeErrorKind};
pub use self::extent::Extent;

use smallvec::SmallVec;

use super::comparator::Comparator;
use super::fault::{ExpectedPart, Fault};
use super::hull::Hull;
use super::semantic::Version;
use crate::heap::Heap;

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

impl Heap for SkipRange {
    fn heap_bytes(&self) -> usize {
        self.text.heap_bytes() + self.groups.heap_bytes()
    }
}

impl SkipRange {
    /// Reads `text` as blang's `ParseRange`. The empty text is an error.
    ///
    /// # Errors
    ///
    /// The first fault in upstream's order: stray bars, wildcards without a number, then the
    /// comparators from left to right.
    pub fn parse(text: &str) -> Result<Self, SkipRangeError> {
        let tokens = token::split(text);
        check_bars(text, &tokens)?;
        let tokens = wildcard::expand(text, tokens)?;
        let parts = || tokens.split(|token| token.text == token::OR);
        // Lists of just this length: thousands of ranges stay in memory.
        let mut groups = SmallVec::<[Box<[Comparator]>; 1]>::with_capacity(parts().count());
        for group in parts() {
            let mut compiled = Vec::with_capacity(group.len());
            for token in group {
                compiled.push(comparator::read(text, token)?);
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

fn check_bars(text: &str, tokens: &[token::Token<'_>]) -> Result<(), SkipRangeError> {
    let is_bars = |token: &token::Token<'_>| token.text == token::OR;
    if let Some(first) = tokens.first().filter(|token| is_bars(token)) {
        let fault = Fault::new(text, first.at, ExpectedPart::Comparator);
        return Err(SkipRangeError::new(SkipRangeErrorKind::FirstIsOr, fault));
    }
    if tokens.last().is_none_or(is_bars) {
        let fault = Fault::new(text, text.len(), ExpectedPart::Comparator);
        return Err(SkipRangeError::new(SkipRangeErrorKind::LastIsOr, fault));
    }
    Ok(())
}
