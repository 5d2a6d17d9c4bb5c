//! The catalogs of the cluster: the flags for following them, and the tasks that follow them.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use clap::builder::BoolishValueParser;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};
use tracing::{info, warn};

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::cluster::CatalogdArgs;
use crate::cli::args::{FROM_ONE, NamedValue, heading, number, one_of};
use crate::cli::commands::serve::olm::{OlmBoard, OlmFlags};
use crate::cluster::follow::{
    AgeLimit, ContentLoader, FollowConfig, StatusBoard, StatusListener, follow,
};
use crate::cluster::images::{ImagesConfig, read_ahead};
use crate::cluster::{Cluster, catalogs};
use crate::facts::cluster::ClusterRequest;
use crate::facts::contents::RegistryImages;
use crate::source::cache::Cache;
use crate::source::http::RootsError;
use olmguard_catalog::go_duration;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::PreflightMode;
use olmguard_engine::snapshot::{OnOldCatalog, Snapshot};
use olmguard_preflight::content::BundleContents;
use olmguard_server::restart::until_lost;
use olmguard_server::telemetry::Metrics;
use olmguard_server::tls::SystemClock;
use olmguard_server::{Guard, ReadinessCheck};
use olmguard_views::readiness::CheckReadiness;

/// The flags about the catalogs of the cluster.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LiveArgs {
    #[command(flatten)]
    pub(super) catalogd: CatalogdArgs,

    /// Keep catalog content over a restart in this directory
    #[arg(long, value_name = "DIR", help_heading = heading::CATALOGS)]
    cache_dir: Option<PathBuf>,

    /// Maximum size of the cache, in MiB [default: 256]
    #[arg(long, value_name = "MIB", help_heading = heading::CATALOGS, value_parser = number::<NonZeroU64>(FROM_ONE))]
    cache_limit: Option<NonZeroU64>,

    /// Treat a catalog as outdated when its content has not been confirmed current for this long (0s: never)
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "0s",
        value_parser = go_duration::parse,
        help_heading = heading::CATALOGS
    )]
    max_catalog_age: Duration,

    /// What to do with changes that need an outdated catalog [default: warn]
    #[arg(long, value_name = "WHAT", value_parser = one_of(&ON_OLD), help_heading = heading::CATALOGS)]
    on_old_catalog: Option<OnOldCatalog>,

    /// Pull bundles that extensions can be upgraded to, and check them too
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::DECISIONS)]
    pull: bool,
}

/// The catalogs of a cluster, before they are followed.
#[derive(Debug)]
pub(super) struct ClusterCatalogs {
    cluster: Cluster,
    olm: OlmFlags,
    loader: ContentLoader,
    limit: AgeLimit,
    board: Arc<StatusBoard>,
    olm_board: Arc<OlmBoard>,
    /// The memory for images that are read ahead, if this is enabled.
    images: Option<Pool>,
}

impl LiveArgs {
    /// The first of these flags that is given and has no meaning without a cluster.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            self.catalogd.given(),
            self.cache_dir.as_ref().map(|_| "--cache-dir"),
            self.cache_limit.map(|_| "--cache-limit"),
            (!self.max_catalog_age.is_zero()).then_some("--max-catalog-age"),
            self.on_old_catalog.map(|_| "--on-old-catalog"),
            self.pull.then_some("--pull"),
        ];
        given.into_iter().flatten().next()
    }

    /// Checks that each flag can have an effect with this preflight mode.
    pub(super) fn check(&self, preflight: PreflightMode) -> Result<(), UsageError> {
        let never = |flag, without| Err(UsageError::Without { flag, without });
        if self.on_old_catalog.is_some() && self.max_catalog_age.is_zero() {
            return never("--on-old-catalog", "--max-catalog-age");
        }
        if self.cache_limit.is_some() && self.cache_dir.is_none() {
            return never("--cache-limit", "--cache-dir");
        }
        if self.pull && preflight == PreflightMode::Off {
            return Err(UsageError::PullUnchecked);
        }
        Ok(())
    }

    /// Prepares to follow the catalogs of this cluster.
    pub(super) async fn live(
        self,
        cluster: Cluster,
        request: &ClusterRequest,
        olm: OlmFlags,
        memory: Pool,
        metrics: &Metrics,
    ) -> Result<ClusterCatalogs, RootsError> {
        let catalogd = request.catalogd()?;
        let cache = self.cache().await;
        let (client, clock) = (cluster.client.clone(), Arc::new(SystemClock));
        let counts = Arc::clone(&metrics.catalogs);
        let (memory, images) = shared(memory, self.pull);
        Ok(ClusterCatalogs {
            images,
            loader: ContentLoader::new(client, catalogd, cache, clock, counts, memory),
            limit: self.limit(),
            cluster,
            olm,
            board: Arc::default(),
            olm_board: Arc::default(),
        })
    }

    fn limit(&self) -> AgeLimit {
        AgeLimit {
            max: Some(self.max_catalog_age).filter(|max| !max.is_zero()),
            on_old: self.on_old_catalog.unwrap_or_default(),
        }
    }

    /// Opens the cache. It is optional: without it, the server continues.
    async fn cache(&self) -> Option<Cache> {
        let folder = self.cache_dir.clone()?;
        let limit = self.cache_limit.map_or(CACHE_LIMIT, NonZeroU64::get);
        let limit = limit.saturating_mul(1 << 20);
        // Opening may wait for a disk, and this task must keep listening for signals.
        let opened = spawn_blocking(move || Cache::open(&folder, limit)).await;
        let opened = opened.map_err(|error| error.to_string());
        match opened.and_then(|opened| opened.map_err(|error| error.to_string())) {
            Ok((cache, dropped)) => {
                for dropped in dropped {
                    warn!(%dropped, "Removed an unusable file from the catalog cache");
                }
                Some(cache)
            }
            Err(error) => {
                warn!(%error, "Failed to open the catalog cache, continuing without it");
                None
            }
        }
    }
}

impl ClusterCatalogs {
    /// The checks that must pass before this server receives edits.
    pub(super) fn checks(&self) -> Vec<Arc<dyn ReadinessCheck>> {
        let board = &self.board;
        vec![
            Arc::new(WatchCheck(Arc::clone(board))),
            Arc::new(LoadingCheck(Arc::clone(board))),
            Arc::clone(&self.olm_board) as _,
        ]
    }

    /// Starts to follow the catalogs. The guard judges by the latest snapshot. Must be called within a runtime, and
    /// ends with the runtime.
    pub(super) fn begin(self, metrics: Metrics) -> Guard {
        info!(cluster = self.cluster.words, "Watching ClusterCatalogs");
        let snapshot = Arc::new(ArcSwap::default());
        let guard = Guard::new(Arc::clone(&snapshot)).awaiting(self.board.loads_newer());
        tokio::spawn(async move {
            loop {
                let following = self.follow(&metrics, &snapshot);
                until_lost("Catalog watcher", following).await;
            }
        });
        guard
    }

    /// Follows the catalogs until one of the tasks ends, which only a bug in olmguard causes. The facts of the other
    /// tasks may then be outdated, so all tasks end.
    async fn follow(&self, metrics: &Metrics, snapshot: &Arc<ArcSwap<Snapshot>>) {
        let mut tasks = JoinSet::new();
        let client = || self.cluster.client.clone();
        let (events, received) = mpsc::channel(BACKLOG);
        tasks.spawn(catalogs::watch(client(), events));
        let (rules, taken) = mpsc::channel(1);
        let (contents, read) = mpsc::channel(1);
        if let Some(memory) = &self.images {
            let memory = memory.clone();
            let config = images_config(metrics, Arc::clone(snapshot), contents, memory);
            let board = Arc::clone(&self.board);
            let is_ready = move || board.catalogs().is_ok();
            tasks.spawn(read_ahead(client(), is_ready, config));
        }
        let olm = self.olm.clone();
        olm.watch(client(), &self.olm_board, metrics, rules, &mut tasks);
        let terms = FollowConfig {
            limit: self.limit,
            events: received,
            rules: taken,
            contents: read,
            snapshot: Arc::clone(snapshot),
            listener: StatusListener {
                board: Arc::clone(&self.board),
                catalogs: Arc::clone(&metrics.catalogs),
                watches: Arc::clone(&metrics.watches),
                clock: Arc::new(SystemClock),
            },
        };
        tasks.spawn(follow(self.loader.clone(), terms));
        tasks.join_next().await;
    }
}

fn images_config(
    metrics: &Metrics,
    snapshot: Arc<ArcSwap<Snapshot>>,
    contents: mpsc::Sender<Arc<BundleContents>>,
    memory: Pool,
) -> ImagesConfig {
    ImagesConfig {
        source: Arc::new(RegistryImages),
        snapshot,
        contents,
        memory,
        metrics: Arc::clone(&metrics.images),
    }
}

/// The memory for catalogs. If images are read, they get a quarter of it.
fn shared(memory: Pool, with_images: bool) -> (Pool, Option<Pool>) {
    if !with_images {
        return (memory, None);
    }
    let (each, all) = memory.limits();
    let images = all / 4;
    let catalogs = all - images;
    (
        Pool::new(each.min(catalogs), catalogs),
        Some(Pool::new(images, images)),
    )
}

/// The check that the objects are known, or were known once.
#[derive(Debug)]
struct WatchCheck(Arc<StatusBoard>);

/// The check that the catalogs known at the start are loaded, or cannot be loaded for now.
#[derive(Debug)]
struct LoadingCheck(Arc<StatusBoard>);

impl ReadinessCheck for WatchCheck {
    fn readiness(&self) -> CheckReadiness {
        CheckReadiness::new("watch", self.0.watch())
    }
}

impl ReadinessCheck for LoadingCheck {
    fn readiness(&self) -> CheckReadiness {
        let (state, counts) = self.0.loading();
        CheckReadiness {
            catalogs: Some(counts),
            ..CheckReadiness::new("catalogs", state)
        }
    }
}

const ON_OLD: [NamedValue<OnOldCatalog>; 2] = [
    (
        "warn",
        OnOldCatalog::Warn,
        "Check them with its content, and add a warning",
    ),
    ("undecided", OnOldCatalog::Undecided, "Leave them undecided"),
];

/// The default limit in MiB. The content of a catalog takes some hundred KiB; old contents are kept while there is
/// room.
const CACHE_LIMIT: u64 = 256;

/// The number of events that can wait for the follower, which never takes long.
const BACKLOG: usize = 16;
