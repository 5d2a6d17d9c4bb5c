//! Each step of the four tables in `check`: the exit code, the verdict, and the rule.

use serde_json::{Value, json};

use crate::guardrail_cases::example::{A, B, B_LATER, C, D, Example};

#[track_caller]
fn allows(example: Example, hops: &[(&str, &str)]) {
    for (from, to) in hops {
        let (code, result) = example.check(&example.extension(from, Some(to)));
        assert_eq!(code, Some(0), "{from} -> {to}: {result}");
        assert_eq!(result["token"], "Resolved", "{from} -> {to}");
        assert_eq!(result["resolved"]["version"], **to, "{from} -> {to}");
        assert!(result.get("forbidden").is_none(), "{from} -> {to}");
    }
}

#[track_caller]
fn denies(example: Example, hops: &[(&str, &str, &[&str])]) {
    for (from, to, by) in hops {
        let (code, result) = example.check(&example.extension(from, Some(to)));
        assert_eq!(code, Some(1), "{from} -> {to}: {result}");
        assert_eq!(result["verdict"], "deny", "{from} -> {to}");
        assert_eq!(result["token"], "Guardrail", "{from} -> {to}");
        let step = &result["forbidden"][0];
        assert_eq!((&step["from"], &step["to"]), (&json!(from), &json!(to)));
        assert_eq!(rules(step), *by, "{from} -> {to}");
    }
}

/// Returns the ids of the rules that forbid a step, or the kind of a reason without a rule.
fn rules(step: &Value) -> Vec<String> {
    let reasons = step["guardrails"].as_array().unwrap().iter();
    let name = |reason: &Value| {
        let name = reason["rule"].as_str().or(reason["kind"].as_str());
        name.unwrap().to_owned()
    };
    reasons.map(name).collect()
}

#[test]
fn a_through_a_minor() {
    let by = &["via-1.3"][..];
    allows(
        A,
        &[("1.2.3", "1.2.9"), ("1.2.3", "1.3.0"), ("1.2.3", "1.3.5")],
    );
    denies(
        A,
        &[
            ("1.2.3", "1.4.0", by),
            ("1.2.3", "1.4.2", by),
            ("1.2.3", "1.5.0", by),
            ("1.2.9", "1.4.0", by),
        ],
    );
    allows(
        A,
        &[("1.3.0", "1.4.2"), ("1.3.5", "1.5.0"), ("1.4.0", "1.5.0")],
    );
}

#[test]
fn b_the_last_patch_first() {
    let by = &["latest-1.2.z"][..];
    allows(B, &[("1.2.3", "1.2.7"), ("1.2.3", "1.2.9")]);
    denies(
        B,
        &[
            ("1.2.3", "1.3.0", by),
            ("1.2.3", "1.3.4", by),
            ("1.2.7", "1.3.0", by),
        ],
    );
    allows(
        B,
        &[("1.2.9", "1.3.0"), ("1.2.9", "1.3.4"), ("1.3.0", "1.3.4")],
    );
    denies(B_LATER, &[("1.2.9", "1.3.4", by)]);
    allows(B_LATER, &[("1.2.9", "1.2.10"), ("1.2.10", "1.3.4")]);
}

#[test]
fn c_waypoints_over_semver() {
    let waypoints = &["waypoints"][..];
    denies(C, &[("0.9.0", "1.0.0", &["Graph"])]);
    allows(C, &[("1.0.0", "1.1.5")]);
    denies(
        C,
        &[
            ("1.0.0", "1.2.0", waypoints),
            ("1.0.0", "1.3.0", waypoints),
            ("1.0.0", "1.3.0-rc.1", &["waypoints", "Prerelease"]),
        ],
    );
    allows(
        C,
        &[("1.1.5", "1.2.0"), ("1.1.5", "1.3.0"), ("1.2.0", "1.3.0")],
    );
    denies(C, &[("1.2.0", "1.3.0-rc.1", &["Prerelease"])]);
    allows(C, &[("1.3.0-rc.1", "1.3.0")]);
    denies(C, &[("1.3.0", "2.0.0", &["Graph"])]);
}

#[test]
fn the_bypass_lifts_what_an_author_forbids_and_says_so() {
    let mut extension = C.extension("1.3.0", Some("2.0.0"));
    extension["spec"]["source"]["catalog"]["upgradeConstraintPolicy"] = json!("SelfCertified");
    let (code, result) = C.check(&extension);
    assert_eq!((code, &result["verdict"]), (Some(0), &json!("allow")));
    let step = &result["forbidden"][0];
    assert_eq!(
        (&step["from"], &step["to"]),
        (&json!("1.3.0"), &json!("2.0.0"))
    );
    assert_eq!(step["guardrails"][0]["lifted"], true);
    let warnings = result["warnings"].as_array().unwrap().iter();
    let lifting = warnings.filter(|warning| {
        warning
            .as_str()
            .unwrap()
            .ends_with("; the override lifts it")
    });
    assert_eq!(lifting.count(), 1, "{result}");
}

#[test]
fn d_one_minor_at_a_time() {
    let by = &["one-minor-at-a-time"][..];
    allows(
        D,
        &[
            ("1.0.0", "1.0.4"),
            ("1.0.0", "1.1.3"),
            ("1.1.0", "1.2.0"),
            ("1.2.0", "1.3.0"),
            ("1.3.0", "1.5.0"),
        ],
    );
    denies(
        D,
        &[
            ("1.0.0", "1.2.0", by),
            ("1.1.0", "1.3.0", by),
            ("1.2.0", "1.5.0", by),
        ],
    );
}
