//! What is said where the base graph has no edge for a step.

use serde_json::json;

use olmguard_fixtures::guardrails::catalog::{
    Asked, blobs, guardrails, imposed, imposing, judged, snapshot,
};

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

/// A package whose 1.1.0 replaces the higher 1.2.0: a step back that its author offers.
fn with_a_step_back(graph: &str, rules: &serde_json::Value) -> Vec<serde_json::Value> {
    let mut blobs = blobs(&["1.2.0", "1.1.0"], "9.0.0");
    blobs.push(guardrails(graph, rules));
    blobs
}

#[test]
fn a_step_downwards_is_forbidden_by_graph_semver_alone() {
    let token = |blobs: &[serde_json::Value]| {
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
    // Nobody knows which graph is meant: the catalog has the edge.
    assert_eq!(token(&with_a_step_back("Catalog", &json!(7))), "Resolved");
    assert_eq!(token(&with_a_step_back("Semver", &json!(7))), "Resolved");
}
