//! Content of a catalog in memory.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::source::digest::Sha256;
use crate::telemetry::metrics::CatalogLoad;
use olmguard_catalog::Catalog;

/// Content, weighed by the thread that read it: to count all that it holds takes its time.
#[derive(Debug)]
pub(super) struct WeighedContent {
    pub(super) content: Arc<Catalog>,
    /// What it takes of memory.
    pub(super) resident_bytes: usize,
}

/// Content as it was loaded.
#[derive(Clone, Debug)]
pub(super) struct LoadedContent {
    pub(super) content: Arc<Catalog>,
    /// What it takes of memory.
    pub(super) resident_bytes: usize,
    /// The digest of the fetched bytes; absent if the content comes from the cache.
    pub(super) sha256: Option<Sha256>,
    /// Whether more speaks for it than one fetch.
    pub(super) is_confirmed: bool,
    pub(super) from: ContentOrigin,
    pub(super) at: SystemTime,
    pub(super) took: Duration,
}

/// The origin of content.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub(super) enum ContentOrigin {
    /// The cache, which keeps content over a restart.
    #[display("cache")]
    Cache,
    /// catalogd, with the number of bytes on the wire.
    #[display("catalogd")]
    Catalogd { bytes: u64 },
}

impl WeighedContent {
    pub(super) fn of(content: Catalog) -> Self {
        Self {
            resident_bytes: content.resident_bytes(),
            content: Arc::new(content),
        }
    }

    /// The end of large content is nothing for a thread that serves.
    pub(super) fn let_go(self) {
        tokio::task::spawn_blocking(move || drop(self));
    }
}

impl LoadedContent {
    /// What is counted of it.
    pub(super) fn figures(&self) -> CatalogLoad {
        let counts = self.content.counts();
        CatalogLoad {
            at: self.at,
            took: self.took,
            wire_bytes: self.from.wire_bytes(),
            resident_bytes: self.resident_bytes,
            packages: counts.packages,
            bundles: counts.bundles,
        }
    }
}

impl ContentOrigin {
    /// How many bytes came over the wire.
    pub(super) fn wire_bytes(self) -> u64 {
        match self {
            Self::Cache => 0,
            Self::Catalogd { bytes } => bytes,
        }
    }
}
