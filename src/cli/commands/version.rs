//! `olmguard version`: which olmguard this is, and what it knows.

mod report;

use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, help, output};
use olmguard_report::{Text, Tone};

pub use report::Report;

/// Show the version, the known OLM releases and the schemas
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    output: OutputArgs<TextOrJson>,
}

const EXAMPLES: &[&str] = &["olmguard version", "olmguard version -o json"];

/// What is known of a program only where it is built.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// The commit it is built from, where whoever built it told.
    pub commit: Option<&'static str>,
    /// The version of the compiler.
    pub rust: &'static str,
    /// What it is compiled for, such as `x86_64-unknown-linux-musl`.
    pub target: &'static str,
}

/// Prints the facts.
pub(super) fn run(args: &VersionArgs, build: Build) -> Result<Exit, CommandFailure> {
    let report = Report::of(build);
    match args.output.form {
        TextOrJson::Text => output::toned(&text(&report))?,
        TextOrJson::Json => output::json(&report)?,
    }
    Ok(Exit::Good)
}

fn text(report: &Report) -> Text {
    let mut text = Text::with_labels(10);
    for (label, words) in report.lines() {
        text.labelled(label, Tone::Plain, &words);
    }
    text
}
