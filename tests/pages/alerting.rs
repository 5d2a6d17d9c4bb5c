//! What is shipped for Prometheus and Grafana (`deploy/monitoring`): it asks for nothing that olmguard
//! does not tell, each alert has its runbook, and promtool is content with all of it.
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
