//! The installed version according to the base, and other sources of it.

use serde_json::{Value, json};

use super::repository::Repository;
use crate::check::scene::asking;

/// Returns the result of the only extension, with these texts before and after.
fn judged(before: &str, after: &str, more: &[&str]) -> Value {
    let repository = Repository::with(&[("apps/a.yaml", before)]);
    repository.write(&[("apps/a.yaml", after)]);
    let (_, report) = repository.json("main", more);
    report["results"][0].clone()
}

fn pin(version: &str) -> String {
    asking("a", &format!("version: {version}"))
}

fn status(version: &str) -> String {
    format!(
        "status: {{install: {{bundle: {{name: lantern-operator.v{version}, version: {version}}}}}}}\n"
    )
}

#[test]
fn it_is_what_the_base_pins_or_resolves_to() {
    let bundle = |version: &str| {
        json!({
        "bundle": format!("lantern-operator.v{version}"), "version": version, "release": null})
    };
    for (before, installed) in [
        (pin("1.0.0"), bundle("1.0.0")),
        (pin("'=v1.1.0'"), bundle("1.1.0")),
        (pin("'1.2.0+build'"), bundle("1.2.0")),
        (pin("2.0.0-rc.1"), bundle("2.0.0-rc.1")),
        (pin("~1.2"), bundle("1.2.0")),
        (asking("a", "channels: [stable]"), bundle("1.3.0")),
        (
            pin("0.9.0"),
            json!({"bundle": null, "version": "0.9.0", "release": null}),
        ),
    ] {
        let result = judged(&before, &pin("1.2.x"), &[]);
        assert_eq!(result["installed"], installed, "{before}");
    }
}

#[test]
fn a_flag_wins_over_the_base_and_the_base_over_the_status() {
    let new = format!("{}{}", pin("1.3.0"), status("1.2.0"));
    assert_eq!(
        judged(&pin("1.0.0"), &new, &[])["installed"]["version"],
        "1.0.0"
    );
    let flag = judged(&pin("1.0.0"), &new, &["--installed=a=1.1.0"]);
    assert_eq!(flag["installed"]["version"], "1.1.0");
}

#[test]
fn a_status_wins_over_what_a_range_resolves_to_today() {
    let range = asking("a", "channels: [stable]");
    let new = format!("{}{}", pin("1.3.0"), status("1.0.0"));
    assert_eq!(judged(&range, &new, &[])["token"], "NotASuccessor");
    let old = format!("{range}{}", status("1.1.0"));
    assert_eq!(
        judged(&old, &pin("1.3.0"), &[])["installed"]["version"],
        "1.1.0"
    );
    assert_eq!(judged(&range, &pin("1.3.0"), &[])["token"], "Unchanged");
}

/// Any version in the range may be installed.
#[test]
fn an_answer_that_depends_on_a_range_of_the_base_says_so() {
    let range = asking("a", "channels: [stable]");
    let doubt = "the base pins no version: 1.3.0 is what it resolves to today, and another one can be installed";
    for (edit, token, warnings) in [
        ("1.1.0", "Downgrade", json!([doubt])),
        ("1.3.0", "Unchanged", json!([doubt])),
        ("9.0.0", "VersionNotFound", json!([])),
    ] {
        let result = judged(&range, &pin(edit), &[]);
        assert_eq!(
            (&result["token"], &result["warnings"]),
            (&json!(token), &warnings)
        );
    }
}

#[test]
fn a_new_extension_has_what_its_own_status_says() {
    let repository =
        Repository::with(&[("apps/b.yaml", &pin("1.0.0").replace("name: a", "name: b"))]);
    repository.write(&[(
        "apps/a.yaml",
        &format!("{}{}", pin("1.3.0"), status("1.0.0")),
    )]);
    assert_eq!(repository.tokens("main", &[]), ["a added NotASuccessor"]);
}

#[test]
fn another_source_pins_nothing() {
    let other = pin("1.0.0").replace("sourceType: Catalog", "sourceType: Image");
    let result = judged(&other, &pin("1.3.0"), &["--no-schema"]);
    assert_eq!(
        (&result["token"], &result["installed"]),
        (&json!("Resolved"), &Value::Null)
    );
}

#[test]
fn names_that_disagree_leave_it_unknown() {
    let repository = Repository::with(&[("apps/a.yaml", &pin("1.0.0"))]);
    let mirror = include_str!("../../../examples/Resolved/hub.yaml");
    let mirror = mirror.replace("lantern-operator.v", "mirrored.v");
    repository.write(&[("apps/a.yaml", &pin("1.1.0")), ("mirror.yaml", &mirror)]);
    let more = ["--catalog=mirror=mirror.yaml"];
    assert_eq!(
        repository.tokens("main", &more),
        ["a changed InstalledUnknown"]
    );
}

#[test]
fn what_the_crd_lets_nobody_change_is_said_in_its_words() {
    let namespace = pin("1.0.0").replace("namespace: lantern", "namespace: torch");
    let result = judged(&pin("1.0.0"), &namespace, &[]);
    let message = result["message"].as_str().expect("a message");
    assert!(
        message.contains("spec.namespace: namespace is immutable"),
        "{message}"
    );
    let left_out = judged(&pin("1.0.0"), &namespace, &["--no-schema"]);
    assert_eq!(left_out["token"], "NotJudged");
}

#[test]
fn what_the_crd_refused_before_does_not_make_an_edit_of_labels_one_of_the_filter() {
    let bad = pin("1.0.0").replace("  namespace: lantern\n", "");
    let labelled = bad.replace("metadata:", "metadata:\n  labels: {a: b}");
    assert_eq!(judged(&bad, &labelled, &[])["token"], "NotJudged");
    assert_eq!(
        judged(&pin("1.0.0"), &labelled, &[])["token"],
        "InvalidSpec"
    );
}

#[test]
fn a_new_name_for_a_package_is_warned_of() {
    let result = judged(
        &pin("1.0.0").replace("name: a", "name: old"),
        &pin("1.3.0"),
        &[],
    );
    assert_eq!(
        result["warnings"],
        json!([
            "old requested this package and is removed: under a new name OLM uninstalls it and installs it again"
        ])
    );
}

#[test]
fn an_upper_bound_that_goes_is_warned_of() {
    let result = judged(&pin("1.2.0"), &pin("'>=1.2.0'"), &[]);
    let warnings = result["warnings"].to_string();
    assert!(
        warnings.contains("the range no longer has an upper bound"),
        "{warnings}"
    );
}
