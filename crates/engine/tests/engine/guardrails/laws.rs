//! Laws that hold for any rules: they only forbid, their order does not matter, and every suggested alternative is
//! allowed to its end.

use olmguard_engine::explain::Answer;
use olmguard_engine::extension::{Installed, InstalledBundle};
use olmguard_engine::judge::{FixValue, Verdict};
use proptest::prelude::*;
use serde_json::Value;

use olmguard_fixtures::guardrails::catalog::{
    Asked, Facts, blobs, guardrails, installed, judged, judged_from, judged_with_successors,
    snapshot,
};
use olmguard_fixtures::guardrails::pool::{POOL, graph, rules};

fn with(graph: &str, rules: &[Value]) -> Facts {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs.push(guardrails(graph, &rules.into()));
    snapshot(&blobs)
}

pub(crate) fn asked() -> impl Strategy<Value = Asked<'static>> {
    let ranges = vec![
        "1.4.2",
        "2.0.0",
        "<2.0.0",
        ">=1.2.0 <1.4.0",
        "1.x",
        "~1.1",
        ">=1.0.0-0",
        "1.3.0-alpha",
    ];
    let range = prop::option::of(prop::sample::select(ranges));
    (range, prop::bool::weighted(0.1)).prop_map(|(range, bypass)| Asked {
        range,
        bypass,
        ..Asked::default()
    })
}

pub(crate) fn version() -> impl Strategy<Value = &'static str> {
    prop::sample::select(POOL.to_vec())
}

/// Follows a suggestion to its end: the fix first, then every version of the path.
pub(crate) fn follow(
    snapshot: &Facts,
    from: &str,
    asked: Asked<'_>,
    answer: &Answer,
) -> Result<(), String> {
    let Some(fix) = &answer.advice.fix else {
        return Ok(());
    };
    let FixValue::Text(first) = &fix.value else {
        return Err(format!("{fix:?}"));
    };
    let mut at = installed(from);
    let later = answer.advice.path.iter().skip(2);
    for range in std::iter::once(first).chain(later) {
        let next = Asked {
            range: Some(range),
            ..asked
        };
        let next = judged_from(snapshot, &at, next);
        let is_allowed = next.verdict() == Verdict::Allow;
        let Some(resolved) = next.resolved.filter(|_| is_allowed) else {
            return Err(format!("{range} is refused: {:?}", next.message));
        };
        at = Installed::Bundle(InstalledBundle {
            name: Some(resolved.bundle),
            version: resolved.version,
            release: resolved.release,
        });
    }
    Ok(())
}

proptest! {
    #[test]
    fn rules_only_ever_forbid(graph in graph(), rules in rules(), from in version(), asked in asked()) {
        let installed = installed(from);
        let without = snapshot(&blobs(&POOL, "1.0.0"));
        let (without, successors) = judged_with_successors(&without, &installed, asked);
        let (with, same) = judged_with_successors(&with(graph, &rules), &installed, asked);
        prop_assert_eq!(successors, same);
        if with.token.as_str() == "Guardrail" {
            prop_assert_eq!(without.verdict(), Verdict::Allow);
            prop_assert!(!asked.bypass);
        } else {
            prop_assert_eq!(without.token, with.token);
        }
    }

    #[test]
    fn the_order_of_rules_says_nothing(graph in graph(), rules in rules(), from in version(), asked in asked()) {
        let mut backwards = rules.clone();
        backwards.reverse();
        let one = judged(&with(graph, &rules), from, asked);
        let other = judged(&with(graph, &backwards), from, asked);
        prop_assert_eq!(one.message, other.message);
        prop_assert_eq!(one.warnings, other.warnings);
    }

    #[test]
    fn what_is_suggested_is_allowed_to_its_end(graph in graph(), rules in rules(), from in version(), asked in asked()) {
        let snapshot = with(graph, &rules);
        let answer = judged(&snapshot, from, asked);
        prop_assert_eq!(follow(&snapshot, from, asked, &answer), Ok(()));
        for next in &answer.advice.allowed_next {
            let next = judged(&snapshot, from, Asked { range: Some(next), ..asked });
            prop_assert_eq!(next.verdict(), Verdict::Allow);
        }
    }

    #[test]
    fn a_first_install_knows_no_rules(graph in graph(), rules in rules(), asked in asked()) {
        let answer = judged_from(&with(graph, &rules), &Installed::Nothing, asked);
        prop_assert_ne!(answer.token.as_str(), "Guardrail");
    }
}
