//! `--from-cluster`: catalogs, policies, OLM and what is installed, as they are in a cluster now.

use crate::cli::Exit;
use crate::cli::args::catalogs::{OlmArgs, UsageError};
use crate::cli::facts::loading::Fault;
use crate::cli::facts::look::{AskedCluster, LookArgs, LookError};
use crate::cli::facts::origin::{OriginFacts, stand_in};
use crate::cli::facts::running::{self, RunningExtensions};
use crate::cluster::extensions::{ExtensionState, ListedExtensions};
use crate::cluster::olm::{FindError, RunningOlm, compare};
use crate::policy_objects::PolicyObject;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content};

/// A cluster as far as there is a way to it.
pub(crate) struct Live(Result<KnownCluster, LookError>);

/// A cluster, and the OLM in it.
struct KnownCluster {
    cluster: AskedCluster,
    olm: Result<RunningOlm, FindError>,
}

impl Live {
    /// Finds the cluster, and the OLM in it.
    ///
    /// # Errors
    /// If that was asked for wrongly. A cluster that is not to be had is one all the same: what needs
    /// it is undecided.
    pub(crate) fn open(args: &LookArgs) -> Result<Self, LookError> {
        let known = match AskedCluster::open(args) {
            Ok(cluster) => Ok(KnownCluster {
                olm: cluster.olm(),
                cluster,
            }),
            Err(error) if error.exit() == Exit::Undecided => Err(error),
            Err(error) => return Err(error),
        };
        Ok(Self(known))
    }

    /// What flags say counts, then what was found, then the newest.
    pub(crate) fn rules(&self, flags: &OlmArgs) -> Result<(Rules, Vec<String>), UsageError> {
        let Ok(known) = &self.0 else {
            return Ok((flags.rules()?, Vec::new()));
        };
        match &known.olm {
            Ok(found) => of_found(found, flags),
            Err(error) => of_none(error, flags),
        }
    }

    /// What the cluster says of each extension of these names, in their order; nothing of any where it
    /// is not to be had.
    pub(crate) fn standings(&self, names: Vec<String>) -> Vec<ExtensionState> {
        let known = self.0.as_ref().ok();
        known.map_or_else(Vec::new, |known| known.cluster.standings(names))
    }

    /// Every extension; none of a cluster that is not to be had, which is a fault of its catalogs.
    pub(crate) fn extensions(&self) -> RunningExtensions {
        let Ok(known) = &self.0 else {
            return RunningExtensions::default();
        };
        let listed = known.cluster.extensions(|object| running::read(&object));
        let ListedExtensions { all, fault, .. } = listed;
        let rest = fault.map(|fault| Fault::Extensions(fault.to_string()));
        RunningExtensions::of(all, rest)
    }

    /// The same; of a cluster that is not to be had, why it is not.
    pub(crate) fn into_extensions(self) -> RunningExtensions {
        let running = self.extensions();
        match self.0 {
            Ok(_) => running,
            Err(error) => RunningExtensions::of([], Some(Fault::Cluster(error.to_string()))),
        }
    }

    /// Every catalog and every policy. For a cluster that is not to be had a catalog stands in.
    pub(crate) fn load(self, rules: &Rules, is_given: impl Fn(&str) -> bool) -> OriginFacts {
        match self.catalogs(rules) {
            Ok((cluster, catalogs)) => known(&cluster, catalogs, is_given),
            Err(why) => OriginFacts {
                catalogs: vec![stand_in(FLAG, Content::Unfetched(why.clone()))],
                faults: vec![Fault::Cluster(why)],
                ..OriginFacts::default()
            },
        }
    }

    fn catalogs(self, rules: &Rules) -> Result<(AskedCluster, Vec<CatalogState>), String> {
        let KnownCluster { cluster, .. } = self.0.map_err(|error| error.to_string())?;
        let catalogs = cluster.catalogs(rules);
        let catalogs = catalogs.map_err(|error| error.to_string())?;
        Ok((cluster, catalogs))
    }
}

fn known(
    cluster: &AskedCluster,
    catalogs: Vec<CatalogState>,
    is_given: impl Fn(&str) -> bool,
) -> OriginFacts {
    let own = catalogs.iter().filter(|state| !is_given(&state.name));
    let faults = own.filter_map(|state| Fault::of(&state.name, &state.content));
    let mut faults: Vec<_> = faults.collect();
    let objects = cluster.policies().unwrap_or_else(|error| {
        faults.push(Fault::Policies(error.to_string()));
        Vec::new()
    });
    OriginFacts {
        policies: objects.iter().map(PolicyObject::read).collect(),
        catalogs,
        faults,
    }
}

fn of_found(found: &RunningOlm, flags: &OlmArgs) -> Result<(Rules, Vec<String>), UsageError> {
    let release = flags.release();
    let gates = flags.gates(release.unwrap_or(found.release))?;
    let differences = compare(found, release, gates);
    let warnings = found.warnings.iter().chain(&differences);
    let warnings = warnings.map(ToString::to_string).collect();
    Ok((found.rules_unless(release, gates), warnings))
}

fn of_none(error: &FindError, flags: &OlmArgs) -> Result<(Rules, Vec<String>), UsageError> {
    let rules = flags.rules()?;
    if flags.release().is_some() {
        return Ok((rules, Vec::new()));
    }
    let taken = rules.olm;
    let warning = format!("{error}; checked as OLM {taken}, the newest known release");
    Ok((rules, vec![warning]))
}

/// What stands in for a cluster has the name that no object can have.
const FLAG: &str = "--from-cluster";
