//! `olmguard audit --fleet PATH` and `--contexts NAME`: one report on what runs in many clusters.
//!
//! ```text
//! snapshot, context --facts--> AuditReport --\
//! JSON of an audit ----------------read-------+--> Fleet --> FleetReport
//! ```
//!
//! Clusters are read one after another, and the facts of each are dropped before the next. Errors are printed with the
//! name of their cluster, and the rest is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::args::heading;
use crate::cli::commands::audit::form::{FLEET, NoForm, Output};
use crate::cli::commands::audit::{AuditArgs, edits, report};
use crate::cli::facts::{FactsArgs, FactsError};
use crate::cli::output::{json_line, plain, yaml};
use crate::cli::{CommandFailure, Exit, say, warn};
use crate::facts::Fault;
use crate::facts::cluster::ClusterRequestError;
use crate::facts::given::GivenObjects;
use olmguard_catalog::version::go;
use olmguard_views::fleet::{ClusterAudit, Fleet, FleetReport};

/// Which clusters a report is about.
#[derive(Args, Clone, Debug)]
pub(super) struct FleetArgs {
    /// Report many clusters: snapshots or JSON of audits, as files or
    /// directories (repeatable)
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with_all = ["paths", "snapshot", "from_cluster", "catalog"],
        help_heading = heading::INPUT
    )]
    fleet: Vec<PathBuf>,

    /// Report the clusters of these contexts of the kubeconfig (repeatable)
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with_all = ["paths", "snapshot", "catalog", "context"],
        help_heading = heading::INPUT
    )]
    contexts: Vec<String>,
}

/// The reason why there is no report on many clusters.
#[derive(Debug, thiserror::Error)]
pub(super) enum FleetError {
    #[error(
        "--fleet: {}: no file is there: expected snapshots, or JSON of \"olmguard audit -o json\"",
        .0.display()
    )]
    Empty(PathBuf),
    #[error("--fleet: {}: is given twice; give each file once", .0.display())]
    Twice(PathBuf),
    #[error("--contexts: {} is given twice; give each context once", go::quote(.0))]
    Context(String),
}

/// The clusters that were added, and the exit codes of errors.
struct Gathered<'a> {
    args: &'a AuditArgs,
    fleet: Fleet,
    exits: Vec<Exit>,
}

impl FleetArgs {
    pub(super) fn is_given(&self) -> bool {
        !(self.fleet.is_empty() && self.contexts.is_empty())
    }

    /// The files, with names that are unique among files and contexts.
    fn files(&self) -> Result<Vec<Result<ClusterFile, UnreadPath>>, FleetError> {
        let mut seen = BTreeSet::new();
        let twice = self.contexts.iter().find(|name| !seen.insert(*name));
        if let Some(name) = twice {
            return Err(FleetError::Context(name.clone()));
        }
        fleet_files(&self.fleet, &self.contexts)
    }
}

/// Reports on every cluster.
pub(super) fn audit(args: &AuditArgs) -> Result<Exit, CommandFailure> {
    NoForm::check(args, FLEET)?;
    if args.fleet.contexts.is_empty() {
        args.facts.reach_no_cluster()?;
    }
    args.facts.common.olm.request().check()?;
    let files = args.fleet.files()?;
    let mut gathered = Gathered {
        args,
        fleet: Fleet::default(),
        exits: Vec::new(),
    };
    for file in files {
        match file {
            Ok(file) => gathered.file(file)?,
            Err(UnreadPath { path, error }) => {
                gathered.unread(&path.to_string_lossy(), &error, Exit::BadInput);
            }
        }
    }
    for context in &args.fleet.contexts {
        gathered.facts(context, &args.facts.of_context(context))?;
    }
    let report = gathered.fleet.report();
    plain(text(&report, args.output.form)?)?;
    let counts = report.counts();
    let own = Exit::of_results(counts.denied > 0, counts.undecided > 0);
    Ok(Exit::worst(gathered.exits.into_iter().chain([own])))
}

impl Gathered<'_> {
    fn file(&mut self, file: ClusterFile) -> Result<(), FactsError> {
        let ClusterFile { name, path } = file;
        match ClusterFileContent::of(&path) {
            Ok(ClusterFileContent::Snapshot) => {
                return self.facts(&name, &self.args.facts.of_snapshot(path));
            }
            Ok(ClusterFileContent::Audit(bytes)) => match ClusterAudit::read(&bytes) {
                Ok(audit) => self.fleet.add(&name, &audit),
                Err(error) => self.unread(&path.to_string_lossy(), &error, Exit::BadInput),
            },
            Err(error) => self.unread(&path.to_string_lossy(), &error, Exit::BadInput),
        }
        Ok(())
    }

    /// Audits the extensions of a snapshot or of a cluster.
    ///
    /// # Errors
    /// If a flag or a file that counts for all clusters is wrong.
    fn facts(&mut self, name: &str, args: &FactsArgs) -> Result<(), FactsError> {
        match self.audit(name, args) {
            // An error of one cluster is not a usage error of the whole command.
            Err(
                error @ (FactsError::Olm(_) | FactsError::Cluster(ClusterRequestError::Cluster(_))),
            ) => {
                self.unread(name, &error, Exit::BadInput);
                Ok(())
            }
            audited => audited,
        }
    }

    /// Adds the cluster, unless its extensions are not known.
    fn audit(&mut self, name: &str, args: &FactsArgs) -> Result<(), FactsError> {
        let mut opened = args.open(self.args.edges)?;
        let extensions = opened.extensions()?;
        let (facts, warnings) = opened.read(GivenObjects::default())?;
        for warning in warnings {
            warn(&format!("{name}: {warning}"));
        }
        for fault in &facts.faults {
            if fault.is_warning() {
                warn(&format!("{name}: {fault}"));
            } else {
                say(&format!("{name}: {fault}"));
            }
            self.fleet.add_unread(name, &fault.to_string());
        }
        self.exits.extend(facts.exit());
        let mut faults = facts.faults.iter();
        if extensions.is_empty() && faults.any(Fault::hides_extensions) {
            return Ok(());
        }
        let requester = args.policies.requester_of_audit();
        let report = report(&facts, edits(&extensions, &requester));
        self.fleet.add(name, &ClusterAudit::from(&report));
        Ok(())
    }

    fn unread(&mut self, name: &str, error: &dyn std::error::Error, exit: Exit) {
        say(&format!("{name}: {error}"));
        self.fleet.add_unread(name, &error.to_string());
        self.exits.push(exit);
    }
}

fn text(report: &FleetReport, form: Output) -> io::Result<String> {
    Ok(match form {
        Output::Json => json_line(report)?,
        Output::Yaml => yaml::document(&serde_json::to_value(report)?),
        Output::Html => report.document().to_html(),
        _ => report.to_string(),
    })
}

/// The file of one cluster.
struct ClusterFile {
    /// The name of the cluster: the name of the file without its ending, or the whole path if another cluster has
    /// that name.
    name: String,
    path: PathBuf,
}

/// A PATH that cannot be read, with the reason.
struct UnreadPath {
    path: PathBuf,
    error: io::Error,
}

/// The files of all paths in their order, each with a unique name. `taken` has the names of clusters that are not read
/// from files.
///
/// # Errors
/// If a directory has no file, or if a file is given twice.
fn fleet_files(
    paths: &[PathBuf],
    taken: &[String],
) -> Result<Vec<Result<ClusterFile, UnreadPath>>, FleetError> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for path in paths {
        match cluster_files(path) {
            Ok(files) if files.is_empty() => return Err(FleetError::Empty(path.clone())),
            Ok(files) => {
                for file in files {
                    if !seen.insert(file.canonical()) {
                        return Err(FleetError::Twice(file.path));
                    }
                    all.push(Ok(file));
                }
            }
            Err(error) => all.push(Err(UnreadPath {
                path: path.clone(),
                error,
            })),
        }
    }
    name_apart(all.iter_mut().flatten().collect(), taken);
    Ok(all)
}

/// Names files that share a name by their paths. Such a path can be the name of another file, so this repeats until no
/// name changes.
fn name_apart(mut files: Vec<&mut ClusterFile>, taken: &[String]) {
    loop {
        let mut counts = BTreeMap::<String, usize>::new();
        let names = files.iter().map(|file| &file.name).chain(taken);
        for name in names {
            *counts.entry(name.clone()).or_default() += 1;
        }
        let is_shared = |file: &ClusterFile| counts.get(&file.name).is_some_and(|count| *count > 1);
        let mut is_done = true;
        for file in &mut files {
            let path = file.path.to_string_lossy();
            if is_shared(file) && file.name != path {
                file.name = path.into_owned();
                is_done = false;
            }
        }
        if is_done {
            return;
        }
    }
}

/// The content of the file of a cluster.
enum ClusterFileContent {
    /// A file of "olmguard snapshot save", which is read from its place.
    Snapshot,
    /// Any other file, in full.
    Audit(Vec<u8>),
}

/// The file, or the files of a directory by name. Hidden files and subdirectories are not part of the fleet.
fn cluster_files(path: &Path) -> io::Result<Vec<ClusterFile>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![ClusterFile::at(path.to_owned())]);
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(path)?.collect();
    let paths = entries?.into_iter().map(|entry| entry.path());
    let is_hidden = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(b".")
    };
    let mut paths: Vec<_> = paths
        .filter(|path| path.is_file() && !is_hidden(path))
        .collect();
    paths.sort_unstable();
    Ok(paths.into_iter().map(ClusterFile::at).collect())
}

impl ClusterFile {
    fn at(path: PathBuf) -> Self {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        Self {
            name: name.to_string_lossy().into_owned(),
            path,
        }
    }

    /// The path that identifies the file if several paths name it.
    fn canonical(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }
}

impl ClusterFileContent {
    /// Reads a file, up to the maximum size of an audit.
    fn of(path: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut file = File::open(path)?.take(MOST + 1);
        file.by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut bytes)?;
        if bytes == MAGIC {
            return Ok(Self::Snapshot);
        }
        file.read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST {
            let why = format!("is larger than {MOST} bytes: expected the audit of one cluster");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(Self::Audit(bytes))
    }
}

/// The first bytes of a zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The maximum size of an audit, in bytes. An extension takes about one thousand.
const MOST: u64 = 64 << 20;
