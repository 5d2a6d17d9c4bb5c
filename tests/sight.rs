//! What the program counts and writes about itself.
#![cfg(feature = "program")]
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there"
)]

mod common {
    pub(crate) mod committed;
    #[expect(dead_code, reason = "requests are written byte for byte here")]
    pub(crate) mod https;
    #[expect(dead_code, reason = "nothing but a server is run here")]
    pub(crate) mod process;
}

mod telemetry {
    pub(crate) mod any_review;
    pub(crate) mod canary;
    pub(crate) mod canary_served;
    pub(crate) mod captured;
    pub(crate) mod decision;
    pub(crate) mod exposition;
    pub(crate) mod followed;
    pub(crate) mod level;
    pub(crate) mod lines;
    pub(crate) mod metrics;
    pub(crate) mod metrics_page;
    pub(crate) mod moved;
    pub(crate) mod moved_rows;
    pub(crate) mod panics;
    pub(crate) mod random_reviews;
    pub(crate) mod served;
}
