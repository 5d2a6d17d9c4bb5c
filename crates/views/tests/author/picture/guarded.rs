//! Packages with guardrails that forbid some of what their authors wrote.

use std::sync::Arc;

use olmguard_catalog::graph::Graph;
use olmguard_catalog::guardrail::{AdministratorGuardrails, ImposedBy};
use olmguard_catalog::olm::Rules;
use olmguard_engine::extension::Filter;
use olmguard_engine::resolve::{Guards, Query};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_views::picture::GuardedSteps;
use serde_json::{Value, json};

use super::packages::Drawn;

/// A package with an administrator's rules: the semver rules, and one by a name that is an attack.
pub(crate) fn with_guardrails(drawn: &Drawn, test: impl FnOnce(&Graph<'_>, GuardedSteps<'_>)) {
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": drawn.package(),
        "graph": "Semver", "rules": [{"id": "</script><b>", "kind": "MaxMinorStep", "step": 1,
            "reason": "]]>\u{202e}\u{1b}"}]});
    with_rules(drawn, &rules, test);
}

/// A package with rules of an administrator.
pub(crate) fn with_rules(
    drawn: &Drawn,
    rules: &Value,
    test: impl FnOnce(&Graph<'_>, GuardedSteps<'_>),
) {
    let stated = olmguard_catalog::guardrail::read(rules);
    let place = "rules.yaml:1".into();
    let mut imposed = AdministratorGuardrails::default();
    imposed.add(drawn.package(), ImposedBy { place, stated });
    let content = Content::Loaded(Arc::new(drawn.catalog.clone()));
    let catalog = CatalogState::named("hub", content);
    let snapshot = Snapshot::new(Rules::default(), [catalog]);
    let filter = Filter {
        package: drawn.package().to_owned(),
        ..Filter::default()
    };
    let query = Query::compile(&filter, &snapshot).expect("a filter");
    let offers = query.offers(&query.in_play(&snapshot)).expect("loaded");
    let guards = Guards::of(&imposed, &filter.package, &offers);
    let guarded = GuardedSteps {
        guards: &guards,
        policies: None,
        rules: snapshot.rules(),
        catalog: offers[0].catalog,
    };
    test(&Graph::of(drawn.package(), offers[0].package), guarded);
}
