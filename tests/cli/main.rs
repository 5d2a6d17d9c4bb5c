//! The commands, run as a user runs them.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails there"
)]

mod authoring_cli;
mod authoring_pages;
mod base_cli;
mod cache_killed;
mod check;
mod environment;
mod expectations_cli;
mod from_cluster_cli;
mod generate_opm;
mod gitops_examples;
mod graph_cli;
mod guardrails_doors;
mod hostile_catalogs;
mod hostile_manifests;
mod lint_cli;
mod pipeline_files;
mod range_cli;
mod saved;
mod see_cli;
mod shell;
mod snapshot_cli;
