//! The task that maintains the catalogs: it waits for the next event, and executes the decisions of the table.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::Instant;
use tracing::{info, warn};

use crate::cluster::catalogs::{CatalogsError, NamelessObject, ObservedCatalog};
use crate::cluster::follow::SnapshotStore;
use crate::cluster::follow::catalog_table::{AgeLimit, CatalogTable};
use crate::cluster::follow::job::{Failure, Job, LoadOutcome, LoadedContent};
use crate::cluster::follow::load::Load;
use crate::cluster::follow::report::{StatusListener, StatusTeller};
use crate::cluster::follow::tracked::RETRY;
use crate::cluster::{WatchEvent, WatchFault};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{Content, Currency, Snapshot};
use olmguard_preflight::content::BundleContents;

/// The inputs and outputs of a follower.
#[derive(Debug)]
pub struct FollowConfig {
    /// The limit on the age of content.
    pub limit: AgeLimit,
    /// The events of the objects.
    pub events: mpsc::Receiver<WatchEvent<Result<ObservedCatalog, NamelessObject>>>,
    /// The OLM in use, sent again when it changes.
    pub rules: mpsc::Receiver<Rules>,
    /// The contents of bundle images, sent again when they change.
    pub contents: mpsc::Receiver<Arc<BundleContents>>,
    /// The location of the current snapshot.
    pub snapshot: Arc<ArcSwap<Snapshot>>,
    /// The receiver of reports.
    pub listener: StatusListener,
}

/// Follows the catalogs of a cluster.
#[derive(Debug)]
pub(super) struct CatalogFollower<L> {
    loader: L,
    table: CatalogTable,
    contents: Arc<BundleContents>,
    stage: SnapshotStore,
    teller: StatusTeller,
    loading: JoinSet<LoadOutcome>,
    running: Vec<RunningJob>,
    /// The catalogs and digests that were last passed to the loader to keep.
    kept: Vec<(String, String)>,
    /// Whether edits are judged by what an earlier task has published. It stays until the start is over.
    is_restarted: bool,
}

/// A running job.
#[derive(Debug)]
struct RunningJob {
    id: Id,
    job: Job,
    end: AbortHandle,
}

/// Follows the catalogs until the sender of events is dropped.
pub(super) async fn run<L: Load>(loader: L, terms: FollowConfig) {
    let FollowConfig {
        limit,
        mut events,
        mut rules,
        mut contents,
        snapshot,
        listener,
    } = terms;
    let mut follower = CatalogFollower {
        loader,
        table: CatalogTable::new(limit),
        contents: Arc::default(),
        is_restarted: !snapshot.load().catalogs().is_empty(),
        stage: SnapshotStore::new(snapshot),
        teller: StatusTeller::new(listener),
        loading: JoinSet::new(),
        running: Vec::new(),
        kept: Vec::new(),
    };
    // After a restart, nothing is being loaded yet.
    follower.teller.listener.board.put_loads_newer(false);
    loop {
        let wake = follower.wake();
        tokio::select! {
            event = events.recv() => match event {
                Some(event) => follower.event(event),
                None => return,
            },
            Some(rules) = rules.recv() => follower.table.rules(rules),
            Some(contents) = contents.recv() => follower.contents = contents,
            Some(ended) = follower.loading.join_next_with_id() => follower.ended(ended),
            () = tokio::time::sleep_until(wake) => {}
        }
        follower.go_on();
    }
}

impl<L: Load> CatalogFollower<L> {
    fn event(&mut self, event: WatchEvent<Result<ObservedCatalog, NamelessObject>>) {
        let now = Instant::now();
        match event {
            WatchEvent::Listed(all) => {
                let all = self.named(all);
                self.teller.listed();
                self.look_at(&all);
                self.table.listed(all, now);
            }
            WatchEvent::Applied(Ok(observed)) => {
                self.teller.heard();
                self.look_at(std::slice::from_ref(&observed));
                self.table.applied(observed, now);
            }
            WatchEvent::Applied(Err(unnamed)) => self.skip(&unnamed),
            WatchEvent::Deleted(Ok(observed)) => {
                let name = observed.state.name;
                info!(
                    catalog = name,
                    "Removed catalog, its ClusterCatalog no longer exists"
                );
                self.teller.heard();
                self.table.deleted(&name, now);
            }
            WatchEvent::Alive => {
                self.teller.heard();
                self.table.alive(now);
            }
            WatchEvent::Absent => self.watch_lost(CatalogsError::not_served(), now),
            WatchEvent::Lost(fault) => self.watch_lost(fault, now),
            WatchEvent::Deleted(Err(_)) | WatchEvent::Found => {}
        }
    }

    fn watch_lost(&mut self, fault: WatchFault, now: Instant) {
        let since = self.table.lost(now);
        self.teller.lost(fault, since);
    }

    /// Returns the catalogs of a list. An object without a name is skipped.
    fn named(&self, all: Vec<Result<ObservedCatalog, NamelessObject>>) -> Vec<ObservedCatalog> {
        let named = all
            .into_iter()
            .filter_map(|read| read.inspect_err(|unnamed| self.skip(unnamed)).ok());
        named.collect()
    }

    fn skip(&self, NamelessObject(why): &NamelessObject) {
        warn!(error = why, "Skipping a ClusterCatalog without a name");
        self.teller.unreadable();
    }

    /// Reports unreadable objects. They affect only themselves; the other catalogs are followed.
    fn look_at(&self, all: &[ObservedCatalog]) {
        for observed in all {
            if let Content::Unreadable(why) = &observed.state.content {
                warn!(
                    catalog = observed.state.name,
                    error = why,
                    "Failed to read ClusterCatalog"
                );
                self.teller.unreadable();
            }
        }
    }

    /// Handles a job that ended. One without an outcome was aborted because it was no longer wanted, or it panicked.
    fn ended(&mut self, ended: Result<(Id, LoadOutcome), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let at = self.running.iter().position(|running| running.id == id);
        let Some(at) = at else { return };
        let job = self.running.swap_remove(at).job;
        match ended {
            Ok((_, LoadOutcome::Loaded(loaded))) => self.loaded(&job, loaded),
            Ok((_, LoadOutcome::Confirmed)) => self.table.confirmed(&job),
            Ok((_, LoadOutcome::Failed(failure))) => self.failed(&job, failure),
            Err(error) if error.is_cancelled() => self.table.overtaken(&job),
            Err(_) => self.failed(&job, Failure::Panicked),
        }
    }

    fn loaded(&mut self, job: &Job, loaded: Arc<LoadedContent>) {
        let counts = loaded.content.counts();
        info!(
            catalog = job.want.name,
            digest = job.want.key.digest,
            packages = counts.packages,
            bundles = counts.bundles,
            seconds = loaded.took.as_secs_f64(),
            from = %loaded.from,
            "Loaded catalog"
        );
        if let Some(digest) = self.table.misfiled(job, &loaded) {
            self.loader.forget(digest);
        }
        let is_confirmed = loaded.is_confirmed;
        self.table.loaded(job, loaded);
        if !is_confirmed {
            let time = self.retry(job);
            self.table.confirm_at(job, time);
        }
    }

    fn failed(&mut self, job: &Job, failure: Failure) {
        let class = failure.class();
        let retry = self.retry(job);
        let message = words(&failure, job.is_loaded());
        warn!(
            catalog = job.want.name,
            digest = job.want.key.digest,
            class = class.as_str(),
            error = %failure,
            next_try = ?retry.saturating_duration_since(Instant::now()),
            "{message}"
        );
        if self.table.failed(job, failure, retry) {
            let metrics = &self.teller.listener.catalogs;
            metrics.load_failed(&job.want.name, class);
        }
    }

    /// Does everything that follows from the last event.
    fn go_on(&mut self) {
        let now = Instant::now();
        self.end_unwanted();
        // No job runs before the loader knows its catalog.
        self.keep();
        self.begin_due(now);
        let snapshot = self.table.snapshot(now);
        let minor = snapshot.rules().olm.minor();
        if self.contents.are_of_other(minor) {
            self.contents = Arc::new(BundleContents::ahead(minor, [], None));
        }
        self.publish(snapshot.with_contents(Arc::clone(&self.contents)));
        self.let_go();
        self.teller
            .catalogs(self.table.is_ready(), self.table.report(now));
    }

    /// Publishes the snapshot, unless that would withdraw the contents from before a restart. `loads_newer` becomes true
    /// before a superseded snapshot is published, and false only after the newer content is published.
    fn publish(&mut self, snapshot: Snapshot) {
        if self.is_restarted && !self.table.is_ready() {
            return;
        }
        let is_superseded = |name: &str| {
            let state = snapshot.catalog(name);
            state.is_some_and(|state| state.currency == Currency::Superseded)
        };
        let mut running = self.running.iter();
        // An aborted job counts until it has ended, because its replacement starts only then.
        let loads_newer = running.any(|running| is_superseded(&running.job.want.name));
        let StatusListener {
            board, catalogs, ..
        } = &self.teller.listener;
        if loads_newer {
            board.put_loads_newer(true);
        }
        if self.stage.publish(snapshot) {
            catalogs.swapped();
        }
        if !loads_newer {
            board.put_loads_newer(false);
        }
    }

    fn end_unwanted(&mut self) {
        for RunningJob { job, end, .. } in &self.running {
            if !self.table.is_wanted(job) {
                end.abort();
            }
        }
    }

    fn begin_due(&mut self, now: Instant) {
        let running = self.running.iter();
        let running: Vec<Job> = running.map(|running| running.job.clone()).collect();
        for job in self.table.due(&running, now) {
            let end = self.loading.spawn(self.loader.clone().load(job.clone()));
            let id = end.id();
            self.running.push(RunningJob { id, job, end });
        }
    }

    /// Drops old snapshots on another thread, because dropping a large one takes too long for a thread that serves.
    fn let_go(&mut self) {
        let done = self.stage.done();
        if !done.is_empty() {
            tokio::task::spawn_blocking(move || drop(done));
        }
    }

    /// Reports the catalogs and their digests to the loader, so the cache does not evict them first when it is full.
    fn keep(&mut self) {
        let in_use = self.table.in_use();
        if in_use != self.kept {
            self.kept.clone_from(&in_use);
            self.loader.keep(in_use);
        }
    }

    /// Returns the time of the next attempt after a failure now.
    fn retry(&self, job: &Job) -> Instant {
        let failed = self.table.failures_since_news(&job.want.name) + 1;
        Instant::now() + RETRY.delay(failed)
    }

    fn wake(&self) -> Instant {
        let now = Instant::now();
        let pace = if self.stage.is_waiting() {
            SOON
        } else {
            RARELY
        };
        let latest = now + pace;
        self.table.wake(now).map_or(latest, |wake| wake.min(latest))
    }
}

/// Returns the log message of a failed load, which depends on whether older content is loaded.
fn words(failure: &Failure, is_loaded: bool) -> &'static str {
    match (failure, is_loaded) {
        (Failure::HeldBack { .. }, true) => {
            "Held back fetched catalog content, keeping the last good version"
        }
        (Failure::HeldBack { .. }, false) => "Held back fetched catalog content, retrying",
        (_, true) => "Failed to load catalog, keeping the last good version",
        (_, false) => "Failed to load catalog, retrying",
    }
}

/// The interval to check whether an old snapshot is still in use.
const SOON: Duration = Duration::from_secs(1);

/// The interval to check whether content has become old.
const RARELY: Duration = Duration::from_secs(15);
