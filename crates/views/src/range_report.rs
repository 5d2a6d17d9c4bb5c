//! What `olmguard range` answers: what one range is, and which versions it takes.
//!
//! A range of `spec.source.catalog.version` is judged as the library of one OLM release judges it;
//! a refusal is worded as the newest release words it, whatever the release, so that one text can
//! be searched for. A `skipRange` is judged by the one release of blang/semver that every OLM has.
//!
//! Where the range does not parse, nothing can be said of versions but which of them cannot be
//! read: no version is taken, left out or panicked on. What the CRD says stands in both cases, since
//! the API server asks it first and knows nothing of the library.
//!
//! Invariant: every subject is in exactly one list, or, being readable beside a range that is not,
//! in none.

mod text;

use std::collections::BTreeSet;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use olmguard_catalog::version::comparator::{Side, VersionCut};
use olmguard_catalog::version::meaning::{Class, Interval};
use olmguard_catalog::version::{
    Constraint, ConstraintError, Masterminds, Membership, RangeFault, SkipRange, SkipRangeError,
    Version, crd, go, meaning,
};
use olmguard_catalog::{Bundle, Package};
use olmguard_engine::explain::range;

/// Which of the two grammars reads the range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Grammar {
    /// That of `spec.source.catalog.version`, as this release of the library reads it.
    Spec(Masterminds),
    /// That of `skipRange`.
    SkipRange,
}

/// What one range is, and which of the subjects it takes.
#[derive(Clone, Debug)]
pub struct RangeReport {
    range: String,
    grammar: Grammar,
    outcome: Result<Meaning, Refusal>,
    /// None where the CRD is not asked: a `skipRange` is in no object of the cluster.
    crd: Option<CrdAnswer>,
    invalid: Vec<Unreadable>,
}

/// What a range means that parses.
#[derive(Clone, Debug)]
struct Meaning {
    words: String,
    bound: UpperBound,
    matches: Vec<String>,
    others: Vec<String>,
    panics: Vec<String>,
}

/// Whether the versions of a range end somewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
enum UpperBound {
    /// They do: the bound as a comparator, if the range matches anything and is short enough.
    Present(Option<String>),
    Absent,
}

/// What the API server makes of the range as a field's value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CrdAnswer {
    Accepted,
    TooLong,
    Malformed,
}

impl RangeReport {
    /// Judges a range, and with it each of the subjects, in their order.
    pub fn new(range: &str, grammar: Grammar, subjects: impl IntoIterator<Item = Subject>) -> Self {
        let (readable, invalid) = divide(subjects);
        let (outcome, crd) = match grammar {
            Grammar::Spec(release) => (spec(range, release, readable), Some(ask_crd(range))),
            Grammar::SkipRange => (skip_range(range, readable), None),
        };
        Self {
            range: range.to_owned(),
            grammar,
            outcome,
            crd,
            invalid,
        }
    }

    /// Whether the range parses.
    pub fn is_range(&self) -> bool {
        self.outcome.is_ok()
    }
}

type Readable = Vec<(String, Version)>;

fn spec(range: &str, release: Masterminds, subjects: Readable) -> Result<Meaning, Refusal> {
    let constraint =
        Constraint::parse(range, release).map_err(|error| in_newest_words(range, &error))?;
    let words = range::constraint(&constraint);
    let intervals = meaning::constraint(&constraint, Class::Releases)
        .ok()
        .filter(|intervals| !intervals.is_empty())
        .or_else(|| meaning::constraint(&constraint, Class::Prereleases).ok());
    let bound = UpperBound::of(constraint.is_open_above(), intervals);
    Ok(Meaning::new(words, bound, subjects, |version| {
        if constraint.matches(version) {
            Membership::Holds
        } else {
            Membership::HoldsNot
        }
    }))
}

fn skip_range(range: &str, subjects: Readable) -> Result<Meaning, Refusal> {
    let skip_range = SkipRange::parse(range).map_err(Refusal::from)?;
    let words = range::skip_range(&skip_range);
    let intervals = meaning::skip_range(&skip_range).ok();
    let bound = UpperBound::of(skip_range.is_open_above(), intervals);
    Ok(Meaning::new(words, bound, subjects, |version| {
        skip_range.takes(version)
    }))
}

fn ask_crd(range: &str) -> CrdAnswer {
    if !crd::fits_length(range) {
        CrdAnswer::TooLong
    } else if !crd::fits_pattern(range) {
        CrdAnswer::Malformed
    } else {
        CrdAnswer::Accepted
    }
}

impl Meaning {
    fn new(
        words: String,
        bound: UpperBound,
        subjects: Readable,
        takes: impl Fn(&Version) -> Membership,
    ) -> Self {
        let (mut matches, mut others, mut panics) = (Vec::new(), Vec::new(), Vec::new());
        for (name, version) in subjects {
            match takes(&version) {
                Membership::Holds => matches.push(name),
                Membership::HoldsNot => others.push(name),
                Membership::Crashes => panics.push(name),
            }
        }
        Self {
            words,
            bound,
            matches,
            others,
            panics,
        }
    }
}

impl UpperBound {
    fn of(is_open_above: bool, intervals: Option<Vec<Interval>>) -> Self {
        if is_open_above {
            return Self::Absent;
        }
        let last = intervals.and_then(|intervals| intervals.into_iter().next_back());
        Self::Present(last.and_then(|last| match last.span.upper {
            VersionCut::Unlimited => None,
            VersionCut::At(point, Side::Before) => Some(format!("<{point}")),
            VersionCut::At(point, Side::After) => Some(format!("<={point}")),
        }))
    }
}

/// `text` escaped, and the column, from 0, under which byte `at` of it stands.
fn place(text: &str, at: usize) -> (String, usize) {
    let before = text.get(..at).unwrap_or(text);
    (go::escape(text), go::escape(before).width())
}

/// Why a range does not parse.
#[derive(Clone, Debug)]
struct Refusal {
    /// The Go library's text, byte for byte.
    text: String,
    /// The place of what that text is about.
    fault: RangeFault,
}

/// The refusal of any release, as the newest one words it.
///
/// Where the newest refuses the range too, its own fault is taken: it may find another one first,
/// since only it limits lengths and counts.
fn in_newest_words(range: &str, error: &ConstraintError) -> Refusal {
    match Constraint::parse(range, NEWEST) {
        Err(newest) => Refusal::from(newest),
        Ok(_) => Refusal::from(error.worded_by(NEWEST)),
    }
}

impl From<ConstraintError> for Refusal {
    fn from(error: ConstraintError) -> Self {
        Self {
            text: error.to_string(),
            fault: error.fault(),
        }
    }
}

impl From<SkipRangeError> for Refusal {
    fn from(error: SkipRangeError) -> Self {
        Self {
            text: error.to_string(),
            fault: error.fault(),
        }
    }
}

const NEWEST: Masterminds = Masterminds::V3_5;

/// Meaning of a version range, and the versions that it matches.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "olmguard.range/v1")]
pub struct RangeJson<'r> {
    /// The range as given.
    range: &'r str,
    /// Grammar of the range.
    syntax: Syntax,
    /// Error message of the newest release of the Go library. Null if the range is valid.
    error: Option<&'r str>,
    /// Versions, or names of bundles, that the range matches. Empty with an error.
    matches: &'r [String],
    /// Versions, or names of bundles, that the range does not match. Empty with an error.
    others: &'r [String],
    /// Versions, or names of bundles, whose version OLM cannot read in any range.
    invalid: Vec<&'r str>,
    /// Versions, or names of bundles, on which OLM panics. Empty with an error.
    panics: &'r [String],
    /// Whether the CRD accepts the range as `spec.source.catalog.version`. Null for a skipRange.
    crd: Option<bool>,
    /// Whether the range has no upper bound. Null with an error.
    open_above: Option<bool>,
    /// Description of the range in plain words. Null with an error.
    words: Option<&'r str>,
}

/// Grammar of a version range.
#[derive(Clone, Copy, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Syntax {
    /// Grammar of `spec.source.catalog.version`: Masterminds/semver v3.
    Spec,
    /// Grammar of `skipRange` in a catalog: blang/semver v4.
    SkipRange,
}

impl RangeReport {
    /// The report as it is printed with `-o json`.
    pub fn to_json(&self) -> RangeJson<'_> {
        let meaning = self.outcome.as_ref().ok();
        RangeJson {
            range: &self.range,
            syntax: self.grammar.into(),
            error: self.outcome.as_ref().err().map(|error| &*error.text),
            matches: meaning.map_or(&[], |meaning| &meaning.matches),
            others: meaning.map_or(&[], |meaning| &meaning.others),
            invalid: self.invalid.iter().map(|subject| &*subject.name).collect(),
            panics: meaning.map_or(&[], |meaning| &meaning.panics),
            crd: self.crd.map(|answer| answer == CrdAnswer::Accepted),
            open_above: meaning.map(|meaning| meaning.bound == UpperBound::Absent),
            words: meaning.map(|meaning| &*meaning.words),
        }
    }
}

impl From<Grammar> for Syntax {
    fn from(grammar: Grammar) -> Self {
        match grammar {
            Grammar::Spec(_) => Self::Spec,
            Grammar::SkipRange => Self::SkipRange,
        }
    }
}

/// Something with a version.
#[derive(Clone, Debug)]
pub struct Subject {
    /// How the report calls it.
    name: String,
    /// Its version, or why OLM cannot read it.
    version: Result<Version, String>,
}

/// A subject whose version cannot be read.
#[derive(Clone, Debug)]
struct Unreadable {
    name: String,
    why: String,
}

impl Subject {
    /// A version by itself, read as OLM reads that of a bundle.
    pub fn version(text: &str) -> Self {
        Self {
            name: text.to_owned(),
            version: Version::parse(text).map_err(|error| error.to_string()),
        }
    }

    /// The bundles of a package, best first. Their releases play no part in a range.
    pub fn bundles(package: &Package) -> impl Iterator<Item = Self> {
        package.bundles().map(|(_, bundle)| Self::bundle(bundle))
    }

    fn bundle(bundle: &Bundle) -> Self {
        let version = bundle.version.as_ref();
        Self {
            name: bundle.name.as_ref().to_owned(),
            version: version
                .map(|version| version.version.clone())
                .map_err(ToString::to_string),
        }
    }
}

/// The subjects that can be judged and those that cannot; of those with one name the first.
fn divide(subjects: impl IntoIterator<Item = Subject>) -> (Readable, Vec<Unreadable>) {
    let mut seen = BTreeSet::new();
    let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
    for Subject { name, version } in subjects {
        if !seen.insert(name.clone()) {
            continue;
        }
        match version {
            Ok(version) => readable.push((name, version)),
            Err(why) => unreadable.push(Unreadable { name, why }),
        }
    }
    (readable, unreadable)
}

#[cfg(test)]
mod caret_tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, at: usize, escaped: &str, column: usize) {
        assert_eq!(place(text, at), (escaped.to_owned(), column), "{text:?}");
    }

    #[test]
    fn the_caret_stands_under_the_fault() {
        check("", 0, "", 0);
        check(">=1 x", 4, ">=1 x", 4);
        check("1\t<2", 2, "1\\t<2", 3);
        check("\u{1b}[31m1", 5, "\\x1b[31m1", 8);
        check("\u{202e}1", 3, "\\u202e1", 6);
        check("漢1", 3, "漢1", 2);
        check("e\u{301}1", 3, "e\u{301}1", 1);
        check("1", 9, "1", 1);
        check("漢", 1, "漢", 2);
    }
}
