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
    /// The digests that were last passed to the loader to keep.
    kept: Vec<String>,
}

/// A running job.
#[derive(Debug)]
struct RunningJob {
    id: Id,
    job: Job,
    end: AbortHandle,
}

/// An event that the follower waits for.
enum FollowerEvent {
    Event(WatchEvent<Result<ObservedCatalog, NamelessObject>>),
    Rules(Rules),
    Contents(Arc<BundleContents>),
    Done(Result<(Id, LoadOutcome), JoinError>),
    Look,
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
        stage: SnapshotStore::new(snapshot),
        teller: StatusTeller::new(listener),
        loading: JoinSet::new(),
        running: Vec::new(),
        kept: Vec::new(),
    };
    loop {
        let wake = follower.wake();
        let next = tokio::select! {
            event = events.recv() => match event {
                Some(event) => FollowerEvent::Event(event),
                None => return,
            },
            Some(rules) = rules.recv() => FollowerEvent::Rules(rules),
            Some(contents) = contents.recv() => FollowerEvent::Contents(contents),
            Some(done) = follower.loading.join_next_with_id() => FollowerEvent::Done(done),
            () = tokio::time::sleep_until(wake) => FollowerEvent::Look,
        };
        follower.take(next);
        follower.go_on();
    }
}

impl<L: Load> CatalogFollower<L> {
    fn take(&mut self, next: FollowerEvent) {
        match next {
            FollowerEvent::Event(event) => self.event(event),
            FollowerEvent::Rules(rules) => self.table.rules(rules),
            FollowerEvent::Contents(contents) => self.contents = contents,
            FollowerEvent::Done(Ok((id, outcome))) => {
                if let Some(job) = self.ended(id) {
                    self.done(&job, outcome);
                }
            }
            FollowerEvent::Done(Err(error)) => self.lost(&error),
            FollowerEvent::Look => {}
        }
    }

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

    fn done(&mut self, job: &Job, outcome: LoadOutcome) {
        match outcome {
            LoadOutcome::Loaded(loaded) => self.loaded(job, loaded),
            LoadOutcome::Confirmed => self.table.confirmed(job),
            LoadOutcome::Failed(failure) => self.failed(job, failure),
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
            self.teller.failed(&job.want.name, class);
        }
    }

    /// Removes and returns the job that ended.
    fn ended(&mut self, id: Id) -> Option<Job> {
        let at = self.running.iter().position(|running| running.id == id)?;
        Some(self.running.swap_remove(at).job)
    }

    /// Handles a job that ended without a result: it was aborted because it was no longer wanted, or it panicked.
    fn lost(&mut self, error: &JoinError) {
        let Some(job) = self.ended(error.id()) else {
            return;
        };
        if error.is_cancelled() {
            self.table.overtaken(&job);
        } else {
            self.failed(&job, Failure::Panicked);
        }
    }

    /// Does everything that follows from the last event.
    fn go_on(&mut self) {
        let now = Instant::now();
        self.end_unwanted();
        self.begin_due(now);
        let snapshot = self.table.snapshot(now);
        let minor = snapshot.rules().olm.minor();
        if self.contents.are_of_other(minor) {
            self.contents = Arc::new(BundleContents::ahead(minor, [], None));
        }
        self.publish(snapshot.with_contents(Arc::clone(&self.contents)));
        self.let_go();
        self.keep();
        self.teller
            .catalogs(self.table.is_ready(), self.table.report(now));
    }

    /// Publishes the snapshot. `loads_newer` becomes true before a superseded snapshot is published, and false only
    /// after the newer content is published.
    fn publish(&mut self, snapshot: Snapshot) {
        let is_superseded = |name: &str| {
            let state = snapshot.catalog(name);
            state.is_some_and(|state| state.currency == Currency::Superseded)
        };
        let mut running = self.running.iter();
        // An aborted job counts until it has ended, because its replacement starts only then.
        let loads_newer = running.any(|running| is_superseded(&running.job.want.name));
        if loads_newer {
            self.teller.loads_newer(true);
        }
        if self.stage.publish(snapshot) {
            self.teller.swapped();
        }
        if !loads_newer {
            self.teller.loads_newer(false);
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

    /// Reports the digests in use to the loader, so the cache does not evict them first when it is full.
    fn keep(&mut self) {
        let digests = self.table.digests();
        if !digests
            .iter()
            .copied()
            .eq(self.kept.iter().map(String::as_str))
        {
            self.kept = digests.iter().map(|digest| (*digest).to_owned()).collect();
            self.loader.keep(&digests);
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
