//! A cluster that is read once, for a command: its catalogs, policies, OLM and extensions in their current state. The
//! cluster is not changed.

use std::future::Future;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use kube::Client;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::olm::{OlmError, OlmRequest, RulesAndWarnings};
use super::{Fault, OriginFacts, Reading, RunningExtensions, read_extension};
use crate::cluster::bundle_objects::{self, ClusterObjectsError, SoughtObjects};
use crate::cluster::catalogs::CatalogsError;
use crate::cluster::extensions::{self, ExtensionState, ListedExtensions};
use crate::cluster::look::{self, ClassicListError, ClusterReader, ClusterState, ListedCatalog};
use crate::cluster::olm::{self, FindError, RunningOlm};
use crate::cluster::policies::{self, PoliciesError};
use crate::cluster::{Access, Caller, ConnectError, connect};
use crate::source::Progress;
use crate::source::archive::FetchedContent;
use crate::source::catalogd::Catalogd;
use crate::source::http::{FetchLimits, RootsError};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content};
use olmguard_preflight::content::BundleContents;

/// The cluster to read, and the settings for that.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterRequest {
    pub(crate) access: Access,
    /// The namespace of operator-controller, if it is known.
    pub(crate) olm_namespace: Option<String>,
    /// A file or a directory with the CA certificates of catalogd.
    pub(crate) catalogd_ca: Option<PathBuf>,
}

impl ClusterRequest {
    /// Creates the client of catalogd, which reads the CA certificates.
    pub(crate) fn catalogd(&self) -> Result<Catalogd, RootsError> {
        Catalogd::new(self.catalogd_ca.as_deref(), FetchLimits::default())
    }
}

/// A cluster with its address and credentials, and the runtime for requests to it.
pub(crate) struct OpenCluster {
    runtime: Runtime,
    client: Client,
    /// A one-line description of the cluster.
    words: String,
    olm_namespace: Option<String>,
    reader: ClusterReader,
}

/// The reason why the catalogs of a cluster cannot be read, with the description of the cluster.
#[derive(Debug, thiserror::Error)]
#[error("{error} (cluster: {cluster})")]
pub(crate) struct ClusterCatalogsError {
    error: CatalogsError,
    cluster: String,
}

/// The reason why a cluster cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterRequestError {
    #[error(transparent)]
    Cluster(#[from] ConnectError),
    #[error("--catalogd-ca: {0}")]
    Catalogd(#[from] RootsError),
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

/// A cluster as the origin of facts, with its OLM; or the reason why it cannot be reached.
pub(crate) struct ClusterOrigin(Result<KnownCluster, ClusterRequestError>);

/// A cluster that was found, and its OLM.
struct KnownCluster {
    cluster: OpenCluster,
    olm: Result<RunningOlm, FindError>,
}

impl ClusterOrigin {
    /// Finds the cluster and its OLM.
    ///
    /// # Errors
    /// If the request is wrong. A cluster that cannot be reached is still an origin: answers that need it are
    /// undecided.
    pub(super) fn open(request: &ClusterRequest) -> Result<Self, ClusterRequestError> {
        let known = OpenCluster::open(request).map(|cluster| KnownCluster {
            olm: cluster.olm(),
            cluster,
        });
        match known {
            Err(error) if !error.is_unreachable() => Err(error),
            known => Ok(Self(known)),
        }
    }

    /// Returns the rules of the requested OLM; otherwise of the OLM in the cluster, otherwise of the newest release.
    pub(super) fn rules(&self, request: &OlmRequest) -> Result<RulesAndWarnings, OlmError> {
        match &self.0 {
            Ok(known) => request.in_cluster(&known.olm),
            Err(_) => Ok((request.rules()?, Vec::new())),
        }
    }

    /// Returns the state of each extension with these names, in their order; empty if the cluster cannot be reached.
    pub(crate) fn standings(&self, names: Vec<String>) -> Vec<ExtensionState> {
        let known = self.0.as_ref().ok();
        known.map_or_else(Vec::new, |known| known.cluster.standings(names))
    }

    /// Returns all extensions; none if the cluster cannot be reached, which is a fault of its catalogs.
    pub(super) fn extensions(&self) -> RunningExtensions {
        let Ok(known) = &self.0 else {
            return RunningExtensions::default();
        };
        let listed = known.cluster.extensions(|object| read_extension(&object));
        let ListedExtensions { all, fault, .. } = listed;
        let rest = fault.map(|fault| Fault::Extensions(fault.to_string()));
        RunningExtensions::of(all, rest)
    }

    /// Passes every object of OLM v0 to `take`, and returns the faults of those that cannot be listed. An unreachable
    /// cluster is a fault of its catalogs.
    pub(super) fn classic(&self, take: impl FnMut(Value)) -> Vec<Fault> {
        let Ok(known) = &self.0 else {
            return Vec::new();
        };
        let errors = known.cluster.classic(take).into_iter();
        errors
            .map(|error| Fault::Classic(error.to_string()))
            .collect()
    }

    /// Returns the reason if the cluster cannot be reached.
    pub(super) fn into_fault(self) -> Option<Fault> {
        let error = self.0.err()?;
        Some(Fault::Cluster(error.to_string()))
    }

    /// Loads all catalogs and policies. If the cluster cannot be reached, one catalog stands in for all.
    pub(super) fn load(
        self,
        rules: &Rules,
        is_given: impl Fn(&str) -> bool,
        reading: Reading<'_>,
    ) -> OriginFacts {
        match self.catalogs(rules, reading) {
            Ok((cluster, catalogs)) => known(&cluster, catalogs, is_given),
            Err(why) => {
                let content = Content::Unfetched(why.clone());
                OriginFacts::unknown(FLAG, content, Fault::Cluster(why))
            }
        }
    }

    fn catalogs(
        self,
        rules: &Rules,
        reading: Reading<'_>,
    ) -> Result<(OpenCluster, Vec<CatalogState>), String> {
        let KnownCluster { cluster, .. } = self.0.map_err(|error| error.to_string())?;
        let catalogs = cluster.catalogs(rules, reading);
        let catalogs = catalogs.map_err(|error| error.to_string())?;
        Ok((cluster, catalogs))
    }
}

fn known(
    cluster: &OpenCluster,
    catalogs: Vec<CatalogState>,
    is_given: impl Fn(&str) -> bool,
) -> OriginFacts {
    let own = catalogs.iter().filter(|state| !is_given(&state.name));
    let faults = own.filter_map(|state| Fault::of(&state.name, &state.content));
    let faults = faults.collect();
    let policies = cluster.policies().map_err(|error| error.to_string());
    OriginFacts::known(catalogs, faults, policies)
}

impl OpenCluster {
    /// Opens a connection to the cluster. Whether the API server answers is not known yet.
    pub(crate) fn open(request: &ClusterRequest) -> Result<Self, ClusterRequestError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let catalogd = request.catalogd()?;
        let cluster = runtime.block_on(connect(&request.access, Caller::Command))?;
        Ok(Self {
            reader: ClusterReader::new(cluster.client.clone(), catalogd),
            olm_namespace: request.olm_namespace.clone(),
            client: cluster.client,
            words: cluster.words,
            runtime,
        })
    }

    /// Finds the OLM in the requested namespace, otherwise where OLM and OpenShift install it.
    pub(crate) fn olm(&self) -> Result<RunningOlm, FindError> {
        let namespace = self.olm_namespace.as_deref();
        self.runtime.block_on(olm::find(&self.client, namespace))
    }

    fn standings(&self, names: Vec<String>) -> Vec<ExtensionState> {
        let client = self.client.clone();
        self.runtime.block_on(extensions::standings(client, names))
    }

    /// Lists all extensions with their status, converted by `read`.
    pub(crate) fn extensions<T>(&self, read: impl Fn(Value) -> T) -> ListedExtensions<T> {
        let client = self.client.clone();
        self.runtime.block_on(extensions::list(client, read))
    }

    fn classic(&self, take: impl FnMut(Value)) -> Vec<ClassicListError> {
        let client = self.client.clone();
        self.runtime.block_on(look::classic_objects(client, take))
    }

    /// Adds the facts about these bundles that the cluster has.
    pub(super) fn bundle_objects(
        &self,
        contents: &BundleContents,
        sought: &SoughtObjects,
        minor: u8,
    ) -> Result<(BundleContents, Option<ClusterObjectsError>), ClusterObjectsError> {
        let client = self.client.clone();
        let found = bundle_objects::of_bundles(client, contents, sought, minor);
        self.runtime.block_on(found)
    }

    /// Lists all `UpgradePolicy` and `UpgradeGuardrails` objects, as written.
    pub(crate) fn policies(&self) -> Result<Vec<Value>, PoliciesError> {
        self.runtime.block_on(policies::list(&self.client))
    }

    /// Loads all catalogs, with their content read by these rules.
    pub(crate) fn catalogs(
        &self,
        rules: &Rules,
        reading: Reading<'_>,
    ) -> Result<Vec<CatalogState>, ClusterCatalogsError> {
        let progress = Arc::<Progress>::default();
        let catalogs = self.reader.catalogs(rules, reading.memory, &progress);
        let listed = self.listed(&progress, reading, catalogs)?;
        let state = |listed: ListedCatalog<_>| CatalogState {
            content: listed.content.map_or(listed.state.content, Content::Loaded),
            ..listed.state
        };
        Ok(listed.into_iter().map(state).collect())
    }

    /// Loads all catalogs, with their content as fetched.
    pub(crate) fn contents(
        &self,
        reading: Reading<'_>,
    ) -> Result<Vec<ListedCatalog<FetchedContent>>, ClusterCatalogsError> {
        let progress = Arc::<Progress>::default();
        let counted = Arc::clone(&progress);
        let read =
            move |name: &str, body: &mut dyn Read| FetchedContent::read_from(name, body, &counted);
        self.listed(&progress, reading, self.reader.look(read))
    }

    /// Waits for the catalogs, and sorts them in byte order of their names.
    fn listed<T: Send>(
        &self,
        progress: &Progress,
        reading: Reading<'_>,
        catalogs: impl Future<Output = Result<ClusterState<T>, CatalogsError>> + Send,
    ) -> Result<Vec<ListedCatalog<T>>, ClusterCatalogsError> {
        let ClusterState {
            mut catalogs,
            unnamed,
        } = reading
            .wait(progress, || self.runtime.block_on(catalogs))
            .map_err(|error| ClusterCatalogsError {
                error,
                cluster: self.words.clone(),
            })?;
        for unnamed in unnamed {
            reading.listener.passed_over(&unnamed.0);
        }
        catalogs.sort_by(|one, other| one.state.name.cmp(&other.state.name));
        Ok(catalogs)
    }
}

impl ClusterRequestError {
    /// Whether the request is right as far as is known, and only the cluster cannot be reached.
    pub(crate) fn is_unreachable(&self) -> bool {
        let Self::Cluster(error) = self else {
            return false;
        };
        !matches!(
            error,
            ConnectError::Missing { .. }
                | ConnectError::NoContext { .. }
                | ConnectError::UnknownContext { .. }
                | ConnectError::Interrupted(_)
        )
    }
}

/// The name of the catalog that stands in for a cluster. No object can have this name.
const FLAG: &str = "--from-cluster";
