//! Versions, releases and ranges answer as the Go libraries behind OLM do: every recorded line.

mod common {
    pub(crate) mod shared;
    pub(crate) mod vectors;
}

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use olmguard::version::{
    BundleReleaseSupport, Constraint, LegacyRelease, Masterminds, MastermindsVersion, Membership,
    Recorded, Release, ReleaseLimit, SkipRange, Version, VersionRelease, crd,
};
use serde::Deserialize;

use common::vectors::{Tally, cases};

const LEGACY: LegacyRelease = LegacyRelease::Read(ReleaseLimit::Bytes20);

#[derive(Deserialize)]
struct RangeCase {
    constraint: String,
    error: Option<String>,
    matches: BTreeMap<String, bool>,
    #[serde(default)]
    panics: Vec<String>,
}

/// The error's text, or which versions match.
type RangeAnswer = Result<BTreeMap<String, bool>, String>;

fn version(text: &str) -> Version {
    Version::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
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
    tally.finish("masterminds-constraints.jsonl", "none");
}

#[derive(Deserialize)]
struct OlderCase {
    library: String,
    constraint: String,
    error: Option<String>,
    matches: BTreeMap<String, bool>,
}

/// A constraint that is not listed for a release answers as recorded for 3.5.0, texts of errors aside.
#[test]
fn constraints_of_older_releases() {
    let mut older: HashMap<(String, String), OlderCase> = HashMap::new();
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
        let release = releases.iter().find(|(known, _)| *known == name).unwrap().1;
        let got = constraint_answer(&constraint, release, case.matches.keys());
        tally.compare(
            (name, constraint),
            &got,
            &case.error.map_or(Ok(case.matches), Err),
        );
    }
    tally.finish("masterminds-older.jsonl", "none");
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
        let held = case.matches.into_iter().map(|(version, holds)| {
            (
                version,
                if holds {
                    Membership::Holds
                } else {
                    Membership::HoldsNot
                },
            )
        });
        let crashes = case
            .panics
            .into_iter()
            .map(|version| (version, Membership::Crashes));
        let expected = case
            .error
            .map_or_else(|| Ok(held.chain(crashes).collect()), Err);
        tally.compare(&case.constraint, &got, &expected);
    }
    tally.finish("blang-ranges.jsonl", "none");
}

#[derive(Deserialize)]
struct VersionCase {
    version: String,
    error: Option<String>,
    parsed: Option<Parsed>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Parsed {
    major: u64,
    minor: u64,
    patch: u64,
    pre: serde_json::Value,
    build: serde_json::Value,
    string: String,
}

/// Identifiers as blang keeps them: a number where it is one.
fn identifiers(text: &str) -> serde_json::Value {
    let pieces = text.split('.').filter(|piece| !piece.is_empty());
    let value = |piece: &str| match piece.parse::<u64>() {
        Ok(number) => serde_json::Value::from(number),
        Err(_) => piece.into(),
    };
    pieces.map(value).collect()
}

fn texts(text: &str) -> serde_json::Value {
    text.split('.').filter(|piece| !piece.is_empty()).collect()
}

#[test]
fn versions_of_blang() {
    let mut tally = Tally::default();
    for case in cases::<VersionCase>("blang-versions.jsonl") {
        let got = Version::parse(&case.version)
            .map_err(|error| error.to_string())
            .map(|v| Parsed {
                major: v.major(),
                minor: v.minor(),
                patch: v.patch(),
                pre: identifiers(v.prerelease()),
                build: texts(v.build()),
                string: v.to_string(),
            });
        let expected = case.error.map_or_else(|| Ok(case.parsed.unwrap()), Err);
        tally.compare(&case.version, &got, &expected);
    }
    tally.finish(
        "blang-versions.jsonl",
        "the field tolerant of every line: OLM does not use it",
    );
}

#[derive(Deserialize)]
struct MastermindsCase {
    version: String,
    new: NewVersion,
}

#[derive(Deserialize)]
struct NewVersion {
    error: Option<String>,
    parsed: Option<Parsed>,
}

#[test]
fn versions_of_masterminds() {
    let mut tally = Tally::default();
    for MastermindsCase { version, new } in cases("masterminds-versions.jsonl") {
        let got = MastermindsVersion::parse(&version, Masterminds::V3_5);
        let got = got
            .map(|v| v.to_string())
            .map_err(|error| error.to_string());
        let expected = new
            .error
            .map_or_else(|| Ok(new.parsed.unwrap().string), Err);
        tally.compare(&version, &got, &expected);
    }
    tally.finish(
        "masterminds-versions.jsonl",
        "the field strict of every line: OLM does not use it",
    );
}

#[derive(Deserialize)]
struct OrderCase {
    kind: String,
    a: serde_json::Value,
    b: serde_json::Value,
    cmp: i8,
}

#[derive(Deserialize)]
struct VersionAndRelease {
    version: String,
    release: Option<String>,
}

fn read(pair: &VersionAndRelease) -> Result<VersionRelease, String> {
    match &pair.release {
        None => VersionRelease::parse_legacy(&pair.version, LEGACY).map_err(|e| e.to_string()),
        Some(release) => {
            VersionRelease::parse_explicit(&pair.version, release, ReleaseLimit::Bytes20)
                .map_err(|error| error.to_string())
        }
    }
}

fn compare(case: &OrderCase) -> Ordering {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let masterminds = |v| MastermindsVersion::parse(&text(v), Masterminds::V3_5).unwrap();
    let release = |value| Release::parse(&text(value), ReleaseLimit::Bytes20).unwrap();
    let pair =
        |value: &serde_json::Value| read(&serde_json::from_value(value.clone()).unwrap()).unwrap();
    let OrderCase { kind, a, b, .. } = case;
    match kind.as_str() {
        "blang" => version(&text(a)).cmp_precedence(&version(&text(b))),
        "masterminds" => masterminds(a).cmp_precedence(&masterminds(b)),
        "release" => release(a).cmp(&release(b)),
        "version-release" => pair(a).cmp_precedence(&pair(b)),
        other => panic!("unknown kind {other}"),
    }
}

#[test]
fn order() {
    let mut tally = Tally::default();
    for case in cases::<OrderCase>("version-order.jsonl") {
        tally.compare(
            (&case.kind, &case.a, &case.b),
            &compare(&case),
            &case.cmp.cmp(&0),
        );
    }
    tally.finish("version-order.jsonl", "none");
}

#[derive(Deserialize)]
struct ReleaseCase {
    kind: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    release: String,
    error: Option<String>,
    parsed: Option<ReleaseParsed>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct ReleaseParsed {
    version: String,
    build: serde_json::Value,
    release: Option<serde_json::Value>,
    release_string: String,
    installed_version_gate_off: String,
    installed_version_gate_on: String,
    installed_release_gate_on: Option<String>,
}

impl ReleaseParsed {
    fn of(read: &VersionRelease) -> Self {
        let off = read.recorded(BundleReleaseSupport::Disabled);
        let on = read.recorded(BundleReleaseSupport::Enabled);
        assert_eq!(off.release, None);
        Self {
            version: read.version.to_string(),
            build: texts(read.version.build()),
            release: read
                .release
                .as_ref()
                .map(|release| identifiers(release.as_str())),
            release_string: read
                .release
                .as_ref()
                .map(Release::to_string)
                .unwrap_or_default(),
            installed_version_gate_off: off.version,
            installed_version_gate_on: on.version,
            installed_release_gate_on: on.release,
        }
    }
}

#[test]
fn version_and_release() {
    let mut tally = Tally::default();
    for case in cases::<ReleaseCase>("version-release.jsonl") {
        let release = match case.kind.as_str() {
            "legacy" => None,
            "explicit" => Some(case.release),
            _ => {
                tally.leave_out();
                continue;
            }
        };
        let pair = VersionAndRelease {
            version: case.version,
            release,
        };
        let got = read(&pair).map(|read| ReleaseParsed::of(&read));
        let expected = case.error.map_or_else(|| Ok(case.parsed.unwrap()), Err);
        tally.compare((&pair.version, &pair.release), &got, &expected);
    }
    let why = "registry-bundle: opm's own reading; package-property: read by the catalog";
    tally.finish("version-release.jsonl", why);
}

#[test]
fn what_older_releases_record() {
    let rows = [
        (LegacyRelease::Ignored, "1.0.0+2", "1.0.0+2", None),
        (LEGACY, "1.0.0+2", "1.0.0", Some("2")),
        (
            LEGACY,
            "1.0.0+20240101.abcdefabcdef",
            "1.0.0+20240101.abcdefabcdef",
            None,
        ),
        (
            LegacyRelease::Read(ReleaseLimit::Unlimited),
            "1.0.0+20240101.abcdefabcdef",
            "1.0.0",
            Some("20240101.abcdefabcdef"),
        ),
    ];
    for (legacy, text, version, release) in rows {
        let got = VersionRelease::parse_legacy(text, legacy).unwrap();
        let expected = Recorded {
            version: version.into(),
            release: release.map(Into::into),
        };
        assert_eq!(
            got.recorded(BundleReleaseSupport::Enabled),
            expected,
            "{text}"
        );
    }
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
    tally.finish("crd-version-field.jsonl", "none");
}

#[derive(Deserialize)]
struct DecisionRange {
    kind: String,
    range: String,
    error: Option<String>,
    matches: Option<Vec<String>>,
    others: Option<Vec<String>>,
    panics: Option<Vec<String>>,
}

#[test]
fn ranges_of_the_decisions() {
    let mut tally = Tally::default();
    for case in cases::<DecisionRange>("decisions/ranges.jsonl") {
        let expected: Vec<_> = [
            (case.matches, Membership::Holds),
            (case.others, Membership::HoldsNot),
            (case.panics, Membership::Crashes),
        ]
        .into_iter()
        .flat_map(|(versions, answer)| versions.into_iter().flatten().map(move |v| (v, answer)))
        .collect();
        let takes: Result<Box<dyn Fn(&Version) -> Membership>, String> = match case.kind.as_str() {
            "spec" => Constraint::parse(&case.range, Masterminds::V3_5)
                .map(|range| {
                    let takes = move |version: &Version| match range.matches(version) {
                        true => Membership::Holds,
                        false => Membership::HoldsNot,
                    };
                    Box::new(takes) as _
                })
                .map_err(|error| error.to_string()),
            _ => SkipRange::parse(&case.range)
                .map(|range| Box::new(move |version: &Version| range.takes(version)) as _)
                .map_err(|error| error.to_string()),
        };
        let got = takes.map(|takes| {
            expected
                .iter()
                .map(|(v, _)| (v.clone(), takes(&version(v))))
                .collect::<Vec<_>>()
        });
        tally.compare(
            (&case.kind, &case.range),
            &got,
            &case.error.map_or(Ok(expected), Err),
        );
    }
    tally.finish("decisions/ranges.jsonl", "none");
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DecisionVersions {
    a: String,
    a_release: Option<String>,
    a_read: serde_json::Value,
    b: String,
    b_release: Option<String>,
    b_read: serde_json::Value,
    compare: Option<i8>,
}

fn as_recorded(read: &Result<VersionRelease, String>) -> serde_json::Value {
    match read {
        Err(error) => serde_json::json!({ "error": error }),
        Ok(read) => serde_json::json!({
            "version": read.version.to_string(),
            "release": read.release.as_ref().map(Release::as_str),
        }),
    }
}

#[test]
fn versions_of_the_decisions() {
    let mut tally = Tally::default();
    for case in cases::<DecisionVersions>("decisions/versions.jsonl") {
        let one = read(&VersionAndRelease {
            version: case.a.clone(),
            release: case.a_release,
        });
        let other = read(&VersionAndRelease {
            version: case.b.clone(),
            release: case.b_release,
        });
        let compared = one.as_ref().ok().zip(other.as_ref().ok());
        let compared = compared.map(|(one, other)| one.cmp_precedence(other));
        let got = (as_recorded(&one), as_recorded(&other), compared);
        let expected = (
            case.a_read,
            case.b_read,
            case.compare.map(|sign| sign.cmp(&0)),
        );
        tally.compare((&case.a, &case.b), &got, &expected);
    }
    tally.finish("decisions/versions.jsonl", "none");
}
