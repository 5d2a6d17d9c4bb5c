//! Ranges give the same answers as the Go libraries of OLM: every recorded line.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use olmguard_catalog::selector::{LabelSelector, Selector, SelectorTexts};
use olmguard_catalog::version::{Constraint, Masterminds, Membership, SkipRange, Version, crd};
use olmguard_fixtures::shared::shared;
use olmguard_fixtures::tally::Tally;
use olmguard_fixtures::vectors::cases;

#[derive(Deserialize)]
struct RangeCase {
    constraint: String,
    error: Option<String>,
    matches: BTreeMap<String, bool>,
    #[serde(default)]
    panics: Vec<String>,
}

/// The text of the error, or the versions that match.
type RangeAnswer = Result<BTreeMap<String, bool>, String>;

fn held(holds: bool) -> Membership {
    if holds {
        Membership::Holds
    } else {
        Membership::HoldsNot
    }
}

fn version(text: &str) -> Version {
    Version::parse(text).expect(text)
}

fn constraint_answer<'v>(
    text: &str,
    release: Masterminds,
    versions: impl Iterator<Item = &'v String>,
) -> RangeAnswer {
    let constraint = Constraint::parse(text, release).map_err(|error| error.to_string())?;
    Ok(versions
        .map(|v| (v.clone(), constraint.matches(&version(v))))
        .collect())
}

#[test]
fn constraints_of_the_newest_release() {
    let mut tally = Tally::default();
    for RangeCase {
        constraint,
        error,
        matches,
        ..
    } in cases("masterminds-constraints.jsonl")
    {
        let got = constraint_answer(&constraint, Masterminds::V3_5, matches.keys());
        tally.compare(&constraint, &got, &error.map_or(Ok(matches), Err));
    }
    tally.finish("masterminds-constraints.jsonl", 0, "none");
}

#[derive(Deserialize)]
struct OlderCase {
    library: String,
    constraint: String,
    error: Option<String>,
    matches: BTreeMap<String, bool>,
}

/// A constraint that is not listed for a release gives the answer recorded for 3.5.0, except for
/// the texts of errors.
#[test]
fn constraints_of_older_releases() {
    let mut older: BTreeMap<(String, String), OlderCase> = BTreeMap::new();
    let mut tally = Tally::default();
    for case in cases::<OlderCase>("masterminds-older.jsonl") {
        older.insert((case.library.clone(), case.constraint.clone()), case);
    }
    let releases = [
        ("3.3.0", Masterminds::V3_3_0),
        ("3.3.1", Masterminds::V3_3_1),
        ("3.4.0", Masterminds::V3_4),
    ];
    for newest in cases::<RangeCase>("masterminds-constraints.jsonl") {
        for (name, release) in releases {
            let case = older.remove(&(name.to_owned(), newest.constraint.clone()));
            let (mut matches, mut error) = (newest.matches.clone(), newest.error.clone());
            if let Some(case) = case {
                matches.extend(case.matches);
                error = case.error;
            } else if error.is_some() {
                let got = Constraint::parse(&newest.constraint, release).is_err();
                tally.compare((name, &newest.constraint), &got, &true);
                continue;
            }
            let got = constraint_answer(&newest.constraint, release, matches.keys());
            let expected = error.map_or(Ok(matches), Err);
            tally.compare((name, &newest.constraint), &got, &expected);
        }
    }
    for ((name, constraint), case) in older {
        let release = releases
            .iter()
            .find(|(known, _)| *known == name)
            .expect("recorded")
            .1;
        let got = constraint_answer(&constraint, release, case.matches.keys());
        tally.compare(
            (name, constraint),
            &got,
            &case.error.map_or(Ok(case.matches), Err),
        );
    }
    tally.finish("masterminds-older.jsonl", 0, "none");
}

fn skip_range_answer(case: &RangeCase) -> Result<BTreeMap<String, Membership>, String> {
    let range = SkipRange::parse(&case.constraint).map_err(|error| error.to_string())?;
    let versions = case.matches.keys().chain(&case.panics);
    Ok(versions
        .map(|v| (v.clone(), range.takes(&version(v))))
        .collect())
}

#[test]
fn skip_ranges() {
    let mut tally = Tally::default();
    for case in cases::<RangeCase>("blang-ranges.jsonl") {
        let got = skip_range_answer(&case);
        let held = case
            .matches
            .into_iter()
            .map(|(version, holds)| (version, held(holds)));
        let crashes = case
            .panics
            .into_iter()
            .map(|version| (version, Membership::Crashes));
        let expected = case
            .error
            .map_or_else(|| Ok(held.chain(crashes).collect()), Err);
        tally.compare(&case.constraint, &got, &expected);
    }
    tally.finish("blang-ranges.jsonl", 0, "none");
}

#[derive(Deserialize)]
struct CrdCase {
    version: String,
    crd_pattern: bool,
    crd_length: bool,
    masterminds_error: Option<String>,
}

#[test]
fn crd_field() {
    let mut tally = Tally::default();
    for case in cases::<CrdCase>("crd-version-field.jsonl") {
        let text = case.version.as_str();
        let error = Constraint::parse(text, Masterminds::V3_5)
            .err()
            .map(|e| e.to_string());
        let got = (crd::fits_pattern(text), crd::fits_length(text), error);
        let expected = (case.crd_pattern, case.crd_length, case.masterminds_error);
        tally.compare(text, &got, &expected);
    }
    tally.finish("crd-version-field.jsonl", 0, "none");
}

#[derive(Deserialize)]
struct DecisionRange {
    kind: RangeKind,
    range: String,
    error: Option<String>,
    matches: Option<Vec<String>>,
    others: Option<Vec<String>>,
    panics: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum RangeKind {
    Spec,
    SkipRange,
}

fn membership(
    kind: RangeKind,
    range: &str,
    versions: &[&String],
) -> Result<Vec<Membership>, String> {
    let versions = versions.iter().map(|text| version(text));
    match kind {
        RangeKind::Spec => Constraint::parse(range, Masterminds::V3_5)
            .map(|range| versions.map(|v| held(range.matches(&v))).collect())
            .map_err(|error| error.to_string()),
        RangeKind::SkipRange => SkipRange::parse(range)
            .map(|range| versions.map(|v| range.takes(&v)).collect())
            .map_err(|error| error.to_string()),
    }
}

#[test]
fn ranges_of_the_decisions() {
    let mut tally = Tally::default();
    for case in cases::<DecisionRange>("decisions/ranges.jsonl") {
        let answers = [
            (&case.matches, Membership::Holds),
            (&case.others, Membership::HoldsNot),
            (&case.panics, Membership::Crashes),
        ];
        let (versions, expected): (Vec<_>, Vec<_>) = answers
            .into_iter()
            .flat_map(|(versions, answer)| versions.iter().flatten().map(move |v| (v, answer)))
            .unzip();
        let got = membership(case.kind, &case.range, &versions);
        tally.compare(
            (case.kind, &case.range),
            &got,
            &case.error.map_or(Ok(expected), Err),
        );
    }
    tally.finish("decisions/ranges.jsonl", 0, "none");
}

// === Compiling a selector, compared with the recorded decisions of the real resolver ===

/// The resolver compiles the selector first, so any other outcome means that it compiled.
#[test]
fn selectors_compile_or_fail_as_recorded() {
    let Some(folder) = shared() else {
        println!("left out: decisions/{{cases,synthetic}}.jsonl, no shared folder");
        return;
    };
    for file in ["cases.jsonl", "synthetic.jsonl"] {
        let text = std::fs::read_to_string(folder.join("vectors/decisions").join(file)).unwrap();
        let (mut compared, mut left_out) = (0, 0);
        for line in text.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let written = &case["spec"]["selector"];
            if written.is_null() {
                left_out += 1;
                continue;
            }
            let expect = &case["expect"];
            let recorded = (expect["errorKind"] == "selector").then(|| expect["error"].clone());
            let recorded = recorded.map(|error| error.as_str().unwrap().to_owned());
            assert_eq!(error(written), recorded, "{}", case["id"]);
            compared += 1;
        }
        println!("{file}: {compared} compared, {left_out} left out (no selector)");
        assert!(compared > 0, "{file}");
    }
}

/// The resolver's text about a selector that does not compile.
fn error(written: &Value) -> Option<String> {
    let selector = LabelSelector::read(written).expect("recorded selectors are well typed");
    let error = Selector::compile(&selector, SelectorTexts::JsonBytes).err()?;
    Some(format!("desired catalog selector is invalid: {error}"))
}
