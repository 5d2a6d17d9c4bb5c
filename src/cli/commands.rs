//! The commands, a file each.

mod audit;
mod bad_input;
mod bundle;
pub mod catalogs;
pub mod check;
mod completions;
mod demo;
pub mod diff;
pub mod doctor;
mod explain;
pub mod generate;
mod graph;
mod inquiry;
pub mod lint;
mod man;
mod migrate;
mod path;
mod range;
mod serve;
mod snapshot;
pub mod test;
pub mod version;
mod versions;

use std::process::ExitCode;

use crate::cli::exit::ended;
use olmguard_catalog::version::go;
use version::Build;

#[derive(Debug, clap::Subcommand)]
pub(super) enum CliCommand {
    Check(Box<check::CheckArgs>),
    Audit(Box<audit::AuditArgs>),
    Test(test::TestArgs),
    Range(range::RangeArgs),
    Serve(Box<serve::ServeArgs>),
    Demo(demo::DemoArgs),
    Snapshot(snapshot::SnapshotArgs),
    Catalogs(catalogs::CatalogsArgs),
    Doctor(doctor::DoctorArgs),
    Lint(lint::LintArgs),
    Bundle(bundle::BundleArgs),
    Graph(Box<graph::GraphArgs>),
    Generate(generate::GenerateArgs),
    Diff(diff::DiffArgs),
    Versions(Box<versions::VersionsArgs>),
    Path(Box<path::PathArgs>),
    Explain(Box<explain::ExplainArgs>),
    Migrate(Box<migrate::MigrateArgs>),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Version(version::VersionArgs),
}

impl CliCommand {
    /// Runs the command. `command_line` is the line that called it, with what the environment adds.
    pub(super) fn run(self, command_line: &str, build: Build) -> ExitCode {
        match self {
            Self::Check(args) => ended(check::run(&args)).into(),
            Self::Audit(args) => ended(audit::run(&args)).into(),
            Self::Test(args) => ended(test::run(&args)).into(),
            Self::Range(args) => ended(range::run(&args)).into(),
            Self::Serve(args) => serve::run(*args, command_line),
            Self::Demo(args) => demo::run(args),
            Self::Snapshot(args) => ended(snapshot::run(&args)).into(),
            Self::Catalogs(args) => ended(catalogs::run(&args)).into(),
            Self::Doctor(args) => ended(doctor::run(&args)).into(),
            Self::Lint(args) => ended(lint::run(&args)).into(),
            Self::Bundle(args) => ended(bundle::run(&args)).into(),
            Self::Graph(args) => ended(graph::run(&args)).into(),
            Self::Generate(args) => ended(generate::run(&args)).into(),
            Self::Diff(args) => ended(diff::run(&args)).into(),
            Self::Versions(args) => ended(versions::run(&args)).into(),
            Self::Path(args) => ended(path::run(&args)).into(),
            Self::Explain(args) => ended(explain::run(&args)).into(),
            Self::Migrate(args) => ended(migrate::run(&args)).into(),
            Self::Completions(args) => ended(completions::run(&args)).into(),
            Self::Man(args) => ended(man::run(&args)).into(),
            Self::Version(args) => ended(version::run(&args, build)).into(),
        }
    }
}

/// What a name that no catalog has was perhaps meant to be.
fn instead(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let quoted: Vec<_> = near.iter().map(|name| go::quote(name)).collect();
    format!("; did you mean {}?", quoted.join(", "))
}
