//! An edit that the API server accepted without calling olmguard.

use std::time::Duration;

use super::{CONFIGURATION, tells};
use crate::doctor::tests::scene::{
    Scene, answered, certificate, says, told, unasked, webhook, with_told, with_webhook,
};
use crate::doctor::{
    Certificate, Check, Difference, DoctorFacts, FailurePolicy, ReplicaStatus, Webhook,
};

#[test]
fn an_edit_that_went_through_unjudged_says_what_likely_hid_it() {
    let found =
        "the API server accepted a test edit that olmguard must deny: olmguard was not called";
    let accepted = || answered(201, "", "", &["unknown field"]);
    let metric = "kubectl get --raw /metrics | grep \
                  'admission_webhook_fail_open_count.*validate.olmguard.dev'";
    tells(
        accepted(),
        [
            "fail",
            found,
            "failurePolicy Ignore hides that the call failed; no other check explains it, so the \
             cause may be between the API server and the pods: a network policy, a firewall, or an \
             olmguard that is too slow for timeoutSeconds",
            metric,
        ],
    );
    let ill = DoctorFacts {
        endpoints: Ok(Vec::new()),
        round_trip: Ok(accepted()),
        ..Scene::well()
    };
    let cause = "failurePolicy Ignore hides that the call failed; the likely cause is endpoints \
                 (the Service has no endpoints)";
    says(&ill, Check::RoundTrip, &[["fail", found, cause, metric]]);

    let mut fails = with_webhook(Webhook {
        failure_policy: FailurePolicy::Fail,
        ..webhook()
    });
    fails.round_trip = Ok(accepted());
    let cause = "failurePolicy is Fail, so no call was tried: the rules, a selector or a condition \
                 of the webhook exclude the test edit, or the configuration is less than a second \
                 old";
    says(
        &fails,
        Check::RoundTrip,
        &[["fail", found, cause, CONFIGURATION]],
    );

    let absent = DoctorFacts {
        configuration: Ok(None),
        round_trip: Ok(accepted()),
        ..Scene::well()
    };
    let cause = "no webhook configuration names olmguard: see the check configuration";
    says(
        &absent,
        Check::RoundTrip,
        &[["fail", found, cause, CONFIGURATION]],
    );
    let unknown = DoctorFacts {
        configuration: Err(unasked("get", "x", None, None)),
        round_trip: Ok(accepted()),
        ..Scene::well()
    };
    let cause = "no webhook configuration names olmguard, or its failurePolicy hides the reason";
    says(
        &unknown,
        Check::RoundTrip,
        &[["fail", found, cause, CONFIGURATION]],
    );
}

#[test]
fn a_guard_that_is_switched_off_says_how_it_comes_back() {
    let page = include_str!("../../../../../../docs/emergency.md");
    let on = page.split("## On\n").nth(1).expect("the way back");
    let on = on.split("```").nth(1).expect("a command");
    let on = on.trim_start_matches("sh\n").replace(" \\\n  ", " ");
    for failure_policy in [FailurePolicy::Ignore, FailurePolicy::Fail] {
        let facts = differing(
            &[(
                "matchConditions",
                r#"[{"expression":"true","name":"a"},{"expression":"false","name":"switched-off"}]"#,
            )],
            failure_policy,
        );
        let cause = "olmguard is switched off: the match condition \"switched-off\" of the webhook \
                     is false for every edit";
        says(
            &facts,
            Check::RoundTrip,
            &[["fail", UNASKED, cause, on.trim()]],
        );
    }
}

#[test]
fn a_webhook_that_chooses_other_edits_may_not_have_been_asked() {
    for (fields, cause) in [
        (
            &[("rules", "[]"), ("objectSelector", "{}")][..],
            "not as shipped, and may exclude the test edit: rules, objectSelector of the webhook",
        ),
        (
            &[("matchConditions", "[]"), ("clientConfig", "{}")],
            "not as shipped, and may exclude the test edit: matchConditions of the webhook; or \
             failurePolicy Ignore hides that the call failed, the likely cause is shipped \
             (clientConfig is {}, this version ships [1])",
        ),
    ] {
        let facts = differing(fields, FailurePolicy::Ignore);
        says(
            &facts,
            Check::RoundTrip,
            &[["fail", UNASKED, cause, CONFIGURATION]],
        );
    }
}

#[test]
fn an_end_that_is_only_near_hides_nothing() {
    for (left, is_likely) in [(1, false), (0, true)] {
        let shown = Certificate {
            left: Duration::from_secs(left),
            ..certificate()
        };
        let facts = DoctorFacts {
            round_trip: Ok(answered(201, "", "", &[])),
            ..with_told(ReplicaStatus {
                certificate: Ok(shown),
                ..told()
            })
        };
        let findings = crate::doctor::tests::findings(&facts);
        let cause = findings.last().and_then(|one| one.cause.as_deref());
        let cause = cause.expect("a cause");
        assert_eq!(
            cause.contains("the likely cause is expiry ("),
            is_likely,
            "{cause}"
        );
    }
}

/// A webhook that was not called, with fields that are not as shipped.
fn differing(fields: &[(&'static str, &str)], failure_policy: FailurePolicy) -> DoctorFacts {
    let difference = |(field, found): &(&'static str, &str)| Difference {
        field,
        found: (*found).to_owned(),
        shipped: "[1]".to_owned(),
    };
    let mut facts = with_webhook(Webhook {
        differences: fields.iter().map(difference).collect(),
        failure_policy,
        ..webhook()
    });
    facts.round_trip = Ok(answered(201, "", "", &[]));
    facts
}

const UNASKED: &str =
    "the API server accepted a test edit that olmguard must deny: olmguard was not called";
