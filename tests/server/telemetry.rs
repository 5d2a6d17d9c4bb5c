//! The metrics and logs of the program.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there"
)]

mod any_review;
mod canary;
mod canary_served;
mod captured;
mod decision;
mod exposition;
mod followed;
mod level;
mod lines;
mod metrics;
mod metrics_page;
mod moved_rows;
mod panics;
mod random_reviews;
mod served;
