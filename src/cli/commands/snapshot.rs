//! `olmguard snapshot`: the catalogs, policies and extensions of a cluster in one file.

mod save;

use std::path::PathBuf;

use crate::cli::args::memory;
use crate::cli::commands::catalogs::{self, Listing, SavedList};
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, ends_with, help};
use crate::source::archive::{Archive, ArchiveError};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Snapshot;
use save::SaveArgs;

/// Save the catalogs of a cluster to a file, or show one
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct SnapshotArgs {
    #[command(subcommand)]
    command: SnapshotCommand,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum SnapshotCommand {
    Save(SaveArgs),
    Show(ShowArgs),
}

/// List the catalogs in a snapshot file
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(SHOW_EXAMPLES))]
struct ShowArgs {
    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// File of "olmguard snapshot save"
    file: PathBuf,
}

const EXAMPLES: &[&str] = &[
    "olmguard snapshot save prod.snapshot",
    "olmguard snapshot show prod.snapshot",
    "olmguard check -f apps/ --snapshot prod.snapshot",
];

const SHOW_EXAMPLES: &[&str] = &[
    "olmguard snapshot show prod.snapshot",
    "olmguard snapshot show prod.snapshot -o json",
];

/// Runs the command.
pub(super) fn run(args: &SnapshotArgs) -> Result<Exit, CommandFailure> {
    match &args.command {
        SnapshotCommand::Save(args) => save::run(args),
        SnapshotCommand::Show(args) => show(args),
    }
}

fn show(args: &ShowArgs) -> Result<Exit, CommandFailure> {
    let archive = Archive::open(&args.file)?;
    let facts = archive.facts().clone();
    // What is listed is the same by the rules of any release.
    let rules = Rules::default();
    let catalogs = archive.load(&rules, memory::of_commands())?;
    let snapshot = Snapshot::new(rules.clone(), catalogs);
    let listing = Listing {
        saved: Some(SavedList {
            at: &facts.saved,
            by: &facts.program,
        }),
        now: None,
        policies: Some(&facts.policies),
        extensions: Some(&facts.extensions),
        olm: facts.olm.as_ref(),
        catalogs: snapshot.catalogs(),
    };
    catalogs::print(&listing, args.output.form)?;
    Ok(Exit::Good)
}

ends_with!(BadInput: ArchiveError);
