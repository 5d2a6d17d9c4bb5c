//! The cost of counting an answer, and of a scrape.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use olmguard_admission::{ReviewOperation, ReviewOutcome};
use olmguard_engine::judge::Token;
use olmguard_figures::Unit;
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::metrics::AnsweredReview;

use crate::run::Run;
use crate::turns::each;

pub(crate) fn measure(run: &Run) {
    let metrics = Metrics::new();
    let note = |row: &str, unit, value| run.note(&run.figure(row, unit, value));
    let alone = each(run, || count(&metrics));
    note("counting an answer", Unit::Nanoseconds, alone * 1e9);
    let beside = while_another_counts(&metrics, || each(run, || count(&metrics)));
    note(
        "the same while another thread counts",
        Unit::Nanoseconds,
        beside * 1e9,
    );
    assert!(
        metrics.render().contains("Resolved"),
        "an answer is counted"
    );
    let scrape = each(run, || drop(black_box(metrics.render())));
    note("writing all metrics", Unit::Microseconds, scrape * 1e6);
}

/// Counts everything that is counted for one review: its arrival, its bytes, and its answer.
fn count(metrics: &Metrics) {
    let in_flight = metrics.admission.begin();
    metrics.admission.received(black_box(6144));
    metrics.admission.answered(&AnsweredReview {
        operation: black_box(ReviewOperation::Update),
        token: black_box(Token::Resolved),
        dry_run: black_box(false),
        outcome: ReviewOutcome::Admitted,
        elapsed: black_box(Duration::from_micros(700)),
    });
    metrics.admission.sent(black_box(512));
    drop(in_flight);
}

fn while_another_counts(metrics: &Metrics, measure: impl FnOnce() -> f64) -> f64 {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                count(metrics);
            }
        });
        let took = measure();
        is_over.store(true, Ordering::Relaxed);
        took
    })
}
