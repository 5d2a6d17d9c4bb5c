//! What lint says of guardrails is what becomes of edits: who is stranded is refused every version above,
//! and a rule that never applies can be left out.

use std::collections::BTreeSet;

use crate::lint_rules::lint_rule;
use olmguard_views::lint::{LintFinding, Rule, lint, written};
use proptest::prelude::*;
use serde_json::Value;

use olmguard_fixtures::guardrails::catalog::{Asked, blobs, guardrails, judged, name, snapshot};
use olmguard_fixtures::guardrails::pool::{POOL, graph, rules};

fn catalog(graph: &str, rules: &[Value]) -> Vec<Value> {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs.push(guardrails(graph, &rules.into()));
    blobs
}

fn findings(blobs: &[Value]) -> Vec<LintFinding> {
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    lint(&[written("c", lines.join("\n").as_bytes())])
}

/// The first text that is quoted in each finding of a rule.
fn named(findings: &[LintFinding], rule: Rule) -> BTreeSet<String> {
    let of_rule = findings.iter().filter(|one| one.rule == rule);
    let quoted = of_rule.filter_map(|one| one.message.split('"').nth(1));
    quoted.map(str::to_owned).collect()
}

/// What becomes of every pin to a higher version, by what is installed.
fn pins(blobs: &[Value]) -> Vec<(&'static str, Vec<&'static str>)> {
    let snapshot = snapshot(blobs);
    let token = |from: &str, to: &str| judged(&snapshot, from, Asked::range(to)).token.as_str();
    let higher = |at: usize| POOL.iter().skip(at + 1);
    let all = POOL.iter().enumerate();
    all.map(|(at, from)| (*from, higher(at).map(|to| token(from, to)).collect()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn who_is_stranded_is_refused_every_version_above(graph in graph(), rules in rules()) {
        let blobs = catalog(graph, &rules);
        let pins = pins(&blobs);
        let stranded = pins.iter().filter(|(_, tokens)| {
            tokens.contains(&"Guardrail") && !tokens.contains(&"Resolved")
        });
        let stranded: BTreeSet<_> = stranded.map(|(from, _)| name(from)).collect();
        prop_assert_eq!(named(&findings(&blobs), lint_rule("guardrail-strands-version")), stranded);
    }

    #[test]
    fn a_rule_that_never_applies_can_be_left_out(graph in graph(), rules in rules()) {
        let blobs = catalog(graph, &rules);
        let never = named(&findings(&blobs), lint_rule("guardrail-never-applies"));
        // Of several waypoints it may be one that never applies.
        let is_idle = |rule: &Value| {
            let id = rule["id"].as_str().unwrap_or_default();
            rule["kind"] != "Waypoints" && never.contains(id)
        };
        let others: Vec<_> = rules.iter().filter(|rule| !is_idle(rule)).cloned().collect();
        prop_assert_eq!(pins(&blobs), pins(&catalog(graph, &others)));
    }
}
