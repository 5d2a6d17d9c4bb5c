//! The origin of the facts that are not in manifests: none, a snapshot, or a cluster.
//!
//! If an origin cannot be read, its catalogs are unknown. A change must not be denied because of what they may
//! contain. So a catalog that any selector may match stands in for such an origin, and every answer that needs a
//! catalog is undecided.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::cluster::{ClusterOrigin, ClusterRequest, ClusterRequestError};
use super::olm::{OlmError, OlmRequest, RulesAndWarnings};
use super::{Fault, OriginFacts, Reading, RunningExtensions, read_extension};
use crate::cluster::extensions::ExtensionState;
use crate::source::archive::{Archive, ArchiveError, SavedExtensions, SavedPolicies};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Content;

/// The origin of facts, in addition to catalogs and manifests that are given. Its OLM is known, before any content is
/// read by the rules of that OLM.
pub(crate) enum OpenOrigin {
    /// No other origin.
    Given,
    /// A file written by `olmguard snapshot save`.
    Snapshot(Box<SavedSnapshot>),
    Cluster(Box<ClusterOrigin>),
}

impl OpenOrigin {
    /// Opens a snapshot, if a file is given. A file that cannot be read is a fault of the facts.
    pub(crate) fn of_snapshot(file: Option<&Path>) -> Self {
        file.map_or(Self::Given, |file| {
            Self::Snapshot(Box::new(SavedSnapshot::open(file)))
        })
    }

    /// Finds a cluster.
    ///
    /// # Errors
    /// If the request is wrong. A cluster that cannot be read is a fault of the facts instead.
    pub(crate) fn of_cluster(request: &ClusterRequest) -> Result<Self, ClusterRequestError> {
        Ok(Self::Cluster(Box::new(ClusterOrigin::open(request)?)))
    }

    /// Whether the origin has a list of catalogs.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Self::Given)
    }

    /// Returns the rules of an OLM, with warnings about them.
    pub(crate) fn rules(&self, request: &OlmRequest) -> Result<RulesAndWarnings, OlmError> {
        match self {
            Self::Given => Ok((request.rules()?, Vec::new())),
            Self::Snapshot(saved) => saved.rules(request),
            Self::Cluster(cluster) => cluster.rules(request),
        }
    }

    /// Returns all extensions with their installed bundles; `None` without a snapshot or a cluster.
    pub(crate) fn extensions(&self) -> Option<RunningExtensions> {
        match self {
            Self::Given => None,
            Self::Snapshot(saved) => Some(saved.extensions()),
            Self::Cluster(cluster) => Some(cluster.extensions()),
        }
    }

    /// Passes every object of OLM v0 to `take`, and returns the faults of those that cannot be listed. `None` without
    /// a cluster, because a snapshot does not contain them.
    pub(crate) fn classic(&self, take: impl FnMut(Value)) -> Option<Vec<Fault>> {
        match self {
            Self::Given | Self::Snapshot(_) => None,
            Self::Cluster(cluster) => Some(cluster.classic(take)),
        }
    }

    /// Returns the fault of an origin that cannot be read, for a command that loads no catalogs from it.
    pub(crate) fn into_fault(self) -> Option<Fault> {
        match self {
            Self::Given => None,
            Self::Snapshot(saved) => saved.archive.err().map(Fault::Snapshot),
            Self::Cluster(cluster) => cluster.into_fault(),
        }
    }

    /// Loads all catalogs and policies, and the faults of those that cannot be loaded, except faults of catalogs whose
    /// content `is_given` otherwise.
    pub(super) fn load(
        self,
        rules: &Rules,
        is_given: impl Fn(&str) -> bool,
        reading: Reading<'_>,
    ) -> OriginFacts {
        match self {
            Self::Given => OriginFacts::default(),
            Self::Snapshot(saved) => saved.load(rules, reading),
            Self::Cluster(cluster) => cluster.load(rules, is_given, reading),
        }
    }
}

// === A file written by `olmguard snapshot save` ===
//
// It contains the catalogs, policies, OLM and extensions of a cluster at that time.
//
// If the file cannot be read, one catalog stands in for all.

/// A snapshot as far as it could be read.
#[derive(Debug)]
pub(crate) struct SavedSnapshot {
    path: PathBuf,
    archive: Result<Archive, ArchiveError>,
}

impl SavedSnapshot {
    /// Opens the file. Its OLM is then known before anything is read by the rules of that OLM.
    pub(super) fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            archive: Archive::open(path),
        }
    }

    /// Loads all catalogs and policies, or returns why the file cannot be read.
    pub(super) fn load(self, rules: &Rules, reading: Reading<'_>) -> OriginFacts {
        let loaded = self.archive.and_then(|archive| {
            let policies = match archive.facts().policies.clone() {
                SavedPolicies::Objects(objects) => Ok(objects),
                SavedPolicies::Unfetched(why) => Err(why),
            };
            Ok((archive.load(rules, reading.memory)?, policies))
        });
        match loaded {
            Ok((catalogs, policies)) => OriginFacts::known(catalogs, Vec::new(), policies),
            Err(error) => {
                let content = Content::Unreadable(error.to_string());
                let name = self.path.to_string_lossy();
                OriginFacts::unknown(&name, content, Fault::Snapshot(error))
            }
        }
    }

    /// Returns all extensions; none if the file cannot be read, which is a fault of its catalogs.
    pub(super) fn extensions(&self) -> RunningExtensions {
        let Ok(archive) = &self.archive else {
            return RunningExtensions::default();
        };
        let unknown = |why: String| RunningExtensions::of([], Some(Fault::Extensions(why)));
        match &archive.facts().extensions {
            SavedExtensions::Objects(objects) => {
                RunningExtensions::of(objects.iter().map(read_extension), None)
            }
            SavedExtensions::Unfetched(why) => unknown(why.clone()),
            SavedExtensions::NotSaved => unknown(format!("{}: {NOT_SAVED}", self.path.display())),
        }
    }

    /// Returns the state of each extension with these names, in their order; `None` if the snapshot has no extensions.
    pub(crate) fn standings(&self, names: &[String]) -> Option<Vec<ExtensionState>> {
        let archive = self.archive.as_ref().ok()?;
        let names = names.iter();
        match &archive.facts().extensions {
            SavedExtensions::NotSaved => None,
            SavedExtensions::Unfetched(why) => {
                let unknown = names.map(|_| ExtensionState::unknown(why.clone()));
                Some(unknown.collect())
            }
            SavedExtensions::Objects(objects) => {
                let saved = by_name(objects);
                let found =
                    names.map(|name| ExtensionState::read(saved.get(name.as_str()).copied()));
                Some(found.collect())
            }
        }
    }

    /// Returns the rules of the requested OLM; otherwise of the OLM in the snapshot, otherwise of the newest release.
    pub(super) fn rules(&self, request: &OlmRequest) -> Result<RulesAndWarnings, OlmError> {
        match &self.archive {
            Ok(archive) => request.in_snapshot(&self.path, archive.facts().olm.as_ref()),
            Err(_) => Ok((request.rules()?, Vec::new())),
        }
    }
}

fn by_name(objects: &[Value]) -> HashMap<&str, &Value> {
    let named = objects.iter().filter_map(|object| {
        let name = object.pointer("/metadata/name")?.as_str()?;
        Some((name, object))
    });
    named.collect()
}

/// The fault text of a snapshot without extensions.
const NOT_SAVED: &str = "does not have the installed extensions; save it again with olmguard snapshot save, or give PATH";
