//! Where the catalogs of a server come from: files that are read once, or the cluster, for good.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;
use tracing::{error, info};

use crate::cli::args::catalogs::{CatalogArgs, CommonArgs, OlmArgs, UsageError};
use crate::cli::args::cluster::ClusterArgs;
use crate::cli::commands::serve::ServeError;
use crate::cli::commands::serve::live::{ClusterCatalogs, LiveArgs};
use crate::cli::commands::serve::olm::OlmFlags;
use crate::cluster::{Caller, Cluster, connect};
use crate::server::{Check, Guard};
use crate::source::{Loader, Progress};
use crate::telemetry::Metrics;
use crate::telemetry::metrics::{CatalogLoad, CatalogMetrics, LoadFailure};
use crate::tls::{Clock as _, SystemClock};
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_views::readiness::{CatalogCounts, CheckFacts, CheckReadiness};

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
    Files(CatalogArgs, Rules, Pool, Arc<FilesCheck>),
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

    /// Whether it is a cluster.
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
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
                let load = move || load(&catalogs, rules, &memory, &check, &counts);
                Ok(Guard::from(spawn_blocking(load).await?))
            }
            Self::Cluster(live) => Ok(live.begin(metrics)),
        }
    }
}

/// What became of the catalogs, for probes. One that cannot be read is no reason not to be ready:
/// edits that need it are undecided, all others are judged.
#[derive(Debug, Default)]
pub(super) struct FilesCheck(OnceLock<(String, CatalogCounts)>);

impl Check for FilesCheck {
    fn readiness(&self) -> CheckReadiness {
        let (state, facts) = match self.0.get() {
            Some((words, counts)) => (Ok(words.clone()), Some(CheckFacts::Catalogs(*counts))),
            None => (Err("being loaded".to_owned()), None),
        };
        CheckReadiness::new("catalogs", state, facts)
    }
}

/// Reads every catalog, which takes as long as they are large.
pub(super) fn load(
    catalogs: &CatalogArgs,
    rules: Rules,
    memory: &Pool,
    check: &FilesCheck,
    metrics: &CatalogMetrics,
) -> Snapshot {
    let progress = Progress::default();
    let mut loader = Loader::new(&rules, &progress, memory);
    let states = catalogs.iter().map(|catalog| {
        let begun = Instant::now();
        let content = catalog.place.load(&mut loader);
        let state = CatalogState::named(&catalog.name, content);
        report(&state, begun.elapsed(), metrics);
        state
    });
    let states: Vec<_> = states.collect();
    // Nobody else has set it: there is one load for one check.
    drop(check.0.set((words(&states), counts(&states))));
    Snapshot::new(rules, states)
}

fn report(catalog: &CatalogState, took: Duration, metrics: &CatalogMetrics) {
    metrics.told(&catalog.name, catalog.serving, catalog.currency);
    match &catalog.content {
        Content::Loaded(content) => {
            let counts = content.counts();
            metrics.loaded(
                &catalog.name,
                &CatalogLoad {
                    at: SystemClock.now(),
                    took,
                    wire_bytes: 0,
                    resident_bytes: content.resident_bytes(),
                    packages: counts.packages,
                    bundles: counts.bundles,
                },
            );
            info!(
                catalog = catalog.name,
                packages = counts.packages,
                bundles = counts.bundles,
                "Loaded catalog"
            );
        }
        Content::Unfetched(why) | Content::Unreadable(why) => {
            metrics.not_loaded(&catalog.name);
            metrics.load_failed(&catalog.name, LoadFailure::Content);
            error!(
                catalog = catalog.name,
                error = why,
                "Failed to load catalog, edits that need it are undecided"
            );
        }
        Content::Missing => {}
    }
}

fn words(catalogs: &[CatalogState]) -> String {
    let unreadable: Vec<_> = unreadable(catalogs)
        .map(|catalog| catalog.name.as_str())
        .collect();
    let CatalogCounts {
        available, loaded, ..
    } = counts(catalogs);
    let words = format!("{loaded} of {available} loaded");
    if unreadable.is_empty() {
        return words;
    }
    format!("{words}; cannot be read: {}", unreadable.join(", "))
}

fn counts(catalogs: &[CatalogState]) -> CatalogCounts {
    let faulty = unreadable(catalogs).count();
    CatalogCounts {
        available: catalogs.len(),
        loaded: catalogs.len() - faulty,
        faulty,
        held_back: 0,
    }
}

fn unreadable(catalogs: &[CatalogState]) -> impl Iterator<Item = &CatalogState> {
    let is_unreadable = |catalog: &&CatalogState| !matches!(catalog.content, Content::Loaded(_));
    catalogs.iter().filter(is_unreadable)
}
