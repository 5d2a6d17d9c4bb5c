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
        let done = match self {
            Self::Check(args) => check::run(&args),
            Self::Audit(args) => audit::run(&args),
            Self::Test(args) => test::run(&args),
            Self::Range(args) => range::run(&args),
            Self::Serve(args) => return serve::run(*args, command_line),
            Self::Demo(args) => return demo::run(args),
            Self::Snapshot(args) => snapshot::run(&args),
            Self::Catalogs(args) => catalogs::run(&args),
            Self::Doctor(args) => doctor::run(&args),
            Self::Lint(args) => lint::run(&args),
            Self::Bundle(args) => bundle::run(&args),
            Self::Graph(args) => graph::run(&args),
            Self::Generate(args) => generate::run(&args),
            Self::Diff(args) => diff::run(&args),
            Self::Versions(args) => versions::run(&args),
            Self::Path(args) => path::run(&args),
            Self::Explain(args) => explain::run(&args),
            Self::Migrate(args) => migrate::run(&args),
            Self::Completions(args) => completions::run(&args),
            Self::Man(args) => man::run(&args),
            Self::Version(args) => version::run(&args, build),
        };
        ended(done).into()
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
