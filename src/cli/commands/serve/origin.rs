//! Where the catalogs of a server come from: files that are read once, or the cluster, for good.

use std::io;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::cli::args::catalogs::{CatalogArgs, CommonArgs, OlmArgs, UsageError};
use crate::cli::args::cluster::ClusterArgs;
use crate::cli::commands::serve::ServeError;
use crate::cli::commands::serve::catalogs::{self, CatalogsCheck};
use crate::cli::commands::serve::live::{ClusterCatalogs, LiveArgs};
use crate::cli::commands::serve::olm::OlmFlags;
use crate::cluster::{Caller, Cluster, connect};
use crate::server::{Check, Guard};
use crate::telemetry::Metrics;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;

/// What flags say of it, once they are known to agree.
#[derive(Debug)]
pub(super) enum CatalogsOrigin {
    Files(CatalogArgs, Rules),
    Cluster(Box<FollowedCluster>),
}

/// How the cluster's catalogs are followed.
#[derive(Debug)]
pub(super) struct FollowedCluster {
    olm: OlmArgs,
    cluster: ClusterArgs,
    live: LiveArgs,
}

/// The same, with everything that it needs.
#[derive(Debug)]
pub(super) enum CatalogsSource {
    Files(CatalogArgs, Rules, Pool, Arc<CatalogsCheck>),
    Cluster(Box<ClusterCatalogs>),
}

impl CatalogsOrigin {
    /// What the flags say together, or which of them contradict each other. `other` is a further flag that is given
    /// and means nothing without a cluster.
    pub(super) fn of(
        common: CommonArgs,
        cluster: ClusterArgs,
        live: LiveArgs,
        other: Option<&'static str>,
    ) -> Result<Self, UsageError> {
        let CommonArgs { catalog, olm } = common;
        if catalog.is_empty() {
            olm.check()?;
            live.check()?;
            return Ok(Self::Cluster(Box::new(FollowedCluster {
                olm,
                cluster,
                live,
            })));
        }
        match cluster.given().or(live.given()).or(other) {
            None => Ok(Self::Files(catalog, olm.rules()?)),
            Some(flag) => Err(UsageError::ClusterBesideFiles { flag }),
        }
    }

    /// Gets ready, and finds the cluster if there is one.
    pub(super) async fn ready(
        self,
        memory: Pool,
        metrics: &Metrics,
    ) -> Result<(CatalogsSource, Option<Cluster>), ServeError> {
        let following = match self {
            Self::Files(catalogs, rules) => {
                let check = Arc::default();
                return Ok((CatalogsSource::Files(catalogs, rules, memory, check), None));
            }
            Self::Cluster(following) => *following,
        };
        let FollowedCluster { olm, cluster, live } = following;
        let found = connect(&cluster.access(), Caller::Server).await?;
        let asked = OlmFlags {
            args: olm,
            namespace: cluster.olm_namespace(),
        };
        let live = live.live(found.clone(), asked, memory, metrics).await?;
        Ok((CatalogsSource::Cluster(Box::new(live)), Some(found)))
    }
}

impl CatalogsSource {
    /// What must be well for edits to be sent here.
    pub(super) fn checks(&self) -> Vec<Arc<dyn Check>> {
        match self {
            Self::Files(_, _, _, check) => vec![Arc::clone(check) as _],
            Self::Cluster(live) => live.checks(),
        }
    }

    /// Who judges: files are read first, which takes as long as they are large.
    pub(super) async fn guard(self, metrics: Metrics) -> io::Result<Guard> {
        match self {
            Self::Files(catalogs, rules, memory, check) => {
                let counts = metrics.catalogs;
                let load = move || catalogs::load(&catalogs, rules, &memory, &check, &counts);
                Ok(Guard::from(spawn_blocking(load).await?))
            }
            Self::Cluster(live) => Ok(live.begin(metrics)),
        }
    }
}
