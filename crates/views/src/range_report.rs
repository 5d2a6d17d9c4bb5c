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

mod caret;
mod json;
mod refusal;
mod subject;
mod text;

pub use json::RangeJson;
pub use subject::Subject;

use self::refusal::Refusal;
use self::subject::Unreadable;
use olmguard_catalog::version::comparator::{Side, VersionCut};
use olmguard_catalog::version::meaning::{self, Class, Interval};
use olmguard_catalog::version::{Constraint, Masterminds, Membership, SkipRange, Version, crd};
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
        let (readable, invalid) = subject::divide(subjects);
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
    let constraint = Constraint::parse(range, release)
        .map_err(|error| refusal::in_newest_words(range, &error))?;
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
