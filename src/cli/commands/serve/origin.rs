//! The origin of the catalogs of a server: places that are read once, or a cluster that is watched.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tracing::{error, info};

use crate::cli::args::catalogs::{CommonArgs, UsageError};
use crate::cli::args::cluster::ClusterArgs;
use crate::cli::commands::serve::ServeError;
use crate::cli::commands::serve::live::{ClusterCatalogs, LiveArgs};
use crate::cli::commands::serve::olm::OlmFlags;
use crate::cluster::{Caller, Cluster, connect};
use crate::facts::cluster::ClusterRequest;
use crate::facts::given::GivenObjects;
use crate::facts::origin::OpenOrigin;
use crate::facts::{FactsListener, FactsRequest, GivenFiles, GivenFilesError, Reading};
use crate::source::CatalogSource;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::{PreflightMode, Rules};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::metrics::{CatalogLoad, CatalogMetrics, LoadFailure};
use olmguard_server::tls::{Clock as _, SystemClock};
use olmguard_server::{Guard, ReadinessCheck};
use olmguard_views::readiness::{CatalogCounts, CheckReadiness};

/// The origin of the catalogs, once the flags are known to be consistent.
#[derive(Debug)]
pub(super) enum CatalogsOrigin {
    /// Places that are read once, with these rules.
    Given(Vec<CatalogSource>, Rules),
    Cluster(Box<FollowedCluster>),
}

/// The settings for following the catalogs of a cluster.
#[derive(Debug)]
pub(super) struct FollowedCluster {
    cluster: ClusterRequest,
    olm: OlmFlags,
    live: LiveArgs,
}

/// The catalogs with everything that is needed to read or follow them.
#[derive(Debug)]
pub(super) enum CatalogsSource {
    Given(GivenCatalogs),
    Cluster(Box<ClusterCatalogs>),
}

/// Catalogs that are read once.
#[derive(Debug)]
pub(super) struct GivenCatalogs {
    catalogs: Vec<CatalogSource>,
    rules: Rules,
    memory: Pool,
    check: Arc<GivenCheck>,
}

impl CatalogsOrigin {
    /// The origin that the flags name, or an error if they contradict each other. `other` is a further flag that is
    /// given and has no meaning without a cluster.
    pub(super) fn of(
        common: &CommonArgs,
        cluster: &ClusterArgs,
        live: LiveArgs,
        preflight: PreflightMode,
        other: Option<&'static str>,
    ) -> Result<Self, UsageError> {
        let olm = common.olm.request();
        if common.catalog.is_empty() {
            olm.check()?;
            live.check(preflight)?;
            let cluster = live.catalogd.request(cluster);
            let olm = OlmFlags {
                request: olm,
                namespace: cluster.olm_namespace.clone(),
                preflight,
            };
            let followed = FollowedCluster { cluster, olm, live };
            return Ok(Self::Cluster(Box::new(followed)));
        }
        match cluster.given().or(live.given()).or(other) {
            None => {
                let rules = olm.rules()?.with_preflight(preflight);
                Ok(Self::Given(common.catalog.sources().to_vec(), rules))
            }
            Some(flag) => Err(UsageError::ClusterBesideFiles { flag }),
        }
    }

    /// Whether the origin is a cluster.
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Prepares the catalogs, and connects to the cluster if there is one.
    pub(super) async fn ready(
        self,
        memory: Pool,
        metrics: &Metrics,
    ) -> Result<(CatalogsSource, Option<Cluster>), ServeError> {
        match self {
            Self::Given(catalogs, rules) => {
                let given = GivenCatalogs {
                    catalogs,
                    rules,
                    memory,
                    check: Arc::default(),
                };
                Ok((CatalogsSource::Given(given), None))
            }
            Self::Cluster(followed) => {
                let FollowedCluster { cluster, olm, live } = *followed;
                let found = connect(&cluster.access, Caller::Server).await?;
                let live = live.live(found.clone(), &cluster, olm, memory, metrics);
                Ok((CatalogsSource::Cluster(Box::new(live.await?)), Some(found)))
            }
        }
    }
}

impl CatalogsSource {
    /// The checks that must pass before this server receives edits.
    pub(super) fn checks(&self) -> Vec<Arc<dyn ReadinessCheck>> {
        match self {
            Self::Given(given) => vec![Arc::clone(&given.check) as _],
            Self::Cluster(live) => live.checks(),
        }
    }

    /// A guard that judges edits by these catalogs. Given catalogs are read first, which takes time if they are large.
    pub(super) async fn guard(self, metrics: Metrics) -> Result<Guard, ServeError> {
        match self {
            Self::Given(given) => {
                let snapshot = spawn_blocking(move || given.load(&metrics.catalogs)).await;
                Ok(Guard::from(snapshot.map_err(io::Error::from)??))
            }
            Self::Cluster(live) => Ok(live.begin(metrics)),
        }
    }
}

impl GivenCatalogs {
    /// Reads every catalog.
    fn load(self, metrics: &CatalogMetrics) -> Result<Snapshot, GivenFilesError> {
        let request = FactsRequest {
            origin: OpenOrigin::Given,
            objects: GivenObjects::default(),
            files: GivenFiles {
                catalogs: &self.catalogs,
                ..GivenFiles::default()
            },
            rules: self.rules,
        };
        let facts = request.load(Reading {
            memory: &self.memory,
            listener: &LoadReporter(metrics),
        })?;
        let states = facts.snapshot.catalogs();
        // The cell is always empty here, because each check has only one load.
        drop(self.check.0.set((words(states), counts(states))));
        Ok(facts.snapshot)
    }
}

/// The state of given catalogs, for probes. A catalog that cannot be read does not make the server unready: edits that
/// need it are undecided, and all others are judged.
#[derive(Debug, Default)]
struct GivenCheck(OnceLock<(String, CatalogCounts)>);

impl ReadinessCheck for GivenCheck {
    fn readiness(&self) -> CheckReadiness {
        let known = self.0.get();
        let words = known.map(|(words, _)| words.clone());
        CheckReadiness {
            catalogs: known.map(|(_, counts)| *counts),
            ..CheckReadiness::new("catalogs", words.ok_or_else(|| "being loaded".to_owned()))
        }
    }
}

/// Reports each catalog to the log and the metrics as soon as it is read.
struct LoadReporter<'m>(&'m CatalogMetrics);

impl FactsListener for LoadReporter<'_> {
    fn loaded(&self, name: &str, content: &Content, took: Duration) {
        report(&CatalogState::named(name, content.clone()), took, self.0);
    }
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
