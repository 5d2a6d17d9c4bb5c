//! The facts on which edits are judged: catalogs, policies and the OLM, from any origin.
//!
//! ```text
//! nothing, a snapshot, a cluster --> OpenOrigin --rules--> the rules of the OLM, by which all contents are read
//!                                        |
//!   catalog locations -------------------+--FactsRequest::load--> Facts: Snapshot, Policies, faults
//!   objects in manifests ----------------'
//! ```
//!
//! Requests are plain data, so commands and servers can build them. Nothing is printed here: a [`FactsListener`]
//! receives the events that occur while facts are read.

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

use crate::policy_files::{GuardrailsFault, LoadedGuardrails, NamedPackage, ReadPolicies};
use crate::policy_objects::{PolicyFileFault, PolicyObject, PolicyObjects};
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

/// The facts on which edits are judged, as far as they are available, and the faults of the rest.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) snapshot: Snapshot,
    pub(crate) policies: Policies,
    pub(crate) faults: Vec<Fault>,
    /// The catalogs of the snapshot or the cluster as they are, if files replace the content of some of them. Both
    /// sets share the content of all others.
    pub(crate) current: Option<CurrentCatalogs>,
}

impl Facts {
    /// Adds the contents of bundle images, and the faults found while reading them.
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

    /// Whether a catalog has this name, or may have it: an origin that cannot be read leaves open which catalogs there are.
    pub(crate) fn may_have_catalog(&self, name: &str) -> bool {
        self.snapshot.catalog(name).is_some() || self.faults.iter().any(Fault::is_of_origin)
    }

    /// The facts in the form that judging needs.
    pub(crate) fn basis(&self) -> Basis<'_> {
        Basis {
            snapshot: &self.snapshot,
            policies: &self.policies,
        }
    }
}

/// The catalogs of a snapshot or a cluster as they are, if flags replace the content of some of them.
#[derive(Debug)]
pub(crate) struct CurrentCatalogs {
    pub(crate) snapshot: Snapshot,
    /// The names of the catalogs that flags replace, in the order of the flags.
    pub(crate) given: Vec<String>,
}

/// A source of facts that cannot be read, or a rule that has no effect.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The content of a catalog cannot be read.
    #[error("catalog {}: {why}", go::quote(name))]
    Unreadable { name: String, why: String },
    /// The content of a catalog of the cluster cannot be fetched.
    #[error("catalog {}: {why}", go::quote(name))]
    Unfetched { name: String, why: String },
    /// The `--snapshot` file cannot be read.
    #[error(transparent)]
    Snapshot(ArchiveError),
    /// The cluster cannot be read, with the reason.
    #[error("{0}")]
    Cluster(String),
    /// A `--guardrails` file cannot be read.
    #[error(transparent)]
    Guardrails(GuardrailsFault),
    /// A `--policy` file cannot be read.
    #[error(transparent)]
    Policy(PolicyFileFault),
    /// A policy of the cluster or of the snapshot is too costly together with all others, with the reason.
    #[error("{0}")]
    Costly(String),
    /// A rule is about a package that no catalog has.
    #[error(
        "{title}: no catalog has package {}, so this has no effect{instead}",
        go::quote(package)
    )]
    Stranger {
        title: String,
        package: String,
        instead: String,
    },
    /// The policies of the cluster or of the snapshot cannot be read, with the reason.
    #[error("{0}")]
    Policies(String),
    /// Installed extensions of the cluster or of the snapshot cannot be read, with the reason.
    #[error("{0}")]
    Extensions(String),
    /// Objects of OLM v0 in the cluster cannot be read, with the reason.
    #[error("{0}")]
    Classic(String),
    /// The content of a bundle cannot be read, with the reason.
    #[error("{0}")]
    Bundle(String),
    /// The content of an installed bundle cannot be read, with the reason.
    #[error("{0}")]
    InstalledBundle(String),
    /// The objects of the cluster that a bundle concerns cannot be read, with the reason.
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

/// The sources of all facts.
pub(crate) struct FactsRequest<'a> {
    pub(crate) origin: OpenOrigin,
    /// The catalogs and policies in manifests.
    pub(crate) objects: GivenObjects,
    pub(crate) files: GivenFiles<'a>,
    pub(crate) rules: Rules,
}

/// The conditions for reading facts: the memory limit, and the listener.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'r> {
    pub(crate) memory: &'r Pool,
    pub(crate) listener: &'r dyn FactsListener,
}

/// A listener for events that occur while facts are read.
pub(crate) trait FactsListener: Sync {
    /// Runs work that can take long. Implementations can show its progress.
    fn wait(&self, _progress: &Progress, work: &mut (dyn FnMut() + Send)) {
        work();
    }

    /// Called when the content of a given catalog was read or turned out to be unreadable, with the time it took.
    fn loaded(&self, _name: &str, _content: &Content, _took: Duration) {}

    /// Called when an object of the cluster is ignored, with the reason.
    fn passed_over(&self, _why: &str) {}
}

/// The reason why nothing is judged: a file of rules cannot be used.
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
    /// A policy in an object replaces the one of the same name in the cluster, and a policy in a file replaces both,
    /// so changes can be tried before they are applied.
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
    /// Runs work through the listener, and returns the result.
    fn wait<T: Send>(self, progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
        let (mut work, mut done) = (Some(work), None);
        self.listener
            .wait(progress, &mut || done = work.take().map(|work| work()));
        done.expect("a listener does the work")
    }
}

/// Returns the faults of the rules about packages that no catalog has, which therefore have no effect. A catalog that
/// is not loaded may have any package.
fn strangers(
    guardrails: &AdministratorGuardrails,
    policies: &[NamedPackage],
    snapshot: &Snapshot,
) -> Vec<Fault> {
    let catalogs = snapshot.catalogs().iter();
    let loaded: Option<Vec<_>> = catalogs.map(CatalogState::loaded).collect();
    let Some(loaded) = loaded.filter(|loaded| !loaded.is_empty()) else {
        return Vec::new();
    };
    let names = loaded.iter().flat_map(|catalog| catalog.package_names());
    let names: BTreeSet<_> = names.collect();
    let guarded = guardrails.packages().map(|package| ("guardrails", package));
    let policed = policies.iter();
    let policed = policed.map(|named| (&*named.title, &*named.package));
    let all = guarded.chain(policed);
    let strangers = all.filter(|(_, package)| !names.contains(package));
    let fault = |(title, package): (&str, &str)| Fault::Stranger {
        title: title.to_owned(),
        package: package.to_owned(),
        instead: instead(package, names.iter().copied(), 1),
    };
    strangers.map(fault).collect()
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

    /// The names that flags give and that are not catalogs of the snapshot or the cluster.
    pub(crate) fn added(&self) -> impl Iterator<Item = &str> {
        let names = self.given.iter().map(String::as_str);
        names.filter(|name| self.snapshot.catalog(name).is_none())
    }
}

/// Loads the content of each catalog, in the order of the list.
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
    /// Converts the fault to a finding of the run with this title.
    pub(crate) fn finding(&self, title: &str) -> Finding {
        let severity = if self.is_warning() {
            Severity::Warning
        } else {
            Severity::Error
        };
        Finding::of_run(title, severity, self.to_string())
    }

    /// The fault of a policy that is too costly together with all others. A policy in a file counts as unreadable. A
    /// policy of a cluster or a snapshot is not a fault of the checked files.
    fn costly(fault: Result<PolicyFileFault, String>) -> Self {
        fault.map_or_else(Self::Costly, Self::Policy)
    }

    /// Returns the fault of a catalog's content, if it has one.
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

    /// Whether the fault is only a warning, because no answer may need the fact.
    pub(crate) fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::Unfetched { .. }
                | Self::Costly(_)
                | Self::Stranger { .. }
                | Self::InstalledBundle(_)
        )
    }

    /// Whether the cluster as a whole is unknown.
    pub(crate) fn is_of_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Whether the cluster or the snapshot as a whole is unknown.
    pub(crate) fn is_of_origin(&self) -> bool {
        self.is_of_cluster() || matches!(self, Self::Snapshot(_))
    }

    /// Whether there can be extensions that are not known.
    pub(crate) fn hides_extensions(&self) -> bool {
        self.is_of_origin() || matches!(self, Self::Extensions(_))
    }

    /// The reason why the policies of the cluster or of the snapshot are unknown, if the fault is about them.
    fn unlisted(&self) -> Option<&str> {
        match self {
            Self::Policies(why) => Some(why),
            _ => None,
        }
    }
}

/// Suggests at most `most` of the known names that may have been meant, as the end of a message.
pub(crate) fn instead<'n>(
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
    most: usize,
) -> String {
    let near = nearest(name, known, most).into_iter().map(go::quote);
    match near.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}

// === The facts of a snapshot or a cluster, and the faults of what it should provide ===

/// The facts of a snapshot or a cluster.
#[derive(Debug, Default)]
struct OriginFacts {
    catalogs: Vec<CatalogState>,
    policies: PolicyObjects,
    /// The sources that should provide more and cannot be read.
    faults: Vec<Fault>,
}

/// Extensions as far as they could be read.
#[derive(Debug, Default)]
pub(crate) struct RunningExtensions {
    pub(crate) extensions: Vec<Extension>,
    /// The sources that should provide more and cannot be read.
    pub(crate) faults: Vec<Fault>,
}

impl OriginFacts {
    /// The facts of an origin that could be read.
    fn known(
        catalogs: Vec<CatalogState>,
        mut faults: Vec<Fault>,
        policies: Result<Vec<Value>, String>,
    ) -> Self {
        let objects = policies.unwrap_or_else(|why| {
            faults.push(Fault::Policies(why));
            Vec::new()
        });
        Self {
            policies: objects.iter().map(PolicyObject::of_cluster).collect(),
            catalogs,
            faults,
        }
    }

    /// The facts of an origin that could not be read. A catalog of this name, with any labels, stands in for all.
    fn unknown(name: &str, content: Content, fault: Fault) -> Self {
        let stand_in = CatalogState {
            labels: Labels::Unknown,
            ..CatalogState::named(name, content)
        };
        Self {
            catalogs: vec![stand_in],
            faults: vec![fault],
            ..Self::default()
        }
    }
}

impl RunningExtensions {
    /// Collects the extensions that were read, and the fault of those that could not be listed.
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

/// Reads one object. Unreadable fields of a known version are left to its audit.
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
