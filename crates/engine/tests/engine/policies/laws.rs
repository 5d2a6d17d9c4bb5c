//! Laws of upgrade policies: more of them never allow more, their order decides nothing, and what a denial suggests is
//! admitted by all of them to its end.

use olmguard_engine::judge::{FixValue, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::policies::scene::Scene;

fn rules() -> impl Strategy<Value = Value> {
    let versions = prop::sample::select(vec!["0.7.0", ">=1", "0.6.1 || 1.0.0", "*"]);
    prop_oneof![
        prop::sample::select(vec!["Patch", "Minor", "Major"])
            .prop_map(|step| json!({"step": step})),
        versions
            .clone()
            .prop_map(|deny| json!({"versions": {"deny": deny}})),
        versions.prop_map(|allow| json!({"versions": {"allow": allow}})),
        prop::sample::select(vec!["Pinned", "Bounded", "Any"])
            .prop_map(|range| json!({"range": range})),
        prop::sample::select(vec!["Deny", "Warn", "Allow"])
            .prop_map(|word| json!({"deprecated": word})),
        prop::sample::select(vec!["Deny", "ByPermission", "Allow"])
            .prop_map(|word| json!({"bypass": word})),
        Just(json!({"catalogs": ["other"]})),
        Just(json!({"conditions": [{"expression": "to.minor < 7"}]})),
        Just(json!({"conditions": [{"expression": "nothing.at.all"}]})),
        Just(json!({"windows": [{"schedule": "0 22 * * *", "duration": "1h"}]})),
        Just(json!({"windows": [{"schedule": "0 0 * * *", "duration": "24h"}]})),
        Just(json!({"unknown": 1})),
    ]
}

fn spec() -> impl Strategy<Value = Value> {
    let enforcement = prop::sample::select(vec!["Deny", "Warn"]);
    (rules(), enforcement).prop_map(|(rules, word)| json!({"enforcement": word, "rules": rules}))
}

fn scene() -> impl Strategy<Value = Scene> {
    let ranges = vec![
        "0.6.1",
        "0.7.0",
        "1.0.0",
        ">=0.6.0",
        ">=0.6.1 <1",
        "*",
        "1.4.1",
        "0.6.0",
    ];
    let installed = vec![None, Some("0.6.0"), Some("0.7.0"), Some("1.0.0")];
    let edits = (
        prop::sample::select(ranges),
        prop::sample::select(installed),
        any::<bool>(),
    );
    let edits = edits.prop_map(|(range, installed, bypasses)| {
        let scene = Scene::to(range);
        let scene = if bypasses { scene.bypassing() } else { scene };
        match installed {
            Some(version) => scene.from(version),
            None => scene.install(),
        }
    });
    let policies = prop::collection::vec(spec(), 0..4);
    (edits, policies).prop_map(|(scene, policies)| {
        let named = policies.into_iter().enumerate();
        named.fold(scene, |scene, (at, spec)| {
            scene.ruled(&format!("p{at}"), &spec)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn one_more_policy_never_allows_what_was_denied(scene in scene(), more in spec()) {
        let before = scene.answer().verdict();
        let after = scene.ruled("more", &more).answer().verdict();
        prop_assert!(before != Verdict::Deny || after == Verdict::Deny);
    }

    #[test]
    fn the_order_of_policies_decides_nothing(scene in scene()) {
        let mut turned = scene.clone();
        turned.policies.reverse();
        prop_assert_eq!(format!("{:?}", scene.answer()), format!("{:?}", turned.answer()));
    }

    #[test]
    fn what_a_denial_suggests_is_admitted(scene in scene()) {
        let answer = scene.answer();
        prop_assume!(answer.verdict() == Verdict::Deny);
        for version in &answer.advice.allowed_next {
            let next = scene.clone().with_version(version).answer();
            prop_assert_ne!(next.verdict(), Verdict::Deny, "{:?}", next.message);
        }
        if let Some(fix) = &answer.advice.fix {
            let fixed = match &fix.value {
                FixValue::Text(value) if fix.field.ends_with("upgradeConstraintPolicy") => {
                    let mut fixed = scene.clone();
                    fixed.catalog["upgradeConstraintPolicy"] = value.as_str().into();
                    fixed
                }
                FixValue::Text(value) => scene.clone().with_version(value),
                FixValue::List(_) => unreachable!("no fix of a version is a list"),
            };
            let fixed = fixed.answer();
            prop_assert_ne!(fixed.verdict(), Verdict::Deny, "{:?}", fixed.message);
        }
        let mut from = scene.clone();
        for version in answer.advice.path.iter().skip(1) {
            let step = from.clone().with_version(version).answer();
            prop_assert_ne!(step.verdict(), Verdict::Deny, "{:?}", step.message);
            from = from.from(leaked(version));
        }
    }
}

/// A version of the scene as the text it is written as there.
fn leaked(version: &str) -> &'static str {
    let versions = ["0.6.0", "0.6.1", "0.7.0", "1.0.0", "1.4.1"];
    let known = versions.into_iter().find(|known| *known == version);
    known.expect("a version of the scene")
}
