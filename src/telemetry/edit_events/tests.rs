//! Which answers are reported, and what is said of them.

use serde_json::{Value, json};

use super::*;
use crate::admission::{Enforcement, Mode, OnUndecided};
use crate::telemetry::Metrics;
use olmguard_catalog::olm::Rules;
use olmguard_engine::judge::Basis;
use olmguard_engine::snapshot::Snapshot;

const WARN: OnUndecided = OnUndecided::Warn;

fn object(uid: Option<&str>) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": "lantern", "uid": uid},
        "spec": {"namespace": "l", "serviceAccount": {"name": "l"}, "source": {
            "sourceType": "Catalog", "catalog": {"packageName": "lantern-operator", "version": "1.0.0"},
        }},
    })
}

fn review(object: &Value, dry_run: bool) -> Review {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {"uid": "r", "operation": "CREATE", "dryRun": dry_run, "object": object},
    });
    Review::read(&review).expect("a review")
}

/// What is reported of an edit for which there is no catalog.
fn reported(review: &Review, on_undecided: OnUndecided) -> Option<EditEvent> {
    let snapshot = Snapshot::new(Rules::default(), []);
    let answer = review.answer(Basis::without_policies(&snapshot));
    let mode = Mode::Enforce;
    let reply = review.reply(&answer, Enforcement { mode, on_undecided });
    let (events, mut queue) = EditEvents::queue(Metrics::new().events);
    events.report(review, answer.token, &reply);
    queue.try_recv().ok()
}

#[test]
fn what_is_refused_is_reported_with_its_message() {
    let event = reported(&review(&object(Some("u1")), false), OnUndecided::Deny);
    let event = event.expect("an event");
    assert_eq!(event.reason, Token::NoCatalogs);
    assert_eq!((&*event.object.name, &*event.object.uid), ("lantern", "u1"));
    assert_eq!(event.object.api_version, "olm.operatorframework.io/v1");
    let lines: Vec<_> = event.note.lines().collect();
    assert!(
        lines.len() > 1 && event.note.len() <= NOTE_LIMIT,
        "{lines:?}"
    );
}

#[test]
fn what_is_admitted_with_a_warning_is_reported_with_the_warning() {
    let event = reported(&review(&object(Some("u1")), false), WARN).expect("an event");
    assert!(event.note.contains("NoCatalogs"), "{}", event.note);
}

#[test]
fn a_dry_run_and_what_has_no_uid_are_not_reported() {
    for (uid, dry_run) in [
        (Some("u1"), true),
        (None, false),
        (Some(""), false),
        (Some(&*"u".repeat(65)), false),
    ] {
        let review = review(&object(uid), dry_run);
        assert_eq!(reported(&review, WARN), None, "{uid:?}");
    }
}

#[test]
fn what_is_not_judged_is_not_reported() {
    let mut other = object(Some("u1"));
    other["kind"] = json!("ConfigMap");
    assert_eq!(reported(&review(&other, false), WARN), None);
}

#[test]
fn a_full_queue_counts_what_it_loses() {
    let review = review(&object(Some("u1")), false);
    let snapshot = Snapshot::new(Rules::default(), []);
    let answer = review.answer(Basis::without_policies(&snapshot));
    let reply = review.reply(&answer, Enforcement::default());
    let metrics = Metrics::new();
    let (events, _queue) = EditEvents::queue(Arc::clone(&metrics.events));
    for _ in 0..QUEUE_LIMIT + 3 {
        events.report(&review, answer.token, &reply);
    }
    assert_eq!(metrics.events.counted(EventFate::Dropped), 3);
}
