//! An edit that went through and that the guard was not asked about.

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
        "the API server took what must be denied, and the guard said nothing: it was not asked";
    let accepted = || answered(201, "", "", &["unknown field"]);
    let metric = "kubectl get --raw /metrics | grep \
                  'admission_webhook_fail_open_count.*validate.olmguard.dev'";
    tells(
        accepted(),
        [
            "fail",
            found,
            "failurePolicy Ignore hides that the call failed; nothing else that was looked at is \
             wrong, so that it may be the way from the API server to the pods: a network policy, a \
             firewall, or a guard too slow for timeoutSeconds",
            metric,
        ],
    );
    let ill = DoctorFacts {
        endpoints: Ok(Vec::new()),
        round_trip: accepted(),
        ..Scene::well()
    };
    let cause = "failurePolicy Ignore hides that the call failed; likely for endpoints (none behind \
                 the Service)";
    says(&ill, Check::RoundTrip, &[["fail", found, cause, metric]]);

    let mut fails = with_webhook(Webhook {
        failure_policy: FailurePolicy::Fail,
        ..webhook()
    });
    fails.round_trip = accepted();
    let cause = "failurePolicy is Fail, so it was not tried: the rules, a selector or a condition of \
                 the webhook leave the probe out, or the configuration is newer than a second";
    says(
        &fails,
        Check::RoundTrip,
        &[["fail", found, cause, CONFIGURATION]],
    );

    let absent = DoctorFacts {
        configuration: Ok(None),
        round_trip: accepted(),
        ..Scene::well()
    };
    let cause = "no webhook configuration names the guard: see configuration";
    says(
        &absent,
        Check::RoundTrip,
        &[["fail", found, cause, CONFIGURATION]],
    );
    let unknown = DoctorFacts {
        configuration: Err(unasked("get", "x", None, None)),
        round_trip: accepted(),
        ..Scene::well()
    };
    let cause = "no webhook configuration names the guard, or its failurePolicy hides why";
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
        let cause = "it is switched off: the match condition \"switched-off\" of the webhook is false \
                     for every edit";
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
            "rules, objectSelector of the webhook, not as shipped, may leave the probe out",
        ),
        (
            &[("matchConditions", "[]"), ("clientConfig", "{}")],
            "matchConditions of the webhook, not as shipped, may leave the probe out; or \
             failurePolicy Ignore hides that the call failed, likely for shipped (clientConfig is {}, \
             shipped is [1])",
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
            round_trip: answered(201, "", "", &[]),
            ..with_told(ReplicaStatus {
                certificate: Ok(shown),
                ..told()
            })
        };
        let findings = crate::doctor::tests::findings(&facts);
        let cause = findings.last().and_then(|one| one.cause.as_deref());
        let cause = cause.expect("a cause");
        assert_eq!(cause.contains("likely for expiry ("), is_likely, "{cause}");
    }
}

/// A guard that was not asked, with fields that are not as shipped.
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
    facts.round_trip = answered(201, "", "", &[]);
    facts
}

const UNASKED: &str =
    "the API server took what must be denied, and the guard said nothing: it was not asked";
