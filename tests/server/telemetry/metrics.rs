//! The text of the metrics: the rules of promtool's linter, and that it never grows. `tests/pages/alerting/promtool.rs`
//! runs the linter itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use olmguard_admission::{ReviewOperation, ReviewOutcome};
use olmguard_engine::judge::{ExemptionKind, Token};
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::metrics::{
    AnsweredReview, AuditFigures, CatalogLoad, ConnectionRefusal, DecodeError, Eviction,
    FaultClass, HandshakeFailure, LoadFailure, Reload, WaitedFor, WatchedResource,
};

use super::exposition::{families, series, value};

/// Returns metrics with every possible series.
pub(crate) fn all() -> Metrics {
    let metrics = Metrics::new();
    metrics.catalogs.loaded("hub", &LOAD);
    metrics.audit.ended(&AuditFigures {
        at: SystemTime::UNIX_EPOCH,
        took: Duration::from_millis(125),
        extensions: 0,
        findings: BTreeMap::new(),
    });
    metrics
}

/// The load of the only catalog in [`all`].
pub(crate) const LOAD: CatalogLoad = CatalogLoad {
    at: SystemTime::UNIX_EPOCH,
    took: Duration::from_millis(125),
    wire_bytes: 2048,
    resident_bytes: 4096,
    packages: 12,
    bundles: 340,
};

fn answered(operation: ReviewOperation, token: Token, dry_run: bool) -> AnsweredReview {
    AnsweredReview {
        operation,
        token,
        dry_run,
        outcome: ReviewOutcome::LetThrough,
        elapsed: Duration::from_micros(700),
    }
}

/// All series that the events of the test change, and some that they must not change.
const MOVED: &[(&str, f64)] = &[
    (
        r#"olmguard_requests_total{dry_run="false",operation="UPDATE",token="Downgrade",verdict="deny"}"#,
        1.0,
    ),
    (
        r#"olmguard_requests_total{dry_run="true",operation="CREATE",token="Resolved",verdict="allow"}"#,
        1.0,
    ),
    (
        r#"olmguard_requests_total{dry_run="false",operation="CREATE",token="Resolved",verdict="allow"}"#,
        0.0,
    ),
    (
        r#"olmguard_requests_total{dry_run="unknown",operation="unknown",token="none",verdict="error"}"#,
        1.0,
    ),
    (
        r#"olmguard_admission_duration_seconds_bucket{verdict="deny",le="0.0005"}"#,
        0.0,
    ),
    (
        r#"olmguard_admission_duration_seconds_bucket{verdict="deny",le="0.001"}"#,
        3.0,
    ),
    (
        r#"olmguard_admission_duration_seconds_sum{verdict="error"}"#,
        3.0,
    ),
    (
        r#"olmguard_admission_not_judged_total{why="deleting"}"#,
        1.0,
    ),
    (r#"olmguard_admission_not_judged_total{why="kind"}"#, 0.0),
    (
        r#"olmguard_admission_let_through_total{dry_run="false",verdict="deny"}"#,
        1.0,
    ),
    (
        r#"olmguard_admission_let_through_total{dry_run="true",verdict="deny"}"#,
        2.0,
    ),
    (
        r#"olmguard_admission_let_through_total{dry_run="false",verdict="undecided"}"#,
        0.0,
    ),
    (
        r#"olmguard_admission_deadline_exceeded_total{waited_for="worker"}"#,
        1.0,
    ),
    ("olmguard_admission_queue_rejected_total", 1.0),
    (r#"olmguard_decode_errors_total{class="too_large"}"#, 1.0),
    ("olmguard_panics_total", 1.0),
    ("olmguard_request_bytes_total", 6144.0),
    ("olmguard_response_bytes_total", 512.0),
    (
        r#"olmguard_connections_refused_total{port="reviews",reason="full"}"#,
        1.0,
    ),
    (
        r#"olmguard_connections_refused_total{port="ops",reason="full"}"#,
        0.0,
    ),
    (
        r#"olmguard_connections_evicted_total{port="reviews",reason="slow_header"}"#,
        1.0,
    ),
    (
        r#"olmguard_connections_evicted_total{port="ops",reason="idle"}"#,
        1.0,
    ),
    (
        r#"olmguard_tls_handshake_errors_total{class="not_tls"}"#,
        1.0,
    ),
    (r#"olmguard_tls_reloads_total{result="refused"}"#, 1.0),
    ("olmguard_tls_cert_not_before_seconds", 1_700_000_000.0),
    ("olmguard_tls_cert_not_after_seconds", 1_800_000_000.0),
    ("olmguard_admission_in_flight", 1.0),
    ("olmguard_admission_queued", 1.0),
    (r#"olmguard_connections{port="reviews"}"#, 1.0),
    (r#"olmguard_connections{port="ops"}"#, 2.0),
];

#[test]
fn every_event_moves_the_series_that_is_named_after_it() {
    let metrics = all();
    let admission = &metrics.admission;
    admission.answered(&answered(ReviewOperation::Update, Token::Downgrade, false));
    admission.answered(&answered(ReviewOperation::Create, Token::Resolved, true));
    for _ in 0..2 {
        admission.answered(&answered(ReviewOperation::Create, Token::InvalidSpec, true));
    }
    admission.not_judged(ExemptionKind::Deleting);
    admission.failed(Duration::from_secs(3));
    admission.decode_error(DecodeError::TooLarge);
    admission.deadline_exceeded(WaitedFor::Worker);
    admission.overloaded();
    admission.panicked();
    admission.received(6144);
    admission.sent(512);
    metrics.connections.refused(ConnectionRefusal::Full);
    metrics.connections.evicted(Eviction::SlowHeader);
    metrics.ops_connections.evicted(Eviction::Idle);
    metrics
        .connections
        .handshake_failed(HandshakeFailure::NotTls);
    metrics.tls.reloaded(Reload::Refused);
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    metrics.tls.serving(at(1_700_000_000), at(1_800_000_000));

    let held = [
        admission.begin(),
        admission.queued(),
        metrics.connections.opened(),
        metrics.ops_connections.opened(),
        metrics.ops_connections.opened(),
    ];
    let text = metrics.render();
    for (series, expected) in MOVED {
        let found = value(&text, series);
        assert!((found - *expected).abs() < 1e-9, "{series} is {found}");
    }
    drop(held);
    let text = metrics.render();
    for gauge in [
        "admission_in_flight",
        "admission_queued",
        r#"connections{port="reviews"}"#,
        r#"connections{port="ops"}"#,
    ] {
        let found = value(&text, &format!("olmguard_{gauge}"));
        assert!(found.abs() < 1e-9, "{gauge} is {found}");
    }
}

#[test]
fn every_token_has_its_own_series_for_each_question() {
    let metrics = Metrics::new();
    for operation in [
        ReviewOperation::Create,
        ReviewOperation::Update,
        ReviewOperation::Other,
    ] {
        for dry_run in [false, true] {
            for token in Token::ALL {
                metrics
                    .admission
                    .answered(&answered(operation, token, dry_run));
            }
        }
    }
    let text = metrics.render();
    let requests = &families(&text)["olmguard_requests_total"];
    assert_eq!(requests.samples.len(), 3 * 2 * Token::ALL.len() + 1);
    for sample in &requests.samples {
        let expected = f64::from(u8::from(sample.labels["verdict"] != "error"));
        assert!((sample.value - expected).abs() < 1e-9, "{sample:?}");
    }
}

#[test]
fn ten_thousand_answers_leave_the_number_of_series_constant() {
    let metrics = all();
    let before = series(&metrics.render());
    // A linear congruential generator: any distribution over the labels is sufficient.
    let mut state: usize = 1;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..10_000 {
        let operation = [
            ReviewOperation::Create,
            ReviewOperation::Update,
            ReviewOperation::Other,
        ][next(3)];
        let token = Token::ALL[next(Token::ALL.len())];
        metrics
            .admission
            .answered(&answered(operation, token, next(2) == 0));
        metrics
            .admission
            .not_judged(ExemptionKind::ALL[next(ExemptionKind::ALL.len())]);
        metrics.admission.failed(Duration::from_millis(1));
        metrics
            .admission
            .decode_error(DecodeError::ALL[next(DecodeError::ALL.len())]);
        metrics
            .admission
            .deadline_exceeded(WaitedFor::ALL[next(WaitedFor::ALL.len())]);
        metrics
            .connections
            .refused(ConnectionRefusal::ALL[next(ConnectionRefusal::ALL.len())]);
        metrics
            .connections
            .evicted(Eviction::ALL[next(Eviction::ALL.len())]);
        let failure = HandshakeFailure::ALL[next(HandshakeFailure::ALL.len())];
        metrics.connections.handshake_failed(failure);
        metrics.tls.reloaded(Reload::ALL[next(Reload::ALL.len())]);
        let failure = LoadFailure::ALL[next(LoadFailure::ALL.len())];
        metrics.catalogs.load_failed("hub", failure);
        let failure = FaultClass::ALL[next(FaultClass::ALL.len())];
        metrics.watches.failed(
            WatchedResource::ALL[next(WatchedResource::ALL.len())],
            failure,
        );
    }
    assert_eq!(series(&metrics.render()), before);
}

#[tokio::test]
async fn the_runtime_is_told_from_within() {
    let text = Metrics::new().render();
    assert!((value(&text, "olmguard_tokio_workers") - 1.0).abs() < 1e-9);
}

/// The rules are those of promtool's linter about names, types and texts.
#[test]
fn names_units_and_texts_keep_to_the_rules() {
    for (name, family) in families(&all().render()) {
        let ours = name.starts_with("olmguard_") || name.starts_with("process_");
        assert!(ours, "{name} has no prefix");
        assert!(!family.help.is_empty(), "{name} has no HELP");
        assert!(family.help.ends_with('.'), "{name}: {:?}", family.help);
        assert!(!family.samples.is_empty(), "{name} has no series");
        assert_eq!(family.kind == "counter", name.ends_with("_total"), "{name}");
        for suffix in [
            "_count",
            "_sum",
            "_bucket",
            "_info_total",
            "_gauge",
            "_counter",
        ] {
            assert!(!name.ends_with(suffix), "{name}");
        }
        for unit in [
            "_ms",
            "_milliseconds",
            "_minutes",
            "_hours",
            "_kilobytes",
            "_percent",
        ] {
            assert!(!name.contains(unit), "{name} has no base unit");
        }
        let small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(name.chars().all(small), "{name}");
        let mut seen = BTreeSet::new();
        for sample in &family.samples {
            assert!(
                seen.insert((&sample.name, &sample.labels)),
                "{sample:?} twice"
            );
            for label in sample.labels.keys() {
                let bucket = label == "le" && sample.name.ends_with("_bucket");
                assert!(
                    bucket || !["le", "quantile", "job", "instance"].contains(&&**label),
                    "{name}"
                );
                assert!(
                    !label.starts_with("__") && label.chars().all(small),
                    "{name}: {label}"
                );
            }
        }
    }
}
