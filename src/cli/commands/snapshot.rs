//! `olmguard snapshot`: the catalogs, policies and extensions of a cluster in one file.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use k8s_openapi::jiff::Timestamp;
use tempfile::{Builder, NamedTempFile};

use crate::cli::args::cluster::ClusterRequestArgs;
use crate::cli::args::{heading, memory};
use crate::cli::commands::catalogs::{self, Listing, olm};
use crate::cli::facts::reading;
use crate::cli::output::{self, OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, HasExit, ends_with, help, say, warn};
use crate::cluster::extensions::ExtensionsError;
use crate::cluster::look::ListedCatalog;
use crate::facts::cluster::OpenCluster;
use crate::source::archive::{
    Archive, ArchiveError, ArchiveFacts, FetchedContent, SavedExtensions, SavedPolicies, write,
};
use olmguard_admission::kept_extension;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;
use olmguard_engine::explain::counted;
use olmguard_engine::snapshot::{Content, Snapshot};
use olmguard_server::tls::{Clock, SystemClock};

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

/// Runs `olmguard snapshot`.
pub(super) fn run(args: &SnapshotArgs) -> Result<Exit, CommandFailure> {
    match &args.command {
        SnapshotCommand::Save(args) => save(args),
        SnapshotCommand::Show(args) => show(args),
    }
}

fn show(args: &ShowArgs) -> Result<Exit, CommandFailure> {
    let archive = Archive::open(&args.file)?;
    let facts = archive.facts().clone();
    // The list is the same under the rules of every release.
    let rules = Rules::default();
    let catalogs = archive.load(&rules, memory::of_commands())?;
    let snapshot = Snapshot::new(rules.clone(), catalogs);
    let listing = Listing {
        saved: Some(&facts),
        now: None,
        olm: facts.olm.as_ref(),
        catalogs: snapshot.catalogs(),
    };
    catalogs::print(&listing, args.output.form)?;
    Ok(Exit::Good)
}

ends_with!(BadInput: ArchiveError);

// === `olmguard snapshot save FILE`: the state of a cluster, written to a file ===
//
// Facts of a catalog that are unavailable are written as such, with the reason, and the exit code reports them. A file
// that other commands judge by must state what it lacks.

/// Save the catalogs of a cluster to a file
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(SAVE_EXAMPLES))]
struct SaveArgs {
    #[command(flatten)]
    cluster: ClusterRequestArgs,

    /// Omit what is installed
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::INPUT)]
    no_extensions: bool,

    /// File to write; it is replaced as a whole
    file: PathBuf,
}

const SAVE_EXAMPLES: &[&str] = &[
    "olmguard snapshot save prod.snapshot",
    "olmguard snapshot save prod.snapshot --context prod",
];

/// The reason why nothing is saved.
#[derive(Debug, thiserror::Error)]
enum SaveError {
    #[error("{}: is a directory: expected a file to write to", .file.display())]
    Folder { file: PathBuf },
    #[error("\"-\": expected a file to write to; a snapshot is not written to standard output")]
    Stdout,
    #[error("{}: cannot be created: {source}; expected a file in a writable directory", .file.display())]
    Make { file: PathBuf, source: io::Error },
    #[error("{}: cannot be written: {source}", .file.display())]
    Write { file: PathBuf, source: io::Error },
}

/// A catalog with its content.
type SavedCatalog = ListedCatalog<FetchedContent>;

/// Runs `olmguard snapshot save`.
fn save(args: &SaveArgs) -> Result<Exit, CommandFailure> {
    let beside = beside(&args.file)?;
    let cluster = OpenCluster::open(&args.cluster.request())?;
    let catalogs = cluster.contents(reading())?;
    let facts = ArchiveFacts {
        extensions: extensions(args, &cluster),
        ..ArchiveFacts::new(now(), olm(&cluster), policies(&cluster))
    };
    let unfetched = unfetched(&facts);
    put(beside, &args.file, &facts, &catalogs)?;
    let faults = catalogs.iter().filter_map(fault).chain(unfetched);
    let exit = Exit::worst(faults);
    say_saved(&args.file, &catalogs, &facts)?;
    Ok(exit)
}

/// Creates the temporary file next to a file, which it replaces when it is complete. Called before the first request to
/// a cluster.
fn beside(file: &Path) -> Result<NamedTempFile, SaveError> {
    if file.as_os_str() == "-" {
        return Err(SaveError::Stdout);
    }
    if file.is_dir() {
        let file = file.to_owned();
        return Err(SaveError::Folder { file });
    }
    let folder = file.parent().filter(|path| !path.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // An error about the temporary file would show its name.
    let beside = folder.metadata().and_then(|_| {
        Builder::new()
            .prefix(".olmguard-")
            .permissions(Permissions::from_mode(AS_ANY_FILE))
            .tempfile_in(folder)
    });
    beside.map_err(|source| SaveError::Make {
        file: file.to_owned(),
        source,
    })
}

/// Writes the snapshot to the temporary file, which then replaces this file.
fn put(
    beside: NamedTempFile,
    file: &Path,
    facts: &ArchiveFacts,
    catalogs: &[SavedCatalog],
) -> Result<(), SaveError> {
    let parts = catalogs.iter();
    let parts = parts.map(|seen| (&seen.state, seen.content.as_ref()));
    let written = write(beside.as_file(), facts, parts)
        .and_then(File::sync_all)
        .and_then(|()| Ok(beside.persist(file)?));
    written.map(drop).map_err(|source| SaveError::Write {
        file: file.to_owned(),
        source,
    })
}

fn policies(cluster: &OpenCluster) -> SavedPolicies {
    match cluster.policies() {
        Ok(objects) => SavedPolicies::Objects(objects),
        Err(error) => SavedPolicies::Unfetched(error.to_string()),
    }
}

/// The installed extensions. An incomplete list is discarded, because missing extensions would count as not installed.
fn extensions(args: &SaveArgs, cluster: &OpenCluster) -> SavedExtensions {
    if args.no_extensions {
        return SavedExtensions::NotSaved;
    }
    let listed = cluster.extensions(|object| kept_extension(&object));
    if !listed.is_served {
        warn(&ExtensionsError::NotServed);
    }
    match listed.fault {
        None => SavedExtensions::of(listed.all),
        Some(fault) => SavedExtensions::Unfetched(fault.to_string()),
    }
}

/// Warns about facts other than catalogs that are not in the file, and returns the exit code for them.
fn unfetched(facts: &ArchiveFacts) -> Option<Exit> {
    let policies = match &facts.policies {
        SavedPolicies::Unfetched(why) => Some(why),
        SavedPolicies::Objects(_) => None,
    };
    let extensions = match &facts.extensions {
        SavedExtensions::Unfetched(why) => Some(why),
        SavedExtensions::NotSaved | SavedExtensions::Objects(_) => None,
    };
    let whys = policies.into_iter().chain(extensions);
    let count = whys.inspect(warn).count();
    (count > 0).then_some(Exit::Undecided)
}

/// Reports the content that is not in the file, and returns the exit code for it.
fn fault(seen: &SavedCatalog) -> Option<Exit> {
    let name = go::quote(&seen.state.name);
    match &seen.state.content {
        Content::Unreadable(why) => {
            say(&format_args!("catalog {name}: {why}"));
            Some(Exit::BadInput)
        }
        Content::Unfetched(why) => {
            warn(&format_args!("catalog {name}: {why}"));
            Some(Exit::Undecided)
        }
        Content::Loaded(_) | Content::Missing => None,
    }
}

fn say_saved(file: &Path, catalogs: &[SavedCatalog], facts: &ArchiveFacts) -> io::Result<()> {
    let held = catalogs
        .iter()
        .filter(|seen| seen.content.is_some())
        .count();
    let file = file.display().to_string();
    let (file, count) = (go::escape(&file), counted(catalogs.len(), "catalog"));
    let policies = match facts.policies.objects().len() {
        0 => String::new(),
        1 => ", 1 policy".to_owned(),
        many => format!(", {many} policies"),
    };
    let extensions = match &facts.extensions {
        SavedExtensions::Objects(objects) if !objects.is_empty() => {
            format!(", {}", counted(objects.len(), "extension"))
        }
        _ => String::new(),
    };
    output::plain(format!(
        "{file}: {count}, {held} with content{policies}{extensions}\n"
    ))
}

/// The current time, to the second.
fn now() -> String {
    let now = Timestamp::try_from(SystemClock.now()).unwrap_or_default();
    Timestamp::from_second(now.as_second())
        .unwrap_or_default()
        .to_string()
}

impl HasExit for SaveError {
    fn exit(&self) -> Exit {
        match self {
            Self::Folder { .. } | Self::Stdout | Self::Make { .. } => Exit::Usage,
            Self::Write { .. } => Exit::Internal,
        }
    }
}

/// The permissions of a regular new file, before the umask applies.
const AS_ANY_FILE: u32 = 0o666;
