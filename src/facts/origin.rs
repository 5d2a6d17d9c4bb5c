//! The origin of facts that no manifest has: nothing but what is given, a snapshot, or a cluster.
//!
//! An origin that cannot be read leaves open which catalogs there are. Without them a change would be denied because of
//! what they may contain. So a catalog stands in for the origin that cannot be read and that any selector may match:
//! what needs a catalog is undecided.

use std::path::PathBuf;

use serde_json::Value;

use super::cluster::{ClusterOrigin, ClusterRequest, ClusterRequestError};
use super::found::{OriginFacts, RunningExtensions};
use super::olm::{OlmError, OlmRequest, RulesAndWarnings};
use super::snapshot::SavedSnapshot;
use super::{Fault, Reading};
use olmguard_catalog::olm::Rules;

/// Where facts come from, in addition to catalogs and manifests that are given.
#[derive(Clone, Debug)]
pub(crate) enum FactsOrigin {
    /// There is nothing else.
    Given,
    /// A file of `olmguard snapshot save`.
    Snapshot(PathBuf),
    Cluster(ClusterRequest),
}

/// An origin of which the OLM is known, before any content is read by the rules of one.
pub(crate) enum OpenOrigin {
    Given,
    Snapshot(Box<SavedSnapshot>),
    Cluster(Box<ClusterOrigin>),
}

impl FactsOrigin {
    /// Opens the snapshot, or finds the cluster.
    ///
    /// # Errors
    /// If a request for a cluster is wrong. What cannot be read is a fault of the facts.
    pub(crate) fn open(&self) -> Result<OpenOrigin, ClusterRequestError> {
        Ok(match self {
            Self::Given => OpenOrigin::Given,
            Self::Snapshot(file) => OpenOrigin::Snapshot(Box::new(SavedSnapshot::open(file))),
            Self::Cluster(request) => OpenOrigin::Cluster(Box::new(ClusterOrigin::open(request)?)),
        })
    }
}

impl OpenOrigin {
    /// Whether it has the list of catalogs.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Self::Given)
    }

    /// The rules of an OLM, and what to warn of about them.
    pub(crate) fn rules(&self, request: &OlmRequest) -> Result<RulesAndWarnings, OlmError> {
        match self {
            Self::Given => Ok((request.rules()?, Vec::new())),
            Self::Snapshot(saved) => saved.rules(request),
            Self::Cluster(cluster) => cluster.rules(request),
        }
    }

    /// Every extension with what is installed of it; none without a snapshot or a cluster.
    pub(crate) fn extensions(&self) -> Option<RunningExtensions> {
        match self {
            Self::Given => None,
            Self::Snapshot(saved) => Some(saved.extensions()),
            Self::Cluster(cluster) => Some(cluster.extensions()),
        }
    }

    /// Hands every object of OLM v0 to `take`, and returns what cannot be listed; none without a cluster, because a
    /// snapshot does not have them.
    pub(crate) fn classic(&self, take: impl FnMut(Value)) -> Option<Vec<Fault>> {
        match self {
            Self::Given | Self::Snapshot(_) => None,
            Self::Cluster(cluster) => Some(cluster.classic(take)),
        }
    }

    /// Every extension, for a command that reads nothing more: an origin that cannot be read is a fault of them.
    pub(crate) fn into_extensions(self) -> Option<RunningExtensions> {
        match self {
            Self::Given => None,
            Self::Snapshot(saved) => Some(saved.into_extensions()),
            Self::Cluster(cluster) => Some(cluster.into_extensions()),
        }
    }

    /// Every catalog and every policy, and what should give them and does not, except for catalogs of which other
    /// content `is_given`.
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
