//! `POST /validate-policy`, and what reaches the judge of who asks.

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use serde_json::{Value, json};

use super::wire::Wire;
use super::{LOOPBACK, Started, post_to, review, start, start_with};
use crate::admission::Review;
use crate::server::{Guard, Judge, Limits, PendingReview};
use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Policies, Requester, UpgradePolicies};
use olmguard_engine::snapshot::Snapshot;
use olmguard_policy::UpgradePolicy;

pub(super) fn policy_review(step: &str) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": "CREATE",
            "kind": {"group": "olmguard.dev", "version": "v1alpha1", "kind": "UpgradePolicy"},
            "object": {
                "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
                "metadata": {"name": "a"}, "spec": {"rules": {"step": step}},
            },
        },
    })
}

async fn answer(started: &Started, path: &str, review: &Value) -> (String, Value) {
    let mut wire = Wire::to(started).await;
    wire.send(&post_to(path, &review.to_string(), "")).await;
    let response = wire.response().await;
    let status = response.head.lines().next().unwrap_or_default().to_owned();
    (
        status,
        serde_json::from_slice(&response.body).unwrap_or_default(),
    )
}

#[tokio::test]
async fn a_policy_is_read_when_it_is_written() {
    let started = start(LOOPBACK).await;
    for (step, is_allowed) in [("Minor", true), ("Tiny", false)] {
        let (status, reply) = answer(&started, "/validate-policy", &policy_review(step)).await;
        assert_eq!(status, "HTTP/1.1 200 OK");
        assert_eq!(reply["response"]["uid"], "u");
        assert_eq!(reply["response"]["allowed"], is_allowed, "{reply}");
    }
    for (is_accepted, count) in [(true, 1), (false, 1)] {
        let series = format!(
            "olmguard_policy_reviews_total{{accepted=\"{is_accepted}\",kind=\"UpgradePolicy\"}} "
        );
        assert_eq!(started.told(&series), count);
    }
}

/// The policies of the moment, as edits are judged by them.
#[tokio::test]
async fn a_policy_that_is_written_is_checked_beside_those_in_force() {
    let all = "user.groups.all(g, user.groups.all(h, g != h || true))";
    let costly = |name: String| {
        UpgradePolicy::read(&json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy", "metadata": {"name": name},
            "spec": {"rules": {"conditions": [{"expression": all}]}},
        }))
    };
    let guard = Guard::from(Snapshot::new(Rules::default(), Vec::new()));
    let policies = Arc::<ArcSwap<Policies>>::default();
    let judge = Arc::new(guard.with_policies(Arc::clone(&policies)));
    let started = start_with(LOOPBACK, Limits::default(), judge).await;
    let mut review = policy_review("Minor");
    review["request"]["object"]["spec"]["rules"] = json!({"conditions": [{"expression": all}]});
    let (_, alone) = answer(&started, "/validate-policy", &review).await;
    assert_eq!(alone["response"], json!({"uid": "u", "allowed": true}));
    policies.store(Arc::new(Policies {
        upgrades: UpgradePolicies::of((1..=7).map(|number| costly(format!("p{number}")))),
        ..Policies::default()
    }));
    let (_, beside) = answer(&started, "/validate-policy", &review).await;
    assert_eq!(beside["response"]["allowed"], true);
    assert_eq!(
        beside["response"]["warnings"][0],
        "with this change policy p7 is not valid"
    );
}

#[tokio::test]
async fn what_is_no_review_is_refused() {
    let started = start(LOOPBACK).await;
    let (status, _) = answer(&started, "/validate-policy", &json!({})).await;
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
}

/// Keeps who asked.
#[derive(Debug, Default)]
struct Witness(Mutex<Option<Requester>>);

impl Judge for Witness {
    fn answer(&self, review: &Review, _: &PendingReview) -> Answer {
        *self.0.lock().unwrap() = Some(review.requester().clone());
        review.unanswered(olmguard_engine::judge::UnansweredReason::QueueFull { waiting: 0 })
    }
}

#[tokio::test]
async fn the_judge_is_told_who_asks_and_when() {
    let witness = Arc::new(Witness::default());
    let judge: Arc<dyn Judge> = Arc::clone(&witness) as _;
    let started = start_with(LOOPBACK, Limits::default(), judge).await;
    let mut review = review(0);
    review["request"]["userInfo"] = json!({"username": "jane", "groups": ["platform"]});
    answer(&started, "/validate", &review).await;
    let requester = witness.0.lock().unwrap().take().expect("it was asked");
    assert_eq!(
        (&*requester.user, &*requester.groups),
        ("jane", &["platform".to_owned()][..])
    );
    let now = olmguard_policy::Moment::from_unix_seconds(1_700_000_000);
    assert!(requester.at > now, "{:?}", requester.at);
}
