//! Compares whole range reports with the recorded answers of the Go libraries.

use std::collections::{BTreeMap, BTreeSet};

use olmguard_catalog::version::Masterminds;
use olmguard_views::range_report::{Grammar, RangeReport, Subject};
use proptest::prelude::*;
use serde::Deserialize;

use olmguard_fixtures::tally::Tally;
use olmguard_fixtures::vectors::cases;

const SPEC: Grammar = Grammar::Spec(Masterminds::V3_5);

fn report<'v>(
    range: &str,
    grammar: Grammar,
    versions: impl IntoIterator<Item = &'v str>,
) -> RangeReport {
    RangeReport::new(range, grammar, versions.into_iter().map(Subject::version))
}

/// A printed JSON report, parsed.
#[derive(Debug, Deserialize)]
struct Printed {
    range: String,
    error: Option<String>,
    matches: Vec<String>,
    others: Vec<String>,
    invalid: Vec<String>,
    panics: Vec<String>,
    words: Option<String>,
}

fn printed(report: &RangeReport) -> Printed {
    let json = serde_json::to_value(report).expect("the report has string keys only");
    serde_json::from_value(json).expect("the report is what it is")
}

#[derive(Deserialize)]
struct Example {
    range: String,
    error: Option<String>,
    holds: Vec<String>,
    holds_not: Vec<String>,
}

#[track_caller]
fn check_examples(rows: &str, grammar: Grammar) {
    let rows: Vec<Example> = rows
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert!(!rows.is_empty());
    for row in rows {
        let versions = row.holds.iter().chain(&row.holds_not).map(String::as_str);
        let report = report(&row.range, grammar, versions);
        let printed = printed(&report);
        assert_eq!(printed.range, row.range);
        assert_eq!(printed.error, row.error, "{:?}", row.range);
        assert_eq!(printed.matches, row.holds, "{:?}", row.range);
        assert_eq!(printed.others, row.holds_not, "{:?}", row.range);
        assert_eq!(report.is_range(), row.error.is_none());
    }
}

#[test]
fn examples_of_constraints() {
    check_examples(
        include_str!("../../../../tests/vectors/golden/examples-constraints.jsonl"),
        SPEC,
    );
}

#[test]
fn examples_of_skip_ranges() {
    check_examples(
        include_str!("../../../../tests/vectors/golden/examples-skip-ranges.jsonl"),
        Grammar::SkipRange,
    );
}

#[derive(Deserialize)]
struct Recorded {
    library: Option<String>,
    constraint: String,
    error: Option<String>,
    #[serde(default)]
    matches: BTreeMap<String, bool>,
    #[serde(default)]
    panics: Vec<String>,
}

impl Recorded {
    /// Returns error, matches, others and panics as the report should list them.
    fn lists(&self) -> Lists {
        let of = |holds| -> Vec<_> {
            let answers = self.matches.iter();
            answers
                .filter(|(_, got)| **got == holds)
                .map(|(text, _)| text.clone())
                .collect()
        };
        (self.error.clone(), of(true), of(false), self.panics.clone())
    }

    fn versions(&self) -> impl Iterator<Item = &str> {
        self.matches.keys().chain(&self.panics).map(String::as_str)
    }
}

type Lists = (Option<String>, Vec<String>, Vec<String>, Vec<String>);

fn lists_of(report: &RangeReport) -> Lists {
    let printed = printed(report);
    (
        printed.error,
        printed.matches,
        printed.others,
        printed.panics,
    )
}

#[test]
fn recorded_ranges() {
    for (file, grammar) in [
        ("masterminds-constraints.jsonl", SPEC),
        ("blang-ranges.jsonl", Grammar::SkipRange),
    ] {
        let mut tally = Tally::default();
        for case in cases::<Recorded>(file) {
            let report = report(&case.constraint, grammar, case.versions());
            tally.compare(&case.constraint, &lists_of(&report), &case.lists());
        }
        tally.finish(file, 0, "all are compared");
    }
}

/// Ranges of older releases are evaluated by these releases, with the wording of the newest.
#[test]
fn recorded_ranges_of_older_releases() {
    let file = "masterminds-older.jsonl";
    let mut tally = Tally::default();
    for case in cases::<Recorded>(file) {
        let release = match case.library.as_deref() {
            Some("3.3.0") => Masterminds::V3_3_0,
            Some("3.3.1") => Masterminds::V3_3_1,
            Some("3.4.0") => Masterminds::V3_4,
            other => panic!("unknown library {other:?}"),
        };
        let case = Recorded {
            error: case
                .error
                .map(|text| text.replace("Parser Error", "parser error")),
            ..case
        };
        let report = report(&case.constraint, Grammar::Spec(release), case.versions());
        tally.compare(&case.constraint, &lists_of(&report), &case.lists());
    }
    tally.finish(file, 0, "all are compared");
}

#[test]
fn what_both_releases_refuse_is_worded_by_the_newest() {
    let long = format!("{}<", " ".repeat(512));
    let rows = [
        ("==1", "improper constraint: \"==1\""),
        (
            long.as_str(),
            "constraint string is too long (max 512 bytes)",
        ),
    ];
    for (range, expected) in rows {
        for release in [Masterminds::V3_3_0, Masterminds::V3_4] {
            let printed = printed(&report(range, Grammar::Spec(release), []));
            assert_eq!(printed.error.as_deref(), Some(expected));
        }
    }
}

#[test]
fn the_keys_stand_in_their_order() {
    let versions = ["1.0.0", "2.0.0", "1.0", "1.0.0"];
    let rows = [
        (
            report("^1", SPEC, versions),
            r#"{"schema":"olmguard.range/v1","range":"^1","syntax":"spec","error":null,"matches":["1.0.0"],"others":["2.0.0"],"invalid":["1.0"],"panics":[],"crd":true,"openAbove":false,"words":"from 1.0.0 up to, but without, 2.0.0; releases only"}"#,
        ),
        (
            report(">=2.0.0 || || ", Grammar::SkipRange, versions),
            r#"{"schema":"olmguard.range/v1","range":">=2.0.0 || || ","syntax":"skip-range","error":"Last element in range is '||'","matches":[],"others":[],"invalid":["1.0"],"panics":[],"crd":null,"openAbove":null,"words":null}"#,
        ),
        (
            report(">=2.0.0 || || 3.0.0", Grammar::SkipRange, versions),
            r#"{"schema":"olmguard.range/v1","range":">=2.0.0 || || 3.0.0","syntax":"skip-range","error":null,"matches":["2.0.0"],"others":[],"invalid":["1.0"],"panics":["1.0.0"],"crd":null,"openAbove":true,"words":"from 2.0.0; prereleases included; on every other version the controller panics"}"#,
        ),
        (
            report("1x", SPEC, versions),
            r#"{"schema":"olmguard.range/v1","range":"1x","syntax":"spec","error":"constraint parser error","matches":[],"others":[],"invalid":["1.0"],"panics":[],"crd":false,"openAbove":null,"words":null}"#,
        ),
    ];
    for (report, expected) in rows {
        let json = serde_json::to_string(&report).expect("string keys only");
        assert_eq!(json, expected);
    }
}

/// The upper bound is above every version that the range matches.
#[test]
fn no_version_above_the_bound_is_taken() {
    for (range, expected) in [
        ("1.0.3 || 2.0.1-alpha", "<=2.0.1-alpha"),
        ("^1 || 3.1.0-alpha", "<=3.1.0-alpha"),
        ("<2.0.0 || >=3.0.0-0 <3.0.0", "<3.0.0"),
        ("1.0.3 || 1.0.1-alpha", "<=1.0.3"),
        ("<2.0.0", "<2.0.0"),
    ] {
        let text = report(range, SPEC, []).to_text().to_string();
        let line = text.lines().find(|line| line.starts_with("Upper bound"));
        let line = line.unwrap_or_default();
        assert!(line.ends_with(&format!(" {expected}")), "{range}: {text}");
    }
}

proptest! {
    #[test]
    fn every_version_is_in_one_list(
        range in "[0-9x.<>=!~^|, -]{0,12}|\\PC{0,8}",
        versions in proptest::collection::vec("[0-2]\\.[0-2]\\.[0-2](-[a0])?|\\PC{0,4}", 0..8),
        skip_range: bool,
    ) {
        let grammar = if skip_range { Grammar::SkipRange } else { SPEC };
        let report = report(&range, grammar, versions.iter().map(String::as_str));
        let Printed { matches, others, invalid, panics, words, .. } = printed(&report);
        let listed = [matches, others, invalid, panics].concat();
        let distinct: BTreeSet<_> = listed.iter().map(String::as_str).collect();
        prop_assert_eq!(distinct.len(), listed.len());
        let given: BTreeSet<_> = versions.iter().map(String::as_str).collect();
        prop_assert!(distinct.is_subset(&given));
        prop_assert!(!report.is_range() || distinct == given);
        prop_assert_eq!(report.is_range(), words.is_some());
    }

    #[test]
    fn the_text_is_made_of_printable_lines(
        range: String,
        version: String,
        skip_range: bool,
    ) {
        let grammar = if skip_range { Grammar::SkipRange } else { SPEC };
        let text = report(&range, grammar, [version.as_str()]).to_text().to_string();
        prop_assert!(text.ends_with('\n'));
        prop_assert!(text.split('\n').all(|line| olmguard_catalog::version::go::escape(line)
            .replace("\\\"", "\"").replace("\\\\", "\\") == line), "{:?}", text);
    }
}
