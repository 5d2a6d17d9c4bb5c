//! Versions and releases are read and ordered as in the Go libraries of OLM: every recorded line.

use std::cmp::Ordering;

use olmguard_catalog::version::{
    BundleReleaseSupport, LegacyRelease, Masterminds, MastermindsVersion, RecordedVersion, Release,
    ReleaseLimit, Version, VersionRelease,
};
use serde::Deserialize;

use olmguard_fixtures::tally::Tally;
use olmguard_fixtures::vectors::cases;

const LEGACY: LegacyRelease = LegacyRelease::Read(ReleaseLimit::Bytes20);

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

/// Identifiers as blang keeps them, as a number if possible.
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
        let expected = case
            .error
            .map_or_else(|| Ok(case.parsed.expect("recorded")), Err);
        tally.compare(&case.version, &got, &expected);
    }
    tally.finish(
        "blang-versions.jsonl",
        0,
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
            .map_or_else(|| Ok(new.parsed.expect("recorded").string), Err);
        tally.compare(&version, &got, &expected);
    }
    tally.finish(
        "masterminds-versions.jsonl",
        0,
        "the field strict of every line: OLM does not use it",
    );
}

#[derive(Deserialize)]
struct OrderCase {
    kind: OrderKind,
    a: serde_json::Value,
    b: serde_json::Value,
    cmp: i8,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OrderKind {
    Blang,
    Masterminds,
    Release,
    VersionRelease,
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

impl OrderCase {
    /// Compares `a` with `b`, each read from its text.
    fn by<T>(
        &self,
        read: impl Fn(&str) -> Option<T>,
        compare: impl Fn(&T, &T) -> Ordering,
    ) -> Ordering {
        let side = |value: &serde_json::Value| value.as_str().and_then(&read).expect("recorded");
        compare(&side(&self.a), &side(&self.b))
    }

    fn pair(value: &serde_json::Value) -> VersionRelease {
        let pair = serde_json::from_value(value.clone()).expect("a version and a release");
        read(&pair).expect("recorded")
    }

    fn answer(&self) -> Ordering {
        match self.kind {
            OrderKind::Blang => self.by(|t| Version::parse(t).ok(), Version::cmp_precedence),
            OrderKind::Masterminds => self.by(
                |text| MastermindsVersion::parse(text, Masterminds::V3_5).ok(),
                MastermindsVersion::cmp_precedence,
            ),
            OrderKind::Release => self.by(
                |text| Release::parse(text, ReleaseLimit::Bytes20).ok(),
                Release::cmp,
            ),
            OrderKind::VersionRelease => Self::pair(&self.a).cmp_precedence(&Self::pair(&self.b)),
        }
    }
}

#[test]
fn order() {
    let mut tally = Tally::default();
    for case in cases::<OrderCase>("version-order.jsonl") {
        tally.compare(
            (case.kind, &case.a, &case.b),
            &case.answer(),
            &case.cmp.cmp(&0),
        );
    }
    tally.finish("version-order.jsonl", 0, "none");
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
    let mut left_out = 0;
    for case in cases::<ReleaseCase>("version-release.jsonl") {
        let release = match case.kind.as_str() {
            "legacy" => None,
            "explicit" => Some(case.release),
            _ => {
                left_out += 1;
                continue;
            }
        };
        let pair = VersionAndRelease {
            version: case.version,
            release,
        };
        let got = read(&pair).map(|read| ReleaseParsed::of(&read));
        let expected = case
            .error
            .map_or_else(|| Ok(case.parsed.expect("recorded")), Err);
        tally.compare((&pair.version, &pair.release), &got, &expected);
    }
    let why = "registry-bundle: opm's own reading; package-property: read by the catalog";
    tally.finish("version-release.jsonl", left_out, why);
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
        let got = VersionRelease::parse_legacy(text, legacy).expect("recorded");
        let expected = RecordedVersion {
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
    tally.finish("decisions/versions.jsonl", 0, "none");
}
