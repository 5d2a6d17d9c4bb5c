//! The decision table written a second time, as plainly as possible, and compared with the program over random worlds:
//! catalogs with channels and edges, guardrails of an author and of an administrator, upgrade policies, and an edit, up
//! to the last step that OLM takes after it.
//!
//! A test run judges a few thousand worlds; `OLMGUARD_WORLDS` sets another number. The worlds have no releases, nothing
//! that cannot be read, and no object before the edit. Vectors and other tests cover these.

mod table;
mod world;

use std::collections::BTreeSet;
use std::env;

use olmguard_engine::judge::{Ruling, judge};
use olmguard_engine::resolve::{Choice, GuardedBy, PolicyFinding, ViolatedRule, Violation};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::model::table::EditOutcome;
use crate::model::world::RandomCluster;

/// The outcome of the program, in the terms of the model.
fn judged(world: &RandomCluster) -> EditOutcome {
    let facts = world.facts();
    let edit = world.edit();
    let ruled = judge(facts.basis(), &edit.as_edit()).ruled;
    let mut outcome = EditOutcome {
        token: ruled.ruling.token().as_str(),
        to: ruled.resolved().map(named),
        reasons: reasons(&ruled.ruling),
        warned: ruled.policy_warnings.iter().map(of_policy).collect(),
    };
    outcome.reasons.sort();
    outcome.warned.sort();
    outcome
}

fn named(choice: Choice<'_>) -> (String, String) {
    (
        choice.catalog.name.clone(),
        choice.bundle().name.to_string(),
    )
}

fn reasons(ruling: &Ruling<'_>) -> Vec<String> {
    match ruling {
        Ruling::Guardrail(step) => {
            let said: BTreeSet<_> = step.violations.iter().map(of_guardrail).collect();
            // The table does not have further properties of an edge that does not exist.
            let is_besides =
                |(by, of): &(_, &str)| *of == "prerelease" && said.contains(&(*by, "graph"));
            let to = named(step.to).1;
            let said = said.iter().filter(|reason| !is_besides(reason));
            said.map(|(by, of)| format!("{to}: {by} {of}")).collect()
        }
        Ruling::Policy(refusal) => refusal.findings.iter().map(of_policy).collect(),
        _ => Vec::new(),
    }
}

fn of_guardrail<'a>(violation: &'a Violation<'_>) -> (&'static str, &'a str) {
    let by = match violation.by {
        GuardedBy::Author(_) => "author",
        GuardedBy::Administrator(_) => "administrator",
    };
    let of = match violation.of {
        ViolatedRule::Rule(rule) => &rule.id,
        ViolatedRule::Prerelease(_) => "prerelease",
        ViolatedRule::Graph(..) => "graph",
        ViolatedRule::Unread(_) => "unread",
    };
    (by, of)
}

fn of_policy(found: &PolicyFinding<'_>) -> String {
    let to = named(found.to).1;
    format!(
        "{to}: {} {}",
        found.policy.name(),
        found.violation.rule.path()
    )
}

/// The number of worlds that one run judges.
fn worlds() -> u32 {
    let given = env::var("OLMGUARD_WORLDS").ok();
    given.map_or(3_000, |given| given.parse().expect("a number of worlds"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(worlds()))]

    #[test]
    fn every_edit_is_judged_as_the_table_says(world in world::world()) {
        prop_assert_eq!(judged(&world), table::outcome(&world));
    }
}

/// If all worlds ended in one row or violated one rule, the comparison would not cover the others.
#[test]
fn the_worlds_reach_every_row_and_every_rule() {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut runner = TestRunner::deterministic();
    for _ in 0..5_000 {
        let drawn = world::world().new_tree(&mut runner).expect("a world");
        let outcome = table::outcome(&drawn.current());
        let first = outcome.to.map(|(_, first)| first).unwrap_or_default();
        for reason in &outcome.reasons {
            let (to, cause) = reason.split_once(": ").expect("a bundle and a cause");
            let when = if to == first { "" } else { "later " };
            seen.insert(format!("{when}{}", rule(cause)));
        }
        let warned = outcome
            .warned
            .iter()
            .map(|warned| format!("warned {}", rule(warned)));
        seen.extend(warned);
        seen.insert(outcome.token.to_owned());
    }
    let missing: Vec<_> = table::TOKENS.iter().chain(&RULES).collect();
    let missing: Vec<_> = missing
        .into_iter()
        .filter(|row| !seen.contains(**row))
        .collect();
    assert!(missing.is_empty(), "no {missing:?} among {seen:?}");
}

/// The rule in a cause, without its policy.
fn rule(cause: &str) -> &str {
    let rule = cause.split_once(" spec.rules.");
    rule.map_or(cause, |(_, rule)| rule)
}

const RULES: [&str; 22] = [
    "author graph",
    "author prerelease",
    "author rule-0",
    "administrator graph",
    "administrator prerelease",
    "administrator rule-0",
    "later author rule-0",
    "later administrator rule-0",
    "versions.allow",
    "versions.deny",
    "step",
    "prereleases",
    "deprecated",
    "range",
    "catalogs",
    "bypass",
    "windows",
    "conditions[0]",
    "later step",
    "warned step",
    "warned deprecated",
    "warned bypass",
];
