//! `olmguard snapshot`: the catalogs, policies and extensions of a cluster in one file.

mod save;

use std::io;
use std::path::PathBuf;

use crate::cli::args::memory;
use crate::cli::commands::catalogs::{self, Listing, SavedList};
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{Exit, help, say};
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

/// Why nothing is shown.
#[derive(Debug, thiserror::Error)]
enum ShowError {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("cannot write the result: {0}")]
    Write(#[from] io::Error),
}

/// Runs the command; a fault goes to stderr.
pub(super) fn run(args: &SnapshotArgs) -> Exit {
    match &args.command {
        SnapshotCommand::Save(args) => save::run(args),
        SnapshotCommand::Show(args) => run_show(args),
    }
}

fn run_show(args: &ShowArgs) -> Exit {
    show(args).map_or_else(
        |error| {
            say(&error);
            error.exit()
        },
        |()| Exit::Good,
    )
}

fn show(args: &ShowArgs) -> Result<(), ShowError> {
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
    Ok(catalogs::print(&listing, args.output.form)?)
}

impl ShowError {
    fn exit(&self) -> Exit {
        match self {
            Self::Archive(_) => Exit::BadInput,
            Self::Write(_) => Exit::Internal,
        }
    }
}
