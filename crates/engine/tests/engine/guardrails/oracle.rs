//! The meaning of each rule, written a second time as plainly as possible, and compared over random packages and rules.
//!
//! Versions are positions on a line here, with a position between each two for everything in between. A range is the
//! set of positions that it contains, and nothing of the program reads or compares a version.

pub(crate) mod line;
pub(crate) mod table;

use proptest::prelude::*;
use serde_json::{Value, json};

use line::{LINE, version};
use olmguard_fixtures::guardrails::catalog::{
    Asked, Facts, blobs, guardrails, judged, name, snapshot,
};
use table::{Bundle, Graph, Rule, Step, reasons};

/// A package of these bundles in which every entry has an edge from all others.
fn package(bundles: &[Bundle], graph: Graph, rules: &[Rule]) -> Vec<Value> {
    let versions: Vec<_> = bundles.iter().map(|bundle| version(bundle.at)).collect();
    let mut blobs = blobs(&versions, "0.0.0");
    for entry in blobs[1]["entries"].as_array_mut().expect("entries") {
        entry["skipRange"] = ">=0.0.0-0".into();
    }
    let deprecated = bundles.iter().filter(|bundle| bundle.is_deprecated);
    let entries = deprecated.map(|bundle| {
        let reference = json!({"schema": "olm.bundle", "name": name(version(bundle.at))});
        json!({"reference": reference, "message": "old"})
    });
    let entries: Vec<_> = entries.collect();
    blobs.push(json!({"schema": "olm.deprecations", "package": "p", "entries": entries}));
    let rules = rules.iter().enumerate().map(|(at, rule)| rule.written(at));
    blobs.push(guardrails(graph.written(), &rules.collect()));
    blobs
}

/// The violations of a step, in the short form of the table.
fn said(snapshot: &Facts, from: usize, to: usize) -> Vec<String> {
    let answer = judged(snapshot, version(from), Asked::range(version(to)));
    let token = answer.token.as_str();
    assert!(["Guardrail", "Resolved"].contains(&token), "{token}");
    let causes = answer.causes.iter().map(|cause| cause.message.as_str());
    let short = causes.map(|cause| {
        let rule = cause.strip_prefix("the author's guardrail ");
        let rule = rule.and_then(|rest| rest.split(' ').next());
        match rule {
            Some(rule) => rule.to_owned(),
            None if cause.contains("have no edge") => "graph".to_owned(),
            None if cause.contains("allow no prerelease") => "prerelease".to_owned(),
            None => panic!("{cause}"),
        }
    });
    short.collect()
}

fn bundles() -> impl Strategy<Value = Vec<Bundle>> {
    let bundle = (any::<bool>(), prop::bool::weighted(0.3));
    prop::collection::vec(bundle, LINE.len()).prop_map(|drawn| {
        let drawn = drawn.into_iter().enumerate();
        let there = drawn.filter(|(_, (is_there, _))| *is_there);
        there
            .map(|(at, (_, is_deprecated))| Bundle { at, is_deprecated })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_step_is_forbidden_by_what_the_table_says(
        bundles in bundles(),
        graph in table::graph(),
        rules in prop::collection::vec(table::rule(), 0..4),
        from in 0..LINE.len(),
    ) {
        let snapshot = snapshot(&package(&bundles, graph, &rules));
        let steps = bundles.iter().map(|bundle| bundle.at).filter(|to| *to != from);
        for to in steps {
            let mut said = said(&snapshot, from, to);
            let mut expected = reasons(&bundles, graph, &rules, Step { from, to, has_edge: true });
            // The table does not have further properties of an edge that does not exist.
            if expected.iter().any(|reason| reason == "graph") {
                said.retain(|reason| reason != "prerelease");
            }
            said.sort();
            expected.sort();
            prop_assert_eq!(said, expected, "{} -> {}", version(from), version(to));
        }
    }
}
