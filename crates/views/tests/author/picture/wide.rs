//! A graph that guardrails make too much work of.

use olmguard_views::picture::{Sketch, View};
use serde_json::json;

use super::guarded::with_rules;
use super::packages::Drawn;
use olmguard_fixtures::written::written;

/// A thousand versions, each with an edge from all below it, and as many rules as there may be.
#[test]
fn what_would_take_too_long_to_judge_is_refused() {
    let entries = (0..1000).map(|patch| format!("1.0.{patch} skipRange <1.0.{patch}"));
    let lines = format!("stable: {}", entries.collect::<Vec<_>>().join("; "));
    let drawn = Drawn::new("wide", written(&lines).fbc());
    let rules = (0..256).map(|id| json!({"id": format!("{id}"), "kind": "LatestPatchFirst"}));
    let rules: Vec<_> = rules.collect();
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": "P", "rules": rules});
    with_rules(&drawn, &rules, |graph, guarded| {
        let view = View {
            guarded: Some(guarded),
            ..View::default()
        };
        let refused = Sketch::of(graph, view).expect_err("too large");
        let expected =
            "499500 edges and guardrails of 256 comparisons each: fewer channels have fewer edges";
        assert_eq!(refused.to_string(), expected);
    });
}
