//! Rules and catalogs that are made to hurt.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use olmguard_catalog::guardrail::{AdministratorGuardrails, ImposedBy, read};
use olmguard_engine::judge::{Basis, Policies};

/// So many versions, each with an edge from every lower one.
fn versions_with_edges(count: usize) -> String {
    let entry = |at: usize| format!("1.{at}.0 skipRange (>=0.0.0 <1.{at}.0)");
    let entries: Vec<_> = (0..count).map(entry).collect();
    format!("a: {}", entries.join("; "))
}

/// The list of these versions under rules of an administrator, from a version below all.
fn report(lines: &str, rules: &[Value]) -> VersionsReport {
    let stated = read(&json!({
        "schema": "olmguard.guardrails.v1alpha1", "package": "p", "rules": rules,
    }));
    assert!(stated.is_ok(), "{stated:?}");
    let place = "rules.yaml:1".into();
    let mut imposed = AdministratorGuardrails::default();
    imposed.add("p", ImposedBy { place, stated });
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", lines)]);
    let basis = Basis {
        snapshot: &snapshot,
        policies: &Policies {
            guardrails: imposed,
            ..Policies::default()
        },
    };
    let report = VersionsReport::of(
        basis,
        &filter(&[], None),
        Some(&said("0.0.1")),
        EditContext::unknown(),
    );
    report.expect("known")
}

/// As many rules as there may be, each of which forbids every step at length.
fn long_rules() -> Vec<Value> {
    let long = "x".repeat(1000);
    let rule = |at| {
        json!({"id": format!("r{at:03}-{long}"), "kind": "PassThrough", "via": ">2.0.0 <1.0.0",
            "reason": long})
    };
    (0..256).map(rule).collect()
}

#[test]
fn each_reason_is_told_once_however_many_bundles_it_bars() {
    let report = report(&versions_with_edges(300), &long_rules());
    assert_eq!(report.guardrails.all().len(), 256);
    let catalog = report.catalogs.first().expect("a catalog");
    let first = &catalog.bundles.first().expect("a bundle").guardrails;
    for bundle in &catalog.bundles {
        assert_eq!(bundle.standing, Some(Standing::Forbidden));
        assert_eq!(bundle.guardrails.len(), 256);
        assert!(Arc::ptr_eq(&bundle.guardrails, first), "one list for all");
    }
    let json = serde_json::to_string(&report).expect("JSON");
    assert_eq!(json.matches("\"rule\":\"r007-x").count(), 1);
    assert!(json.len() < 2_000_000, "{}", json.len());
}

#[test]
fn of_very_many_reasons_the_first_are_told_and_names_in_a_row_are_cut() {
    let text = report(&versions_with_edges(300), &long_rules()).to_text();
    let text = text.to_string();
    let reasons = text
        .lines()
        .filter(|line| line.contains("forbids 1.299.0,"));
    assert_eq!(reasons.count(), 12);
    assert!(text.contains("\n              and 244 more; -o json has all\n"));
    let mut lines = text.lines().map(str::trim);
    assert!(lines.any(|line| line.starts_with("1.299.0") && line.ends_with("forbidden:")));
    let words: Vec<_> = lines.take(20).flat_map(str::split_whitespace).collect();
    let words = words.join(" ");
    assert!(words.starts_with("r000-x") && words.contains(" and 252 more "));
    assert!(text.len() < 250_000, "{}", text.len());
}

#[test]
fn what_there_was_no_time_to_judge_is_not_called_a_successor() {
    let many = ["<0.0.1"; 50].join(" || ");
    let rule = |at| json!({"id": format!("r{at}"), "kind": "PassThrough", "via": many, "from": many, "to": many});
    let rules: Vec<_> = (0..256).map(rule).collect();
    let report = report(&versions_with_edges(500), &rules);
    let catalog = report.catalogs.first().expect("a catalog");
    let are = |standing| {
        let bundles = catalog.bundles.iter();
        bundles
            .filter(|bundle| bundle.standing == Some(standing))
            .count()
    };
    let judged = (1 << 24) / (256 * 151);
    assert!(are(Standing::Successor) >= judged);
    assert_eq!(are(Standing::Successor) + are(Standing::NotFound), 500);
    assert!(are(Standing::NotFound) > 0);
    let note = format!(
        "guardrails have too many rules: olmguard applied them to {judged} of the 500 upgrade edges, so \
         versions shown as \"not found\" may be reachable"
    );
    assert!(report.notes.contains(&note), "{:?}", report.notes);
}
