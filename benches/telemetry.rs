//! What it costs an answer to be counted, and what a scrape costs.

use std::time::Duration;

use divan::{Bencher, black_box};
use olmguard::admission::{Operation, Outcome};
use olmguard::telemetry::Metrics;
use olmguard::telemetry::metrics::AnsweredReview;
use olmguard_engine::judge::Token;

fn main() {
    divan::main();
}

/// Everything that is counted of one review: its coming, its bytes, its answer.
#[divan::bench(threads = [1, 2])]
fn review(bencher: Bencher<'_, '_>) {
    let metrics = Metrics::new();
    bencher.bench(|| {
        let in_flight = metrics.admission.begin();
        metrics.admission.received(black_box(6144));
        metrics.admission.answered(&AnsweredReview {
            operation: black_box(Operation::Update),
            token: black_box(Token::Resolved),
            dry_run: black_box(false),
            outcome: Outcome::Admitted,
            elapsed: black_box(Duration::from_micros(700)),
        });
        metrics.admission.sent(black_box(512));
        in_flight
    });
}

/// What a scrape costs.
#[divan::bench]
fn render(bencher: Bencher<'_, '_>) {
    let metrics = Metrics::new();
    bencher.bench(|| metrics.render());
}
