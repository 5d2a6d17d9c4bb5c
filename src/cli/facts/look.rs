//! One look at a cluster, by a command of a person or a pipeline; nothing in it is changed.

use std::io::{self, Read};
use std::sync::Arc;

use kube::Client;
use tokio::runtime::Runtime;

use crate::cli::Exit;
use crate::cli::args::cluster::{CatalogdArgs, ClusterArgs};
use crate::cli::args::memory;
use crate::cli::output::progress;
use crate::cluster::catalogs::CatalogsError;
use crate::cluster::extensions::{self, Standing};
use crate::cluster::look::{ClusterReader, ClusterState, ListedCatalog};
use crate::cluster::olm::{self, FindError, RunningOlm};
use crate::cluster::{Caller, ConnectError, connect};
use crate::source::catalogd::CatalogdError;
use crate::source::{Progress, SourceError, finished, read_fetched};
use olmguard_catalog::CatalogBuilder;
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

/// A cluster that is looked at.
pub(crate) struct View {
    runtime: Runtime,
    client: Client,
    lookout: ClusterReader,
    namespace: Option<String>,
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
    /// A flag of these that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.cluster.given().or(self.catalogd.given())
    }
}

impl View {
    /// Finds the cluster; whether anybody answers there is not asked.
    pub(crate) fn open(args: &LookArgs) -> Result<Self, LookError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let catalogd = args.catalogd.catalogd()?;
        let cluster = runtime.block_on(connect(&args.cluster.access(), Caller::Command))?;
        let client = cluster.client;
        Ok(Self {
            lookout: ClusterReader::new(client.clone(), catalogd),
            client,
            runtime,
            namespace: args.cluster.olm_namespace(),
        })
    }

    /// The OLM that runs there.
    pub(crate) fn olm(&self) -> Result<RunningOlm, FindError> {
        let found = olm::find(&self.client, self.namespace.as_deref());
        self.runtime.block_on(found)
    }

    /// Every catalog, its content read by these rules.
    pub(crate) fn catalogs(&self, rules: &Rules) -> Result<Vec<CatalogState>, CatalogsError> {
        let rules = rules.clone();
        let seen = self.look(move |name, body, progress| {
            let account = memory::of_commands().account();
            let mut builder = CatalogBuilder::within(&rules, account);
            read_fetched(name, body, progress, &mut builder)?;
            Ok(Arc::new(finished(name, builder)?))
        })?;
        let state = |seen: ListedCatalog<_>| CatalogState {
            content: seen.content.map_or(seen.state.content, Content::Loaded),
            ..seen.state
        };
        Ok(seen.into_iter().map(state).collect())
    }

    /// Every catalog, in byte order of the names, with what `read` makes of its content. It shows how
    /// far it is; what is no catalog is said.
    pub(crate) fn look<T, F>(&self, read: F) -> Result<Vec<ListedCatalog<T>>, CatalogsError>
    where
        T: Send + 'static,
        F: Fn(&str, &mut dyn Read, &Progress) -> Result<T, SourceError> + Clone + Send + 'static,
    {
        let progress = Arc::<Progress>::default();
        let counted = Arc::clone(&progress);
        let read = move |name: &str, body: &mut dyn Read| read(name, body, &counted);
        let look = || self.runtime.block_on(self.lookout.look(read));
        let ClusterState {
            mut catalogs,
            unnamed,
        } = progress::shown(&progress, look)?;
        for unnamed in unnamed {
            crate::cli::warn(&unnamed.0);
        }
        catalogs.sort_by(|one, other| one.state.name.cmp(&other.state.name));
        Ok(catalogs)
    }

    /// What the cluster says of each extension of these names, in their order.
    pub(crate) fn standings(&self, names: Vec<String>) -> Vec<Standing> {
        let standings = extensions::standings(self.client.clone(), names);
        self.runtime.block_on(standings)
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
