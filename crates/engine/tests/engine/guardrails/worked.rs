//! Four packages with rules of their authors: pass through a minor version, last patch first, waypoints over semver,
//! and one minor version at a time.

use serde_json::{Value, json};

use olmguard_fixtures::guardrails::catalog::{Asked, Facts, blobs, guardrails, judged, snapshot};

/// An edit that pins the end of a step: whether it is allowed, otherwise the rules that forbid it.
fn hop(snapshot: &Facts, from: &str, to: &str) -> Result<(), String> {
    let answer = judged(snapshot, from, Asked::range(to));
    match answer.token.as_str() {
        "Resolved" => Ok(()),
        "Guardrail" => Err(answer.causes.iter().map(|cause| &*cause.message).fold(
            String::new(),
            |all, cause| {
                if all.is_empty() {
                    cause.to_owned()
                } else {
                    all + "; " + cause
                }
            },
        )),
        other => panic!("{from} -> {to}: {other}: {:?}", answer.message),
    }
}

#[track_caller]
fn allows(snapshot: &Facts, hops: &[(&str, &str)]) {
    for (from, to) in hops {
        assert_eq!(hop(snapshot, from, to), Ok(()), "{from} -> {to}");
    }
}

#[track_caller]
fn denies(snapshot: &Facts, hops: &[(&str, &str)], because: &str) {
    for (from, to) in hops {
        let why = hop(snapshot, from, to).expect_err(to);
        assert!(why.contains(because), "{from} -> {to}: {why}");
    }
}

/// The path in the message for an edit that requests the last version directly.
fn plan(snapshot: &Facts, from: &str, to: &str) -> Vec<String> {
    judged(snapshot, from, Asked::range(to)).advice.path
}

fn package(versions: &[&str], least: &str, graph: &str, rules: &Value) -> Facts {
    let mut blobs = blobs(versions, least);
    blobs.push(guardrails(graph, rules));
    snapshot(&blobs)
}

#[test]
fn a_through_a_minor() {
    let rules = json!([{"id": "via-1.3", "kind": "PassThrough", "via": ">=1.3.0 <1.4.0", "from": "<1.3.0", "to": ">=1.4.0",
        "reason": "1.3 migrates the database; 1.4 has no migration code"}]);
    let pool = [
        "1.2.3", "1.2.9", "1.3.0", "1.3.5", "1.4.0", "1.4.2", "1.5.0",
    ];
    let with = package(&pool, "1.2.0", "Catalog", &rules);
    allows(
        &with,
        &[("1.2.3", "1.2.9"), ("1.2.3", "1.3.0"), ("1.2.3", "1.3.5")],
    );
    denies(
        &with,
        &[("1.2.3", "1.4.0"), ("1.2.3", "1.4.2"), ("1.2.3", "1.5.0")],
        "via-1.3",
    );
    denies(&with, &[("1.2.9", "1.4.0")], "via-1.3");
    allows(
        &with,
        &[("1.3.0", "1.4.2"), ("1.3.5", "1.5.0"), ("1.4.0", "1.5.0")],
    );
    assert_eq!(plan(&with, "1.2.3", "1.5.0"), ["1.2.3", "1.3.5", "1.5.0"]);
    let without = snapshot(&blobs(&pool, "1.2.0"));
    allows(&without, &[("1.2.3", "1.5.0")]);
}

#[test]
fn b_the_last_patch_first() {
    let rules =
        json!([{"id": "latest-1.2.z", "kind": "LatestPatchFirst", "from": ">=1.2.0 <1.3.0"}]);
    let before = ["1.2.3", "1.2.7", "1.2.9", "1.3.0", "1.3.4"];
    let with = package(&before, "1.2.0", "Catalog", &rules);
    allows(&with, &[("1.2.3", "1.2.7"), ("1.2.3", "1.2.9")]);
    denies(
        &with,
        &[("1.2.3", "1.3.0"), ("1.2.3", "1.3.4"), ("1.2.7", "1.3.0")],
        "latest-1.2.z",
    );
    allows(
        &with,
        &[("1.2.9", "1.3.0"), ("1.2.9", "1.3.4"), ("1.3.0", "1.3.4")],
    );
    assert_eq!(plan(&with, "1.2.3", "1.3.4"), ["1.2.3", "1.2.9", "1.3.4"]);
    let after = ["1.2.3", "1.2.7", "1.2.9", "1.2.10", "1.3.0", "1.3.4"];
    let with = package(&after, "1.2.0", "Catalog", &rules);
    denies(&with, &[("1.2.9", "1.3.4")], "latest-1.2.z");
    allows(&with, &[("1.2.9", "1.2.10"), ("1.2.10", "1.3.4")]);
    assert_eq!(plan(&with, "1.2.3", "1.3.4"), ["1.2.3", "1.2.10", "1.3.4"]);
}

#[test]
fn c_waypoints_over_semver() {
    let rules = json!([{"id": "waypoints", "kind": "Waypoints", "versions": ["1.1.5"]}]);
    let pool = [
        "0.9.0",
        "1.0.0",
        "1.1.5",
        "1.2.0",
        "1.3.0-rc.1",
        "1.3.0",
        "2.0.0",
    ];
    let with = package(&pool, "0.0.0", "Semver", &rules);
    denies(
        &with,
        &[("0.9.0", "1.0.0"), ("1.3.0", "2.0.0")],
        "another major version",
    );
    allows(&with, &[("1.0.0", "1.1.5")]);
    denies(
        &with,
        &[("1.0.0", "1.2.0"), ("1.0.0", "1.3.0")],
        "waypoints",
    );
    denies(&with, &[("1.0.0", "1.3.0-rc.1")], "waypoints");
    denies(
        &with,
        &[("1.0.0", "1.3.0-rc.1"), ("1.2.0", "1.3.0-rc.1")],
        "allow no prerelease",
    );
    allows(
        &with,
        &[("1.1.5", "1.2.0"), ("1.1.5", "1.3.0"), ("1.2.0", "1.3.0")],
    );
    allows(&with, &[("1.3.0-rc.1", "1.3.0")]);
    assert_eq!(plan(&with, "1.0.0", "1.3.0"), ["1.0.0", "1.1.5", "1.3.0"]);
    let bypassing = judged(&with, "1.3.0", Asked::range("2.0.0").bypassing());
    assert_eq!(bypassing.verdict().as_str(), "allow");
    let expected = "the author's guardrails have no edge 1.3.0 -> 2.0.0: another major version; the override lifts it";
    assert!(
        bypassing.warnings.iter().any(|warning| warning == expected),
        "{:?}",
        bypassing.warnings
    );
}

#[test]
fn d_one_minor_at_a_time() {
    let rules = json!([{"id": "one-minor-at-a-time", "kind": "MaxMinorStep", "step": 1}]);
    let pool = [
        "1.0.0", "1.0.4", "1.1.0", "1.1.3", "1.2.0", "1.3.0", "1.5.0",
    ];
    let with = package(&pool, "1.0.0", "Semver", &rules);
    allows(
        &with,
        &[
            ("1.0.0", "1.0.4"),
            ("1.0.0", "1.1.3"),
            ("1.1.0", "1.2.0"),
            ("1.2.0", "1.3.0"),
            ("1.3.0", "1.5.0"),
        ],
    );
    denies(
        &with,
        &[("1.0.0", "1.2.0"), ("1.1.0", "1.3.0"), ("1.2.0", "1.5.0")],
        "one-minor-at-a-time",
    );
    assert_eq!(
        plan(&with, "1.0.0", "1.5.0"),
        ["1.0.0", "1.1.3", "1.2.0", "1.3.0", "1.5.0"]
    );
}

#[test]
fn a_way_through_a_minor_leads_over_its_releases() {
    let pool = ["1.2.3", "1.3.5", "1.4.0-rc.1", "1.4.0", "1.5.0"];
    let through = |via: &str| {
        let rules = json!([{"id": "via", "kind": "PassThrough", "via": via}]);
        let snapshot = package(&pool, "1.2.0", "Catalog", &rules);
        judged(&snapshot, "1.2.3", Asked::range("1.5.0"))
    };
    // The range ends after the prereleases of 1.4.0, so one of them would match.
    let wide = through(">=1.3.0 <1.4.0");
    assert_eq!(wide.advice.path, ["1.2.3", "1.3.5", "1.5.0"]);
    assert_eq!(wide.advice.allowed_next, ["1.3.5", "1.4.0-rc.1"]);
    let narrow = through(">=1.3.0 <1.4.0-0");
    assert_eq!(narrow.advice.path, ["1.2.3", "1.3.5", "1.5.0"]);
    assert_eq!(narrow.advice.allowed_next, ["1.3.5"]);
}
