//! The replies to the API server.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::reply::LONGEST;
use super::{
    answer, assert_valid_reply, extension, installed, reply, review, snapshot, unread, update,
};
use crate::{Enforcement, Mode, OnUndecided, Review, ReviewOutcome};
use olmguard_engine::explain::{Answer, MESSAGE};
use olmguard_engine::judge::{
    Advice, Basis, ExemptionKind, Token, UnansweredReason, Verdict, Wait,
};
use olmguard_policy::Moment;

#[test]
fn a_refusal_is_forbidden_and_says_why_in_data() {
    let reply = reply(&update("1.0.0", "2.0.0"), &snapshot(), OnUndecided::Warn);
    assert_eq!(reply["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(reply["kind"], "AdmissionReview");
    assert_eq!(reply.get("request"), None);
    let response = &reply["response"];
    assert_eq!(response["uid"], "705ab4f5-6393-11e8-b7cc-42010a800002");
    assert_eq!(response["allowed"], false);
    let status = &response["status"];
    assert_eq!(
        (&status["code"], &status["reason"]),
        (&json!(403), &json!("Forbidden"))
    );
    let message = status["message"].as_str().unwrap();
    assert!(
        message.starts_with("p: 1.0.0 -> 2.0.0 refused: "),
        "{message}"
    );
    assert!(
        message.contains("\nPath: 1.0.0 -> 1.1.0 -> 2.0.0\n"),
        "{message}"
    );
    assert_eq!(
        status["details"],
        json!({
            "group": "olm.operatorframework.io",
            "kind": "ClusterExtension",
            "name": "x",
            "causes": [{
                "reason": "NotASuccessor",
                "field": "spec.source.catalog.version",
                "message": "2.0.0 is not a successor of 1.0.0 in catalog c",
            }],
        })
    );
    assert_eq!(
        response["auditAnnotations"],
        json!({
            "verdict": "deny",
            "token": "NotASuccessor",
            "installed": "p.v1.0.0 1.0.0",
            "next": "1.1.0",
            "catalog": "c",
        })
    );
}

#[test]
fn what_is_allowed_says_what_it_resolves_to() {
    let reply = reply(&update("1.0.0", "1.1.0"), &snapshot(), OnUndecided::Deny);
    assert_eq!(
        reply["response"],
        json!({
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "allowed": true,
            "auditAnnotations": {
                "verdict": "allow",
                "token": "Resolved",
                "installed": "p.v1.0.0 1.0.0",
                "resolved": "p.v1.1.0 1.1.0",
                "catalog": "c",
            },
        })
    );
}

#[test]
fn what_is_not_judged_is_annotated_too() {
    let mut row = update("1.0.0", "2.0.0");
    row["request"]["operation"] = json!("DELETE");
    let reply = reply(&row, &snapshot(), OnUndecided::Deny);
    assert_eq!(reply["response"]["allowed"], true);
    let expected = json!({"verdict": "not_judged", "token": "NotJudged"});
    assert_eq!(reply["response"]["auditAnnotations"], expected);
}

#[test]
fn what_is_undecided_is_let_through_with_a_warning_or_refused() {
    let row = update("1.0.0", "1.1.0");
    let warned = reply(&row, &unread(), OnUndecided::Warn);
    assert_eq!(warned["response"]["allowed"], true);
    assert_eq!(warned["response"].get("status"), None);
    let warning = warned["response"]["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("undecided, and allowed: p: 1.0.0 -> 1.1.0 undecided: "),
        "{warning}"
    );

    let refused = reply(&row, &unread(), OnUndecided::Deny);
    assert_eq!(refused["response"]["allowed"], false);
    assert_eq!(refused["response"]["status"]["code"], 403);
    let causes = &refused["response"]["status"]["details"]["causes"];
    assert_eq!(causes[0]["reason"], "CatalogNotLoaded");

    for reply in [warned, refused] {
        assert_eq!(
            reply["response"]["auditAnnotations"]["verdict"],
            "undecided"
        );
        assert_eq!(
            reply["response"]["auditAnnotations"]["token"],
            "CatalogNotLoaded"
        );
    }
}

#[test]
fn there_are_never_more_than_five_warnings() {
    let mut row = review("CREATE", &extension("1.0.0", &json!({})), &json!(null));
    let catalog = &mut row["request"]["object"]["spec"]["source"]["catalog"];
    for misspelt in [
        "channel",
        "versions",
        "package",
        "catalogSelector",
        "upgradePolicy",
        "selectors",
    ] {
        catalog[misspelt] = json!("x");
    }
    let spec = &mut row["request"]["object"]["spec"];
    for old in [
        "packageName",
        "version",
        "channel",
        "upgradeConstraintPolicy",
    ] {
        spec[old] = json!("x");
    }
    let reply = reply(&row, &unread(), OnUndecided::Warn);
    let warnings = reply["response"]["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 5, "{warnings:?}");
    assert!(
        warnings[0]
            .as_str()
            .unwrap()
            .starts_with("undecided, and allowed: ")
    );
}

#[test]
fn annotations_are_bounded_and_printable() {
    let hostile = "\u{1b}[31m\n\u{202e}".repeat(100);
    let mut row = update("1.0.0", "1.1.0");
    row["request"]["oldObject"]["status"]["install"]["bundle"]["name"] = json!(hostile);
    let reply = reply(&row, &snapshot(), OnUndecided::Warn);
    let annotations = reply["response"]["auditAnnotations"].as_object().unwrap();
    assert!(annotations.contains_key("installed"));
    for value in annotations.values().filter_map(Value::as_str) {
        assert!(value.len() <= LONGEST, "{value}");
        assert!(
            value.chars().all(|c| c == ' ' || c.is_ascii_graphic()),
            "{value}"
        );
    }
}

#[test]
fn what_is_installed_is_written_with_its_release() {
    for (bundle, expected) in [
        (
            json!({"name": "p.v1.0.0", "version": "1.0.0"}),
            "p.v1.0.0 1.0.0",
        ),
        (
            json!({"name": "p.v1.0.0", "version": "1.0.0", "release": "2"}),
            "p.v1.0.0 1.0.0+2",
        ),
        (
            json!({"name": "p.v1.0.0", "version": "1.0.0", "release": ""}),
            "p.v1.0.0 1.0.0",
        ),
        (json!({"version": "1.0.0"}), "1.0.0"),
    ] {
        let mut row = update("1.0.0", "2.0.0");
        row["request"]["oldObject"]["status"]["install"]["bundle"] = bundle;
        let reply = reply(&row, &snapshot(), OnUndecided::Warn);
        assert_eq!(reply["response"]["auditAnnotations"]["installed"], expected);
    }
}

#[test]
fn a_name_that_is_still_to_be_made_is_left_out() {
    let mut row = review(
        "CREATE",
        &extension("9.0.0", &installed("1.0.0")),
        &json!(null),
    );
    row["request"]["object"]["metadata"] = json!({"generateName": "x-"});
    row["request"]["name"] = json!("");
    let reply = reply(&row, &snapshot(), OnUndecided::Warn);
    assert_eq!(reply["response"]["status"]["details"].get("name"), None);
    assert_eq!(
        reply["response"]["auditAnnotations"]["token"],
        "VersionNotFound"
    );
}

/// The text for users has a limit; the text for programs contains OLM's words completely.
#[test]
fn olms_text_about_a_value_of_any_length_is_cut_in_the_message_only() {
    let long = "ä".repeat(1 << 19);
    for requirement in [
        json!({"key": "a", "operator": long}),
        json!({"key": "a", "operator": "Exists", "values": [long]}),
        json!({"key": long, "operator": "Exists"}),
    ] {
        let mut row = update("1.0.0", "2.0.0");
        row["request"]["object"]["spec"]["source"]["catalog"]["selector"] =
            json!({"matchExpressions": [requirement]});
        let answer = answer(&row);
        assert_eq!(answer.token, Token::InvalidSelector);
        let (message, upstream) = (answer.message.unwrap(), answer.upstream.unwrap());
        assert!(message.len() <= MESSAGE && message.len() > MESSAGE - 8);
        assert!(message.contains("\nOLM: desired catalog selector is invalid: "));
        assert!(message.ends_with("ää..."), "{message}");
        assert!(upstream.contains(&long));
    }
}

#[test]
fn what_users_wrote_is_bounded_and_escaped_in_the_details() {
    let hostile = "\u{1b}[31m\n\t\"\\\u{202e}ä";
    for text in [hostile.to_owned(), hostile.repeat(10_000)] {
        let mut row = update("1.0.0", "2.0.0");
        row["request"]["object"]["metadata"]["name"] = json!(text);
        row["request"]["object"]["spec"]["source"]["catalog"]["selector"] =
            json!({"matchLabels": {text: 1}});
        let review = Review::read(&row, Moment::EPOCH).unwrap();
        let answer = review.answer(Basis::without_policies(&snapshot()));
        let reply = review.reply(&answer, Enforcement::default());
        assert_valid_reply(&reply, review.uid());
        let written: Value = serde_json::from_slice(&reply.to_bytes()).unwrap();
        let details = &written["response"]["status"]["details"];
        let escaped = r#"\x1b[31m\n\t\"\\\u202eä"#;
        assert!(details["name"].as_str().unwrap().starts_with(escaped));
        let field = format!("spec.source.catalog.selector.matchLabels.{escaped}");
        let found = details["causes"][0]["field"].as_str().unwrap();
        assert!(found.starts_with(&field), "{found}");
    }
}

/// The cost of a proof grows with the width of the filter, and an answer has hundreds of proofs.
#[test]
fn a_filter_far_wider_than_any_real_one_is_judged_without_advice() {
    let wide = |entries: usize| {
        let mut row = update("1.0.0", "2.0.0");
        row["request"]["object"]["spec"]["source"]["catalog"]["selector"] = json!({
            "matchExpressions": [{"key": "a", "operator": "NotIn", "values": vec!["v"; entries - 1]}]
        });
        let answer = answer(&row);
        assert_eq!(answer.token, Token::NotASuccessor);
        answer
    };
    assert_eq!(wide(512).advice.path, ["1.0.0", "1.1.0", "2.0.0"]);
    let answer = wide(513);
    let cut = Advice {
        is_cut: true,
        ..Advice::default()
    };
    assert_eq!(answer.advice, cut);
    let message = answer.message.unwrap();
    assert!(message.contains("\nNote: the search for an upgrade path was cut short"));
}

// === The result of a verdict, and of an edit for which time or room was missing ===

const STRICT: Enforcement = Enforcement {
    mode: Mode::Enforce,
    on_undecided: OnUndecided::Deny,
};

const LATE: UnansweredReason = UnansweredReason::DeadlineExceeded {
    waited_for: Wait::Worker,
    within: Duration::from_micros(4_500_900),
};

#[track_caller]
fn told(
    row: &Value,
    answer: &Answer,
    enforcement: Enforcement,
) -> (ReviewOutcome, Vec<String>, Value) {
    let review = Review::read(row, Moment::EPOCH).unwrap();
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
    let answer = Review::read(&row, Moment::EPOCH)
        .unwrap()
        .answer(Basis::without_policies(&snapshot()));
    for on_undecided in [OnUndecided::Warn, OnUndecided::Deny] {
        let observed = Enforcement {
            mode: Mode::Observe,
            on_undecided,
        };
        let (outcome, warnings, response) = told(&row, &answer, observed);
        assert_eq!(outcome, ReviewOutcome::LetThrough);
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
    let (admitted, through, refused) = (
        ReviewOutcome::Admitted,
        ReviewOutcome::LetThrough,
        ReviewOutcome::Refused,
    );
    for (verdict, on_undecided, enforced, observed) in [
        (Verdict::Allow, deny, admitted, admitted),
        (Verdict::NotJudged, deny, admitted, admitted),
        (Verdict::Deny, warn, refused, through),
        (Verdict::Deny, deny, refused, through),
        (Verdict::Undecided, warn, through, through),
        (Verdict::Undecided, deny, refused, through),
    ] {
        let outcome = |mode| Enforcement { mode, on_undecided }.outcome(verdict);
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
fn an_outcome_has_a_word_of_its_own() {
    let words = ReviewOutcome::ALL.map(ReviewOutcome::as_str);
    assert_eq!(words, ["admitted", "let_through", "refused"]);
}

#[test]
fn a_note_has_as_many_whole_lines_as_fit() {
    let snapshot = snapshot();
    let review = Review::read(&update("2.0.0", "1.0.0"), Moment::EPOCH).unwrap();
    let answer = review.answer(Basis::without_policies(&snapshot));
    let reply = review.reply(&answer, Enforcement::default());
    let message = answer.message.as_deref().unwrap();
    let ends: Vec<_> = message.match_indices('\n').map(|(at, _)| at).collect();
    assert!(ends.len() > 2, "{message}");
    for most in ends[0]..message.len() {
        let whole = ends.iter().rfind(|end| **end <= most);
        let expected = &message[..*whole.unwrap()];
        assert_eq!(reply.note(most).as_deref(), Some(expected), "{most} bytes");
    }
    assert_eq!(reply.note(message.len()).as_deref(), Some(message));
}

#[test]
fn the_default_is_to_enforce_and_to_let_the_undecided_through() {
    let row = update("1.0.0", "1.1.0");
    let answer = Review::read(&row, Moment::EPOCH)
        .unwrap()
        .answer(Basis::without_policies(&unread()));
    let (outcome, warnings, _) = told(&row, &answer, Enforcement::default());
    assert_eq!(outcome, ReviewOutcome::LetThrough);
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
        let answer = Review::read(&row, Moment::EPOCH).unwrap().unanswered(cause);
        assert_eq!(answer.message.as_deref(), Some(expected));
        assert_eq!(answer.token, cause.token());
        assert!(answer.token.takes_a_cluster());
        let (outcome, _, response) = told(&row, &answer, STRICT);
        assert_eq!(outcome, ReviewOutcome::Refused);
        let causes = &response["status"]["details"]["causes"];
        assert_eq!(causes[0]["reason"], cause.token().as_str());
        assert_eq!(causes[0].get("field"), None);
        assert_eq!(response["auditAnnotations"]["installed"], "p.v1.0.0 1.0.0");
    }
}

/// Labels, finalizers, deletion, foreign kinds: neither overload nor missing catalogs delay them.
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
        let review = Review::read(&row, Moment::EPOCH).unwrap();
        let settled = review.settled().unwrap();
        let expected = format!("{:?}", review.answer(Basis::without_policies(&snapshot())));
        assert_eq!(format!("{settled:?}"), expected, "{row}");
        assert_eq!(format!("{:?}", review.unanswered(LATE)), expected, "{row}");
        assert_eq!(
            told(&row, &settled, STRICT).0,
            ReviewOutcome::Admitted,
            "{row}"
        );
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
        let review = Review::read(&row, Moment::EPOCH).unwrap();
        assert!(review.settled().is_none(), "{row}");
        assert_eq!(
            review.unanswered(LATE).token,
            Token::DeadlineExceeded,
            "{row}"
        );
    }
}

/// Such a change is denied only for known faults.
#[test]
fn a_change_of_the_configuration_alone_is_never_held_up() {
    let mut row = update("1.0.0", "1.0.0");
    let config = json!({"configType": "Inline", "inline": {"watchNamespace": "a"}});
    row["request"]["object"]["spec"]["config"] = config;
    let review = Review::read(&row, Moment::EPOCH).unwrap();
    assert!(review.settled().is_none());
    let answer = review.unanswered(LATE);
    assert_eq!(answer.exemption.unwrap().kind, ExemptionKind::Reconfigured);
}

/// Without the bypass OLM can move the extension, and a guardrail or a policy can forbid the
/// target.
#[test]
fn a_bypass_that_is_turned_off_is_not_settled() {
    let row = with_bypass(update("1.0.0", "1.0.0"), "CatalogProvided", "SelfCertified");
    let review = Review::read(&row, Moment::EPOCH).unwrap();
    assert!(review.settled().is_none());
    assert_eq!(review.unanswered(LATE).token, Token::DeadlineExceeded);
}
