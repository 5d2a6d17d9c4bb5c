//! The installed extensions that changes are weighed by: from a cluster, a snapshot or manifests with status.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::cluster::{ClusterArgs, ClusterRequestArgs};
use crate::cli::args::heading;
use crate::cli::args::olm::OlmArgs;
use crate::cli::commands::audit::AuditedInputs;
use crate::cli::facts::{FactsError, origin};
use crate::cli::{Exit, say, warn};
use crate::facts::{Fault, RunningExtensions};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;
use olmguard_engine::extension::Extension;
use olmguard_views::diff::InstalledExtensions;

/// Where it is from.
#[derive(Args, Clone, Debug)]
pub(super) struct InstalledArgs {
    /// Show which of these ClusterExtensions with status each change
    /// concerns: files, directories or - (repeatable)
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with_all = ["snapshot", "from_cluster"],
        help_heading = heading::INPUT
    )]
    pub(super) extensions: Vec<PathBuf>,

    /// Show which extensions in a file of "olmguard snapshot save" each
    /// change concerns
    #[arg(long, value_name = "FILE", help_heading = heading::CATALOGS)]
    snapshot: Option<PathBuf>,

    /// Show which extensions of the cluster each change concerns (read-only)
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::CATALOGS)]
    from_cluster: bool,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// The rules of OLM, and the installed extensions.
pub(super) struct InstalledFacts {
    pub(super) rules: Rules,
    /// The extensions; `None` if none were requested.
    extensions: Option<Vec<Extension>>,
    /// The exit codes for what could not be read.
    pub(super) exits: Vec<Exit>,
}

impl InstalledArgs {
    /// Whether the flags request extensions.
    pub(super) fn is_given(&self) -> bool {
        self.from_cluster || self.snapshot.is_some() || !self.extensions.is_empty()
    }

    /// Reads the installed extensions. Unreadable ones are reported, and the others count.
    ///
    /// # Errors
    /// If flags contradict each other.
    pub(super) fn read(&self, olm: &OlmArgs) -> Result<InstalledFacts, FactsError> {
        let cluster = ClusterRequestArgs::of_cluster(self.cluster.clone());
        let origin = origin(self.snapshot.as_deref(), self.from_cluster, &cluster)?;
        let (rules, warnings) = origin.rules(&olm.request())?;
        let read = match origin.extensions() {
            Some(mut running) => {
                running.faults.extend(origin.into_fault());
                Some(of_origin(running, &warnings))
            }
            None if self.extensions.is_empty() => None,
            None => Some(self.manifests()?),
        };
        let (extensions, exits) = read.unzip();
        Ok(InstalledFacts {
            rules,
            extensions,
            exits: exits.unwrap_or_default(),
        })
    }

    fn manifests(&self) -> Result<(Vec<Extension>, Vec<Exit>), UsageError> {
        let AuditedInputs {
            extensions,
            faults,
            skipped,
            ..
        } = AuditedInputs::read(&self.extensions)?;
        faults.iter().for_each(say);
        skipped.iter().for_each(warn);
        if extensions.is_empty() && faults.is_empty() && skipped.is_empty() {
            warn(
                &"--extensions: no ClusterExtension in these files, so no change concerns an installed extension",
            );
        }
        let exits = faults.iter().map(|_| Exit::BadInput).collect();
        Ok((extensions, exits))
    }
}

fn of_origin(running: RunningExtensions, warnings: &[String]) -> (Vec<Extension>, Vec<Exit>) {
    let RunningExtensions { extensions, faults } = running;
    // Without the cluster, warnings about its OLM add nothing.
    if !faults.iter().any(Fault::is_of_cluster) {
        warnings.iter().for_each(warn);
    }
    faults.iter().for_each(say);
    let exits = faults.iter();
    let exits = exits.filter_map(|fault| fault.exit(Exit::Undecided));
    (extensions, exits.collect())
}

/// An extension whose installed version is unknown.
#[derive(Debug, thiserror::Error)]
#[error(
    "extension {}: the installed version is unknown, so no change counts for it",
    go::quote(.0)
)]
struct Unknown<'a>(&'a str);

impl InstalledFacts {
    /// The installed extensions, if they were requested. Warns about each extension whose installed version is
    /// unknown, and returns the exit code for it. If only one package is compared, `only` is its name.
    pub(super) fn installed(
        &self,
        only: Option<&str>,
    ) -> (Option<InstalledExtensions<'_>>, Option<Exit>) {
        let installed = self.extensions.as_ref();
        let installed = installed.map(InstalledExtensions::of);
        let unknown = installed.iter().flat_map(|known| known.unknown(only));
        let count = unknown.inspect(|name| warn(&Unknown(name))).count();
        (installed, (count > 0).then_some(Exit::Undecided))
    }
}
