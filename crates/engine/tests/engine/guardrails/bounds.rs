//! Hostile packages and rules: the answer stays correct, and reports how many steps were checked.

use serde_json::{Value, json};

use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_engine::extension::{Installed, InstalledBundle, UnknownCause};
use olmguard_fixtures::guardrails::catalog::{
    Asked, blobs, guardrails, imposed, imposing, installed, judged, judged_from, name, snapshot,
};

/// This number of minor versions of version 1, each of which replaces the previous one.
fn chain(length: usize) -> Vec<Value> {
    let version = |minor: usize| format!("1.{minor}.0");
    let entries = (0..length).map(|minor| match minor.checked_sub(1) {
        None => json!({"name": name(&version(minor))}),
        Some(before) => json!({"name": name(&version(minor)), "replaces": name(&version(before))}),
    });
    let entries: Vec<_> = entries.collect();
    let mut blobs =
        vec![json!({"schema": "olm.channel", "package": "p", "name": "c", "entries": entries})];
    blobs.extend((0..length).map(|minor| {
        let value = json!({"packageName": "p", "version": version(minor)});
        json!({"schema": "olm.bundle", "package": "p", "name": name(&version(minor)),
            "properties": [{"type": "olm.package", "value": value}]})
    }));
    blobs
}

/// A rule against only one step.
fn never(from: &str, to: &str) -> Value {
    json!([{"id": "never", "kind": "PassThrough", "via": "9.0.0", "from": from, "to": to}])
}

/// The text about a search that was cut short. Such a message does not name what is missing.
fn note(message: Option<&str>) -> Option<&str> {
    let mut lines = message?.lines();
    lines.find(|line| line.starts_with("Note: ") || line.starts_with("No upgrade path"))
}

const SEARCH_CUT: &str = "Note: the search for an upgrade path was cut short; try a nearer version, or run olmguard path";

#[test]
fn a_walk_of_thousands_of_steps_is_looked_at_so_far() {
    let mut blobs = chain(20_000);
    blobs.push(guardrails("Catalog", &never("1.5000.0", "1.5001.0")));
    let answer = judged(&snapshot(&blobs), "1.0.0", Asked::default());
    assert_eq!(answer.token.as_str(), "Resolved");
    assert_eq!(
        answer.warnings,
        [
            "OLM goes on by itself for more than 4096 steps: guardrails were applied to so many only",
            "1.19999.0 is the newest match but not a direct upgrade: OLM installs 1.1.0 first",
        ]
    );
}

#[test]
fn a_step_within_reach_of_the_look_is_refused_without_a_way() {
    let mut blobs = chain(20_000);
    blobs.push(guardrails("Catalog", &never("1.3000.0", "1.3001.0")));
    let answer = judged(&snapshot(&blobs), "1.0.0", Asked::default());
    let message = answer.message.as_deref();
    assert_eq!(
        message.and_then(|message| message.lines().next()),
        Some(
            "p: 1.0.0 -> any version refused: the author's guardrail never forbids 1.3000.0 -> 1.3001.0, a step that OLM then takes automatically [Guardrail]"
        )
    );
    assert_eq!(note(message), Some(SEARCH_CUT));
    assert!(answer.advice.path.is_empty());
    assert_eq!(answer.advice.fix, None);
    assert_eq!(answer.advice.allowed_next, ["1.1.0"]);
}

/// The most rules, with the most weight, that forbid nothing.
fn heavy() -> Value {
    let range = vec!["<0.0.1"; 73].join(" ");
    let rule = |at: usize| json!({"id": format!("{at}"), "kind": "PassThrough", "via": range, "from": range, "to": range});
    (0..256).map(rule).collect()
}

#[test]
fn heavy_rules_are_compared_with_as_many_steps_as_there_is_time_for() {
    let mut blobs = chain(600);
    blobs.push(guardrails("Catalog", &heavy()));
    let snapshot = snapshot(&blobs);
    let answer = judged(&snapshot, "1.0.0", Asked::default());
    assert_eq!(answer.token.as_str(), "Resolved");
    let expected =
        "OLM goes on by itself for more than 297 steps: guardrails were applied to so many only";
    assert_eq!(answer.warnings.first().map(String::as_str), Some(expected));

    let far = judged(&snapshot, "1.0.0", Asked::range("1.599.0"));
    assert_eq!(far.token.as_str(), "NotASuccessor");
    assert_eq!(note(far.message.as_deref()), Some(SEARCH_CUT));
    assert!(far.advice.path.is_empty());
    let near = judged(&snapshot, "1.0.0", Asked::range("1.9.0"));
    assert_eq!(near.advice.path.len(), 10);
}

/// Each name that an edge mentions costs a judgement of its own, and no name decides here.
#[test]
fn all_names_that_fit_share_the_comparisons_of_one_question() {
    let token = |length: usize, rules: &Value| {
        let mut blobs = chain(length);
        blobs[0]["entries"][length - 1]["skipRange"] = json!("<1.0.0");
        blobs.push(guardrails("Catalog", rules));
        let nameless = Installed::Bundle(InstalledBundle {
            version: "0.5.0".to_owned(),
            ..InstalledBundle::default()
        });
        let answer = judged_from(&snapshot(&blobs), &nameless, Asked::default());
        answer.token.as_str()
    };
    let light = never("1.0.0", "1.1.0");
    assert_eq!(token(400, &light), "Resolved");
    assert_eq!(token(20, &heavy()), "Resolved");
    assert_eq!(token(400, &heavy()), "InstalledUnknown");
}

#[test]
fn of_hundreds_of_findings_the_first_are_listed() {
    let rules: Value = (0..256)
        .map(|at| json!({"id": format!("rule-{at:03}"), "kind": "MaxMinorStep", "step": 1}))
        .collect();
    let mut blobs = blobs(&["1.0.0", "1.1.0", "1.2.0"], "1.0.0");
    blobs.push(guardrails("Catalog", &rules));
    let answer = judged(&snapshot(&blobs), "1.0.0", Asked::range("1.2.0"));
    assert_eq!(answer.causes.len(), 32);
    let first = "the author's guardrail rule-000 forbids 1.0.0 -> 1.2.0";
    assert_eq!(answer.causes[0].message, first);
    let message = answer.message.expect("it is refused");
    let second = message.lines().nth(1).expect("the rules");
    assert!(second.contains(" more"), "{second}");
    assert!(message.len() <= 1024);
}

// === Edits that are allowed although guardrails cannot be checked: each gives a warning ===

const POOL: [&str; 5] = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"];

#[test]
fn what_is_installed_nobody_knows_where_is_let_through_with_a_warning() {
    let expected =
        "guardrails were not applied: the installed version is unknown or cannot be read";
    let warned = |imposed: AdministratorGuardrails, from: &Installed, asked: Asked<'_>| {
        let answer = judged_from(&imposing(&blobs(&POOL, "1.0.0"), imposed), from, asked);
        let is_warned = answer.warnings.iter().any(|warning| warning == expected);
        (answer.token.as_str(), is_warned)
    };
    let rule = |bypassable: bool| {
        imposed(
            "Catalog",
            &json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1, "bypassable": bypassable}]),
        )
    };
    let unknown = Installed::Unknown(UnknownCause::Condition);
    let unreadable = installed("one");
    let asked = Asked::range("1.3.0").bypassing();
    for from in [&unknown, &unreadable] {
        assert_eq!(warned(rule(false), from, asked), ("Bypassed", true));
        assert_eq!(warned(rule(true), from, asked), ("Bypassed", false));
        assert_eq!(
            warned(imposed("Catalog", &json!([])), from, asked),
            ("Bypassed", false)
        );
        assert_eq!(
            warned(imposed("Catalog", &json!(7)), from, asked),
            ("Bypassed", true)
        );
        let semver = imposed("Semver", &json!([]));
        assert_eq!(warned(semver, from, asked), ("Bypassed", true));
    }
    let bound = Asked::range("1.3.0");
    assert_eq!(
        warned(rule(false), &unknown, bound),
        ("InstalledUnknown", false)
    );
    assert_eq!(
        warned(rule(false), &Installed::Nothing, asked),
        ("Resolved", false)
    );
}

#[test]
fn of_an_author_nothing_is_missed_where_the_bypass_lifts_it() {
    let mut blobs = blobs(&POOL, "1.0.0");
    let author = json!([{"id": "via", "kind": "Waypoints", "versions": ["1.2.0"]}]);
    blobs.push(guardrails("Semver", &author));
    let unknown = Installed::Unknown(UnknownCause::Condition);
    let asked = Asked::range("1.3.0").bypassing();
    let answer = judged_from(&snapshot(&blobs), &unknown, asked);
    assert_eq!(
        answer.warnings,
        [
            "upgradeConstraintPolicy is SelfCertified: a jump from an unknown installed version; data loss is possible"
        ]
    );
}
