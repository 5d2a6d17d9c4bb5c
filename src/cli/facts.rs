//! The facts that the flags of a command request. Reading them shows progress on a terminal, and prints their faults.
//!
//! `check` and `audit` read their manifests between [`FactsArgs::open`] and [`OpenFacts::load`]. Every other command
//! combines both steps with [`FactsArgs::load`].

use std::collections::BTreeSet;
use std::mem::take;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;
use serde_json::Value;

use crate::cli::args::catalogs::{CommonArgs, UsageError};
use crate::cli::args::cluster::ClusterRequestArgs;
use crate::cli::args::olm::EdgesArgs;
use crate::cli::args::policies::{GuardrailsArgs, PoliciesArgs};
use crate::cli::args::{heading, memory};
use crate::cli::project::{Project, ProjectArgs, ProjectError};
use crate::cli::{Exit, HasExit, ends_with, output, say, warn};
use crate::cluster::ConnectError;
use crate::facts::cluster::ClusterRequestError;
use crate::facts::contents::ContentsRequest;
use crate::facts::given::GivenObjects;
use crate::facts::olm::OlmError;
use crate::facts::origin::OpenOrigin;
use crate::facts::{
    Facts, FactsListener, FactsRequest, Fault, GivenFiles, GivenFilesError, Reading,
};
use crate::source::Progress;
use olmguard_catalog::olm::{PreflightMode, Rules};
use olmguard_catalog::version::go;
use olmguard_engine::explain::{self, Answer, installed_images};
use olmguard_engine::extension::Extension;
use olmguard_engine::snapshot::Snapshot;
use olmguard_preflight::content::BundleContents;

/// The flags about facts, of every command that judges.
#[derive(Args, Clone, Debug)]
pub(crate) struct FactsArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Read a file of "olmguard snapshot save"
    #[arg(long, value_name = "FILE", help_heading = heading::CATALOGS)]
    pub(crate) snapshot: Option<PathBuf>,

    /// Read catalogs and OLM release from the cluster (read-only)
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::CATALOGS)]
    pub(crate) from_cluster: bool,

    #[command(flatten)]
    cluster: ClusterRequestArgs,

    #[command(flatten)]
    guardrails: GuardrailsArgs,

    #[command(flatten)]
    pub(crate) policies: PoliciesArgs,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// Facts whose origin is known and opened, but whose content is not read yet.
pub(crate) struct OpenFacts {
    args: FactsArgs,
    pub(crate) origin: OpenOrigin,
    pub(crate) rules: Rules,
    /// Warnings about the OLM to answer for.
    warnings: Vec<String>,
    /// Faults found before the facts are read.
    faults: Vec<Fault>,
}

impl FactsArgs {
    /// Reads all facts, and prints their faults.
    ///
    /// # Errors
    /// If the flags contradict each other, or name no catalog.
    pub(crate) fn load(&self, edges: EdgesArgs) -> Result<Facts, FactsError> {
        self.open(edges)?.load(GivenObjects::default())
    }

    /// Opens the origin of the facts.
    ///
    /// # Errors
    /// If the flags contradict each other, or name no catalog.
    pub(crate) fn open(&self, edges: EdgesArgs) -> Result<OpenFacts, FactsError> {
        let mut project = self.project.read()?;
        let args = self.clone().within(&mut project);
        args.check()?;
        args.open_any(edges)
    }

    /// These flags, with the values of the project file for flags that are not given. A flag that names catalogs
    /// overrides all catalogs of the file.
    pub(crate) fn within(mut self, project: &mut Project) -> Self {
        let catalogs = &mut self.common.catalog;
        if catalogs.is_empty() && self.snapshot.is_none() && !self.from_cluster {
            *catalogs = take(&mut project.catalogs);
            self.snapshot = project.snapshot.take();
        }
        if self.guardrails.files.is_empty() {
            self.guardrails.files = take(&mut project.guardrails);
        }
        if self.policies.files.is_empty() {
            self.policies.files = take(&mut project.policies);
        }
        self
    }

    /// Opens the origin of the facts. The flags need not name a catalog.
    ///
    /// # Errors
    /// If the flags contradict each other.
    pub(crate) fn open_any(self, edges: EdgesArgs) -> Result<OpenFacts, FactsError> {
        let origin = origin(self.snapshot.as_deref(), self.from_cluster, &self.cluster)?;
        let (rules, mut warnings) = origin.rules(&self.common.olm.request())?;
        let (rules, warning) = edges.of(rules);
        warnings.extend(warning);
        Ok(OpenFacts {
            args: self,
            origin,
            rules,
            warnings,
            faults: Vec::new(),
        })
    }

    /// Checks that no flag for reaching a cluster is given.
    ///
    /// # Errors
    /// If such a flag is given.
    pub(crate) fn reach_no_cluster(&self) -> Result<(), UsageError> {
        let given = self.cluster.given();
        given.map_or(Ok(()), |flag| Err(UsageError::NotFromCluster { flag }))
    }

    /// These flags with this snapshot as the origin.
    pub(crate) fn of_snapshot(&self, snapshot: PathBuf) -> Self {
        Self {
            snapshot: Some(snapshot),
            from_cluster: false,
            cluster: ClusterRequestArgs::default(),
            ..self.clone()
        }
    }

    /// These flags with the cluster of this context as the origin.
    pub(crate) fn of_context(&self, context: &str) -> Self {
        Self {
            cluster: self.cluster.of_context(context),
            from_cluster: true,
            ..self.clone()
        }
    }

    /// Reads the objects that the bundles of these answers would replace, encounter or need. Also pulls the images of
    /// the bundles if `pulls` is set. Each answer comes with the catalogs that it is based on. Facts that are
    /// unavailable become faults.
    pub(crate) fn contents<'s>(
        &self,
        rules: &Rules,
        pulls: bool,
        answers: impl Iterator<Item = (&'s Snapshot, Answer)>,
    ) -> (BundleContents, Vec<Fault>) {
        let (mut images, mut installed) = (BTreeSet::new(), BTreeSet::new());
        for (snapshot, answer) in answers {
            if answer.image.is_some() {
                installed.extend(installed_images(snapshot, &answer));
            }
            images.extend(answer.image);
        }
        let request = ContentsRequest {
            images,
            pulls,
            installed,
            minor: rules.olm.minor(),
            cluster: self.from_cluster.then(|| self.cluster.request()),
        };
        request.read(reading())
    }

    fn check(&self) -> Result<(), UsageError> {
        if self.common.catalog.is_empty() && self.snapshot.is_none() && !self.from_cluster {
            return Err(UsageError::NoCatalog);
        }
        check_stdin(self.common.catalog.paths())
    }
}

/// The maximum number of policies that a warning names.
const MOST_NAMED: usize = 5;

/// Removes the policies that match by label or namespace, and warns about it: a question about a package has neither.
pub(crate) fn leave_out_by_extension(facts: &mut Facts, package: &str) {
    let names = facts.policies.upgrades.leave_out_by_extension(package);
    let names: Vec<_> = names.iter().map(|name| go::escape(name)).collect();
    if !names.is_empty() {
        warn(&format_args!(
            "upgrade policies that match by label or namespace are not applied, because only the package is known: {}; \
             olmguard check applies them to an extension",
            explain::list(&names, ", ", MOST_NAMED)
        ));
    }
}

impl OpenFacts {
    /// The same facts with another preflight mode.
    pub(crate) fn with_preflight(self, preflight: PreflightMode) -> Self {
        Self {
            rules: self.rules.with_preflight(preflight),
            ..self
        }
    }

    /// Whether flags replace catalogs of the snapshot or the cluster, so there are current catalogs too.
    pub(crate) fn is_preview(&self) -> bool {
        self.origin.is_known() && !self.args.common.catalog.is_empty()
    }

    /// Every extension of the snapshot or the cluster. Problems with extensions become faults of the facts.
    ///
    /// # Errors
    /// If there is neither a snapshot nor a cluster.
    pub(crate) fn extensions(&mut self) -> Result<Vec<Extension>, UsageError> {
        let running = self.origin.extensions().ok_or(UsageError::NoExtensions)?;
        self.faults.extend(running.faults);
        Ok(running.extensions)
    }

    /// Passes every object of OLM v0 of the cluster to `take`, which returns a problem with the object, if any. Such
    /// problems, and objects that cannot be listed, become faults of the facts.
    ///
    /// # Errors
    /// If there is no cluster.
    pub(crate) fn classic(
        &mut self,
        mut take: impl FnMut(Value) -> Option<String>,
    ) -> Result<(), UsageError> {
        let mut wrong = Vec::new();
        let listed = self.origin.classic(|object| wrong.extend(take(object)));
        let unlisted = listed.ok_or(UsageError::NoSubscriptions)?;
        let wrong = wrong.into_iter().map(Fault::Classic);
        self.faults.extend(unlisted.into_iter().chain(wrong));
        Ok(())
    }

    /// Reads all facts, with these objects, and prints their faults and warnings.
    ///
    /// # Errors
    /// If a file of guardrails or policies cannot be used.
    pub(crate) fn load(self, objects: GivenObjects) -> Result<Facts, FactsError> {
        let (facts, warnings) = self.read(objects)?;
        facts.faults.iter().for_each(say_fault);
        warnings.iter().for_each(warn);
        Ok(facts)
    }

    /// Reads all facts and prints nothing. Also returns the warnings.
    ///
    /// # Errors
    /// If a file of guardrails or policies cannot be used.
    pub(crate) fn read(self, objects: GivenObjects) -> Result<(Facts, Vec<String>), FactsError> {
        let request = FactsRequest {
            origin: self.origin,
            objects,
            files: GivenFiles {
                catalogs: self.args.common.catalog.sources(),
                guardrails: &self.args.guardrails.files,
                policies: &self.args.policies.files,
            },
            rules: self.rules,
        };
        let mut facts = request.load(reading())?;
        facts.faults.splice(0..0, self.faults);
        let mut warnings = self.warnings;
        // Without the cluster, warnings about its OLM add nothing.
        if facts.faults.iter().any(Fault::is_of_cluster) {
            warnings.clear();
        }
        Ok((facts, warnings))
    }
}

impl Facts {
    /// The exit code that the faults require; `None` if they require none.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let exits = self.faults.iter();
        let exits = exits.filter_map(|fault| fault.exit(Exit::Undecided));
        exits.max_by_key(|exit| exit.weight())
    }
}

/// Opens the origin that the flags name.
///
/// # Errors
/// If the flags contradict each other, or name a cluster that does not exist.
pub(crate) fn origin(
    snapshot: Option<&Path>,
    from_cluster: bool,
    cluster: &ClusterRequestArgs,
) -> Result<OpenOrigin, FactsError> {
    match (snapshot, from_cluster, cluster.given()) {
        (Some(_), true, _) => Err(UsageError::TwoOrigins.into()),
        (_, false, Some(flag)) => Err(UsageError::NotFromCluster { flag }.into()),
        (None, true, _) => Ok(OpenOrigin::of_cluster(&cluster.request())?),
        (file, false, None) => Ok(OpenOrigin::of_snapshot(file)),
    }
}

/// The settings for reading facts: the memory of a command, and progress on a terminal.
pub(crate) fn reading() -> Reading<'static> {
    Reading {
        memory: memory::of_commands(),
        listener: &Terminal,
    }
}

/// A listener that shows progress on a terminal, and prints warnings for people and pipelines.
struct Terminal;

impl FactsListener for Terminal {
    fn wait(&self, progress: &Progress, work: &mut (dyn FnMut() + Send)) {
        output::with_progress(progress, work);
    }

    fn passed_over(&self, why: &str) {
        warn(&why);
    }
}

/// Prints a fault as the error or the warning that it is.
pub(crate) fn say_fault(fault: &Fault) {
    if fault.is_warning() {
        warn(fault);
    } else {
        say(fault);
    }
}

/// The reason why a command cannot answer at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FactsError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Olm(#[from] OlmError),
    #[error(transparent)]
    Cluster(#[from] ClusterRequestError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Files(#[from] GivenFilesError),
}

ends_with!(Usage: ProjectError);

impl HasExit for FactsError {
    fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Olm(_) | Self::Project(_) | Self::Files(_) => Exit::Usage,
            Self::Cluster(error) => error.exit(),
        }
    }
}

impl HasExit for ClusterRequestError {
    /// A name that does not exist is wrong usage; a cluster that cannot be reached is not.
    fn exit(&self) -> Exit {
        match self {
            Self::Cluster(ConnectError::Interrupted(_)) | Self::System(_) => Exit::Internal,
            Self::Cluster(_) if self.is_unreachable() => Exit::Undecided,
            Self::Cluster(_) | Self::Catalogd(_) => Exit::Usage,
        }
    }
}

impl Fault {
    /// The exit code for the fault, with `undecided` for a cluster that cannot be reached. A catalog that could not be
    /// fetched counts only if an answer needs it.
    pub(crate) fn exit(&self, undecided: Exit) -> Option<Exit> {
        let exit = match self {
            Self::Unreadable { .. } | Self::Snapshot(_) | Self::Guardrails(_) | Self::Policy(_) => {
                Exit::BadInput
            }
            _ => undecided,
        };
        (!self.is_warning()).then_some(exit)
    }
}

/// Checks that standard input is one of these paths at most once, because it can be read only once.
pub(crate) fn check_stdin<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<(), UsageError> {
    let times = paths.filter(|path| path.as_os_str() == "-").count();
    if times > 1 {
        Err(UsageError::StdinTwice)
    } else {
        Ok(())
    }
}
