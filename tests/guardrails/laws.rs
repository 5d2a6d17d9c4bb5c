//! What holds of any rules: they only ever forbid, their order says nothing, and whatever is suggested
//! instead is allowed to its end.

use olmguard::explain::Answer;
use olmguard::extension::{Installed, InstalledBundle};
use olmguard::judge::{FixValue, Verdict};
use olmguard::snapshot::Snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::catalog::{Asked, blobs, guardrails, judged, judged_from, snapshot};

pub(crate) const POOL: [&str; 12] = [
    "1.0.0",
    "1.0.1",
    "1.1.0",
    "1.1.1-rc.1",
    "1.1.1",
    "1.2.0",
    "1.2.5",
    "1.3.0-alpha",
    "1.3.0",
    "1.4.2",
    "2.0.0-rc.1",
    "2.0.0",
];

fn ranges() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        ">=1.1.0 <1.2.0",
        "1.1.1",
        "<1.3.0",
        ">=1.2.0",
        "1.2.x",
        ">=9.0.0",
        ">1.0.1 <=1.3.0",
        "1.1.0 || 1.3.0",
        "<0.0.1",
    ])
}

fn rule() -> impl Strategy<Value = Value> {
    let some = || prop::option::of(ranges());
    prop_oneof![
        (ranges(), some(), some()).prop_map(
            |(via, from, to)| json!({"kind": "PassThrough", "via": via, "from": from, "to": to})
        ),
        prop::collection::vec(ranges(), 1..3)
            .prop_map(|versions| json!({"kind": "Waypoints", "versions": versions})),
        some().prop_map(|from| json!({"kind": "LatestPatchFirst", "from": from})),
        (1..4).prop_map(|step| json!({"kind": "MaxMinorStep", "step": step})),
        prop::sample::select(vec!["Deny", "Allow"])
            .prop_map(|action| json!({"kind": "Prerelease", "action": action})),
    ]
}

pub(crate) fn rules() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(rule(), 0..4).prop_map(|mut rules| {
        for (at, rule) in rules.iter_mut().enumerate() {
            rule["id"] = format!("rule-{at}").into();
        }
        rules
    })
}

pub(crate) fn graph() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["Catalog", "Semver", "CatalogOrSemver"])
}

fn with(graph: &str, rules: &[Value]) -> Snapshot {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs.push(guardrails(graph, &rules.into()));
    snapshot(&blobs)
}

fn asked() -> impl Strategy<Value = (Option<&'static str>, bool)> {
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
    (
        prop::option::of(prop::sample::select(ranges)),
        prop::bool::weighted(0.1),
    )
}

fn installed() -> impl Strategy<Value = &'static str> {
    prop::sample::select(POOL.to_vec())
}

/// Follows a suggestion to its end: the fix first, then every version of the path.
fn follow(snapshot: &Snapshot, from: &str, bypass: bool, answer: &Answer) -> Result<(), String> {
    let Some(fix) = &answer.advice.fix else {
        return Ok(());
    };
    let FixValue::Text(first) = &fix.value else {
        return Err(format!("{fix:?}"));
    };
    let mut at = Installed::Bundle(InstalledBundle {
        name: Some(crate::catalog::name(from)),
        version: from.to_owned(),
        release: None,
    });
    let later = answer.advice.path.iter().skip(2);
    for range in std::iter::once(first).chain(later) {
        let asked = Asked {
            range: Some(range),
            bypass,
        };
        let next = judged_from(snapshot, &at, asked);
        let Some(resolved) = next.resolved.filter(|_| next.verdict == Verdict::Allow) else {
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
    fn rules_only_ever_forbid(graph in graph(), rules in rules(), from in installed(), asked in asked()) {
        let asked = Asked { range: asked.0, bypass: asked.1 };
        let without = judged(&snapshot(&blobs(&POOL, "1.0.0")), from, asked);
        let with = judged(&with(graph, &rules), from, asked);
        prop_assert_eq!(&without.successors, &with.successors);
        if with.token.as_str() == "Guardrail" {
            prop_assert_eq!(without.verdict, Verdict::Allow);
            prop_assert!(!asked.bypass);
        } else {
            prop_assert_eq!(without.token, with.token);
        }
    }

    #[test]
    fn the_order_of_rules_says_nothing(graph in graph(), rules in rules(), from in installed(), asked in asked()) {
        let asked = Asked { range: asked.0, bypass: asked.1 };
        let mut backwards = rules.clone();
        backwards.reverse();
        let one = judged(&with(graph, &rules), from, asked);
        let other = judged(&with(graph, &backwards), from, asked);
        prop_assert_eq!(one.message, other.message);
        prop_assert_eq!(one.warnings, other.warnings);
    }

    #[test]
    fn what_is_suggested_is_allowed_to_its_end(graph in graph(), rules in rules(), from in installed(), asked in asked()) {
        let snapshot = with(graph, &rules);
        let answer = judged(&snapshot, from, Asked { range: asked.0, bypass: asked.1 });
        prop_assert_eq!(follow(&snapshot, from, asked.1, &answer), Ok(()));
        for next in &answer.advice.allowed_next {
            let next = judged(&snapshot, from, Asked { range: Some(next), bypass: asked.1 });
            prop_assert_eq!(next.verdict, Verdict::Allow);
        }
    }

    #[test]
    fn a_first_install_knows_no_rules(graph in graph(), rules in rules(), asked in asked()) {
        let asked = Asked { range: asked.0, bypass: asked.1 };
        let answer = judged_from(&with(graph, &rules), &Installed::Nothing, asked);
        prop_assert_ne!(answer.token.as_str(), "Guardrail");
    }
}
