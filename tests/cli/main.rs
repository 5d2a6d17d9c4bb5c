//! The commands, run as by a user.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails there"
)]

mod audit;
mod authoring;
mod authoring_pages;
mod base;
mod bundle;
mod cache_killed;
mod check;
mod diff;
mod environment;
mod expectations;
mod folder;
mod from_cluster;
mod generate_opm;
mod gitops_examples;
mod graph;
mod guardrail_cases;
mod hostile_catalogs;
mod hostile_manifests;
mod images;
mod lint;
mod migrate;
mod pipeline_files;
mod public_reports;
mod range;
mod releases;
mod runner_commands;
mod saved;
mod see;
mod shell;
mod snapshot;
mod tasks;
