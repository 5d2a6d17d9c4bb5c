//! `skipRange` of a channel entry: a range in the grammar of blang/semver v4.
//!
//! Mirrors `ParseRange` ([`range.go`]). Only the ASCII space separates comparators, one-byte tokens
//! vanish, and every token with an `x` in it is a wildcard. Prereleases match like any version. OLM
//! ignores a `skipRange` that does not parse.
//!
//! An empty OR group (`a || || b`) parses upstream and panics when it is evaluated. This is
//! [`Membership::Crashes`] here.
//!
//! [`range.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/range.go

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::memory::{flat, heap_of};
use crate::version::comparator::{Comparator, Hull, Span, VersionCut, VersionPoint};
use crate::version::go::quote;
use crate::version::identifier::IdentifierError;
use crate::version::semantic::{Version, VersionError, VersionErrorKind};
use crate::version::{ExpectedPart, RangeFault};

/// The versions that can be upgraded to an entry, e.g. `>=1.0.0 <1.2.3`.
#[derive(Clone, Debug)]
pub struct SkipRange {
    text: Box<str>,
    /// The groups that upstream evaluates: the groups before the first empty one. Nearly always
    /// there is one, which needs no allocation for the list.
    groups: SmallVec<[Box<[Comparator]>; 1]>,
    otherwise: Membership,
}

/// Whether a version is in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// The version is in the range.
    Holds,
    /// The version is not in the range.
    HoldsNot,
    /// Upstream panics while it evaluates the range.
    Crashes,
}

flat!(Membership);
heap_of!(SkipRange: text, groups; otherwise);

impl SkipRange {
    /// Parses `text` as blang's `ParseRange` does. An empty text is an error.
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
        // The lists have exact capacities, because thousands of ranges stay in memory.
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

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the version is in the range. Does not allocate.
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

    /// The range as an interval, if it is one: a list of comparators that must all match, each for
    /// all versions between two ends.
    pub(crate) fn interval(&self) -> Option<Hull<'_>> {
        let [group] = &*self.groups else {
            return None;
        };
        let is_span = |comparator: &Comparator| matches!(comparator, Comparator::Within(_));
        let is_one = self.otherwise == Membership::HoldsNot && group.iter().all(is_span);
        is_one.then(|| Hull::of_group(group.iter()))
    }

    /// Whether some group matches versions without an upper limit. Groups after an empty one do not
    /// count, because upstream never evaluates them.
    pub fn is_open_above(&self) -> bool {
        self.groups
            .iter()
            .any(|group| group.iter().all(Comparator::is_open_above))
    }

    pub(crate) fn groups(&self) -> &[Box<[Comparator]>] {
        &self.groups
    }

    /// The answer for a version that no group matches.
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

/// The reason why blang rejects a range, displayed as blang prints it.
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

    /// The position of the fault in the text as typed.
    pub fn fault(&self) -> RangeFault {
        self.fault
    }
}

/// Faults that blang finds in a range. The texts are those after wildcards were expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkipRangeErrorKind {
    /// The first token is `||`.
    #[error("First element in range is '||'")]
    FirstIsOr,
    /// The last token is `||`, or there are no tokens.
    #[error("Last element in range is '||'")]
    LastIsOr,
    /// A token has no digit.
    #[error("Could not get version from string: {}", quote(.0))]
    NoVersion(Box<str>),
    /// A comparator cannot be read.
    #[error("Could not parse Range {}: {error}", quote(token))]
    Comparator {
        /// The token, without spaces.
        token: Box<str>,
        /// The fault of the comparator.
        error: ComparatorError,
    },
}

/// Faults that blang finds in a comparator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComparatorError {
    /// The operator is unknown to blang.
    #[error(
        "Could not parse comparator {} in {}",
        quote(operator),
        joined(operator, version)
    )]
    Operator {
        /// The text before the first digit, trimmed.
        operator: Box<str>,
        /// The rest of the token.
        version: Box<str>,
    },
    /// The version is invalid for blang.
    #[error(
        "Could not parse version {} in {}: {source}",
        quote(version),
        joined(operator, version)
    )]
    Version {
        /// The text before the first digit, trimmed.
        operator: Box<str>,
        /// The rest of the token.
        version: Box<str>,
        /// The reason why the version is invalid.
        source: VersionError,
    },
}

fn joined(operator: &str, version: &str) -> String {
    quote(&format!("{operator}{version}"))
}

// === How blang reads a range: tokens, wildcards, then one comparator per token ===
//
// Mirrors `splitAndTrim`, `splitComparatorVersion`, `expandWildcardVersion`, `buildVersionRange` and `parseComparator`
// ([`range.go`]).
//
// [`range.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/range.go

/// The token that separates OR groups.
const OR: &str = "||";

/// A token without its spaces.
#[derive(Clone, Debug)]
struct RangeToken<'t> {
    text: Cow<'t, str>,
    /// Byte offset in the text as typed.
    at: usize,
}

impl RangeToken<'_> {
    /// The position of byte `offset` of the token in the text as typed. If a wildcard was expanded,
    /// the start of the token.
    fn typed_position(&self, typed: &str, offset: usize) -> usize {
        let bytes = typed
            .bytes()
            .enumerate()
            .skip(self.at)
            .filter(|(_, byte)| *byte != b' ');
        let stands_there = bytes.clone().map(|(_, byte)| byte).take(self.text.len());
        if !stands_there.eq(self.text.bytes()) {
            return self.at;
        }
        // The end of a token is not a byte of the token.
        match bytes
            .clone()
            .nth(offset)
            .filter(|_| offset < self.text.len())
        {
            Some((at, _)) => at,
            None => bytes
                .take(self.text.len())
                .last()
                .map_or(self.at, |(at, _)| at + 1),
        }
    }
}

/// Splits at spaces, but not after `>`, `<` or `=`. Tokens of one byte vanish, as upstream.
fn split(text: &str) -> Vec<RangeToken<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut previous = None;
    for (at, byte) in text.bytes().enumerate() {
        if byte != b' ' {
            previous = Some(byte);
        } else if !matches!(previous, Some(b'>' | b'<' | b'=')) {
            tokens.extend(token(text, start, at));
            start = at + 1;
        }
    }
    tokens.extend(token(text, start, text.len()));
    tokens
}

/// Splits a token into the trimmed operator and the version. The version starts at the first
/// decimal digit.
fn operator_and_version(token: &str) -> Option<(&str, &str)> {
    let (operator, version) = token.split_at(token.find(is_decimal_digit)?);
    Some((operator.trim(), version))
}

fn token(text: &str, start: usize, end: usize) -> Option<RangeToken<'_>> {
    let piece = text.get(start..end).filter(|piece| piece.len() > 1)?;
    let at = start + piece.bytes().take_while(|&byte| byte == b' ').count();
    let text = if piece.contains(' ') {
        piece.replace(' ', "").into()
    } else {
        piece.into()
    };
    Some(RangeToken { text, at })
}

/// Whether a character is in the general category Nd, like Go's `unicode.IsDigit`. Rust has only a
/// test for a superset.
fn is_decimal_digit(character: char) -> bool {
    character.is_ascii_digit() || {
        let code = u32::from(character);
        let following = ZEROS.partition_point(|&zero| zero <= code);
        following
            .checked_sub(1)
            .and_then(|index| ZEROS.get(index))
            .is_some_and(|zero| code - zero < 10)
    }
}

/// The zero of every run of ten decimal digits outside ASCII, in Unicode 17.
#[rustfmt::skip]
const ZEROS: [u32; 76] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
    0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0,
    0x10D30, 0x10D40, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650,
    0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50, 0x11DA0,
    0x11DE0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8,
    0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
];

/// Reads a token whose wildcards were expanded; `typed` is the complete range.
fn read_comparator(typed: &str, token: &RangeToken<'_>) -> Result<Comparator, SkipRangeError> {
    let Some((operator, version)) = operator_and_version(&token.text) else {
        return Err(SkipRangeError::no_version(typed, token));
    };
    let Some(compile) = compiler(operator) else {
        let (operator, version) = (operator.into(), version.into());
        let error = ComparatorError::Operator { operator, version };
        return Err(refused(
            token,
            error,
            RangeFault::new(typed, token.at, ExpectedPart::Operator),
        ));
    };
    let parsed = Version::parse(version).map_err(|source| {
        let at = token.typed_position(typed, token.text.len() - version.len() + source.at());
        let expected = match source.kind() {
            VersionErrorKind::Prerelease(IdentifierError::LeadingZero(_)) => {
                ExpectedPart::NoLeadingZero
            }
            _ => ExpectedPart::Version,
        };
        let (operator, version) = (operator.into(), version.into());
        let error = ComparatorError::Version {
            operator,
            version,
            source,
        };
        refused(token, error, RangeFault::new(typed, at, expected))
    })?;
    Ok(compile(parsed.into_point()))
}

fn refused(token: &RangeToken<'_>, error: ComparatorError, fault: RangeFault) -> SkipRangeError {
    let token = token.text.as_ref().into();
    SkipRangeError::new(SkipRangeErrorKind::Comparator { token, error }, fault)
}

fn compiler(operator: &str) -> Option<fn(VersionPoint) -> Comparator> {
    Some(match operator {
        "" | "=" | "==" => |point| Comparator::Within(Span::exactly(point)),
        "!" | "!=" => |point| Comparator::Outside(Span::exactly(point)),
        ">" => |point| Comparator::Within(Span::above(VersionCut::after(point))),
        ">=" => |point| Comparator::Within(Span::above(VersionCut::before(point))),
        "<" => |point| Comparator::Within(Span::below(VersionCut::before(point))),
        "<=" => |point| Comparator::Within(Span::below(VersionCut::after(point))),
        _ => return None,
    })
}

// === Wildcards: each token with a lower-case `x` anywhere in it is rewritten before tokens are
// parsed ===
//
// This also affects `>1.0.0-next`. An operator that the expansion does not know is dropped, so
// `~1.2.x` means 1.2.0.

/// Rewrites all tokens with an `x`. Some become two tokens.
fn expand_wildcards<'t>(
    typed: &str,
    tokens: Vec<RangeToken<'t>>,
) -> Result<Vec<RangeToken<'t>>, SkipRangeError> {
    if !tokens.iter().any(|token| token.text.contains('x')) {
        return Ok(tokens);
    }
    let mut expanded = Vec::with_capacity(tokens.len());
    for token in tokens {
        if !token.text.contains('x') {
            expanded.push(token);
            continue;
        }
        let Some((operator, version)) = operator_and_version(&token.text) else {
            return Err(SkipRangeError::no_version(typed, &token));
        };
        let rewritten = rewrite(operator, version);
        expanded.extend(rewritten.into_iter().map(|text| RangeToken {
            text: text.into(),
            at: token.at,
        }));
    }
    Ok(expanded)
}

fn rewrite(operator: &str, version: &str) -> Vec<String> {
    let flat = flatten(version);
    let next = bump(version, &flat).unwrap_or_default();
    match operator {
        ">" => vec![format!(">={next}")],
        ">=" => vec![format!(">={flat}")],
        "<" => vec![format!("<{flat}")],
        "<=" => vec![format!("<{next}")],
        "" | "=" | "==" => vec![format!(">={flat}"), format!("<{next}")],
        // All comparators must match, so no version does.
        "!" | "!=" => vec![format!("<{flat}"), format!(">={next}")],
        _ => vec![flat],
    }
}

/// Returns the lowest version that the wildcard matches.
fn flatten(version: &str) -> String {
    let flat = version.replacen(".x.x", ".x", 1).replacen(".x", ".0", 1);
    if flat.matches('.').count() == 1 {
        format!("{flat}.0")
    } else {
        flat
    }
}

/// Returns `flat` with the number before the wildcard incremented, if there is such a number.
///
/// Upstream counts the parts of the text as written. If there are three, it increments the second
/// number, even in `1.x.x`. It reads a signed 64-bit number, which wraps.
fn bump(version: &str, flat: &str) -> Option<String> {
    let pieces: Vec<_> = version.split('.').collect();
    let raised = match pieces.as_slice() {
        [_, "x"] => 0,
        [_, _, "x"] => 1,
        _ => return None,
    };
    let mut numbers: Vec<_> = flat.split('.').map(str::to_owned).collect();
    let number = numbers.get_mut(raised)?;
    *number = number.parse::<i64>().ok()?.wrapping_add(1).to_string();
    Some(numbers.join("."))
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

    #[test]
    fn a_digit_is_of_category_nd() {
        for digit in ['0', '9', '\u{661}', '\u{ff11}', '\u{1d7ff}', '\u{1e959}'] {
            assert!(is_decimal_digit(digit), "{digit:?}");
        }
        for other in [
            'a',
            '\u{216b}',
            '\u{b2}',
            '\u{65f}',
            '\u{66a}',
            '\u{ff1a}',
            '\u{1d800}',
        ] {
            assert!(!is_decimal_digit(other), "{other:?}");
        }
    }

    #[test]
    fn zeros_are_sorted() {
        assert!(ZEROS.is_sorted_by(|one, next| one + 10 <= *next));
    }

    #[test]
    fn tokens_of_one_byte_vanish() {
        let rows: [(&str, &[(&str, usize)]); 7] = [
            (">=1.0.0 , <2.0.0", &[(">=1.0.0", 0), ("<2.0.0", 10)]),
            ("! 1.0.0", &[("1.0.0", 2)]),
            ("!= 1.0.0", &[("!=1.0.0", 0)]),
            ("  > = 1.0.0", &[(">=1.0.0", 2)]),
            ("1.0.0 <", &[("1.0.0", 0)]),
            ("1.0.0 >= ", &[("1.0.0", 0), (">=", 6)]),
            ("x", &[]),
        ];
        for (text, expected) in rows {
            let tokens = split(text);
            let got: Vec<_> = tokens
                .iter()
                .map(|token| (&*token.text, token.at))
                .collect();
            assert_eq!(got, expected, "{text:?}");
        }
    }
}
