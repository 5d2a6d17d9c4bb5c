//! What becomes of a verdict, and of an edit that there was no time or room to judge.

use olmguard_engine::judge::Basis;
use std::time::Duration;

use serde_json::{Value, json};

use super::{extension, installed, review, snapshot, unread, update};
use crate::admission::{Enforcement, Mode, OnUndecided, Outcome, Review};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Token, UnansweredReason, Verdict, Wait};

const STRICT: Enforcement = Enforcement {
    mode: Mode::Enforce,
    on_undecided: OnUndecided::Deny,
};
const LATE: UnansweredReason = UnansweredReason::DeadlineExceeded {
    waited_for: Wait::Worker,
    within: Duration::from_micros(4_500_900),
};

#[track_caller]
fn told(row: &Value, answer: &Answer, enforcement: Enforcement) -> (Outcome, Vec<String>, Value) {
    let review = Review::read(row).unwrap();
    let reply = review.reply(answer, enforcement);
    let mut written: Value = serde_json::from_slice(&reply.to_bytes()).unwrap();
    let warnings = written["response"]["warnings"].take();
    let warnings = serde_json::from_value(warnings).unwrap_or_default();
    (reply.outcome(), warnings, written["response"].take())
}

fn with_bypass(mut row: Value, new: &str, old: &str) -> Value {
    let field = "/spec/source/catalog/upgradeConstraintPolicy";
    for (object, word) in [("object", new), ("oldObject", old)] {
        let catalog = &mut row["request"][object]["spec"]["source"]["catalog"];
        catalog["upgradeConstraintPolicy"] = json!(word);
        assert_eq!(row["request"][object].pointer(field), Some(&json!(word)));
    }
    row
}

#[test]
fn observing_refuses_nothing_and_says_what_it_would() {
    let row = update("1.0.0", "2.0.0");
    let answer = Review::read(&row)
        .unwrap()
        .answer(Basis::without_policies(&snapshot()));
    for on_undecided in [OnUndecided::Warn, OnUndecided::Deny] {
        let observed = Enforcement {
            mode: Mode::Observe,
            on_undecided,
        };
        let (outcome, warnings, response) = told(&row, &answer, observed);
        assert_eq!(outcome, Outcome::LetThrough);
        assert_eq!(
            warnings,
            [
                "allowed in observe mode: p: 1.0.0 -> 2.0.0 refused: 2.0.0 is not a successor of 1.0.0 in catalog c [NotASuccessor]"
            ]
        );
        assert_eq!(response["allowed"], true);
        assert_eq!(response.get("status"), None);
        assert_eq!(response["auditAnnotations"]["verdict"], "deny");
        assert_eq!(response["auditAnnotations"]["token"], "NotASuccessor");
    }
}

#[test]
fn each_verdict_has_its_outcome_in_each_mode() {
    let (warn, deny) = (OnUndecided::Warn, OnUndecided::Deny);
    let (admitted, through, refused) = (Outcome::Admitted, Outcome::LetThrough, Outcome::Refused);
    for (verdict, on_undecided, enforced, observed) in [
        (Verdict::Allow, deny, admitted, admitted),
        (Verdict::NotJudged, deny, admitted, admitted),
        (Verdict::Deny, warn, refused, through),
        (Verdict::Deny, deny, refused, through),
        (Verdict::Undecided, warn, through, through),
        (Verdict::Undecided, deny, refused, through),
    ] {
        let outcome = |mode| Enforcement { mode, on_undecided }.course(verdict).outcome();
        assert_eq!(
            outcome(Mode::Enforce),
            enforced,
            "{verdict:?} {on_undecided:?}"
        );
        assert_eq!(
            outcome(Mode::Observe),
            observed,
            "{verdict:?} {on_undecided:?}"
        );
    }
}

#[test]
fn the_default_is_to_enforce_and_to_let_the_undecided_through() {
    let row = update("1.0.0", "1.1.0");
    let answer = Review::read(&row)
        .unwrap()
        .answer(Basis::without_policies(&unread()));
    let (outcome, warnings, _) = told(&row, &answer, Enforcement::default());
    assert_eq!(outcome, Outcome::LetThrough);
    assert!(
        warnings[0].starts_with("undecided, and allowed: "),
        "{warnings:?}"
    );
    let observed = Enforcement {
        mode: Mode::Observe,
        ..STRICT
    };
    let (_, warnings, response) = told(&row, &answer, observed);
    assert!(
        warnings[0].starts_with("allowed in observe mode: p: 1.0.0 -> 1.1.0 undecided: "),
        "{warnings:?}"
    );
    assert_eq!(response["auditAnnotations"]["verdict"], "undecided");
}

#[test]
fn what_there_was_no_time_or_room_for_says_so() {
    let row = update("1.0.0", "2.0.0");
    let within = Duration::from_millis(250);
    for (cause, expected) in [
        (
            LATE,
            "p: 1.0.0 -> 2.0.0 undecided: no worker was free within 4.5s [DeadlineExceeded]\n\
             Fix: apply it again; it was not checked\n\
             Help: olmguard explain DeadlineExceeded",
        ),
        (
            UnansweredReason::DeadlineExceeded {
                waited_for: Wait::Judge,
                within,
            },
            "p: 1.0.0 -> 2.0.0 undecided: the check did not finish within 250ms [DeadlineExceeded]\n\
             Fix: apply it again; it was not checked\n\
             Help: olmguard explain DeadlineExceeded",
        ),
        (
            UnansweredReason::QueueFull { waiting: 64 },
            "p: 1.0.0 -> 2.0.0 undecided: 64 edits are waiting already, which is the limit [Overloaded]\n\
             Fix: apply it again in a few seconds; it was not checked\n\
             Help: olmguard explain Overloaded",
        ),
        (
            UnansweredReason::QueueTooSlow {
                waiting: 64,
                within,
            },
            "p: 1.0.0 -> 2.0.0 undecided: 64 edits are waiting already, too many to check within 250ms [Overloaded]\n\
             Fix: apply it again in a few seconds; it was not checked\n\
             Help: olmguard explain Overloaded",
        ),
    ] {
        let answer = Review::read(&row).unwrap().unanswered(cause);
        assert_eq!(answer.message.as_deref(), Some(expected));
        assert_eq!(answer.token, cause.token());
        assert!(answer.token.takes_a_cluster());
        let (outcome, _, response) = told(&row, &answer, STRICT);
        assert_eq!(outcome, Outcome::Refused);
        let causes = &response["status"]["details"]["causes"];
        assert_eq!(causes[0]["reason"], cause.token().as_str());
        assert_eq!(causes[0].get("field"), None);
        assert_eq!(response["auditAnnotations"]["installed"], "p.v1.0.0 1.0.0");
    }
}

/// Labels, finalizers, deletion, foreign kinds: neither overload nor missing catalogs hold them up.
#[test]
fn what_is_not_judged_is_settled_without_catalogs() {
    let with = |change: fn(&mut Value)| {
        let mut row = update("1.0.0", "2.0.0");
        change(&mut row);
        row
    };
    let rows = [
        update("2.0.0", "2.0.0"),
        with(|r| r["request"]["operation"] = json!("DELETE")),
        with(|r| r["request"]["subResource"] = json!("status")),
        with(|r| r["request"]["object"]["kind"] = json!("ClusterCatalog")),
        with(|r| r["request"]["object"]["apiVersion"] = json!("olm.operatorframework.io/v3")),
        with(|r| {
            r["request"]["object"]["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }),
        with(|r| r["request"]["object"]["spec"]["source"]["sourceType"] = json!("Image")),
    ];
    for row in rows {
        let review = Review::read(&row).unwrap();
        let settled = review.settled().unwrap();
        let expected = format!("{:?}", review.answer(Basis::without_policies(&snapshot())));
        assert_eq!(format!("{settled:?}"), expected, "{row}");
        assert_eq!(format!("{:?}", review.unanswered(LATE)), expected, "{row}");
        assert_eq!(told(&row, &settled, STRICT).0, Outcome::Admitted, "{row}");
    }
}

#[test]
fn an_edit_that_is_judged_is_not_settled() {
    for row in [
        update("1.0.0", "1.1.0"),
        update("1.0.0", "2.0.0"),
        review(
            "CREATE",
            &extension("1.0.0", &installed("1.0.0")),
            &json!(null),
        ),
    ] {
        let review = Review::read(&row).unwrap();
        assert!(review.settled().is_none(), "{row}");
        assert_eq!(
            review.unanswered(LATE).token,
            Token::DeadlineExceeded,
            "{row}"
        );
    }
}

/// OLM can move then, and a guardrail or a policy can forbid where.
#[test]
fn a_bypass_that_is_turned_off_is_not_settled() {
    let row = with_bypass(update("1.0.0", "1.0.0"), "CatalogProvided", "SelfCertified");
    let review = Review::read(&row).unwrap();
    assert!(review.settled().is_none());
    assert_eq!(review.unanswered(LATE).token, Token::DeadlineExceeded);
}
