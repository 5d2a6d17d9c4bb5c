//! Packages with guardrails that forbid some of what their authors wrote.

use std::sync::Arc;

use olmguard::extension::Filter;
use olmguard::graph::Graph;
use olmguard::guardrail::{Imposed, ImposedBy};
use olmguard::olm::Rules;
use olmguard::picture::{Guarded, Sketch, View};
use olmguard::resolve::{Guards, Query};
use olmguard::snapshot::{CatalogState, Content, Snapshot};
use serde_json::{Value, json};

use super::packages::Drawn;
use crate::common::written::written;

/// A package with an administrator's rules: the semver rules, and one by a name that is an attack.
pub(crate) fn with_guardrails(drawn: &Drawn, test: impl FnOnce(&Graph<'_>, Guarded<'_>)) {
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": drawn.package(),
        "graph": "Semver", "rules": [{"id": "</script><b>", "kind": "MaxMinorStep", "step": 1,
            "reason": "]]>\u{202e}\u{1b}"}]});
    with_rules(drawn, &rules, test);
}

fn with_rules(drawn: &Drawn, rules: &Value, test: impl FnOnce(&Graph<'_>, Guarded<'_>)) {
    let stated = olmguard::guardrail::read(rules);
    let place = "rules.yaml:1".into();
    let mut imposed = Imposed::default();
    imposed.add(drawn.package(), ImposedBy { place, stated });
    let content = Content::Loaded(Arc::new(drawn.catalog.clone()));
    let catalog = CatalogState::named("hub", content);
    let snapshot = Snapshot::new(Rules::default(), [catalog]).imposing(Arc::new(imposed));
    let filter = Filter {
        package: drawn.package().to_owned(),
        ..Filter::default()
    };
    let query = Query::compile(&filter, &snapshot).expect("a filter");
    let offers = query.offers(&query.in_play(&snapshot)).expect("loaded");
    let guards = Guards::of(snapshot.imposed(), &filter.package, &offers);
    let guarded = Guarded {
        guards: &guards,
        catalog: offers[0].catalog,
    };
    test(&Graph::of(drawn.package(), offers[0].package), guarded);
}

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
