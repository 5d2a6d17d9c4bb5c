//! 8.5: how the `olm.package` property of a bundle is read, with and without the feature gate.

use olmguard_catalog::BundleVersionError;
use olmguard_catalog::version::{BundleReleaseSupport, RecordedVersion, VersionRelease};
use serde::Deserialize;
use serde_json::Value;

use olmguard_fixtures::question::{content, package, rules};
use olmguard_fixtures::tally::Tally;
use olmguard_fixtures::vectors::cases;

/// The version of a bundle with this property.
fn version(property: Option<&str>, gate: bool) -> Result<VersionRelease, BundleVersionError> {
    let value = property.map(|value| format!(r#"{{"type": "olm.package", "value": {value}}}"#));
    let fbc = format!(
        r#"{{"schema": "olm.bundle", "package": "p", "name": "b", "properties": [{}]}}"#,
        value.unwrap_or_default()
    );
    let gate = format!("BundleReleaseSupport={gate}");
    let content = content(&fbc, &rules("1.11", &[&gate]));
    let (_, bundle) = package(&content, "p").bundles().next().expect("a bundle");
    bundle.version.clone()
}

#[test]
fn rows_8_5_package_properties() {
    for (row, gate, property, expected) in [
        (
            1,
            false,
            r#"{"version":"1.0.0-pre+1.alpha.2"}"#,
            Some(("1.0.0-pre", Some("1.alpha.2"))),
        ),
        (2, false, r#"{"version":"abcd"}"#, None),
        (
            3,
            false,
            r#"{"version":"1.0.0+001"}"#,
            Some(("1.0.0+001", None)),
        ),
        (
            6,
            true,
            r#"{"version":"1.0.0+ignored","release":"2"}"#,
            Some(("1.0.0+ignored", Some("2"))),
        ),
        (
            7,
            true,
            r#"{"version":"2.1.0","release":"1.alpha.3"}"#,
            Some(("2.1.0", Some("1.alpha.3"))),
        ),
        (8, true, r#"{"version":"1.0.0","release":"001"}"#, None),
        (
            9,
            true,
            r#"{"version":"1.0.0+2","release":""}"#,
            Some(("1.0.0+2", Some(""))),
        ),
        (
            10,
            false,
            r#"{"version":"1.0.0+2","release":"999"}"#,
            Some(("1.0.0", Some("2"))),
        ),
        (11, true, r#"{"version":"1.0.0","release":[]}"#, None),
    ] {
        let got = version(Some(property), gate).ok();
        let got = got.as_ref().map(|read| {
            (
                read.version.to_string(),
                read.release.as_ref().map(ToString::to_string),
            )
        });
        let expected =
            expected.map(|(v, r): (&str, Option<&str>)| (v.to_owned(), r.map(str::to_owned)));
        assert_eq!(got, expected, "8.5 #{row}");
    }
}

#[test]
fn rows_8_5_texts() {
    let missing = version(None, false).expect_err("8.5 #5").to_string();
    assert_eq!(missing, "no package property found in bundle \"b\"");
    // Text that is not JSON is YAML, so it is a string.
    assert!(version(Some("abcd"), false).is_err(), "8.5 #4");
    let property = r#"{"version":"not-a-version","release":"1"}"#;
    let broken = version(Some(property), true)
        .expect_err("8.5 #12")
        .to_string();
    assert!(
        broken.contains("error parsing version"),
        "8.5 #12: {broken}"
    );
}

#[test]
fn rows_8_5_recorded_metadata() {
    use BundleReleaseSupport::{Disabled, Enabled};
    for (property, gate, expected, release) in [
        (
            r#"{"version":"1.0.0","release":"2"}"#,
            Enabled,
            "1.0.0",
            Some("2"),
        ),
        (r#"{"version":"1.0.0"}"#, Enabled, "1.0.0", None),
        (
            r#"{"version":"1.0.0","release":""}"#,
            Enabled,
            "1.0.0",
            Some(""),
        ),
        (r#"{"version":"1.0.0+2"}"#, Disabled, "1.0.0+2", None),
        (r#"{"version":"1.0.0"}"#, Disabled, "1.0.0", None),
    ] {
        let read = version(Some(property), gate == Enabled).expect(property);
        let expected = RecordedVersion {
            version: expected.to_owned(),
            release: release.map(str::to_owned),
        };
        assert_eq!(read.recorded(gate), expected, "8.5: {property}");
    }
}

#[test]
fn rows_8_5_releases() {
    let read = |release: &str| {
        version(
            Some(&format!(r#"{{"version":"1.0.0","release":"{release}"}}"#)),
            true,
        )
    };
    for release in [
        "",
        "alpha",
        "1",
        "alpha.1.beta.2",
        "rc-1.beta-2",
        "12345678901234567890",
        "0",
        "0alpha",
    ] {
        assert!(read(release).is_ok(), "8.5: {release:?}");
    }
    for (release, part) in [
        (
            "123456789012345678901",
            "exceeds maximum length of 20 characters",
        ),
        (
            "01",
            "Numeric PreRelease version must not contain leading zeroes",
        ),
        (
            "001",
            "Numeric PreRelease version must not contain leading zeroes",
        ),
        ("alpha_beta", "Invalid character"),
    ] {
        let error = read(release).expect_err(release).to_string();
        assert!(error.contains(part), "8.5: {release:?}: {error}");
    }
}

#[derive(Deserialize)]
struct PropertyCase {
    kind: String,
    #[serde(default)]
    package_json: String,
    #[serde(default)]
    gate: bool,
    error: Option<String>,
    parsed: Option<Value>,
}

#[test]
fn recorded_package_properties() {
    let mut tally = Tally::default();
    let properties = cases::<PropertyCase>("version-release.jsonl").into_iter();
    for case in properties.filter(|case| case.kind == "package-property") {
        let got = outcome(version(Some(&case.package_json), case.gate));
        let expected = match (case.error, case.parsed) {
            (Some(error), _) if error.starts_with("error unmarshalling") => Err(None),
            (Some(error), _) => Err(Some(error)),
            (None, parsed) => Ok(parsed.map(|parsed| recorded(&parsed)).expect("recorded")),
        };
        tally.compare((&case.package_json, case.gate), &got, &expected);
    }
    tally.finish("version-release.jsonl, package-property", 0, "none");
}

/// Version, release, and the stored values with the feature gate off and on.
type Outcome = Result<(String, Option<String>, RecordedVersion, RecordedVersion), Option<String>>;

fn outcome(version: Result<VersionRelease, BundleVersionError>) -> Outcome {
    let read = version.map_err(|error| error.is_olms_own().then(|| error.to_string()))?;
    Ok((
        read.version.to_string(),
        read.release.as_ref().map(ToString::to_string),
        read.recorded(BundleReleaseSupport::Disabled),
        read.recorded(BundleReleaseSupport::Enabled),
    ))
}

fn recorded(parsed: &Value) -> (String, Option<String>, RecordedVersion, RecordedVersion) {
    let text = |field: &str| parsed[field].as_str().map(str::to_owned);
    let release = (!parsed["release"].is_null())
        .then(|| text("release_string"))
        .flatten();
    let stored = |version, release| RecordedVersion { version, release };
    (
        text("version").expect("recorded"),
        release,
        stored(text("installed_version_gate_off").expect("recorded"), None),
        stored(
            text("installed_version_gate_on").expect("recorded"),
            text("installed_release_gate_on"),
        ),
    )
}
