//! The catalogs of the cluster: flags about how they are followed, and the tasks that do it.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use clap::ValueEnum;
use tokio::sync::mpsc;
use tracing::{info, warn};

use crate::cli::cluster::CatalogdArgs;
use crate::cli::common::UsageError;
use crate::cli::serve::olm::{self, Asked, OlmBoard};
use crate::cluster::follow::{AgeLimit, Audience, Board, Loader, Terms, follow};
use crate::cluster::{Cluster, catalogs};
use crate::go_duration;
use crate::server::{Check, Guard};
use crate::snapshot::OnOldCatalog;
use crate::source::cache::Cache;
use crate::source::catalogd::CatalogdError;
use crate::telemetry::Metrics;
use crate::tls::SystemClock;

/// The flags about the catalogs of the cluster.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LiveArgs {
    #[command(flatten)]
    catalogd: CatalogdArgs,

    /// A folder of this process alone that keeps the content of catalogs over a restart
    #[arg(long, env = "OLMGUARD_CACHE_DIR", value_name = "FOLDER")]
    cache_dir: Option<PathBuf>,

    /// How much the folder may hold, in MiB
    #[arg(
        long,
        env = "OLMGUARD_CACHE_LIMIT",
        value_name = "MIB",
        default_value = "256"
    )]
    cache_limit: NonZeroU64,

    /// How long ago the cluster may have said that the content held of a catalog is what it has; 0s
    /// for any time
    #[arg(long, env = "OLMGUARD_MAX_CATALOG_AGE", value_name = "DURATION", default_value = "0s", value_parser = go_duration::parse)]
    max_catalog_age: Duration,

    /// What becomes of edits that need a catalog for which that is longer ago
    #[arg(
        long,
        env = "OLMGUARD_ON_OLD_CATALOG",
        value_name = "WHAT",
        value_enum,
        default_value_t
    )]
    on_old_catalog: OnOld,
}

/// [`OnOldCatalog`] as a flag.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum OnOld {
    /// They are judged by it, with a warning
    #[default]
    Warn,
    /// They are undecided
    Undecided,
}

/// The catalogs of a cluster, about to be followed.
#[derive(Debug)]
pub(super) struct Live {
    cluster: Cluster,
    olm: Asked,
    loader: Loader,
    limit: AgeLimit,
    board: Arc<Board>,
    olm_board: Arc<OlmBoard>,
}

impl LiveArgs {
    /// A flag of these that means nothing without a cluster, and is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            self.catalogd.given(),
            self.cache_dir.as_ref().map(|_| "--cache-dir"),
            (!self.max_catalog_age.is_zero()).then_some("--max-catalog-age"),
        ];
        given.into_iter().flatten().next()
    }

    /// Whether what is said of old catalogs can ever matter.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        if self.on_old_catalog == OnOld::Undecided && self.max_catalog_age.is_zero() {
            return Err(UsageError::NeverOld);
        }
        Ok(())
    }

    /// Gets ready to follow the catalogs of this cluster.
    pub(super) fn live(self, cluster: Cluster, olm: Asked) -> Result<Live, CatalogdError> {
        let catalogd = self.catalogd.catalogd()?;
        let cache = self.cache();
        let clock = Arc::new(SystemClock);
        Ok(Live {
            loader: Loader::new(cluster.client.clone(), catalogd, cache, clock),
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
            on_old: match self.on_old_catalog {
                OnOld::Warn => OnOldCatalog::Warn,
                OnOld::Undecided => OnOldCatalog::Undecided,
            },
        }
    }

    /// The cache is a help, never a must: whoever cannot have one goes on without.
    fn cache(&self) -> Option<Cache> {
        let folder = self.cache_dir.as_deref()?;
        let limit = self.cache_limit.get().saturating_mul(1 << 20);
        match Cache::open(folder, limit) {
            Ok((cache, dropped)) => {
                for dropped in dropped {
                    warn!(%dropped, "Dropped a file of the cache");
                }
                Some(cache)
            }
            Err(error) => {
                warn!(%error, "Goes on without a cache");
                None
            }
        }
    }
}

impl Live {
    /// What must be well for edits to be sent here.
    pub(super) fn checks(&self) -> Vec<Arc<dyn Check>> {
        let board = &self.board;
        vec![
            Arc::new(WatchCheck(Arc::clone(board))),
            Arc::new(CatalogsCheck(Arc::clone(board))),
            Arc::clone(&self.olm_board) as _,
        ]
    }

    /// Begins to follow; whoever judges sees the snapshot of the moment. It must be called within a
    /// runtime, whose end is that of the following.
    pub(super) fn begin(self, metrics: &Metrics) -> Guard {
        let client = self.cluster.client;
        info!(
            cluster = self.cluster.words,
            "Follows the catalogs of the cluster"
        );
        let (events, received) = mpsc::channel(BACKLOG);
        tokio::spawn(catalogs::watch(client.clone(), events));
        let rules = olm::watch(
            client,
            self.olm,
            self.olm_board,
            Arc::clone(&metrics.watches),
        );
        let snapshot = Arc::new(ArcSwap::default());
        let terms = Terms {
            limit: self.limit,
            events: received,
            rules,
            snapshot: Arc::clone(&snapshot),
            audience: Audience {
                board: self.board,
                catalogs: Arc::clone(&metrics.catalogs),
                watches: Arc::clone(&metrics.watches),
                clock: Arc::new(SystemClock),
            },
        };
        tokio::spawn(follow(self.loader, terms));
        Guard::new(snapshot)
    }
}

/// The objects are known, or were once.
#[derive(Debug)]
struct WatchCheck(Arc<Board>);

/// What was there at the start is loaded, or will not be for now.
#[derive(Debug)]
struct CatalogsCheck(Arc<Board>);

impl Check for WatchCheck {
    fn name(&self) -> &'static str {
        "watch"
    }

    fn state(&self) -> Result<String, String> {
        self.0.watch()
    }
}

impl Check for CatalogsCheck {
    fn name(&self) -> &'static str {
        "catalogs"
    }

    fn state(&self) -> Result<String, String> {
        self.0.catalogs()
    }
}

/// How many events wait for the follower, which never takes long.
const BACKLOG: usize = 16;
