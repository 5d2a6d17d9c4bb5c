//! The facts that edits are judged by: catalogs, policies and the OLM, wherever they come from.
//!
//! ```text
//! FactsOrigin --open--> OpenOrigin --rules--> the OLM, by whose rules all contents are read
//!   nothing, a snapshot, a cluster |
//!   places of catalogs ------------+--FactsRequest::load--> Facts: Snapshot, Policies, faults
//!   objects of manifests ----------'
//! ```
//!
//! Requests are plain data, so a command and a server can make them. Nothing is printed here: a
//! [`FactsListener`] hears what is worth telling while facts are read.

pub(crate) mod cluster;
pub(crate) mod contents;
pub(crate) mod given;
pub(crate) mod olm;
pub(crate) mod origin;

use std::collections::BTreeSet;
use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::policy_files::{
    GuardrailsFault, LoadedGuardrails, NamedPackage, PolicyFileFault, ReadPolicies,
};
use crate::policy_objects::{CostlyPolicy, PolicyObjects};
use crate::source::archive::ArchiveError;
use crate::source::{CatalogSource, Loader, Progress};
use given::GivenObjects;
use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;
use olmguard_engine::extension::{Extension, Identity};
use olmguard_engine::judge::{Basis, Policies};
use olmguard_engine::nearest::nearest;
use olmguard_engine::snapshot::{CatalogState, Content, Labels, Snapshot, merge};
use olmguard_preflight::content::BundleContents;
use olmguard_report::{Finding, Severity};
use origin::OpenOrigin;

/// The facts that edits are judged by, as far as they are available, and what is not.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) snapshot: Snapshot,
    pub(crate) policies: Policies,
    pub(crate) faults: Vec<Fault>,
    /// The catalogs of the snapshot or the cluster as they are, if files give some of them other content. Both share
    /// the content of all others.
    pub(crate) current: Option<CurrentCatalogs>,
}

impl Facts {
    /// The same facts with what is in the images of bundles, and what is wrong with those.
    pub(crate) fn with_contents(self, contents: BundleContents, faults: Vec<Fault>) -> Self {
        let contents = Arc::new(contents);
        let current = self.current.map(|current| CurrentCatalogs {
            snapshot: current.snapshot.with_contents(Arc::clone(&contents)),
            ..current
        });
        Self {
            snapshot: self.snapshot.with_contents(contents),
            faults: iter::chain(self.faults, faults).collect(),
            current,
            ..self
        }
    }

    /// The facts that edits are judged by.
    pub(crate) fn basis(&self) -> Basis<'_> {
        Basis {
            snapshot: &self.snapshot,
            policies: &self.policies,
        }
    }
}

/// The catalogs of a snapshot or a cluster as they are, if flags give some of them other content.
#[derive(Debug)]
pub(crate) struct CurrentCatalogs {
    pub(crate) snapshot: Snapshot,
    /// The names of the catalogs that flags give, in their order.
    pub(crate) given: Vec<String>,
}

/// A source of facts that cannot be read, or a rule without effect.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The content of a catalog cannot be read.
    #[error("catalog {}: {why}", go::quote(name))]
    Unreadable { name: String, why: String },
    /// The content of a catalog of the cluster cannot be fetched.
    #[error("catalog {}: {why}", go::quote(name))]
    Unfetched { name: String, why: String },
    /// The `--snapshot`.
    #[error(transparent)]
    Snapshot(ArchiveError),
    /// The cluster, for this reason.
    #[error("{0}")]
    Cluster(String),
    /// A `--guardrails`.
    #[error(transparent)]
    Guardrails(GuardrailsFault),
    /// A `--policy`.
    #[error(transparent)]
    Policy(PolicyFileFault),
    /// A policy of the cluster or of the snapshot does not fit beside all others, for this reason.
    #[error("{0}")]
    Costly(String),
    /// A rule of one of them is about a package that no catalog has.
    #[error("{title}: no catalog has package {}, so this has no effect{}", go::quote(package), meant(near.as_deref()))]
    Stranger {
        title: String,
        package: String,
        near: Option<String>,
    },
    /// The policies of the cluster or of the snapshot, for this reason.
    #[error("{0}")]
    Policies(String),
    /// Installed extensions of the cluster or of the snapshot, for this reason.
    #[error("{0}")]
    Extensions(String),
    /// Objects of OLM v0 of the cluster, for this reason.
    #[error("{0}")]
    Classic(String),
    /// The content of a bundle, for this reason.
    #[error("{0}")]
    Bundle(String),
    /// The content of an installed bundle, for this reason.
    #[error("{0}")]
    InstalledBundle(String),
    /// What the cluster has of a bundle, for this reason.
    #[error("{0}")]
    Objects(String),
}

/// Files that are given in addition to a snapshot or a cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GivenFiles<'a> {
    pub(crate) catalogs: &'a [CatalogSource],
    pub(crate) guardrails: &'a [PathBuf],
    pub(crate) policies: &'a [PathBuf],
}

/// All that facts are made of.
pub(crate) struct FactsRequest<'a> {
    pub(crate) origin: OpenOrigin,
    /// Catalogs and policies of manifests.
    pub(crate) objects: GivenObjects,
    pub(crate) files: GivenFiles<'a>,
    pub(crate) rules: Rules,
}

/// How facts are read: within which memory, and who hears of it.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'r> {
    pub(crate) memory: &'r Pool,
    pub(crate) listener: &'r dyn FactsListener,
}

/// A listener that hears of facts while they are read.
pub(crate) trait FactsListener: Sync {
    /// Does work that may take long, and can show how far it is.
    fn wait(&self, _progress: &Progress, work: &mut (dyn FnMut() + Send)) {
        work();
    }

    /// The content of a given catalog was read, or cannot be, after this time.
    fn loaded(&self, _name: &str, _content: &Content, _took: Duration) {}

    /// An object of the cluster counts for nothing, for this reason.
    fn passed_over(&self, _why: &str) {}
}

/// Why nothing is judged: a file of rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GivenFilesError {
    #[error(transparent)]
    Guardrails(#[from] GuardrailsFault),
    #[error(transparent)]
    Policy(#[from] PolicyFileFault),
}

impl FactsRequest<'_> {
    /// Reads the catalogs and policies of the origin, of the objects and of the files.
    ///
    /// A policy of an object replaces one of its name in the cluster, and one of a file both: so a change is tried.
    ///
    /// # Errors
    /// If a file of guardrails or policies cannot be used.
    pub(crate) fn load(self, reading: Reading<'_>) -> Result<Facts, GivenFilesError> {
        let Self {
            origin,
            objects,
            files,
            rules,
        } = self;
        let (guardrails, by_file) = files.rules()?;
        let contents = contents(files.catalogs, &rules, reading);
        let by_flag = contents.iter();
        let mut faults: Vec<_> = by_flag.filter_map(|(name, c)| Fault::of(name, c)).collect();
        let is_known = origin.is_known();
        let origin = origin.load(&rules, |name| files.has_catalog(name), reading);
        faults.extend(origin.faults);
        faults.extend(guardrails.faults.into_iter().map(Fault::Guardrails));
        faults.extend(by_file.faults.into_iter().map(Fault::Policy));
        let states = || (origin.catalogs.clone(), objects.catalogs.clone());
        let current = (is_known && !files.catalogs.is_empty())
            .then(|| CurrentCatalogs::new(&rules, states(), files.catalogs));
        let states = merge(origin.catalogs, objects.catalogs, contents);
        let mut policies = origin.policies;
        policies.extend(objects.policies);
        policies.extend(by_file.objects);
        faults.extend(policies.bound_together().into_iter().map(Fault::costly));
        let snapshot = match states.as_slice() {
            [] if !is_known => Snapshot::not_given(rules),
            _ => Snapshot::new(rules, states),
        };
        faults.extend(strangers(&guardrails.imposed, &by_file.packages, &snapshot));
        let unlisted = faults.iter().find_map(Fault::unlisted).map(Into::into);
        Ok(Facts {
            policies: Policies {
                unlisted,
                ..policies.with_files(guardrails.imposed)
            },
            snapshot,
            faults,
            current,
        })
    }
}

impl GivenFiles<'_> {
    fn has_catalog(&self, name: &str) -> bool {
        self.catalogs.iter().any(|catalog| catalog.name == name)
    }

    /// The rules of administrators.
    fn rules(&self) -> Result<(LoadedGuardrails, ReadPolicies), GivenFilesError> {
        let guardrails = LoadedGuardrails::load(self.guardrails)?;
        let policies = ReadPolicies::load(self.policies);
        match policies.unusable() {
            Some(fault) => Err(fault.clone().into()),
            None => Ok((guardrails, policies)),
        }
    }
}

impl Reading<'_> {
    /// Waits for work, and returns its result.
    fn wait<T: Send>(self, progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
        let (mut work, mut done) = (Some(work), None);
        self.listener
            .wait(progress, &mut || done = work.take().map(|work| work()));
        done.expect("a listener does the work")
    }
}

/// Rules about packages that no catalog has, and so without effect.
fn strangers(
    guardrails: &AdministratorGuardrails,
    policies: &[NamedPackage],
    snapshot: &Snapshot,
) -> Vec<Fault> {
    let guarded = guardrails.packages().map(|package| ("guardrails", package));
    let policed = policies.iter();
    let policed = policed.map(|named| (&*named.title, &*named.package));
    let all = guarded.chain(policed);
    all.filter_map(|of| stranger(of, snapshot)).collect()
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
    fn new(
        rules: &Rules,
        (origin, objects): (Vec<CatalogState>, Vec<CatalogState>),
        given: &[CatalogSource],
    ) -> Self {
        let states = merge(origin, objects, Vec::new());
        Self {
            snapshot: Snapshot::new(rules.clone(), states),
            given: given.iter().map(|catalog| catalog.name.clone()).collect(),
        }
    }

    /// The names that flags give and that are no catalog of the snapshot or the cluster.
    pub(crate) fn added(&self) -> impl Iterator<Item = &str> {
        let names = self.given.iter().map(String::as_str);
        names.filter(|name| self.snapshot.catalog(name).is_none())
    }
}

/// The content of each catalog, in the order of the list.
fn contents<'a>(
    given: &'a [CatalogSource],
    rules: &Rules,
    reading: Reading<'_>,
) -> Vec<(&'a str, Content)> {
    let progress = Progress::default();
    let load = || {
        let mut loader = Loader::new(rules, &progress, reading.memory);
        let read = given.iter().map(|catalog| {
            let begun = Instant::now();
            let content = catalog.place.load(&mut loader);
            let (name, took) = (catalog.name.as_str(), begun.elapsed());
            reading.listener.loaded(name, &content, took);
            (name, content)
        });
        read.collect()
    };
    reading.wait(&progress, load)
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

    /// The fault of a policy that does not fit next to all others. A policy of a file is invalid as if it could not be
    /// read; a policy of a cluster or a snapshot is not a fault of what is checked.
    fn costly(policy: CostlyPolicy) -> Self {
        PolicyFileFault::of(policy).map_or_else(Self::Costly, Self::Policy)
    }

    /// The fault of the content of a catalog, if it has one.
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

    /// Whether the fault is only a warning: perhaps no answer needs the fact.
    pub(crate) fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::Unfetched { .. }
                | Self::Costly(_)
                | Self::Stranger { .. }
                | Self::InstalledBundle(_)
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

    /// Why the policies of the cluster or of the snapshot are not known, if this is about them.
    fn unlisted(&self) -> Option<&str> {
        match self {
            Self::Policies(why) => Some(why),
            _ => None,
        }
    }
}

/// What a package was perhaps meant to be.
fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| {
        format!("; did you mean {}?", go::quote(near))
    })
}

// === What a snapshot or a cluster has, and what it should have and does not give ===

/// The facts of a snapshot or a cluster.
#[derive(Debug, Default)]
struct OriginFacts {
    catalogs: Vec<CatalogState>,
    policies: PolicyObjects,
    /// Sources that should have more and cannot be read.
    faults: Vec<Fault>,
}

/// Extensions as far as they could be read.
#[derive(Debug, Default)]
pub(crate) struct RunningExtensions {
    pub(crate) extensions: Vec<Extension>,
    /// Sources that should have more and cannot be read.
    pub(crate) faults: Vec<Fault>,
}

/// A catalog in the place of all those that are not known.
fn stand_in(name: &str, content: Content) -> CatalogState {
    CatalogState {
        labels: Labels::Unknown,
        ..CatalogState::named(name, content)
    }
}

impl RunningExtensions {
    /// The extensions that were read, and the fault that there may be more, if there may.
    fn of(read: impl IntoIterator<Item = Result<Extension, Fault>>, rest: Option<Fault>) -> Self {
        let mut all = Self::default();
        for one in read {
            match one {
                Ok(extension) => all.extensions.push(extension),
                Err(fault) => all.faults.push(fault),
            }
        }
        all.faults.extend(rest);
        all
    }
}

/// Reads one object. What cannot be read of a known version is a matter of its audit.
fn read_extension(object: &Value) -> Result<Extension, Fault> {
    Extension::recognised(object).ok_or_else(|| {
        let identity = Identity::read(object);
        let name = go::quote(identity.name.as_deref().unwrap_or_default());
        let version = go::quote(&identity.api_version());
        let kind = go::quote(&identity.kind);
        Fault::Extensions(format!(
            "extension {name}: unknown apiVersion {version} and kind {kind}: use a newer olmguard"
        ))
    })
}
