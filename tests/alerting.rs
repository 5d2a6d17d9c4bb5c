//! What is shipped for Prometheus and Grafana (`deploy/monitoring`): it asks for nothing that olmguard
//! does not tell, each alert has its runbook, and promtool is content with all of it.
#![cfg(feature = "program")]
#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there, and says what it leaves out"
)]

mod common {
    pub(crate) mod committed;
    #[expect(dead_code, reason = "nothing but a server is run here")]
    pub(crate) mod process;
    pub(crate) mod programs;
}

mod monitoring {
    pub(crate) mod dashboard;
    pub(crate) mod deployed;
    pub(crate) mod known;
    pub(crate) mod promql;
    pub(crate) mod promtool;
    pub(crate) mod remedies;
    pub(crate) mod rules;
    pub(crate) mod runbooks;
}
