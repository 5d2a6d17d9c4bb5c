//! Compares what lint and the schema for editors report about guardrails with the verdicts on edits.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use olmguard_catalog::guardrail::{SCHEMA, read};
use olmguard_fixtures::guardrails::catalog::{Asked, blobs, guardrails, judged, name, snapshot};
use olmguard_fixtures::guardrails::pool::{POOL, graph, rules};
use olmguard_fixtures::guardrails::samples::{REWRITTEN, WRITTEN, unreadable};
use olmguard_views::author::{CatalogText, Format};
use olmguard_views::lint::{LintFinding, Rule, lint, written};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::lint_rules::lint_rule;

// Findings of lint must match the verdicts on edits: from a stranded version, every higher version is denied,
// and a rule that never applies can be omitted.

fn catalog(graph: &str, rules: &[Value]) -> Vec<Value> {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs.push(guardrails(graph, &rules.into()));
    blobs
}

fn findings(blobs: &[Value]) -> Vec<LintFinding> {
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    lint(&[written("c", lines.join("\n").as_bytes())])
}

/// Returns the first quoted text in each finding of a rule.
fn named(findings: &[LintFinding], rule: Rule) -> BTreeSet<String> {
    let of_rule = findings.iter().filter(|one| one.rule == rule);
    let quoted = of_rule.filter_map(|one| one.message.split('"').nth(1));
    quoted.map(str::to_owned).collect()
}

/// Returns the result of every pin to a higher version, by installed version.
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
        // In a rule with several waypoints, only one may never apply.
        let is_idle = |rule: &Value| {
            let id = rule["id"].as_str().unwrap_or_default();
            rule["kind"] != "Waypoints" && never.contains(id)
        };
        let others: Vec<_> = rules.iter().filter(|rule| !is_idle(rule)).cloned().collect();
        prop_assert_eq!(pins(&blobs), pins(&catalog(graph, &others)));
    }
}

// === The schema for editors: it accepts valid guardrails, and rejects others as far as a schema can ===

/// Invalid guardrails that a schema accepts, by the start of the fault, with the reason.
const BEYOND_A_SCHEMA: [(&str, &str); 2] = [
    (
        "rules[0].via: not a valid skipRange",
        "the grammar has numbers without leading zeros, wildcards in some places, and any blanks",
    ),
    (
        "rules: two rules have the id \"x\"",
        "a schema compares whole items, not one key of them",
    ),
];

fn schema() -> Validator {
    let schema = serde_json::from_str(&file("schemas/olmguard.guardrails.v1alpha1.json"));
    let schema: Value = schema.expect("JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    jsonschema::validator_for(&schema).expect("a schema")
}

fn file(path: &str) -> String {
    let path = Path::new(olmguard_fixtures::ROOT).join(path);
    fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// The guardrails among the documents of a text.
fn documents(text: &str) -> Vec<Value> {
    let mut written = CatalogText::default();
    written.read("t", text.as_bytes()).expect("documents");
    let text = written.to_text(Format::Json);
    let documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let documents = documents.map(|document| document.expect("JSON"));
    documents
        .filter(|document| document["schema"] == SCHEMA)
        .collect()
}

#[track_caller]
fn fits(schema: &Validator, document: &Value) {
    assert!(read(document).is_ok(), "{document}");
    let faults = schema.iter_errors(document).map(|fault| fault.to_string());
    assert_eq!(
        faults.collect::<Vec<_>>(),
        Vec::<String>::new(),
        "{document}"
    );
}

#[test]
fn it_takes_what_is_written_in_pages_and_examples() {
    let schema = schema();
    let page = file("docs/guardrails.md");
    let blocks = page.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.strip_prefix("yaml\n"));
    let texts = blocks
        .map(str::to_owned)
        .chain([file("examples/Guardrail/hub.yaml")]);
    let texts = texts.chain([REWRITTEN, WRITTEN[0]].map(str::to_owned));
    let mut seen = 0;
    for text in texts {
        for document in documents(&text) {
            fits(&schema, &document);
            seen += 1;
        }
    }
    assert!(seen >= 4, "{seen}");
    // For every reader, the last of equal keys counts.
    fits(&schema, &serde_json::from_str(WRITTEN[1]).expect("JSON"));
}

#[test]
fn it_takes_every_kind_with_every_key() {
    let any = json!({"id": "x", "reason": "why", "bypassable": false});
    let schema = schema();
    for rest in [
        json!({"kind": "PassThrough", "via": "1.3.0", "from": "<1.3.0", "to": null}),
        json!({"kind": "Waypoints", "versions": ["1.1.5", ">=1.3.0 <1.4.0-0 || 2.0.0"]}),
        json!({"kind": "LatestPatchFirst", "from": ">=1.2.0 <1.3.0"}),
        json!({"kind": "MaxMinorStep", "step": 2.0}),
        json!({"kind": "Prerelease", "action": "Allow"}),
    ] {
        let mut rule = any.clone();
        let keys = rest.as_object().expect("an object").clone();
        rule.as_object_mut().expect("an object").extend(keys);
        fits(&schema, &guardrails("CatalogOrSemver", &json!([rule])));
    }
}

#[test]
fn it_refuses_what_cannot_be_read() {
    let schema = schema();
    let mut beyond = Vec::new();
    for (blob, why) in unreadable() {
        if schema.is_valid(&blob) {
            beyond.push(why);
        }
    }
    assert_eq!(beyond.len(), BEYOND_A_SCHEMA.len(), "{beyond:?}");
    for (found, (expected, reason)) in beyond.iter().zip(BEYOND_A_SCHEMA) {
        assert!(found.starts_with(expected), "{found}: {reason}");
    }
}

#[test]
fn it_wants_schema_and_package() {
    let schema = schema();
    let whole = guardrails("Catalog", &json!([]));
    assert!(schema.is_valid(&whole));
    for key in ["schema", "package"] {
        let mut without = whole.clone();
        without.as_object_mut().expect("an object").remove(key);
        assert!(!schema.is_valid(&without), "without {key}");
    }
    let mut other = whole;
    other["schema"] = "olmguard.guardrails.v2".into();
    assert!(!schema.is_valid(&other), "of another version");
}
