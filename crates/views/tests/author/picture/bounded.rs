//! Rules that are made to hurt: what is drawn stays in proportion to the edges.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use olmguard_catalog::graph::Graph;
use olmguard_views::picture::dot::dot;
use olmguard_views::picture::html::html;
use olmguard_views::picture::json::GraphJson;
use olmguard_views::picture::layout::layout;
use olmguard_views::picture::mermaid::mermaid;
use olmguard_views::picture::{GuardedSteps, Sketch, View};
use serde_json::{Value, json};

use super::guarded::with_rules;
use super::packages::Drawn;
use olmguard_fixtures::written::written;

const VERSIONS: usize = 60;
const EDGES: usize = VERSIONS * (VERSIONS - 1) / 2;

/// A package in which every version can be reached from all lower ones.
fn dense() -> Drawn {
    let mut lines = "stable: 1.0.0".to_owned();
    for at in 1..VERSIONS {
        let _infallible = write!(lines, "; 1.{at}.0 skipRange >=1.0.0 <1.{at}.0");
    }
    Drawn::new("dense", written(&lines).fbc())
}

/// As many rules as there may be, each of which forbids every step at length.
fn rules(package: &str) -> Value {
    let long = "x".repeat(1000);
    let rule = |at| {
        json!({"id": format!("r{at:03}-{long}"), "kind": "PassThrough", "via": ">2.0.0 <1.0.0",
            "reason": long})
    };
    let rules: Vec<_> = (0..256).map(rule).collect();
    json!({"schema": "olmguard.guardrails.v1alpha1", "package": package, "rules": rules})
}

fn with_dense(test: impl Fn(&Sketch<'_, '_>)) {
    let drawn = dense();
    let draw = |graph: &Graph<'_>, guarded: GuardedSteps<'_>| {
        let view = View {
            guarded: Some(guarded),
            ..View::default()
        };
        test(&Sketch::of(graph, view).expect("not too large"));
    };
    with_rules(&drawn, &rules(drawn.package()), draw);
}

#[test]
fn steps_forbidden_for_the_same_reasons_share_them() {
    with_dense(|sketch| {
        assert_eq!(sketch.barred.reasons().len(), 256);
        assert_eq!(sketch.barred.len(), EDGES);
        let rows = (0..).zip(&sketch.rows);
        let rows = rows.map(|(row, _)| olmguard_views::picture::sketch::Row(row));
        let lists = rows.flat_map(|row| sketch.barred.from(row));
        let lists: BTreeSet<_> = lists.map(|(_, places)| places.as_ptr()).collect();
        assert_eq!(lists.len(), 1);
    });
}

#[test]
fn the_label_of_an_edge_names_few_rules_and_cuts_long_names() {
    with_dense(|sketch| {
        for text in [dot(sketch), mermaid(sketch)] {
            let forbidden = text
                .lines()
                .filter(|line| line.contains("forbidden: r000-x"));
            let lengths: Vec<_> = forbidden.map(str::len).collect();
            assert_eq!(lengths.len(), EDGES);
            assert!(lengths.iter().all(|length| *length < 500), "{lengths:?}");
            assert_eq!(text.matches(" and 252 more").count(), EDGES);
        }
    });
}

#[test]
fn a_line_tells_four_reasons_at_most_and_json_each_once() {
    with_dense(|sketch| {
        let page = html(sketch, &layout(sketch));
        // A fan has its sentence at its line and at its count; that of one version has no count.
        let titles = page.matches("forbidden: r0").count();
        assert_eq!(titles, 4 * (2 * (VERSIONS - 2) + 1));
        let json = serde_json::to_string(&GraphJson::of(sketch)).expect("JSON");
        assert_eq!(json.matches("\"rule\":\"r007-x").count(), 1);
    });
}
