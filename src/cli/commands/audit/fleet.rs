//! `olmguard audit --fleet PATH` and `--contexts NAME`: what runs in many clusters, as one report.
//!
//! ```text
//! snapshot, context --facts--> AuditReport --\
//! JSON of an audit ----------------read-------+--> Fleet --> FleetReport
//! ```
//!
//! One cluster after another is read and let go. What cannot be read is said with its cluster, and the rest is
//! reported.

mod files;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use clap::Args;

use crate::cli::args::heading;
use crate::cli::commands::audit::form::{FLEET, NoForm, Output};
use crate::cli::commands::audit::{AuditArgs, AuditError, edits, print, report};
use crate::cli::facts::FactsArgs;
use crate::cli::facts::given::GivenObjects;
use crate::cli::facts::origin::OriginError;
use crate::cli::output::{json_line, yaml};
use crate::cli::{Exit, say, warn};
use files::{ClusterFile, Content, FilesError, UnreadPath, fleet_files};
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

/// Why there is no report about many clusters.
#[derive(Debug, thiserror::Error)]
pub(super) enum FleetError {
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error("--contexts: {} is given twice; give each context once", go::quote(.0))]
    Context(String),
}

/// What was added, and what it counts as.
struct Gathered<'a> {
    args: &'a AuditArgs,
    fleet: Fleet,
    exits: Vec<Exit>,
}

impl FleetArgs {
    pub(super) fn is_given(&self) -> bool {
        !(self.fleet.is_empty() && self.contexts.is_empty())
    }

    /// The files, named apart from each other and from the contexts.
    fn files(&self) -> Result<Vec<Result<ClusterFile, UnreadPath>>, FleetError> {
        let mut seen = BTreeSet::new();
        let twice = self.contexts.iter().find(|name| !seen.insert(*name));
        if let Some(name) = twice {
            return Err(FleetError::Context(name.clone()));
        }
        Ok(fleet_files(&self.fleet, &self.contexts)?)
    }
}

/// Reports every cluster.
pub(super) fn audit(args: &AuditArgs) -> Result<Exit, AuditError> {
    NoForm::check(args, FLEET)?;
    if args.fleet.contexts.is_empty() {
        args.facts.reach_no_cluster().map_err(OriginError::from)?;
    }
    let files = args.fleet.files()?;
    let mut gathered = Gathered {
        args,
        fleet: Fleet::default(),
        exits: Vec::new(),
    };
    for file in files {
        match file {
            Ok(file) => gathered.file(file),
            Err(UnreadPath { path, error }) => {
                gathered.unread(&path.to_string_lossy(), &error, Exit::BadInput);
            }
        }
    }
    for context in &args.fleet.contexts {
        gathered.facts(context, &args.facts.of_context(context));
    }
    let report = gathered.fleet.report();
    print(&text(&report, args.output.form)?)?;
    Ok(Exit::worst(exits(&report).chain(gathered.exits)))
}

impl Gathered<'_> {
    fn file(&mut self, file: ClusterFile) {
        let ClusterFile { name, path } = file;
        match Content::of(&path) {
            Ok(Content::Snapshot) => self.facts(&name, &self.args.facts.of_snapshot(path)),
            Ok(Content::Audit(bytes)) => match ClusterAudit::read(&bytes) {
                Ok(audit) => self.fleet.add(&name, &audit),
                Err(error) => self.unread(&path.to_string_lossy(), &error, Exit::BadInput),
            },
            Err(error) => self.unread(&path.to_string_lossy(), &error, Exit::BadInput),
        }
    }

    /// Audits the extensions of a snapshot or of a cluster.
    fn facts(&mut self, name: &str, facts: &FactsArgs) {
        let audit = match self.audited(name, facts) {
            Ok(audit) => audit,
            // What is wrong with one cluster is no wrong usage of all.
            Err(error) => return self.unread(name, &error, Exit::BadInput),
        };
        self.fleet.add(name, &audit);
    }

    fn audited(&mut self, name: &str, args: &FactsArgs) -> Result<ClusterAudit, OriginError> {
        let mut opened = args.open(self.args.edges)?;
        let extensions = opened.extensions()?;
        let (facts, _, warnings) = opened.read(GivenObjects::default())?;
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
        let requester = args.requester();
        let report = report(&facts, edits(&extensions, &requester));
        Ok(ClusterAudit::from(&report))
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

fn exits(report: &FleetReport) -> impl Iterator<Item = Exit> + use<> {
    let counts = report.counts();
    let denied = (counts.denied > 0).then_some(Exit::Denied);
    let undecided = (counts.undecided > 0).then_some(Exit::Undecided);
    denied.into_iter().chain(undecided)
}
