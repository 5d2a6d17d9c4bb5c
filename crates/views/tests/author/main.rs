//! Pictures, lint, ranges and reports of catalogs, compared with tables and with opm.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails there"
)]

mod graph_browser;
mod graph_opm;
mod graph_page;
mod graph_pictures;
mod graph_words;
mod guardrails;
mod lint_guardrails;
mod lint_hostile;
mod lint_opm;
mod lint_rules;
mod lint_walk;
mod picture {
    pub(crate) mod browser;
    pub(crate) mod guarded;
    pub(crate) mod packages;
    pub(crate) mod seen;
}
mod range_report;
mod range_words;
mod rows;
mod see;
mod words;
