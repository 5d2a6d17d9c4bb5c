//! The state of the catalogs for probes, metrics and the log.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{info, warn};

use crate::cluster::{FaultClass, WatchFault};
use olmguard_engine::snapshot::{Availability, Currency, ServingState};
use olmguard_server::telemetry::OncePerChange;
use olmguard_server::telemetry::metrics::{
    CatalogLoad, CatalogMetrics, WatchMetrics, WatchedResource,
};
use olmguard_server::tls::Clock;
use olmguard_views::readiness::CatalogCounts;

/// The condition of one catalog at one moment.
#[derive(Clone, Debug)]
pub(super) struct CatalogCondition {
    /// The name of the catalog.
    pub(super) name: String,
    /// The loaded content, if any.
    pub(super) held: Option<CatalogLoad>,
    /// Whether edits are judged by it.
    pub(super) is_loaded: bool,
    /// The age of the content, see [`AgeLimit`](super::AgeLimit); absent if none is loaded.
    pub(super) age: Option<Duration>,
    /// The moment of the condition.
    pub(super) at: Instant,
    /// Whether the object reports that it serves.
    pub(super) serving: ServingState,
    /// Whether its object makes it available.
    pub(super) availability: Availability,
    /// Whether the loaded content is what the object names.
    pub(super) currency: Currency,
    /// Whether fetched content is held back as implausible.
    pub(super) is_held_back: bool,
    /// The reason why it cannot be loaded, after a failed attempt.
    pub(super) trouble: Option<String>,
}

/// The state of the catalogs, for probes.
#[derive(Debug, Default)]
pub struct StatusBoard {
    state: Mutex<BoardState>,
    loads_newer: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct BoardState {
    watch: WatchStatus,
    is_ready: bool,
    catalogs: Vec<CatalogCondition>,
}

/// The state of the watch.
#[derive(Debug, Default)]
enum WatchStatus {
    #[default]
    NotYet,
    /// The watch never connected, for this reason.
    InVain(String),
    Alive,
    /// The watch is disconnected since this instant, for this reason.
    Lost(Instant, String),
}

impl StatusBoard {
    /// Returns the state of the watch, in words. Once the objects were known, edits can be judged.
    pub fn watch(&self) -> Result<String, String> {
        match &self.state().watch {
            WatchStatus::NotYet => Err("being listed".to_owned()),
            WatchStatus::InVain(why) => Err(why.clone()),
            WatchStatus::Alive => Ok("watched".to_owned()),
            WatchStatus::Lost(since, why) => {
                Ok(format!("not known for {}: {why}", whole(since.elapsed())))
            }
        }
    }

    /// Returns in words whether the catalogs of the start are loaded, or have failed too often to
    /// wait for.
    pub fn catalogs(&self) -> Result<String, String> {
        self.loading().0
    }

    /// Returns the same words, with counts.
    pub fn loading(&self) -> (Result<String, String>, CatalogCounts) {
        let state = self.state();
        let words = words(&state.catalogs);
        let loading = if state.is_ready {
            Ok(words)
        } else {
            Err(words)
        };
        (loading, counts(&state.catalogs))
    }

    /// Returns a receiver for whether newer content of a catalog with older loaded content is being
    /// loaded.
    pub fn loads_newer(&self) -> watch::Receiver<bool> {
        self.loads_newer.subscribe()
    }

    pub(super) fn put_loads_newer(&self, is_so: bool) {
        self.loads_newer
            .send_if_modified(|was_so| std::mem::replace(was_so, is_so) != is_so);
    }

    /// Records the catalogs, and whether the start is over. It stays over if the tasks start again after a bug.
    pub(super) fn put(&self, is_ready: bool, catalogs: Vec<CatalogCondition>) {
        let mut state = self.state();
        state.is_ready |= is_ready;
        state.catalogs = catalogs;
    }

    pub(super) fn alive(&self) {
        self.state().watch = WatchStatus::Alive;
    }

    /// Records that the watch was lost at this instant, for this reason.
    pub(super) fn lost(&self, why: String, since: Instant) {
        let mut state = self.state();
        state.watch = match &state.watch {
            WatchStatus::NotYet | WatchStatus::InVain(_) => WatchStatus::InVain(why),
            WatchStatus::Alive | WatchStatus::Lost(..) => WatchStatus::Lost(since, why),
        };
    }

    /// Locks the state. No code under the lock can fail half-way, so a poisoned lock is usable.
    fn state(&self) -> MutexGuard<'_, BoardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CatalogCondition {
    /// Returns the current problem, if any.
    fn complaint(&self) -> Option<String> {
        let why = self.trouble.as_deref();
        // The age has grown since the condition was recorded.
        let age = self.age.unwrap_or_default() + self.at.elapsed();
        match (self.serving, self.currency, why) {
            (ServingState::KnownNot, _, _) => Some("does not serve".to_owned()),
            _ if !self.is_loaded => Some(format!("not loaded: {}", why.unwrap_or(NOT_YET))),
            (_, Currency::Superseded, None) => {
                Some(format!("newer content is being loaded, for {}", whole(age)))
            }
            (_, Currency::Superseded, Some(why)) => Some(format!(
                "newer content cannot be loaded for {}: {why}",
                whole(age)
            )),
            (_, Currency::Current, Some(why)) => Some(format!("cannot be read again: {why}")),
            (_, Currency::Current, None) => None,
        }
    }
}

fn words(catalogs: &[CatalogCondition]) -> String {
    let CatalogCounts {
        available: all,
        loaded,
        ..
    } = counts(catalogs);
    let mut words = format!("{loaded} of {all} loaded");
    for catalog in available(catalogs) {
        if let Some(complaint) = catalog.complaint() {
            write!(words, "; {}: {complaint}", catalog.name).expect("a text takes all");
        }
    }
    words
}

fn counts(catalogs: &[CatalogCondition]) -> CatalogCounts {
    let count = |is: fn(&CatalogCondition) -> bool| {
        let those = available(catalogs).filter(|catalog| is(catalog));
        those.count()
    };
    CatalogCounts {
        available: count(|_| true),
        loaded: count(|catalog| catalog.is_loaded),
        faulty: count(|catalog| catalog.complaint().is_some()),
        held_back: count(|catalog| catalog.is_held_back),
    }
}

fn available(catalogs: &[CatalogCondition]) -> impl Iterator<Item = &CatalogCondition> {
    let is_available =
        |catalog: &&CatalogCondition| catalog.availability == Availability::Available;
    catalogs.iter().filter(is_available)
}

/// Formats an age in whole seconds; more precision is of no use.
fn whole(time: Duration) -> String {
    format!("{}s", time.as_secs())
}

const NOT_YET: &str = "not fetched yet";

// === Metrics and log lines of the catalogs ===

/// The receivers of reports about the catalogs.
#[derive(Clone, Debug)]
pub struct StatusListener {
    /// The state for probes.
    pub board: Arc<StatusBoard>,
    /// The metrics of catalogs.
    pub catalogs: Arc<CatalogMetrics>,
    /// The metrics of watches.
    pub watches: Arc<WatchMetrics>,
    /// The time of day, for the time of the last contact.
    pub clock: Arc<dyn Clock>,
}

/// A reporter of the state of the catalogs, with what it reported last.
#[derive(Debug)]
pub(super) struct StatusTeller {
    pub(super) listener: StatusListener,
    /// The catalogs that were reported last.
    told: BTreeSet<String>,
    /// Whether the objects were listed before.
    was_listed: bool,
    /// The fault that was logged last.
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

    /// Records a complete list of the objects.
    pub(super) fn listed(&mut self) {
        if self.was_listed {
            self.listener
                .watches
                .restarted(WatchedResource::ClusterCatalogs);
        }
        self.was_listed = true;
        self.heard();
    }

    /// Records a contact with the API server.
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

    /// Records that the watch was lost.
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

    /// Counts an object that cannot be read.
    pub(super) fn unreadable(&self) {
        let watches = &self.listener.watches;
        watches.failed(WatchedResource::ClusterCatalogs, FaultClass::Object);
    }

    /// Reports the condition of all catalogs.
    pub(super) fn catalogs(&mut self, is_ready: bool, reports: Vec<CatalogCondition>) {
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

    fn catalog(&self, report: &CatalogCondition) {
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
