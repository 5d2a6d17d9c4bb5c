//! Laws that hold for any rules of an author and an administrator together, with and without the
//! bypass.

use olmguard_engine::judge::Verdict;
use proptest::prelude::*;
use serde_json::Value;

use crate::guardrails::laws::{asked, follow, version};
use olmguard_fixtures::guardrails::catalog::{
    Asked, Facts, blobs, guardrails, imposed, imposing, judged,
};
use olmguard_fixtures::guardrails::pool::{POOL, graph, rules};

/// The base graph, and the rules.
type Said = (&'static str, Vec<Value>);

fn said() -> impl Strategy<Value = Said> {
    (graph(), rules())
}

/// Rules of an administrator, each with whether the bypass lifts it.
fn imposing_rules() -> impl Strategy<Value = Said> {
    let lifted = prop::collection::vec(any::<bool>(), 4);
    (graph(), rules(), lifted).prop_map(|(graph, mut rules, lifted)| {
        for (rule, is_lifted) in rules.iter_mut().zip(lifted) {
            rule["bypassable"] = is_lifted.into();
        }
        (graph, rules)
    })
}

fn with(author: Option<&Said>, administrator: &Said) -> Facts {
    let mut blobs = blobs(&POOL, "1.0.0");
    let author = author.map(|(graph, rules)| guardrails(graph, &rules.clone().into()));
    blobs.extend(author);
    let (graph, rules) = administrator;
    imposing(&blobs, imposed(graph, &rules.clone().into()))
}

proptest! {
    #[test]
    fn with_the_bypass_an_author_changes_nothing_but_warnings(
        author in said(), administrator in imposing_rules(), from in version(), asked in asked(),
    ) {
        let asked = asked.bypassing();
        let both = judged(&with(Some(&author), &administrator), from, asked);
        let one = judged(&with(None, &administrator), from, asked);
        prop_assert_eq!(both.message, one.message);
        prop_assert_eq!(both.token, one.token);
        prop_assert_eq!(both.resolved, one.resolved);
    }

    #[test]
    fn what_each_forbids_both_forbid(
        author in said(), administrator in imposing_rules(), from in version(), to in version(),
    ) {
        let asked = Asked::range(to);
        let nothing = ("Catalog", Vec::new());
        let causes = |snapshot: &Facts| {
            let answer = judged(snapshot, from, asked);
            let causes = answer.causes.into_iter().filter(|_| answer.token.as_str() == "Guardrail");
            causes.map(|cause| cause.message).collect::<Vec<_>>()
        };
        let mut each = causes(&with(Some(&author), &nothing));
        each.extend(causes(&with(None, &administrator)));
        prop_assert_eq!(causes(&with(Some(&author), &administrator)), each);
    }

    #[test]
    fn a_rule_that_says_so_never_holds_against_the_bypass(
        author in said(), rules in rules(), from in version(), asked in asked(),
    ) {
        let mut rules = rules;
        for rule in &mut rules {
            rule["bypassable"] = true.into();
        }
        let snapshot = with(Some(&author), &("Catalog", rules));
        let answer = judged(&snapshot, from, asked.bypassing());
        prop_assert_ne!(answer.token.as_str(), "Guardrail");
    }

    #[test]
    fn what_is_suggested_is_allowed_by_both_to_its_end(
        author in said(), administrator in imposing_rules(), from in version(), asked in asked(), bypass: bool,
    ) {
        let snapshot = with(Some(&author), &administrator);
        let asked = Asked { bypass, ..asked };
        let answer = judged(&snapshot, from, asked);
        prop_assert_eq!(follow(&snapshot, from, asked, &answer), Ok(()));
        for next in &answer.advice.allowed_next {
            let next = judged(&snapshot, from, Asked { range: Some(next), ..asked });
            prop_assert_eq!(next.verdict(), Verdict::Allow);
        }
    }
}
