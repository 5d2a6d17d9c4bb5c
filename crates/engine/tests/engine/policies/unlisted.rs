//! While not all policies of the cluster are known: what would be allowed is undecided, and what is known to be denied is
//! denied.

use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Token, Verdict};
use serde_json::json;

use super::scene::Scene;

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

#[test]
fn what_is_known_to_be_denied_is_denied() {
    let to_1 = Scene::to("1.0.0");
    let (known, unlisted) = answers(&to_1);
    assert_eq!(known.token, Token::NotASuccessor);
    assert_eq!(unlisted.token, Token::NotASuccessor);
    let denied = Scene::to("0.7.0").ruled("slowly", &json!({"rules": {"step": "Patch"}}));
    assert_eq!(answers(&denied).1.token, Token::Policy);
}

/// It could be forbidden, so it is not advised.
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
