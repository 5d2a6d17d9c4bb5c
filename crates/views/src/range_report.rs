//! The report of `olmguard range`: what a range means, and which versions it matches.
//!
//! A range of `spec.source.catalog.version` is evaluated as the library of one OLM release evaluates it. An error
//! always has the wording of the newest release, so that there is one text to search for. A `skipRange` is
//! evaluated by the one release of blang/semver that every OLM has.
//!
//! If the range does not parse, the report only shows which versions cannot be read. No version then matches,
//! does not match, or causes a panic. The answer of the CRD is reported in both cases, because the API server
//! checks it first and does not know the library.
//!
//! Invariant: every subject is in exactly one list. A valid subject of an invalid range is in none.

use std::collections::BTreeSet;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use olmguard_catalog::Package;
use olmguard_catalog::version::comparator::{Side, VersionCut};
use olmguard_catalog::version::meaning::{self, Class, Interval, TooManyComparators};
use olmguard_catalog::version::suggestion::{self, Suggestion};
use olmguard_catalog::version::{
    Constraint, ConstraintError, Masterminds, Membership, RangeFault, SkipRange, Version, crd, go,
};
use olmguard_engine::explain::range;
use olmguard_engine::explain::text::one_line;
use olmguard_report::{Text, Tone};

/// Grammar of the range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Grammar {
    /// Grammar of `spec.source.catalog.version`, as this release of the library reads it.
    Spec(Masterminds),
    /// Grammar of `skipRange`.
    SkipRange,
}

/// Meaning of a version range, and the versions that it matches.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "olmguard.range/v1")]
pub struct RangeReport {
    /// Schema of this object.
    schema: &'static str,
    /// The range as given.
    range: String,
    /// Grammar of the range.
    syntax: Syntax,
    /// Error message of the newest release of the Go library. Null if the range is valid.
    error: Option<String>,
    /// Versions, or names of bundles, that the range matches. Empty with an error.
    matches: Vec<String>,
    /// Versions, or names of bundles, that the range does not match. Empty with an error.
    others: Vec<String>,
    /// Versions, or names of bundles, whose version OLM cannot read in any range.
    invalid: Vec<String>,
    /// Versions, or names of bundles, on which OLM panics. Empty with an error.
    panics: Vec<String>,
    /// Whether the CRD accepts the range as `spec.source.catalog.version`. Null for a skipRange.
    crd: Option<bool>,
    /// Whether the range has no upper bound. Null with an error.
    open_above: Option<bool>,
    /// Description of the range in plain words. Null with an error.
    words: Option<String>,
    /// The bound as a comparator, if the range matches anything and is short enough.
    #[serde(skip)]
    bound: Option<String>,
    /// The place of what the error is about.
    #[serde(skip)]
    fault: Option<RangeFault>,
    /// None where the CRD is not asked: a `skipRange` is in no object of the cluster.
    #[serde(skip)]
    answer: Option<CrdAnswer>,
    /// Why OLM cannot read each version that is not valid.
    #[serde(skip)]
    why_invalid: Vec<String>,
}

const SCHEMA: &str = "olmguard.range/v1";

/// Grammar of a version range.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Syntax {
    /// Grammar of `spec.source.catalog.version`: Masterminds/semver v3.
    #[default]
    Spec,
    /// Grammar of `skipRange` in a catalog: blang/semver v4.
    SkipRange,
}

/// Meaning of a range that parses.
struct Meaning {
    words: String,
    is_open_above: bool,
    /// Upper bound: no version above it matches. `None` if unknown.
    upper: Option<VersionCut>,
    takes: Box<dyn Fn(&Version) -> Membership>,
}

/// Error text of the Go library, byte for byte, and the place of the fault.
type Refusal = (String, RangeFault);

/// Answer of the API server to the range as the value of the field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CrdAnswer {
    Accepted,
    TooLong,
    Malformed,
}

impl RangeReport {
    /// Evaluates a range, and each of the subjects in order.
    pub fn new(range: &str, grammar: Grammar, subjects: impl IntoIterator<Item = Subject>) -> Self {
        let (syntax, answer, outcome) = match grammar {
            Grammar::Spec(release) => (Syntax::Spec, Some(ask_crd(range)), spec(range, release)),
            Grammar::SkipRange => (Syntax::SkipRange, None, skip_range(range)),
        };
        let (meaning, refusal) = match outcome {
            Ok(meaning) => (Some(meaning), None),
            Err(refusal) => (None, Some(refusal)),
        };
        let (error, fault) = refusal.unzip();
        let is_open_above = meaning.as_ref().map(|meaning| meaning.is_open_above);
        let mut report = Self {
            schema: SCHEMA,
            range: range.to_owned(),
            syntax,
            error,
            crd: answer.map(|answer| answer == CrdAnswer::Accepted),
            open_above: is_open_above,
            words: meaning.as_ref().map(|meaning| meaning.words.clone()),
            bound: meaning.as_ref().and_then(bound),
            fault,
            answer,
            ..Self::default()
        };
        report.judge(meaning.as_ref(), subjects);
        report
    }

    /// Puts each subject into its list. Of several subjects with one name, only the first counts.
    fn judge(&mut self, meaning: Option<&Meaning>, subjects: impl IntoIterator<Item = Subject>) {
        let mut seen = BTreeSet::new();
        for Subject { name, version } in subjects {
            if !seen.insert(name.clone()) {
                continue;
            }
            let takes = version.map(|version| meaning.map(|meaning| (meaning.takes)(&version)));
            match takes {
                Ok(None) => {}
                Ok(Some(Membership::Holds)) => self.matches.push(name),
                Ok(Some(Membership::HoldsNot)) => self.others.push(name),
                Ok(Some(Membership::Crashes)) => self.panics.push(name),
                Err(why) => {
                    self.invalid.push(name);
                    self.why_invalid.push(why);
                }
            }
        }
    }

    /// Whether the range parses.
    pub fn is_range(&self) -> bool {
        self.error.is_none()
    }
}

fn spec(range: &str, release: Masterminds) -> Result<Meaning, Refusal> {
    let constraint =
        Constraint::parse(range, release).map_err(|error| in_newest_words(range, &error))?;
    let classes = [Class::Releases, Class::Prereleases];
    let taken = classes.map(|class| meaning::constraint(&constraint, class));
    Ok(Meaning {
        words: range::constraint(&constraint),
        is_open_above: constraint.is_open_above(),
        upper: upper(taken),
        takes: Box::new(move |version| {
            if constraint.matches(version) {
                Membership::Holds
            } else {
                Membership::HoldsNot
            }
        }),
    })
}

fn skip_range(range: &str) -> Result<Meaning, Refusal> {
    let skip_range = SkipRange::parse(range).map_err(|error| (error.to_string(), error.fault()))?;
    Ok(Meaning {
        words: range::skip_range(&skip_range),
        is_open_above: skip_range.is_open_above(),
        upper: upper([meaning::skip_range(&skip_range)]),
        takes: Box::new(move |version| skip_range.takes(version)),
    })
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

/// Returns the highest end of the intervals, or `None` if some intervals are unknown.
fn upper<const N: usize>(
    taken: [Result<Vec<Interval>, TooManyComparators>; N],
) -> Option<VersionCut> {
    let taken = taken.into_iter().collect::<Result<Vec<_>, _>>().ok()?;
    let ends = taken
        .into_iter()
        .flatten()
        .map(|interval| interval.span.upper);
    ends.max()
}

fn bound(meaning: &Meaning) -> Option<String> {
    let upper = meaning.upper.as_ref().filter(|_| !meaning.is_open_above)?;
    match upper {
        VersionCut::Unlimited => None,
        VersionCut::At(point, Side::Before) => Some(format!("<{point}")),
        VersionCut::At(point, Side::After) => Some(format!("<={point}")),
    }
}

/// Returns `text` escaped, and the column of its byte `at`, from 0.
fn place(text: &str, at: usize) -> (String, usize) {
    let before = text.get(..at).unwrap_or(text);
    (go::escape(text), go::escape(before).width())
}

/// Rewords an error of any release as the newest release words it.
///
/// If the newest release refuses the range too, the result is its own fault. It can find another one first,
/// because only the newest release limits lengths and counts.
fn in_newest_words(range: &str, error: &ConstraintError) -> Refusal {
    let newest = Constraint::parse(range, NEWEST);
    let error = newest.map_or_else(|newest| newest, |_| error.worded_by(NEWEST));
    (error.to_string(), error.fault())
}

const NEWEST: Masterminds = Masterminds::V3_5;

/// A named version to evaluate.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name in the report.
    name: String,
    /// The version, or why OLM cannot read it.
    version: Result<Version, String>,
}

impl Subject {
    /// Reads a version without a bundle, as OLM reads the version of a bundle.
    pub fn version(text: &str) -> Self {
        Self {
            name: text.to_owned(),
            version: Version::parse(text).map_err(|error| error.to_string()),
        }
    }

    /// Returns the bundles of a package, best first. Ranges ignore their releases.
    pub fn bundles(package: &Package) -> impl Iterator<Item = Self> {
        package.bundles().map(|(_, bundle)| Self {
            name: bundle.name.to_string(),
            version: match &bundle.version {
                Ok(read) => Ok(read.version.clone()),
                Err(error) => Err(error.to_string()),
            },
        })
    }
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

// === The report as text: one fact per line, after its label ===

impl RangeReport {
    /// Renders the report for `-o text`, with the last line break.
    pub fn to_text(&self) -> Text {
        let mut text = Text::with_labels(16);
        match (&self.words, &self.fault) {
            (Some(words), _) => self.say_meaning(words, &mut text),
            (None, fault) => self.say_refusal(fault.as_ref(), &mut text),
        }
        if let Some(answer) = self.answer {
            self.say_crd(answer, &mut text);
        }
        if let Some(suggestion) = self.suggestion() {
            text.labelled("Fix", Tone::Good, &range::suggestion(&suggestion));
        }
        self.say_subjects(&mut text);
        let unreadable = self.invalid.iter().zip(&self.why_invalid);
        let unreadable =
            unreadable.map(|(name, why)| format!("{}: {}", go::escape(name), one_line(why)));
        text.under("Not valid", Tone::Bad, unreadable);
        text
    }

    /// Returns a suggested replacement if the range is rejected.
    fn suggestion(&self) -> Option<Suggestion> {
        match self.syntax {
            Syntax::SkipRange if !self.is_range() => {
                suggestion::skip_range(&self.range).map(Suggestion::Range)
            }
            Syntax::Spec if !self.is_range() || self.answer == Some(CrdAnswer::Malformed) => {
                suggestion::constraint(&self.range)
            }
            Syntax::Spec | Syntax::SkipRange => None,
        }
    }

    fn say_meaning(&self, words: &str, text: &mut Text) {
        text.labelled("Range", Tone::Plain, &go::escape(&self.range));
        text.fact("Means", Tone::Plain, words);
        let (tone, bound) = match (self.open_above, self.syntax) {
            (Some(true), Syntax::Spec) => (Tone::Caution, OPEN),
            (Some(true), Syntax::SkipRange) => (Tone::Caution, OPEN_SKIP_RANGE),
            _ => (Tone::Good, self.bound.as_deref().unwrap_or(BOUNDED)),
        };
        text.labelled("Upper bound", tone, bound);
    }

    fn say_refusal(&self, fault: Option<&RangeFault>, text: &mut Text) {
        let (Some(fault), Some(error)) = (fault, &self.error) else {
            return;
        };
        let (range, column) = place(&self.range, fault.at);
        text.line(Tone::Plain, range);
        text.line(Tone::Bad, format!("{:column$}^", ""));
        text.line(Tone::Bad, one_line(error));
        text.line(Tone::Plain, range::fault(&self.range, fault));
        if self.syntax == Syntax::SkipRange {
            text.fact("OLM", Tone::Caution, IGNORED);
        }
    }

    fn say_crd(&self, answer: CrdAnswer, text: &mut Text) {
        let (tone, words) = match (answer, self.is_range()) {
            (CrdAnswer::Accepted, true) => (Tone::Good, "accepts it".to_owned()),
            (CrdAnswer::Accepted, false) => (Tone::Caution, STORED.to_owned()),
            (CrdAnswer::Malformed, _) => (Tone::Bad, MALFORMED.to_owned()),
            (CrdAnswer::TooLong, _) => (Tone::Bad, too_long(&self.range)),
        };
        text.fact("CRD", tone, &words);
    }

    fn say_subjects(&self, text: &mut Text) {
        let has_others = !self.others.is_empty() || !self.panics.is_empty();
        if self.matches.is_empty() && has_others {
            text.labelled(MATCHES, Tone::Caution, "none");
        }
        text.under(MATCHES, Tone::Good, escaped(&self.matches));
        text.under("Does not match", Tone::Plain, escaped(&self.others));
        text.under("Panics on", Tone::Bad, escaped(&self.panics));
    }
}

const OPEN: &str = "none: OLM upgrades to newer versions automatically";
const OPEN_SKIP_RANGE: &str = "none: it matches every newer version";
const BOUNDED: &str = "yes";
const IGNORED: &str = "ignores a skipRange that is not valid: it skips nothing";
const STORED: &str = "accepts it: the API server stores what OLM then cannot resolve";
const MALFORMED: &str = "rejects it: invalid version expression";

fn too_long(range: &str) -> String {
    let (found, most) = (range.chars().count(), crd::MAX_CHARACTERS);
    format!("rejects it: {found} characters, at most {most} are allowed")
}

fn escaped(names: &[String]) -> Vec<String> {
    names.iter().map(|name| go::escape(name)).collect()
}

const MATCHES: &str = "Matches";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range_report::{Grammar, Subject};
    use olmguard_catalog::version::Masterminds;

    const SPEC: Grammar = Grammar::Spec(Masterminds::V3_5);

    #[track_caller]
    fn check(range: &str, grammar: Grammar, versions: &[&str], expected: &[&str]) {
        let subjects = versions.iter().map(|text| Subject::version(text));
        let text = RangeReport::new(range, grammar, subjects).to_text();
        assert_eq!(text.to_string(), expected.join("\n") + "\n");
    }

    #[test]
    fn a_bounded_range() {
        let versions = ["1.5.0", "1.0.0-rc.1", "1.9.9", "v2.0.0"];
        check(
            ">=1.0.0, <2.0.0",
            SPEC,
            &versions,
            &[
                "Range           >=1.0.0, <2.0.0",
                "Means           from 1.0.0 up to, but without, 2.0.0; releases only",
                "Upper bound     <2.0.0",
                "CRD             accepts it",
                "Matches         1.5.0",
                "                1.9.9",
                "Does not match  1.0.0-rc.1",
                "Not valid       v2.0.0: Invalid character(s) found in major number \"v2\"",
            ],
        );
    }

    #[test]
    fn an_open_range_that_the_crd_refuses() {
        check(
            "1, * || >=01",
            SPEC,
            &["0.9.0"],
            &[
                "Range           1, * || >=01",
                "Means           from 1.0.0; releases only",
                "Upper bound     none: OLM upgrades to newer versions automatically",
                "CRD             rejects it: invalid version expression",
                "Matches         none",
                "Does not match  0.9.0",
            ],
        );
    }

    #[test]
    fn what_the_crd_accepts_and_the_library_refuses() {
        check(
            ">=1.0.0 1.2.3-01",
            SPEC,
            &["1.0.0", ""],
            &[
                ">=1.0.0 1.2.3-01",
                "              ^",
                "constraint parser error",
                "a numeric prerelease identifier must not start with 0: -01",
                "CRD             accepts it: the API server stores what OLM then cannot resolve",
                "Not valid       : Version string empty",
            ],
        );
    }

    #[test]
    fn a_range_that_is_too_long_for_the_crd() {
        let range = format!("{:65}", ">=1.0.0");
        check(
            &range,
            SPEC,
            &[],
            &[
                &format!("Range           {range}"),
                "Means           from 1.0.0; releases only",
                "Upper bound     none: OLM upgrades to newer versions automatically",
                "CRD             rejects it: 65 characters, at most 64 are allowed",
            ],
        );
    }

    #[test]
    fn the_empty_range() {
        check(
            "",
            SPEC,
            &[],
            &[
                "",
                "^",
                "improper constraint: \"\"",
                "expected a comparator such as >=1.2.3, found the end",
                "CRD             rejects it: invalid version expression",
                "Fix             omit the version: OLM then installs the newest one that it can",
            ],
        );
    }

    #[test]
    fn a_skip_range_that_panics() {
        check(
            ">=2.0.0 || || 1.0.0",
            Grammar::SkipRange,
            &["2.1.0", "1.0.0"],
            &[
                "Range           >=2.0.0 || || 1.0.0",
                "Means           from 2.0.0; prereleases included; on every other version the",
                "                controller panics",
                "Upper bound     none: it matches every newer version",
                "Matches         2.1.0",
                "Panics on       1.0.0",
            ],
        );
    }

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        check(
            "漢\u{1b}[2J\u{202e} <2",
            Grammar::SkipRange,
            &["\u{7}1\n"],
            &[
                "漢\\x1b[2J\\u202e <2",
                "^",
                "Could not parse Range \"漢\\x1b[2J\\u202e\": Could not parse comparator \
                 \"漢\\x1b[\" in \"漢\\x1b[2J\\u202e\"",
                "expected an operator of this syntax, found \"漢\"",
                "OLM             ignores a skipRange that is not valid: it skips nothing",
                "Not valid       \\a1\\n: No Major.Minor.Patch elements found",
            ],
        );
    }
}
