//! The bundles that a rule considers: those of the requested channels, in the catalog of the step's bundle.

use serde_json::{Value, json};

use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::guardrails::catalog::{
    Asked, Facts, blobs, content, guardrails, imposed, imposing, judged, name, snapshot,
};

fn latest() -> Value {
    json!([{"id": "latest", "kind": "LatestPatchFirst"}])
}

fn one_minor() -> Value {
    json!([{"id": "one", "kind": "MaxMinorStep", "step": 1}])
}

/// A package of these versions with these rules, and more blobs.
fn package(versions: &[&str], rules: &Value, more: &[Value]) -> Vec<Value> {
    let mut blobs = blobs(versions, "1.0.0-0");
    blobs.push(guardrails("Catalog", rules));
    blobs.extend_from_slice(more);
    blobs
}

fn token(snapshot: &Facts, from: &str, asked: Asked<'_>) -> &'static str {
    judged(snapshot, from, asked).token.as_str()
}

fn deprecating(version: &str) -> Value {
    let reference = json!({"schema": "olm.bundle", "name": name(version)});
    json!({"schema": "olm.deprecations", "package": "p",
        "entries": [{"reference": reference, "message": "do not"}]})
}

#[test]
fn the_last_patch_is_one_that_is_not_deprecated() {
    let pool = ["1.2.3", "1.2.8", "1.2.9", "1.3.0"];
    let asked = Asked::range("1.3.0");
    let all = snapshot(&package(&pool, &latest(), &[]));
    assert_eq!(token(&all, "1.2.8", asked), "Guardrail");
    let without = snapshot(&package(&pool, &latest(), &[deprecating("1.2.9")]));
    assert_eq!(token(&without, "1.2.8", asked), "Resolved");
    assert_eq!(token(&without, "1.2.3", asked), "Guardrail");
}

#[test]
fn a_deprecated_minor_is_passed_by_like_any_other() {
    let pool = ["1.0.0", "1.1.0", "1.2.0"];
    let deprecated = snapshot(&package(&pool, &one_minor(), &[deprecating("1.1.0")]));
    assert_eq!(
        token(&deprecated, "1.0.0", Asked::range("1.2.0")),
        "Guardrail"
    );
}

#[test]
fn prereleases_are_last_patches_of_prereleases_only() {
    let pool = ["1.2.0-rc.1", "1.2.0-rc.2", "1.2.0", "1.2.1-rc.1", "1.3.0"];
    let with = snapshot(&package(&pool, &latest(), &[]));
    let asked = Asked::range("1.3.0");
    for (from, expected) in [
        ("1.2.0-rc.1", "Guardrail"),
        ("1.2.0-rc.2", "Guardrail"),
        ("1.2.0", "Resolved"),
        ("1.2.1-rc.1", "Resolved"),
    ] {
        assert_eq!(token(&with, from, asked), expected, "{from}");
    }
    // 1.2.1-rc.1 would match too. Of two paths of the same length, the one through a release is shown.
    let rc = judged(&with, "1.2.0-rc.1", asked);
    assert_eq!(rc.advice.path, ["1.2.0-rc.1", "1.2.0", "1.3.0"]);
}

#[test]
fn what_no_asked_channel_has_is_nothing_to_a_rule() {
    let pool = ["1.0.0", "1.1.0", "1.2.0"];
    let slow = json!({"schema": "olm.channel", "package": "p", "name": "slow", "entries": [
        {"name": name("1.0.0")}, {"name": name("1.2.0"), "replaces": name("1.0.0")},
    ]});
    let with = snapshot(&package(&pool, &one_minor(), &[slow]));
    let of_channels = |channels| Asked {
        channels,
        ..Asked::range("1.2.0")
    };
    assert_eq!(token(&with, "1.0.0", of_channels(&[])), "Guardrail");
    assert_eq!(token(&with, "1.0.0", of_channels(&["slow"])), "Resolved");
    assert_eq!(
        token(&with, "1.0.0", of_channels(&["slow", "c"])),
        "Guardrail"
    );
}

/// Two catalogs with the package; the one named `b` has these priorities.
fn two(a: &[Value], b: &[Value], priority: i32) -> Facts {
    let a = CatalogState::named("a", content(a));
    let mut b = CatalogState::named("b", content(b));
    b.priority = priority;
    Snapshot::new(Rules::default(), [a, b]).into()
}

#[test]
fn rules_and_bundles_are_those_of_the_catalog_that_the_step_leads_to() {
    let whole = package(&["1.0.0", "1.1.0", "1.2.0"], &one_minor(), &[]);
    let gap = package(&["1.0.0", "1.2.0"], &one_minor(), &[]);
    let free = blobs(&["1.0.0", "1.1.0", "1.2.0"], "1.0.0");
    let asked = Asked::range("1.2.0");
    for (a, b, priority, expected) in [
        (&gap, &whole, 1, "Guardrail"),
        (&gap, &whole, -1, "Resolved"),
        (&free, &whole, 1, "Guardrail"),
        (&free, &whole, -1, "Resolved"),
    ] {
        assert_eq!(token(&two(a, b, priority), "1.0.0", asked), expected);
    }
    let answer = judged(&two(&gap, &whole, 1), "1.0.0", asked);
    let message = answer.message.expect("it is refused");
    let second = message.lines().nth(1);
    assert_eq!(
        second,
        Some("Guardrail: one (no minor passed by) by the author, in catalog b")
    );
}

// === The texts if the base graph has no edge for a step ===

const POOL: [&str; 5] = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"];

#[test]
fn an_edge_that_neither_graph_has_is_told_by_the_graph_that_is_meant() {
    let told = |graph| {
        let imposed = imposed(graph, &json!([]));
        let snapshot = imposing(&blobs(&POOL, "1.1.0"), imposed);
        let answer = judged(&snapshot, "1.0.0", Asked::range("2.0.0").bypassing());
        let message = answer.message.expect("it is refused");
        message.lines().take(2).collect::<Vec<_>>().join("\n")
    };
    for graph in ["Semver", "CatalogOrSemver"] {
        assert_eq!(
            told(graph),
            format!(
                "\
p: 1.0.0 -> 2.0.0 refused: an administrator's guardrails have no edge 1.0.0 -> 2.0.0: another major version [Guardrail]
Guardrail: graph {graph}, by an administrator, in rules.yaml:3"
            )
        );
    }
}

#[test]
fn prereleases_are_told_by_the_graph_that_is_meant() {
    let blobs = blobs(&["1.0.0", "1.1.0", "1.2.0-rc.1"], "1.1.0");
    let told = |graph| {
        let imposed = imposed(graph, &json!([]));
        let asked = Asked::range("1.2.0-rc.1").bypassing();
        let answer = judged(&imposing(&blobs, imposed), "1.0.0", asked);
        let message = answer.message.expect("it is refused");
        message.lines().nth(1).map(str::to_owned)
    };
    for graph in ["Semver", "CatalogOrSemver"] {
        let expected = format!(
            "Guardrail: graph {graph} without a rule about prereleases, by an administrator, in rules.yaml:3"
        );
        assert_eq!(told(graph), Some(expected));
    }
}

/// A package whose 1.1.0 replaces the higher 1.2.0: a downgrade that its author offers.
fn with_a_step_back(graph: &str, rules: &Value) -> Vec<Value> {
    let mut blobs = blobs(&["1.2.0", "1.1.0"], "9.0.0");
    blobs.push(guardrails(graph, rules));
    blobs
}

#[test]
fn a_step_downwards_is_forbidden_by_graph_semver_alone() {
    let token = |blobs: &[Value]| {
        let answer = judged(&snapshot(blobs), "1.2.0", Asked::range("1.1.0"));
        answer.token.as_str()
    };
    let strict = json!([
        {"id": "a", "kind": "Waypoints", "versions": ["9.0.0"]},
        {"id": "b", "kind": "LatestPatchFirst"},
    ]);
    assert_eq!(token(&with_a_step_back("Semver", &json!([]))), "Guardrail");
    assert_eq!(
        token(&with_a_step_back("CatalogOrSemver", &strict)),
        "Resolved"
    );
    assert_eq!(token(&with_a_step_back("Catalog", &strict)), "Resolved");
    // The guardrails cannot be read, so the intended graph is unknown. The catalog has the edge.
    assert_eq!(token(&with_a_step_back("Catalog", &json!(7))), "Resolved");
    assert_eq!(token(&with_a_step_back("Semver", &json!(7))), "Resolved");
}
