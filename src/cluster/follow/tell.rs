//! What is counted and told of the catalogs, beside the snapshot itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::{info, warn};

use crate::cluster::follow::StatusBoard;
use crate::cluster::follow::report::CatalogReport;
use crate::cluster::{FaultClass, WatchFault};
use crate::once_per_change::OncePerChange;
use crate::telemetry::metrics::{CatalogMetrics, LoadFailure, WatchMetrics, WatchedResource};
use crate::tls::Clock;

/// Whoever wants to know how the catalogs are.
#[derive(Clone, Debug)]
pub struct StatusListener {
    /// Told to probes.
    pub board: Arc<StatusBoard>,
    /// Counted.
    pub catalogs: Arc<CatalogMetrics>,
    /// Counted.
    pub watches: Arc<WatchMetrics>,
    /// The time of day at which something was told.
    pub clock: Arc<dyn Clock>,
}

/// A listener, and what it was told last.
#[derive(Debug)]
pub(super) struct StatusTeller {
    listener: StatusListener,
    /// The catalogs that were told of last.
    told: BTreeSet<String>,
    /// Whether the objects were listed before.
    was_listed: bool,
    /// Why nothing is heard, as it was logged last.
    fault: OncePerChange<FaultClass>,
}

impl StatusTeller {
    pub(super) fn new(listener: StatusListener) -> Self {
        Self {
            listener,
            told: BTreeSet::new(),
            was_listed: false,
            fault: OncePerChange::default(),
        }
    }

    /// The objects were listed, from the first to the last.
    pub(super) fn listed(&mut self) {
        if self.was_listed {
            self.listener
                .watches
                .restarted(WatchedResource::ClusterCatalogs);
        }
        self.was_listed = true;
        self.heard();
    }

    /// The API server told something.
    pub(super) fn heard(&mut self) {
        if self.fault.is_gone() {
            info!("Watching ClusterCatalogs again");
        }
        let now = self.listener.clock.now();
        self.listener
            .watches
            .heard(WatchedResource::ClusterCatalogs, now);
        self.listener.board.alive();
    }

    /// Nothing is heard any more.
    pub(super) fn lost(&mut self, fault: WatchFault, since: Instant) {
        let WatchFault { class, words } = fault;
        if self.fault.is_new(&class) {
            warn!(
                class = class.as_str(),
                error = words,
                "Failed to watch ClusterCatalogs, keeping the loaded catalogs and retrying"
            );
        }
        let watches = &self.listener.watches;
        watches.lost(WatchedResource::ClusterCatalogs);
        watches.failed(WatchedResource::ClusterCatalogs, class);
        self.listener.board.lost(words, since);
    }

    /// An object cannot be read.
    pub(super) fn unreadable(&self) {
        let watches = &self.listener.watches;
        watches.failed(WatchedResource::ClusterCatalogs, FaultClass::Object);
    }

    /// The content of a catalog could not be loaded.
    pub(super) fn failed(&self, catalog: &str, class: LoadFailure) {
        self.listener.catalogs.load_failed(catalog, class);
    }

    /// Whether newer content is being loaded of a catalog whose older content is loaded.
    pub(super) fn loads_newer(&self, is_so: bool) {
        self.listener.board.put_loads_newer(is_so);
    }

    pub(super) fn swapped(&self) {
        self.listener.catalogs.swapped();
    }

    /// The catalogs are so, and these are all.
    pub(super) fn catalogs(&mut self, is_ready: bool, reports: Vec<CatalogReport>) {
        let names = reports.iter().map(|report| report.name.clone()).collect();
        for gone in self.told.difference(&names) {
            self.listener.catalogs.gone(gone);
        }
        self.told = names;
        for report in &reports {
            self.catalog(report);
        }
        self.listener.board.put(is_ready, reports);
    }

    fn catalog(&self, report: &CatalogReport) {
        let metrics = &self.listener.catalogs;
        let name = report.name.as_str();
        metrics.told(name, report.serving, report.currency);
        metrics.held_back(name, report.is_held_back);
        metrics.aged(name, report.age.unwrap_or(Duration::ZERO));
        match &report.held {
            None => metrics.not_loaded(name),
            Some(loaded) => metrics.loaded(name, loaded),
        }
    }
}
