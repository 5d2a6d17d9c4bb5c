//! The meaning of a version range as one plain sentence.
//!
//! ```text
//! from 1.0.0 up to, but without, 2.0.0; releases only
//! below 1.0.0 or above 1.2.3; prereleases included
//! releases: from 1.0.0; prereleases: any version except 1.2.*-alpha
//! ```
//!
//! "from" and "up to" include the named version; "above", "below" and "but without" exclude it. Bounds are positions in
//! the order of versions, so `2.0.0-rc.1` is "below 2.0.0". Build metadata never counts.

use olmguard_catalog::version::comparator::{Core, PatchLine, Side, VersionCut, VersionPoint};
use olmguard_catalog::version::meaning::{self, Class, Interval, TooManyComparators};
use olmguard_catalog::version::suggestion::Suggestion;
use olmguard_catalog::version::{Constraint, ExpectedPart, Membership, RangeFault, SkipRange};

/// The versions that a `spec.source.catalog.version` matches.
pub fn constraint(constraint: &Constraint) -> String {
    let of = |class| meaning::constraint(constraint, class);
    match (of(Class::Releases), of(Class::Prereleases)) {
        (Ok(releases), Ok(prereleases)) => classes(&releases, &prereleases),
        (Err(error), _) | (_, Err(error)) => too_many(error),
    }
}

/// The versions that a `skipRange` matches, and whether operator-controller panics on all others.
pub fn skip_range(range: &SkipRange) -> String {
    let intervals = match meaning::skip_range(range) {
        Ok(intervals) => intervals,
        Err(error) => return too_many(error),
    };
    let has = |class: Class| !class.places(&intervals).is_empty();
    let suffix = match (has(Class::Releases), has(Class::Prereleases)) {
        (true, true) => INCLUDED,
        (true, false) => RELEASES_ONLY,
        (false, true) => PRERELEASES_ONLY,
        (false, false) => "",
    };
    let list = list(&intervals, Class::All);
    let panics = match range.otherwise() {
        Membership::Crashes if list != ANY => PANICS,
        _ => "",
    };
    format!("{list}{suffix}{panics}")
}

/// The text to write instead of an invalid range.
pub fn suggestion(suggestion: &Suggestion) -> String {
    match suggestion {
        Suggestion::Range(range) => format!("write \"{range}\""),
        Suggestion::Nothing => {
            "omit the version: OLM then installs the newest one that it can".to_owned()
        }
    }
}

/// A fault in a range with its position, counted in characters from 1.
pub(super) fn placed_fault(range: &str, fault: &RangeFault) -> String {
    let before = range.char_indices().take_while(|(at, _)| *at < fault.at);
    format!(
        "{}, at character {}",
        self::fault(range, fault),
        before.count() + 1
    )
}

/// The text found at a fault in a range, and the text expected there: `expected ..., found "<"`.
pub fn fault(range: &str, fault: &RangeFault) -> String {
    let expected = match fault.expected {
        ExpectedPart::End => "the end of the range",
        ExpectedPart::Comparator => "a comparator such as >=1.2.3",
        ExpectedPart::Separator => "a blank, a comma or || before the next comparator",
        ExpectedPart::Operator => "an operator of this syntax",
        ExpectedPart::Version => "a version that can be read",
        ExpectedPart::NoLeadingZero => {
            let identifier = identifier(range, fault.at);
            return format!("a numeric prerelease identifier must not start with 0: {identifier}");
        }
        ExpectedPart::HyphenRange => "a hyphen range that stands by itself, such as 1.2 - 1.4",
    };
    match fault.found {
        None => format!("expected {expected}, found the end"),
        Some(found) => {
            let found = olmguard_catalog::version::go::quote(found.encode_utf8(&mut [0; 4]));
            format!("expected {expected}, found {found}")
        }
    }
}

/// A numeric identifier, including the separator before it.
fn identifier(range: &str, at: usize) -> &str {
    let rest = range.get(at.saturating_sub(1)..).unwrap_or_default();
    let digits = rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
    rest.get(..=digits).unwrap_or(rest)
}

const ANY: &str = "any version";
const NOTHING: &str = "nothing";
const INCLUDED: &str = "; prereleases included";
const RELEASES_ONLY: &str = "; releases only";
const PRERELEASES_ONLY: &str = "; prereleases only";
const PANICS: &str = "; on every other version the controller panics";

fn too_many(TooManyComparators(count): TooManyComparators) -> String {
    format!("too long to put into words: {count} comparators")
}

fn classes(releases: &[Interval], prereleases: &[Interval]) -> String {
    let of_releases = list(releases, Class::Releases);
    let of_prereleases = list(prereleases, Class::Prereleases);
    match (releases, prereleases) {
        ([], []) => of_releases,
        (_, []) => format!("{of_releases}{RELEASES_ONLY}"),
        ([], _) => format!("{of_prereleases}{PRERELEASES_ONLY}"),
        _ => match common(releases, prereleases) {
            Some(intervals) => format!("{}{INCLUDED}", list(intervals, Class::All)),
            None => format!("releases: {of_releases}; prereleases: {of_prereleases}"),
        },
    }
}

/// The single list that describes both classes, if one of the two lists does. Only prereleases can be missing from an
/// interval.
fn common<'i>(releases: &'i [Interval], prereleases: &'i [Interval]) -> Option<&'i [Interval]> {
    let say_the_same = |class: Class| class.places(releases) == class.places(prereleases);
    if say_the_same(Class::Releases) {
        Some(prereleases)
    } else if prereleases
        .iter()
        .all(|interval| interval.missing.is_empty())
        && say_the_same(Class::Prereleases)
    {
        Some(releases)
    } else {
        None
    }
}

fn list(intervals: &[Interval], class: Class) -> String {
    if intervals.is_empty() {
        return NOTHING.to_owned();
    }
    let words: Vec<_> = intervals
        .iter()
        .map(|interval| stretch(interval, class))
        .collect();
    words.join(" or ")
}

fn stretch(interval: &Interval, class: Class) -> String {
    let words = match class.only(&interval.span) {
        Some(point) => format!("exactly {point}"),
        None => bounds(&interval.span.lower, &interval.span.upper, class),
    };
    if interval.missing.is_empty() {
        return words;
    }
    let missing: Vec<_> = interval.missing.iter().map(patch_line).collect();
    format!("{words} except {}", missing.join(" and "))
}

fn patch_line(line: &PatchLine) -> String {
    format!(
        "{}.{}.*-{}",
        line.major,
        line.minor,
        line.prerelease.as_str()
    )
}

fn bounds(lower: &VersionCut, upper: &VersionCut, class: Class) -> String {
    let from = from(lower, class);
    match (from, place(upper, class)) {
        (None, None) => ANY.to_owned(),
        (Some(from), None) => from,
        (None, Some((point, Side::Before))) => format!("below {point}"),
        (None, Some((point, Side::After))) => format!("up to {point}"),
        (Some(from), Some((point, Side::Before))) => {
            format!("{from} up to, but without, {point}")
        }
        (Some(from), Some((point, Side::After))) => format!("{from} up to {point}"),
    }
}

/// The text of a lower bound; `None` if no version of the class is below it.
fn from(lower: &VersionCut, class: Class) -> Option<String> {
    if class.is_same_place(&VersionCut::before(VersionPoint::lowest(Core::ZERO)), lower) {
        return None;
    }
    place(lower, class).map(|(point, side)| match side {
        Side::Before => format!("from {point}"),
        Side::After => format!("above {point}"),
    })
}

/// The version at a cut. Among releases, a prerelease is replaced by its release, which is above it.
fn place(cut: &VersionCut, class: Class) -> Option<(VersionPoint, Side)> {
    match cut {
        VersionCut::Unlimited => None,
        VersionCut::At(point, _) if class == Class::Releases && !point.prerelease.is_none() => {
            Some((VersionPoint::release(point.core), Side::Before))
        }
        VersionCut::At(point, side) => Some((point.clone(), *side)),
    }
}
