//! Where the facts are from that no manifest holds: nowhere, a snapshot, or a cluster.
//!
//! One that cannot be read leaves open which catalogs there are. To judge without them would be to
//! refuse for want of what may be in them, so a catalog stands in for it that cannot be read and that
//! any selector may match: what needs a catalog is undecided.

use std::path::Path;

use crate::cli::Exit;
use crate::cli::args::catalogs::{OlmArgs, UsageError};
use crate::cli::facts::live::Live;
use crate::cli::facts::loading::Fault;
use crate::cli::facts::look::{LookArgs, LookError};
use crate::cli::facts::running::RunningExtensions;
use crate::cli::facts::saved::SavedSnapshot;
use crate::cli::project::ProjectError;
use crate::guardrail_files::GuardrailsFault;
use crate::policy_files::PolicyFileFault;
use crate::policy_objects::PolicyObjects;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content, Labels};

/// What the flags say about where they are from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OriginFlags<'a> {
    pub(crate) snapshot: Option<&'a Path>,
    pub(crate) from_cluster: bool,
    pub(crate) look: &'a LookArgs,
}

/// Where they are from.
pub(crate) enum FactsOrigin {
    /// The flags and the inputs say all that is known.
    Inputs,
    Saved(Box<SavedSnapshot>),
    Cluster(Box<Live>),
}

/// What a snapshot or a cluster gives.
#[derive(Debug, Default)]
pub(crate) struct OriginFacts {
    pub(crate) catalogs: Vec<CatalogState>,
    pub(crate) policies: PolicyObjects,
    /// What should give more and does not.
    pub(crate) faults: Vec<Fault>,
}

/// Why nothing is judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OriginError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Look(#[from] LookError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Guardrails(#[from] GuardrailsFault),
    #[error(transparent)]
    Policy(#[from] PolicyFileFault),
}

impl FactsOrigin {
    /// What the flags say together, or which of them contradict each other.
    pub(crate) fn of(asked: &OriginFlags<'_>) -> Result<Self, OriginError> {
        match (asked.snapshot, asked.from_cluster, asked.look.given()) {
            (Some(_), true, _) => Err(UsageError::TwoOrigins.into()),
            (_, false, Some(flag)) => Err(UsageError::NotFromCluster { flag }.into()),
            (Some(path), false, None) => Ok(Self::Saved(Box::new(SavedSnapshot::open(path)))),
            (None, true, _) => Ok(Self::Cluster(Box::new(Live::open(asked.look)?))),
            (None, false, None) => Ok(Self::Inputs),
        }
    }

    /// Whether it says which catalogs there are.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Self::Inputs)
    }

    /// Which OLM is judged by, and what is worth knowing about that.
    pub(crate) fn rules(&self, flags: &OlmArgs) -> Result<(Rules, Vec<String>), UsageError> {
        match self {
            Self::Inputs => Ok((flags.rules()?, Vec::new())),
            Self::Saved(saved) => {
                let (rules, warnings) = saved.rules(flags)?;
                Ok((rules, warnings.iter().map(ToString::to_string).collect()))
            }
            Self::Cluster(live) => live.rules(flags),
        }
    }

    /// Every extension with what is installed of it; none where neither a snapshot nor a cluster is asked.
    pub(crate) fn extensions(&self) -> Option<RunningExtensions> {
        match self {
            Self::Inputs => None,
            Self::Saved(saved) => Some(saved.extensions()),
            Self::Cluster(live) => Some(live.extensions()),
        }
    }

    /// The same, for a command that reads nothing more: why there is no such snapshot or cluster is a fault of it.
    pub(crate) fn into_extensions(self) -> Option<RunningExtensions> {
        match self {
            Self::Inputs => None,
            Self::Saved(saved) => Some(saved.into_extensions()),
            Self::Cluster(live) => Some(live.into_extensions()),
        }
    }

    /// Every catalog and every policy, and what should give them and does not, but for catalogs of which other
    /// content `is_given`.
    pub(crate) fn load(self, rules: &Rules, is_given: impl Fn(&str) -> bool) -> OriginFacts {
        match self {
            Self::Inputs => OriginFacts::default(),
            Self::Saved(saved) => saved.load(rules),
            Self::Cluster(live) => live.load(rules, is_given),
        }
    }
}

impl OriginError {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Project(_) | Self::Guardrails(_) | Self::Policy(_) => {
                Exit::Usage
            }
            Self::Look(error) => error.exit(),
        }
    }
}

/// A catalog in the place of all those that are not known.
pub(crate) fn stand_in(name: &str, content: Content) -> CatalogState {
    CatalogState {
        labels: Labels::Unknown,
        ..CatalogState::named(name, content)
    }
}
