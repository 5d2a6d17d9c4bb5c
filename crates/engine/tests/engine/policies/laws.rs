//! Laws of upgrade policies: more policies never allow more, their order does not matter, and all of them allow the
//! suggestion of a denial to its end.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::policies::Scene;
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{FixValue, Token, Verdict};

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

/// A version of the scene, as its text there.
fn leaked(version: &str) -> &'static str {
    let versions = ["0.6.0", "0.6.1", "0.7.0", "1.0.0", "1.4.1"];
    let known = versions.into_iter().find(|known| *known == version);
    known.expect("a version of the scene")
}

// === While not all policies of the cluster are known: an allowed edit becomes undecided, a denial stays ===

const WHY: &str = "UpgradePolicy not listed yet: the API server answers 403";

fn answers(scene: &Scene) -> (Answer, Answer) {
    let unlisted = Scene {
        unlisted: Some(WHY),
        ..scene.clone()
    };
    (scene.answer(), unlisted.answer())
}

#[test]
fn what_would_be_allowed_is_undecided() {
    let allowed = [
        (Scene::to("0.7.0"), Token::Resolved),
        (Scene::to("0.7.0").install(), Token::Resolved),
        (Scene::to(">=0.6.0 <0.6.1"), Token::Unchanged),
        (Scene::to("1.0.0").bypassing(), Token::Bypassed),
    ];
    for (scene, token) in allowed {
        let (known, unlisted) = answers(&scene);
        assert_eq!(known.token, token);
        assert_eq!(unlisted.token, Token::PoliciesUnknown, "{token:?}");
        assert_eq!(unlisted.verdict(), Verdict::Undecided);
        assert_eq!(
            unlisted.catalog.as_ref().map(|catalog| &*catalog.name),
            Some("operatorhubio")
        );
        let resolved = |answer: &Answer| answer.resolved.as_ref().map(|to| to.version.clone());
        assert_eq!(resolved(&unlisted), resolved(&known));
    }
}

/// OLM then takes the step, which an unknown policy may deny.
#[test]
fn turning_the_bypass_off_is_undecided_if_it_moves() {
    let off = |scene: Scene| {
        let scene = Scene {
            unlisted: Some(WHY),
            ..scene
        };
        let old = scene.clone().bypassing().extension();
        scene.answer_to(Some(&old)).token
    };
    assert_eq!(off(Scene::to("0.7.0")), Token::PoliciesUnknown);
    assert_eq!(off(Scene::to("0.7.0").from("0.7.0")), Token::NotJudged);
}

#[test]
fn what_is_known_to_be_denied_is_denied() {
    let to_1 = Scene::to("1.0.0");
    let (known, unlisted) = answers(&to_1);
    assert_eq!(known.token, Token::NotASuccessor);
    assert_eq!(unlisted.token, Token::NotASuccessor);
    let denied = Scene::to("0.7.0").ruled("slowly", &json!({"rules": {"step": "Patch"}}));
    assert_eq!(answers(&denied).1.token, Token::Policy);
}

/// An unknown policy could forbid a suggestion, so none is given.
#[test]
fn nothing_is_advised_that_could_be_forbidden() {
    let (known, unlisted) = answers(&Scene::to("1.0.0"));
    assert!(known.advice.fix.is_some());
    assert_eq!(unlisted.advice.fix, None);
    assert_eq!(unlisted.advice.allowed_next, [""; 0]);
    let message = unlisted.message.expect("a refusal");
    assert!(message.contains("was cut short"), "{message}");
}

#[test]
fn an_edit_that_requests_nothing_new_is_not_judged() {
    let scene = Scene {
        unlisted: Some(WHY),
        ..Scene::to("0.7.0")
    };
    assert_eq!(scene.answer_to_labels().token, Token::NotJudged);
}

#[test]
fn the_answer_says_what_is_missing_and_why() {
    let (_, answer) = answers(&Scene::to("0.7.0"));
    let message = answer.message.expect("it is undecided");
    let lines: Vec<_> = message.lines().collect();
    let expected = [
        "argocd-operator: 0.6.0 -> 0.7.0 undecided: not all policies of the cluster are known yet [PoliciesUnknown]",
        "Cause: UpgradePolicy not listed yet: the API server answers 403",
        "olmguard must be able to list UpgradePolicies and UpgradeGuardrails.",
        "Catalog: operatorhubio",
        "Help: olmguard explain PoliciesUnknown",
    ];
    assert_eq!(lines, expected);
    assert_eq!(answer.causes.len(), 1);
    assert_eq!(answer.causes[0].field, "");
}
