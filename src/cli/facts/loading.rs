//! The catalogs with their contents, wherever they are from.

use std::collections::BTreeSet;
use std::fmt;

use crate::cli::args::catalogs::CatalogArgs;
use crate::cli::args::policies::GuardrailsArgs;
use crate::cli::args::memory;
use crate::cli::args::policies::PoliciesArgs;
use crate::cli::facts::given::GivenObjects;
use crate::cli::facts::origin::{FactsOrigin, OriginError};
use crate::cli::output::progress;
use crate::cli::{Exit, say, warn};
use crate::guardrail_files::{GuardrailsFault, ReadGuardrails};
use crate::policy_files::PolicyFileFault;
use crate::policy_objects::CostlyPolicy;
use crate::source::archive::ArchiveError;
use crate::source::{Loader, Progress};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;
use olmguard_engine::judge::{Basis, Policies};
use olmguard_engine::nearest::nearest;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot, merge};
use olmguard_report::{Finding, Severity};

/// What edits are judged by, as far as it is to be had, and what is not.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) snapshot: Snapshot,
    pub(crate) policies: Policies,
    pub(crate) faults: Vec<Fault>,
}

impl Facts {
    /// What edits are judged by.
    pub(crate) fn basis(&self) -> Basis<'_> {
        Basis {
            snapshot: &self.snapshot,
            policies: &self.policies,
        }
    }
}

/// The catalogs of a snapshot or a cluster as they are, where flags give some of them other content.
#[derive(Debug)]
pub(crate) struct CurrentCatalogs {
    pub(crate) snapshot: Snapshot,
    /// The names of the catalogs that flags give, in their order.
    pub(crate) given: Vec<String>,
}

/// What should give catalogs and does not.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The content of a catalog cannot be read.
    Unreadable { name: String, why: String },
    /// The content of a catalog of the cluster cannot be fetched.
    Unfetched { name: String, why: String },
    /// The `--snapshot`.
    Snapshot(ArchiveError),
    /// The cluster, for this reason.
    Cluster(String),
    /// A `--guardrails`.
    Guardrails(GuardrailsFault),
    /// A `--policy`.
    Policy(PolicyFileFault),
    /// A policy of the cluster or of the snapshot does not fit beside all others, for this reason.
    Costly(String),
    /// A rule of one of them is about a package that no catalog has.
    Stranger {
        title: String,
        package: String,
        near: Option<String>,
    },
    /// The policies of the cluster or of the snapshot, for this reason.
    Policies(String),
    /// One or more installed extensions of the cluster or of the snapshot, for this reason.
    Extensions(String),
}

/// What flags give beside a snapshot or a cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenCatalogs<'a> {
    pub(crate) catalogs: &'a CatalogArgs,
    pub(crate) guardrails: &'a GuardrailsArgs,
    pub(crate) policies: &'a PoliciesArgs,
}

/// The catalogs and policies of a snapshot or a cluster, of the objects among the inputs, and of the flags.
///
/// A policy of the inputs replaces one of its name in the cluster, and one of `--policy` both: so a change is tried.
///
/// # Errors
/// If a file of guardrails or policies cannot be used.
pub(crate) fn load(
    origin: FactsOrigin,
    objects: GivenObjects,
    given: GivenCatalogs<'_>,
    rules: Rules,
) -> Result<Facts, OriginError> {
    Ok(load_both(origin, objects, given, rules)?.0)
}

/// The same, and the catalogs without those of the flags. Catalogs that no flag gives share their content.
///
/// # Errors
/// If a file of guardrails or policies cannot be used.
pub(crate) fn load_both(
    origin: FactsOrigin,
    objects: GivenObjects,
    given: GivenCatalogs<'_>,
    rules: Rules,
) -> Result<(Facts, Option<CurrentCatalogs>), OriginError> {
    let ReadGuardrails {
        imposed, faults, ..
    } = given.guardrails.read()?;
    let unread = faults.into_iter().map(Fault::Guardrails);
    let by_file = given.policies.read()?;
    let invalid = by_file.faults.into_iter().map(Fault::Policy);
    let given = given.catalogs;
    let contents = contents(given, &rules);
    let by_flag = contents.iter();
    let mut faults: Vec<_> = by_flag.filter_map(|(name, c)| Fault::of(name, c)).collect();
    let is_given = |name: &str| given.iter().any(|catalog| catalog.name == name);
    let is_known = origin.is_known();
    let origin = origin.load(&rules, is_given);
    faults.extend(origin.faults);
    faults.extend(unread);
    faults.extend(invalid);
    let current = (is_known && !given.is_empty()).then(|| {
        let states = merge(
            origin.catalogs.clone(),
            objects.catalogs.clone(),
            Vec::new(),
        );
        CurrentCatalogs {
            snapshot: Snapshot::new(rules.clone(), states),
            given: given.iter().map(|catalog| catalog.name.clone()).collect(),
        }
    });
    let states = merge(origin.catalogs, objects.catalogs, contents);
    let mut policies = origin.policies;
    policies.extend(objects.policies);
    policies.extend(by_file.objects);
    faults.extend(policies.bound_together().into_iter().map(Fault::costly));
    let snapshot = if states.is_empty() && !is_known {
        Snapshot::not_given(rules)
    } else {
        Snapshot::new(rules, states)
    };
    let guarded = imposed.packages().map(|package| ("guardrails", package));
    let policed = by_file.packages.iter();
    let policed = policed.map(|named| (&*named.title, &*named.package));
    faults.extend(
        guarded
            .chain(policed)
            .filter_map(|of| stranger(of, &snapshot)),
    );
    let unlisted = faults.iter().find_map(|fault| match fault {
        Fault::Policies(why) => Some(why.as_str().into()),
        _ => None,
    });
    let facts = Facts {
        snapshot,
        policies: Policies {
            unlisted,
            ..policies.with_files(imposed)
        },
        faults,
    };
    Ok((facts, current))
}

/// A rule about a package that no catalog has, and so without effect.
fn stranger((title, package): (&str, &str), snapshot: &Snapshot) -> Option<Fault> {
    let catalogs = snapshot.catalogs().iter();
    let loaded: Option<Vec<_>> = catalogs.map(CatalogState::loaded).collect();
    let loaded = loaded.filter(|loaded| !loaded.is_empty())?;
    let names = loaded.iter().flat_map(|catalog| catalog.package_names());
    let names: BTreeSet<_> = names.collect();
    let near = nearest(package, names.iter().copied(), 1);
    (!names.contains(package)).then(|| Fault::Stranger {
        title: title.to_owned(),
        package: package.to_owned(),
        near: near.first().map(|name| (*name).to_owned()),
    })
}

impl CurrentCatalogs {
    /// The names that flags give and that are no catalog of the snapshot or the cluster.
    pub(crate) fn added(&self) -> impl Iterator<Item = &str> {
        let names = self.given.iter().map(String::as_str);
        names.filter(|name| self.snapshot.catalog(name).is_none())
    }
}

/// The content of each catalog, in the order of the flags.
fn contents<'a>(given: &'a CatalogArgs, rules: &Rules) -> Vec<(&'a str, Content)> {
    let progress = Progress::default();
    let load = || {
        let mut loader = Loader::new(rules, &progress, memory::of_commands());
        given
            .iter()
            .map(|catalog| (catalog.name.as_str(), catalog.place.load(&mut loader)))
            .collect()
    };
    progress::shown(&progress, load)
}

impl Fault {
    /// The fault as a run with this title reports it.
    pub(crate) fn finding(&self, title: &str) -> Finding {
        let severity = if self.is_warning() {
            Severity::Warning
        } else {
            Severity::Error
        };
        Finding::of_run(title, severity, self.to_string())
    }

    /// Of a policy that does not fit beside all others. One of a file is invalid as if it could not be read; one of a
    /// cluster or a snapshot is no fault of what is checked.
    fn costly(policy: CostlyPolicy) -> Self {
        PolicyFileFault::of(policy).map_or_else(Self::Costly, Self::Policy)
    }

    /// Of the content of a catalog, if it is one.
    pub(crate) fn of(name: &str, content: &Content) -> Option<Self> {
        let name = name.to_owned();
        match content {
            Content::Unreadable(why) => Some(Self::Unreadable {
                name,
                why: why.clone(),
            }),
            Content::Unfetched(why) => Some(Self::Unfetched {
                name,
                why: why.clone(),
            }),
            Content::Loaded(_) | Content::Missing => None,
        }
    }

    /// What it counts as, where a cluster that is not to be had counts as `undecided`. A catalog that
    /// could not be fetched counts where an answer needs it.
    pub(crate) fn exit(&self, undecided: Exit) -> Option<Exit> {
        match self {
            Self::Unreadable { .. } | Self::Snapshot(_) | Self::Guardrails(_) | Self::Policy(_) => {
                Some(Exit::BadInput)
            }
            Self::Cluster(_) | Self::Policies(_) | Self::Extensions(_) => Some(undecided),
            Self::Unfetched { .. } | Self::Costly(_) | Self::Stranger { .. } => None,
        }
    }

    /// Whether it may be that no answer needs it.
    pub(crate) fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::Unfetched { .. } | Self::Costly(_) | Self::Stranger { .. }
        )
    }

    /// Whether nothing at all is known of the cluster.
    pub(crate) fn is_of_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Whether nothing at all is known of the cluster or the snapshot.
    pub(crate) fn is_of_origin(&self) -> bool {
        self.is_of_cluster() || matches!(self, Self::Snapshot(_))
    }

    pub(crate) fn say(&self) {
        if self.is_warning() {
            warn(self);
        } else {
            say(self);
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { name, why } | Self::Unfetched { name, why } => {
                write!(f, "catalog {}: {why}", go::quote(name))
            }
            Self::Snapshot(error) => error.fmt(f),
            Self::Cluster(why)
            | Self::Costly(why)
            | Self::Policies(why)
            | Self::Extensions(why) => f.write_str(why),
            Self::Guardrails(fault) => fault.fmt(f),
            Self::Policy(fault) => fault.fmt(f),
            Self::Stranger {
                title,
                package,
                near,
            } => {
                let package = go::quote(package);
                write!(
                    f,
                    "{title}: no catalog has package {package}, so this has no effect"
                )?;
                let mut near = near.iter();
                near.try_for_each(|near| write!(f, "; did you mean {}?", go::quote(near)))
            }
        }
    }
}
