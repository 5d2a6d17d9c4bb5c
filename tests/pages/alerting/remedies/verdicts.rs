//! The remedies that are flags or fields of an edit, each in the state of its runbook.

use olmguard_engine::judge::Basis;
use std::sync::Arc;

use olmguard_admission::{Enforcement, Mode, OnUndecided, Review, ReviewOutcome};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{CatalogBuilder, fbc};
use olmguard_engine::snapshot::{Age, CatalogState, Content, Currency, OnOldCatalog, Snapshot};
use olmguard_policy::Moment;
use serde_json::{Value, json};

/// Newer content is known but cannot be loaded.
const SUPERSEDED: (Currency, Age) = (Currency::Superseded, Age::Allowed);
/// The watch is lost, and olmguard does not know that newer content exists.
const UNKNOWN: (Currency, Age) = (Currency::Current, Age::Allowed);

pub(super) fn warn_lets_through_what_newer_content_may_have() {
    let told = |on_undecided| told(SUPERSEDED, "CatalogProvided", Mode::Enforce, on_undecided);
    let token = "CatalogOutdated".to_owned();
    assert_eq!(
        told(OnUndecided::Deny),
        (token.clone(), ReviewOutcome::Refused)
    );
    assert_eq!(told(OnUndecided::Warn), (token, ReviewOutcome::LetThrough));
}

pub(super) fn an_age_leaves_undecided_what_a_lost_watch_hides() {
    let told = |truth| told(truth, "CatalogProvided", Mode::Enforce, OnUndecided::Warn);
    let denied = ("VersionNotFound".to_owned(), ReviewOutcome::Refused);
    assert_eq!(told(UNKNOWN), denied);
    let warned = (Currency::Current, Age::Old(OnOldCatalog::Warn));
    assert_eq!(told(warned), denied);
    let undecided = (Currency::Current, Age::Old(OnOldCatalog::Undecided));
    assert_eq!(
        told(undecided),
        ("CatalogOutdated".to_owned(), ReviewOutcome::LetThrough)
    );
}

pub(super) fn the_bypass_adds_no_version() {
    let told = |truth, policy| told(truth, policy, Mode::Enforce, OnUndecided::Deny);
    for truth in [SUPERSEDED, UNKNOWN] {
        let without = told(truth, "CatalogProvided");
        assert_eq!(told(truth, "SelfCertified"), without);
        assert_eq!(without.1, ReviewOutcome::Refused);
    }
}

pub(super) fn observing_lets_everything_through() {
    for on_undecided in [OnUndecided::Warn, OnUndecided::Deny] {
        let told = told(UNKNOWN, "CatalogProvided", Mode::Observe, on_undecided);
        assert_eq!(
            told,
            ("VersionNotFound".to_owned(), ReviewOutcome::LetThrough)
        );
    }
}

/// Returns the reason code of an edit that requests 2.0.0, and whether the edit is allowed.
fn told(
    truth: (Currency, Age),
    policy: &str,
    mode: Mode,
    on_undecided: OnUndecided,
) -> (String, ReviewOutcome) {
    let review = Review::from_bytes(review(policy).to_string().as_bytes(), Moment::EPOCH).unwrap();
    let answer = review.answer(Basis::without_policies(&snapshot(truth)));
    let enforcement = Enforcement { mode, on_undecided };
    let outcome = review.reply(&answer, enforcement).outcome();
    (answer.token.as_str().to_owned(), outcome)
}

/// Returns a catalog whose loaded content has only 1.0.0.
fn snapshot((currency, age): (Currency, Age)) -> Snapshot {
    const CONTENT: &str = r#"
        {"schema": "olm.package", "name": "p"}
        {"schema": "olm.channel", "package": "p", "name": "c", "entries": [{"name": "p.v1.0.0"}]}
        {"schema": "olm.bundle", "package": "p", "name": "p.v1.0.0", "properties": [
            {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}"#;
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("catalog.json", CONTENT.as_bytes(), &mut builder).unwrap();
    let content = Content::Loaded(Arc::new(builder.finish().expect("no bound")));
    let hub = CatalogState::named("hub", content);
    Snapshot::new(
        rules,
        [CatalogState {
            currency,
            age,
            ..hub
        }],
    )
}

fn review(policy: &str) -> Value {
    let object = |version: &str, policy: &str| {
        json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": "p"},
            "spec": {"namespace": "p", "source": {"sourceType": "Catalog", "catalog": {
                "packageName": "p", "version": version, "upgradeConstraintPolicy": policy}}},
            "status": {"install": {"bundle": {"name": "p.v1.0.0", "version": "1.0.0"}}},
        })
    };
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": "UPDATE",
            "object": object("2.0.0", policy), "oldObject": object("1.0.0", "CatalogProvided"),
        },
    })
}
