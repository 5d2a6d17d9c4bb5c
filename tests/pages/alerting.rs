//! The files for Prometheus and Grafana (`deploy/monitoring`): they use only metrics that olmguard exposes, each alert
//! has its runbook, and promtool accepts all of them.
#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there, and says what it leaves out"
)]

mod dashboard;
mod deployed;
mod known;
mod promql;
mod promtool;
mod remedies;
mod rules;
mod runbooks;
