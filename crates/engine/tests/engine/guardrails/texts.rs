//! The exact texts if guardrails forbid a step.

use olmguard_engine::judge::UpgradePolicies;
use olmguard_policy::UpgradePolicy;
use serde_json::{Value, json};

use olmguard_fixtures::guardrails::catalog::{Asked, blobs, guardrails, judged, snapshot};

const POOL: [&str; 7] = [
    "1.2.3", "1.2.9", "1.3.0", "1.3.5", "1.4.0", "1.4.2", "1.5.0",
];

fn message(rules: &Value, installed: &str, asked: Asked<'_>) -> String {
    let mut blobs = blobs(&POOL, "1.2.0");
    blobs.push(guardrails("Catalog", rules));
    let answer = judged(&snapshot(&blobs), installed, asked);
    answer.message.expect("it is refused")
}

fn via() -> Value {
    json!({"id": "via-1.3", "kind": "PassThrough", "via": ">=1.3.0 <1.4.0",
        "reason": "1.3 migrates the database; 1.4 has no migration code"})
}

#[test]
fn a_rule_with_its_reason_and_the_way_round_it() {
    assert_eq!(
        message(&json!([via()]), "1.2.3", Asked::range("1.5.0")),
        "\
p: 1.2.3 -> 1.5.0 refused: the author's guardrail via-1.3 forbids 1.2.3 -> 1.5.0 [Guardrail]
Guardrail: via-1.3 (through >=1.3.0 <1.4.0) by the author, in catalog hub: 1.3 migrates the database; 1.4 has no migration code
Allowed next: 1.3.5, 1.3.0, 1.2.9
Path: 1.2.3 -> 1.3.5 -> 1.5.0
Fix: set spec.source.catalog.version to \">=1.2.3 <1.4.0\" first
Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
Catalog: hub
Help: olmguard explain Guardrail"
    );
}

#[test]
fn a_step_that_follows_by_itself() {
    let rules = json!([{"id": "no-1.4-to-1.5", "kind": "PassThrough", "via": "1.4.9", "from": "1.4.2", "to": "1.5.0"}]);
    let mut blobs = blobs(&POOL, "1.2.0");
    blobs.push(guardrails("Catalog", &rules));
    // The head replaces only one name, so OLM reaches it in two steps.
    blobs[1]["entries"][6] = json!({"name": "p.v1.5.0", "replaces": "p.v1.4.2"});
    let answer = judged(&snapshot(&blobs), "1.2.3", Asked::default());
    let message = answer.message.expect("it is refused");
    let first = message.lines().next();
    assert_eq!(
        first,
        Some(
            "p: 1.2.3 -> any version refused: the author's guardrail no-1.4-to-1.5 forbids 1.4.2 -> 1.5.0, a step that OLM then takes automatically [Guardrail]"
        )
    );
    let resolved = answer.resolved.expect("the first step");
    assert_eq!(resolved.version, "1.4.2");
}

/// The lines about the path, in a refusal of 1.2.3 -> 1.5.0 whose edges need a step to 1.4.2.
fn of_path(rules: &Value) -> (String, Vec<String>) {
    let mut blobs = blobs(&POOL, "1.2.0");
    blobs.push(guardrails("Catalog", rules));
    blobs[1]["entries"][6] = json!({"name": "p.v1.5.0", "replaces": "p.v1.4.2"});
    let answer = judged(&snapshot(&blobs), "1.2.3", Asked::range("1.5.0"));
    let message = answer.message.expect("it is refused");
    let tells = |line: &&str| line.starts_with("Blocked by") || line.starts_with("No upgrade path");
    let lines = message.lines().filter(tells).map(str::to_owned).collect();
    (answer.token.as_str().to_owned(), lines)
}

#[test]
fn guardrails_that_only_take_the_path_away_are_named() {
    let rules = json!([{"id": "no-1.4-to-1.5", "kind": "PassThrough", "via": "1.4.9", "from": "1.4.2", "to": "1.5.0", "reason": "a migration"}]);
    let (token, lines) = of_path(&rules);
    assert_eq!(token, "NotASuccessor");
    assert_eq!(
        lines,
        [
            "Blocked by: guardrail no-1.4-to-1.5 (through 1.4.9) by the author, in catalog hub: a migration",
            "No upgrade path from 1.2.3 to 1.5.0 that all guardrails allow. Highest reachable: 1.4.2.",
        ]
    );
}

/// If one of the two denies the edit, the other one blocks the path.
#[test]
fn a_path_that_guardrails_and_policies_close_together_names_both() {
    let of_path = |rules: &Value, policy: &Value| {
        let mut blobs = blobs(&POOL, "1.2.0");
        blobs.push(guardrails("Catalog", rules));
        let mut facts = snapshot(&blobs);
        facts.policies.upgrades = UpgradePolicies::of([UpgradePolicy::read(&json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": "prod"}, "spec": {"rules": policy},
        }))]);
        let answer = judged(&facts, "1.2.3", Asked::range("1.5.0"));
        let message = answer.message.expect("it is refused");
        let is_of_path =
            |line: &&str| line.starts_with("Blocked by") || line.starts_with("No upgrade path");
        let lines = message.lines().filter(is_of_path).map(str::to_owned);
        (answer.token.as_str(), lines.collect::<Vec<_>>())
    };
    let (token, lines) = of_path(&json!([via()]), &json!({"versions": {"deny": "1.3.x"}}));
    assert_eq!(token, "Guardrail");
    let none = "No upgrade path from 1.2.3 to 1.5.0 that all guardrails and policies allow.";
    assert_eq!(
        lines,
        [
            "Blocked by: policy prod denies 1.3.5 (versions.deny: 1.3.x)".to_owned(),
            format!("{none} Highest reachable: 1.2.9."),
        ]
    );
    let one_minor = json!({"conditions": [{"expression": "to.minor - from.minor < 2"}]});
    let through = json!([{"id": "no-1.4-to-1.5", "kind": "PassThrough", "via": "1.4.9", "from": "1.4.x", "to": "1.5.0"}]);
    let (token, lines) = of_path(&through, &one_minor);
    assert_eq!(token, "Policy");
    assert_eq!(
        lines,
        [
            "Blocked by: guardrail no-1.4-to-1.5 (through 1.4.9) by the author, in catalog hub"
                .to_owned(),
            format!("{none} Highest reachable: 1.4.2."),
        ]
    );
}

#[test]
fn guardrails_that_cannot_be_read_are_named_though_another_row_refuses() {
    let (token, lines) = of_path(&json!([{"id": "x", "kind": "PassTrough", "via": "1.3.0"}]));
    assert_eq!(token, "NotASuccessor");
    assert_eq!(
        lines,
        [
            "Blocked by: guardrails that cannot be read, by the author, in catalog hub: rules[0].kind: unknown value \"PassTrough\": expected one of PassThrough, Waypoints, LatestPatchFirst, MaxMinorStep, Prerelease",
            "No upgrade path from 1.2.3 to 1.5.0 that all guardrails allow.",
        ]
    );
}

#[test]
fn guardrails_that_cannot_be_read_forbid_every_upgrade() {
    let rules = json!([{"id": "x", "kind": "PassTrough", "via": "1.3.0"}]);
    assert_eq!(
        message(&rules, "1.2.3", Asked::range("1.2.9")),
        "\
p: 1.2.3 -> 1.2.9 refused: the author's guardrails cannot be read, so they forbid every upgrade [Guardrail]
Guardrail: by the author, in catalog hub: rules[0].kind: unknown value \"PassTrough\": expected one of PassThrough, Waypoints, LatestPatchFirst, MaxMinorStep, Prerelease
Fix the guardrails: they cannot be read.
Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
Catalog: hub
Help: olmguard explain Guardrail"
    );
}

#[test]
fn several_rules_are_all_told() {
    let rules = json!([
        {"id": "one", "kind": "MaxMinorStep", "step": 1},
        {"id": "two", "kind": "MaxMinorStep", "step": 2, "reason": "tested so"},
        {"id": "patch", "kind": "LatestPatchFirst"},
        {"id": "last", "kind": "LatestPatchFirst", "from": "1.2.3"},
        {"id": "way", "kind": "Waypoints", "versions": ["1.3.0", "1.4.0"]},
    ]);
    let message = message(&rules, "1.2.3", Asked::range("1.5.0"));
    let second = message.lines().nth(1);
    assert_eq!(
        second,
        Some(
            "Guardrail: last (last patch first of 1.2.3) by the author, in catalog hub; one (no minor passed by) by the author, in catalog hub; patch (last patch first) by the author, in catalog hub; two (fewer than 2 minors passed by) by the author, in catalog hub: tested so; way (through 1.3.0, then 1.4.0) by the author, in catalog hub"
        )
    );
}

#[test]
fn prereleases_where_the_graph_is_that_of_semver() {
    let versions = ["1.0.0", "1.1.0-rc.1", "2.0.0"];
    let mut blobs = blobs(&versions, "1.0.0");
    blobs.push(guardrails("Semver", &json!([])));
    let told = |to| {
        let answer = judged(&snapshot(&blobs), "1.0.0", Asked::range(to));
        let message = answer.message.expect("it is refused");
        message.lines().take(2).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        told("1.1.0-rc.1"),
        "\
p: 1.0.0 -> 1.1.0-rc.1 refused: the author's guardrails allow no prerelease: 1.0.0 -> 1.1.0-rc.1 [Guardrail]
Guardrail: graph Semver without a rule about prereleases, by the author, in catalog hub"
    );
    assert_eq!(
        told("2.0.0"),
        "\
p: 1.0.0 -> 2.0.0 refused: the author's guardrails have no edge 1.0.0 -> 2.0.0: another major version [Guardrail]
Guardrail: graph Semver, by the author, in catalog hub"
    );
    let denied = json!([{"id": "none", "kind": "Prerelease", "action": "Deny"}]);
    *blobs.last_mut().expect("the guardrails") = guardrails("Catalog", &denied);
    let answer = judged(&snapshot(&blobs), "1.0.0", Asked::range("1.1.0-rc.1"));
    let message = answer.message.expect("it is refused");
    let second = message.lines().nth(1);
    assert_eq!(
        second,
        Some("Guardrail: none (no prereleases) by the author, in catalog hub")
    );
}

#[test]
fn hostile_texts_are_escaped_and_bounded() {
    let rules = json!([{"id": "\u{1b}[31m".repeat(200), "kind": "MaxMinorStep", "step": 1, "reason": "\n\r\u{202e}".repeat(100)}]);
    let message = message(&rules, "1.2.3", Asked::range("1.5.0"));
    assert!(message.len() <= 1024, "{}", message.len());
    let first = message.lines().next().unwrap_or_default();
    assert!(first.len() <= 200, "{first}");
    assert!(
        first.ends_with(" forbids 1.2.3 -> 1.5.0 [Guardrail]"),
        "{first}"
    );
    let is_plain = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
    assert!(message.chars().all(is_plain), "{message:?}");
}

#[test]
fn a_key_that_nobody_knows_is_escaped_once_and_told_in_part() {
    let mut rule = via();
    rule[&"\u{1b}\"".repeat(100_000)] = json!(1);
    let message = message(&json!([rule]), "1.2.3", Asked::range("1.5.0"));
    let expected = format!(
        "Guardrail: by the author, in catalog hub: rules[0].{}...: unknown key: expected one of \
         id, kind, reason, bypassable, via, from, to, versions, step, action",
        "\\x1b\\\"".repeat(32)
    );
    assert_eq!(message.lines().nth(1), Some(&*expected));
}

#[test]
fn a_word_that_nobody_knows_is_told_in_part() {
    let rules = json!([{"id": "x", "kind": "a".repeat(1000)}]);
    let message = message(&rules, "1.2.3", Asked::range("1.2.9"));
    let expected = format!(
        "Guardrail: by the author, in catalog hub: rules[0].kind: unknown value \"{}...\": expected one of PassThrough, Waypoints, LatestPatchFirst, MaxMinorStep, Prerelease",
        "a".repeat(64)
    );
    assert_eq!(message.lines().nth(1), Some(&*expected));
}
