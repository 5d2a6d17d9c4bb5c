//! The catalogs and the OLM that a command is asked about: files, a snapshot, a cluster.
//!
//! ```text
//! --snapshot FILE --saved--> catalogs, OLM --\
//! --from-cluster --live--> catalogs, OLM -----+--loading--> Snapshot, faults
//! --catalog NAME=PATH --> contents ----------/
//! ```
//!
//! `check` and `audit` put their manifests between the two steps ([`FactsArgs::open`]); every other command takes
//! them as one, with [`FactsArgs::load`].

pub(crate) mod given;
pub(crate) mod live;
pub(crate) mod loading;
pub(super) mod look;
mod meant;
pub(crate) mod origin;
pub(crate) mod running;
pub(crate) mod saved;
pub(crate) mod unrendered;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;

use crate::cli::args::catalogs::{CommonArgs, UsageError};
use crate::cli::args::edges::EdgesArgs;
use crate::cli::args::policies::GuardrailsArgs;
use crate::cli::args::heading;
use crate::cli::args::policies::PoliciesArgs;
use crate::cli::facts::look::LookArgs;
use crate::cli::project::{FactFlags, Project, ProjectArgs};
use crate::cli::{Exit, warn};
use given::GivenObjects;
use loading::{Fault, GivenCatalogs};

use olmguard_catalog::olm::Rules;
use olmguard_engine::extension::Extension;
use olmguard_engine::judge::Requester;

pub(crate) use loading::{CurrentCatalogs, Facts};
use origin::{FactsOrigin, OriginError, OriginFlags};

/// Where the facts are from, for a command that is about catalogs and no manifests.
#[derive(Args, Clone, Debug)]
pub(crate) struct FactsArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Read a file of "olmguard snapshot save"
    #[arg(long, value_name = "FILE", help_heading = heading::CATALOGS)]
    snapshot: Option<PathBuf>,

    /// Read catalogs and OLM release from the cluster (read-only)
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::CATALOGS)]
    from_cluster: bool,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    guardrails: GuardrailsArgs,

    #[command(flatten)]
    policies: PoliciesArgs,

    #[command(flatten)]
    project: ProjectArgs,
}

/// Facts of which the origin is known and opened, before any content is read.
pub(crate) struct OpenFacts {
    args: FactsArgs,
    origin: FactsOrigin,
    rules: Rules,
    /// About the OLM that is judged by.
    warnings: Vec<String>,
    /// What could not be read up to now.
    faults: Vec<Fault>,
}

impl FactsArgs {
    /// Reads all of it, and says what is wrong with it.
    ///
    /// # Errors
    /// If the flags contradict each other, or name no catalog.
    pub(crate) fn load(&self, edges: EdgesArgs) -> Result<Facts, OriginError> {
        self.open(edges)?.load(GivenObjects::default())
    }

    /// Finds out where the facts are from.
    ///
    /// # Errors
    /// If the flags contradict each other, or name no catalog.
    pub(crate) fn open(&self, edges: EdgesArgs) -> Result<OpenFacts, OriginError> {
        let project = self.project.read()?;
        self.clone().within(project).opened(edges)
    }

    /// These flags, and for those that are not given what the project says.
    fn within(mut self, mut project: Project) -> Self {
        project.give(FactFlags {
            catalogs: &mut self.common.catalog,
            snapshot: &mut self.snapshot,
            from_cluster: self.from_cluster,
            guardrails: &mut self.guardrails,
            policies: &mut self.policies,
        });
        self
    }

    fn opened(self, edges: EdgesArgs) -> Result<OpenFacts, OriginError> {
        self.check()?;
        let origin = FactsOrigin::of(&OriginFlags {
            snapshot: self.snapshot.as_deref(),
            from_cluster: self.from_cluster,
            look: &self.look,
        })?;
        let (rules, mut warnings) = origin.rules(&self.common.olm)?;
        let (rules, departure) = edges.of(rules);
        warnings.extend(departure.map(|departure| departure.to_string()));
        Ok(OpenFacts {
            args: self,
            origin,
            rules,
            warnings,
            faults: Vec::new(),
        })
    }

    /// That no flag is about how a cluster is reached.
    ///
    /// # Errors
    /// If one is.
    pub(crate) fn reach_no_cluster(&self) -> Result<(), UsageError> {
        let given = self.look.given();
        given.map_or(Ok(()), |flag| Err(UsageError::NotFromCluster { flag }))
    }

    /// The same with this snapshot as the origin.
    pub(crate) fn of_snapshot(&self, snapshot: PathBuf) -> Self {
        Self {
            snapshot: Some(snapshot),
            from_cluster: false,
            look: LookArgs::default(),
            ..self.clone()
        }
    }

    /// The same with the cluster of this context as the origin.
    pub(crate) fn of_context(&self, context: &str) -> Self {
        let look = self.look.of_context(context);
        Self {
            look,
            from_cluster: true,
            ..self.clone()
        }
    }

    /// Who makes the edits that policies judge, and when.
    pub(crate) fn requester(&self) -> Requester {
        self.policies.requester()
    }

    fn check(&self) -> Result<(), UsageError> {
        if self.common.catalog.is_empty() && self.snapshot.is_none() && !self.from_cluster {
            return Err(UsageError::NoCatalog);
        }
        check_stdin(self.common.catalog.paths())
    }
}

impl OpenFacts {
    /// Every extension of the snapshot or the cluster; what is wrong with them is a fault of the facts.
    ///
    /// # Errors
    /// If there is neither of them.
    pub(crate) fn extensions(&mut self) -> Result<Vec<Extension>, UsageError> {
        let running = self.origin.extensions().ok_or(UsageError::NoExtensions)?;
        self.faults.extend(running.faults);
        Ok(running.extensions)
    }

    /// Reads all of it, with these objects, and says what is wrong with it.
    ///
    /// # Errors
    /// If a file of guardrails or policies cannot be used.
    pub(crate) fn load(self, objects: GivenObjects) -> Result<Facts, OriginError> {
        Ok(self.load_both(objects)?.0)
    }

    /// The same, and the catalogs of the snapshot or the cluster as they are, if `--catalog` gives some of them other
    /// content.
    ///
    /// # Errors
    /// If a file of guardrails or policies cannot be used.
    pub(crate) fn load_both(
        self,
        objects: GivenObjects,
    ) -> Result<(Facts, Option<CurrentCatalogs>), OriginError> {
        let (facts, current, warnings) = self.read(objects)?;
        facts.faults.iter().for_each(Fault::say);
        warnings.iter().for_each(warn);
        Ok((facts, current))
    }

    /// Reads all of it without a word, and what to warn of.
    ///
    /// # Errors
    /// If a file of guardrails or policies cannot be used.
    pub(crate) fn read(
        self,
        objects: GivenObjects,
    ) -> Result<(Facts, Option<CurrentCatalogs>, Vec<String>), OriginError> {
        let given = GivenCatalogs {
            catalogs: &self.args.common.catalog,
            guardrails: &self.args.guardrails,
            policies: &self.args.policies,
        };
        let (mut facts, current) = loading::load_both(self.origin, objects, given, self.rules)?;
        facts.faults.splice(0..0, self.faults);
        let mut warnings = self.warnings;
        // Where there is no cluster, nothing about its OLM is news.
        if facts.faults.iter().any(Fault::is_of_cluster) {
            warnings.clear();
        }
        Ok((facts, current, warnings))
    }
}

impl Facts {
    /// What it counts as that something is not to be had; nothing where all of it is there.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let exits = self.faults.iter();
        let exits = exits.filter_map(|fault| fault.exit(Exit::Undecided));
        exits.max_by_key(|exit| exit.weight())
    }
}

/// Standard input can be read once.
pub(crate) fn check_stdin<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<(), UsageError> {
    let times = paths.filter(|path| path.as_os_str() == "-").count();
    if times > 1 {
        Err(UsageError::StdinTwice)
    } else {
        Ok(())
    }
}
