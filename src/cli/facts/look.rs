//! One look at a cluster, by a command of a person or a pipeline; nothing in it is changed.

use std::future::Future;
use std::io::{self, Read};
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::cli::Exit;
use crate::cli::args::cluster::{CatalogdArgs, ClusterArgs};
use crate::cli::args::memory;
use crate::cli::output::progress;
use crate::cluster::catalogs::CatalogsError;
use crate::cluster::extensions::{ExtensionState, ListedExtensions};
use crate::cluster::look::{ClusterReader, ClusterState, ListedCatalog};
use crate::cluster::olm::{FindError, RunningOlm};
use crate::cluster::policies::PoliciesError;
use crate::cluster::{Caller, ConnectError, connect};
use crate::source::Progress;
use crate::source::archive::FetchedContent;
use crate::source::catalogd::CatalogdError;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content};

/// Which cluster is looked at, and how.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    cluster: ClusterArgs,

    #[command(flatten)]
    catalogd: CatalogdArgs,
}

/// A cluster that a command asks, and the runtime that it waits on.
pub(crate) struct AskedCluster {
    runtime: Runtime,
    reader: ClusterReader,
}

/// Why there is none to look at.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookError {
    #[error(transparent)]
    Cluster(#[from] ConnectError),
    #[error("--catalogd-ca: {0}")]
    Catalogd(#[from] CatalogdError),
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

impl LookArgs {
    /// A cluster, for a command that fetches no content of catalogs.
    pub(crate) fn of_cluster(cluster: ClusterArgs) -> Self {
        let catalogd = CatalogdArgs::default();
        Self { cluster, catalogd }
    }

    /// The same in another context of the kubeconfig.
    pub(crate) fn of_context(&self, context: &str) -> Self {
        Self {
            cluster: self.cluster.of_context(context),
            catalogd: self.catalogd.clone(),
        }
    }

    /// A flag of these that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.cluster.given().or(self.catalogd.given())
    }
}

impl AskedCluster {
    /// Finds the cluster; whether anybody answers there is not asked.
    pub(crate) fn open(args: &LookArgs) -> Result<Self, LookError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let catalogd = args.catalogd.catalogd()?;
        let cluster = runtime.block_on(connect(&args.cluster.access(), Caller::Command))?;
        let namespace = args.cluster.olm_namespace();
        Ok(Self {
            reader: ClusterReader::new(cluster.client, catalogd, namespace),
            runtime,
        })
    }

    /// The OLM that runs there.
    pub(crate) fn olm(&self) -> Result<RunningOlm, FindError> {
        self.runtime.block_on(self.reader.olm())
    }

    /// What the cluster says of each extension of these names, in their order.
    pub(crate) fn standings(&self, names: Vec<String>) -> Vec<ExtensionState> {
        self.runtime.block_on(self.reader.standings(names))
    }

    /// What `read` makes of every extension, each with its status.
    pub(crate) fn extensions<T>(&self, read: impl Fn(Value) -> T) -> ListedExtensions<T> {
        self.runtime.block_on(self.reader.extensions(read))
    }

    /// Every `UpgradePolicy` and `UpgradeGuardrails` object, as written.
    pub(crate) fn policies(&self) -> Result<Vec<Value>, PoliciesError> {
        self.runtime.block_on(self.reader.policies())
    }

    /// Every catalog, its content read by these rules.
    pub(crate) fn catalogs(&self, rules: &Rules) -> Result<Vec<CatalogState>, CatalogsError> {
        let progress = Arc::<Progress>::default();
        let catalogs = self
            .reader
            .catalogs(rules, memory::of_commands(), &progress);
        let listed = self.shown(&progress, catalogs)?;
        let state = |listed: ListedCatalog<_>| CatalogState {
            content: listed.content.map_or(listed.state.content, Content::Loaded),
            ..listed.state
        };
        Ok(listed.into_iter().map(state).collect())
    }

    /// Every catalog, its content as it is fetched.
    pub(crate) fn contents(&self) -> Result<Vec<ListedCatalog<FetchedContent>>, CatalogsError> {
        let progress = Arc::<Progress>::default();
        let counted = Arc::clone(&progress);
        let read =
            move |name: &str, body: &mut dyn Read| FetchedContent::read_from(name, body, &counted);
        self.shown(&progress, self.reader.look(read))
    }

    /// Waits for catalogs, and puts them into byte order of the names. It shows how far that is; what is no
    /// catalog is said.
    fn shown<T: Send>(
        &self,
        progress: &Progress,
        catalogs: impl Future<Output = Result<ClusterState<T>, CatalogsError>> + Send,
    ) -> Result<Vec<ListedCatalog<T>>, CatalogsError> {
        let wait = || self.runtime.block_on(catalogs);
        let ClusterState {
            mut catalogs,
            unnamed,
        } = progress::shown(progress, wait)?;
        for unnamed in unnamed {
            crate::cli::warn(&unnamed.0);
        }
        catalogs.sort_by(|one, other| one.state.name.cmp(&other.state.name));
        Ok(catalogs)
    }
}

impl LookError {
    /// What was named and is not there is wrong usage; a cluster that is not to be had is not.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Cluster(
                ConnectError::Missing { .. }
                | ConnectError::NoContext { .. }
                | ConnectError::UnknownContext { .. },
            )
            | Self::Catalogd(_) => Exit::Usage,
            Self::Cluster(ConnectError::Interrupted(_)) | Self::System(_) => Exit::Internal,
            Self::Cluster(_) => Exit::Undecided,
        }
    }
}
