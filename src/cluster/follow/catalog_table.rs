//! The state of each catalog, its loaded content, and the next step.
//!
//! The inputs are events and results; the outputs are jobs, a snapshot and the time of the next check. This module has
//! no I/O and no clock: callers pass the time, so tests can run everything in any order.
//!
//! Invariants:
//! - Loaded content stays until other content of the same catalog replaces it, or the catalog is removed. No failure,
//!   and no object that stops serving, removes content.
//! - A job loads content for a digest, and the rules that parse it, that is not loaded yet. A change of labels,
//!   priority or availability starts no job.
//! - Two catalogs with the same digest share one content.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::cluster::catalogs::ObservedCatalog;
use crate::cluster::follow::job::{ContentKey, Failure, Job, LoadedContent, Task, may_begin};
use crate::cluster::follow::report::CatalogCondition;
use crate::cluster::follow::tracked::TrackedCatalog;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{Age, CatalogState, OnOldCatalog, Snapshot};

/// All followed catalogs of the cluster.
#[derive(Debug)]
pub(super) struct CatalogTable {
    limit: AgeLimit,
    /// The OLM version that content is loaded for.
    wanted: Option<OlmInUse>,
    /// The OLM version that edits are judged for. It differs until the content for the new version is loaded.
    in_force: Option<OlmInUse>,
    contact: Contact,
    /// The catalogs of the first list that the start still waits for, once they are listed.
    ///
    /// The start ends once. A catalog that becomes unavailable later is unavailable for every replica. If all of them
    /// stopped being ready, none would be left to report it.
    boot: Option<BTreeSet<String>>,
    catalogs: BTreeMap<String, TrackedCatalog>,
}

/// The OLM in use.
#[derive(Clone, Debug)]
struct OlmInUse {
    rules: Rules,
    /// The number of versions before this one.
    generation: u32,
}

/// Whether the known objects are in sync with the cluster.
#[derive(Clone, Copy, Debug)]
enum Contact {
    /// The objects were never in sync.
    Never,
    /// In sync; the last contact was at this instant.
    Alive(Instant),
    /// In sync until this instant.
    LostSince(Instant),
}

impl CatalogTable {
    pub(super) fn new(limit: AgeLimit) -> Self {
        Self {
            limit,
            wanted: None,
            in_force: None,
            contact: Contact::Never,
            boot: None,
            catalogs: BTreeMap::new(),
        }
    }

    /// Sets the OLM version. Content that was read with other rules must be read again, and until then edits are judged
    /// by the old rules.
    pub(super) fn rules(&mut self, rules: Rules) {
        let before = self.wanted.as_ref();
        if before.is_none_or(|before| before.rules != rules) {
            let generation = before.map_or(0, |before| before.generation + 1);
            let wanted = OlmInUse { rules, generation };
            self.in_force.get_or_insert_with(|| wanted.clone());
            self.wanted = Some(wanted);
        }
        self.settle();
    }

    /// Replaces all catalogs with those of a list.
    pub(super) fn listed(&mut self, all: Vec<ObservedCatalog>, now: Instant) {
        let agreed = match self.contact {
            Contact::LostSince(time) => time,
            Contact::Never | Contact::Alive(_) => now,
        };
        self.contact = Contact::Alive(now);
        self.catalogs
            .retain(|name, _| all.iter().any(|observed| observed.state.name == *name));
        for observed in all {
            self.observe(observed, agreed);
        }
        let generation = self.generation();
        let names = self.catalogs.iter();
        let wanting = names.filter(|(_, tracked)| tracked.wants(generation).is_some());
        let wanting = wanting.map(|(name, _)| name.clone()).collect();
        self.boot.get_or_insert(wanting);
        self.settle();
    }

    /// Adds or updates a catalog.
    pub(super) fn applied(&mut self, observed: ObservedCatalog, now: Instant) {
        self.alive(now);
        self.observe(observed, now);
        self.settle();
    }

    /// Removes a catalog.
    pub(super) fn deleted(&mut self, name: &str, now: Instant) {
        self.alive(now);
        self.catalogs.remove(name);
        self.settle();
    }

    /// Records that the known objects are in sync.
    pub(super) fn alive(&mut self, now: Instant) {
        // After a lost watch, only a list can show the changes that were missed.
        if matches!(self.contact, Contact::Alive(_)) {
            self.contact = Contact::Alive(now);
        }
    }

    /// Records that changes may have been missed since the last contact, and returns the time of that contact.
    pub(super) fn lost(&mut self, now: Instant) -> Instant {
        match self.contact {
            Contact::Never => now,
            Contact::Alive(heard) => {
                self.contact = Contact::LostSince(heard);
                heard
            }
            Contact::LostSince(heard) => heard,
        }
    }

    /// Returns the jobs to start now, in addition to the running ones.
    pub(super) fn due(&self, running: &[Job], now: Instant) -> Vec<Job> {
        let Some(wanted) = &self.wanted else {
            return Vec::new();
        };
        let mut waiting: Vec<&TrackedCatalog> = self.catalogs.values().collect();
        // Catalogs with content to load come first, those with fewer failures earlier. Confirmations come last, because
        // no edit waits for them.
        waiting.sort_by_key(|tracked| {
            let is_loaded = tracked.wants(wanted.generation).is_none();
            (is_loaded, tracked.failures)
        });
        let mut jobs = running.to_vec();
        for tracked in waiting {
            let Some((want, task)) = tracked.task(wanted.generation) else {
                continue;
            };
            let is_running = jobs.iter().any(|job| job.want.key == want.key);
            if is_running || !tracked.may_try(now) {
                continue;
            }
            let job = Job {
                want,
                rules: wanted.rules.clone(),
                task,
            };
            if may_begin(&job, &jobs) {
                jobs.push(job);
            }
        }
        jobs.split_off(running.len())
    }

    /// Whether any catalog still waits for the result of a job.
    pub(super) fn is_wanted(&self, job: &Job) -> bool {
        let mut catalogs = self.catalogs.values();
        catalogs.any(|tracked| self.waits_for(tracked, job))
    }

    /// Schedules the second fetch of the content that a job has loaded.
    pub(super) fn confirm_at(&mut self, job: &Job, time: Instant) {
        if let Some(tracked) = self.catalogs.get_mut(&job.want.name) {
            tracked.confirm_at(time);
        }
    }

    /// Records that the loaded content is what catalogd serves.
    pub(super) fn confirmed(&mut self, job: &Job) {
        let catalogs = self.catalogs.values_mut();
        catalogs.for_each(|tracked| tracked.confirm(&job.want.key));
        self.settle();
    }

    /// Records loaded content. If something else is wanted in the meantime, the content is used only if the catalog has
    /// none.
    pub(super) fn loaded(&mut self, job: &Job, loaded: Arc<LoadedContent>) {
        let loaded = match self.same_bytes(&loaded) {
            None => loaded,
            Some(same) => Arc::new(LoadedContent {
                content: Arc::clone(&same.content),
                ..LoadedContent::clone(&loaded)
            }),
        };
        let name = job.want.name.as_str();
        let tracked = self.catalogs.get(name);
        let is_welcome =
            tracked.is_some_and(|tracked| self.waits_for(tracked, job) || tracked.held().is_none());
        if let Some(tracked) = self.catalogs.get_mut(name).filter(|_| is_welcome) {
            tracked.hold(job.want.clone(), loaded);
        }
        self.settle();
    }

    /// Returns the other digest under which the same bytes are loaded for the catalog of a job, if any. In that case
    /// they were fetched too early, and already belonged to the digest of the job.
    pub(super) fn misfiled(&self, job: &Job, loaded: &LoadedContent) -> Option<&str> {
        let tracked = self.catalogs.get(&job.want.name)?;
        tracked.holds_as_another(&job.want.key, loaded.sha256?)
    }

    /// Records that a job failed. Returns false if no catalog waits for it any more.
    pub(super) fn failed(&mut self, job: &Job, failure: Failure, retry: Instant) -> bool {
        let name = job.want.name.as_str();
        let tracked = self.catalogs.get(name);
        let is_awaited = tracked.is_some_and(|tracked| self.waits_for(tracked, job));
        if let Some(tracked) = self.catalogs.get_mut(name).filter(|_| is_awaited) {
            tracked.failed(failure, retry);
        }
        self.settle();
        is_awaited
    }

    /// Records that a job was aborted because something else is wanted. At the start, a catalog that changes faster
    /// than it can be loaded is not waited for either.
    pub(super) fn overtaken(&mut self, job: &Job) {
        if let Some(tracked) = self.catalogs.get_mut(&job.want.name) {
            tracked.overtaken();
        }
        self.settle();
    }

    /// Returns the number of consecutive failures to load what the object names now. A new digest, a new address, or
    /// unpacking the content again resets it.
    pub(super) fn failures_since_news(&self, name: &str) -> u32 {
        self.catalogs
            .get(name)
            .map_or(0, |tracked| tracked.failures_since_news)
    }

    /// Whether every catalog of the first list is loaded, or has failed too often to wait for.
    pub(super) fn is_ready(&self) -> bool {
        self.boot.as_ref().is_some_and(BTreeSet::is_empty)
    }

    /// Returns the snapshot that edits are judged by.
    pub(super) fn snapshot(&self, now: Instant) -> Snapshot {
        let rules = self.in_force.as_ref().map(|olm| olm.rules.clone());
        let states = self.catalogs.values();
        Snapshot::new(
            rules.unwrap_or_default(),
            states.map(|tracked| self.state(tracked, now)),
        )
    }

    /// Returns the condition of each catalog, ordered by name.
    pub(super) fn report(&self, now: Instant) -> Vec<CatalogCondition> {
        let catalogs = self.catalogs.values();
        let report = |tracked: &TrackedCatalog| {
            tracked.report(&self.state(tracked, now), now, self.age(tracked, now))
        };
        catalogs.map(report).collect()
    }

    /// Returns the names of the catalogs, each with the digests of its loaded and its wanted content.
    pub(super) fn in_use(&self) -> Vec<(String, String)> {
        let digests = self.catalogs.iter().flat_map(|(name, tracked)| {
            let digests = tracked.digests();
            digests.map(move |digest| (name.clone(), digest.to_owned()))
        });
        digests.collect()
    }

    /// Returns the time of the next check if no event comes.
    pub(super) fn wake(&self, now: Instant) -> Option<Instant> {
        let catalogs = self.catalogs.values();
        let times = catalogs.flat_map(|tracked| {
            let retry = tracked
                .task(self.generation())
                .and_then(|_| tracked.retry());
            [retry, self.turns_old(tracked, now)]
        });
        times.flatten().filter(|time| *time > now).min()
    }

    fn state(&self, tracked: &TrackedCatalog, now: Instant) -> CatalogState {
        let in_force = self.in_force.as_ref().map_or(0, |olm| olm.generation);
        tracked.state(in_force, self.limit.of(self.age(tracked, now)))
    }

    /// Returns the generation of the OLM version that content is loaded for.
    fn generation(&self) -> u32 {
        self.wanted.as_ref().map_or(0, |olm| olm.generation)
    }

    fn waits_for(&self, tracked: &TrackedCatalog, job: &Job) -> bool {
        let task = tracked.task(self.generation());
        let is_same = |task: &Task| {
            let confirms = |task: &Task| matches!(task, Task::Confirm(_));
            confirms(task) == confirms(&job.task)
        };
        task.is_some_and(|(want, task)| want.key == job.want.key && is_same(&task))
    }

    fn observe(&mut self, observed: ObservedCatalog, agreed: Instant) {
        if let Some(tracked) = self.catalogs.get_mut(&observed.state.name) {
            tracked.observe(observed, agreed);
        } else {
            let name = observed.state.name.clone();
            self.catalogs
                .insert(name, TrackedCatalog::new(observed, agreed));
        }
    }

    /// Applies the consequences of any change: shares content, switches the OLM version in force, and ends the start,
    /// if due.
    fn settle(&mut self) {
        self.share();
        let generation = self.generation();
        let is_awaited = |tracked: &TrackedCatalog| {
            tracked.wants(generation).is_some() && !tracked.is_out_of_tries()
        };
        let is_prepared = !self.catalogs.values().any(is_awaited);
        self.switch(is_prepared);
        if let Some(names) = &mut self.boot {
            names.retain(|name| self.catalogs.get(name).is_some_and(is_awaited));
        }
    }

    /// Puts the wanted OLM version into force once all content for it is loaded, or has failed too often. Content that
    /// is loaded for it later is used immediately.
    fn switch(&mut self, is_prepared: bool) {
        let in_force = self.in_force.as_ref().map_or(0, |olm| olm.generation);
        if is_prepared || in_force == self.generation() {
            self.in_force.clone_from(&self.wanted);
            self.catalogs.values_mut().for_each(TrackedCatalog::switch);
        }
    }

    /// Gives loaded content to every catalog that wants the same.
    fn share(&mut self) {
        let held = self.catalogs.values().filter_map(TrackedCatalog::held);
        let held: BTreeMap<ContentKey, Arc<LoadedContent>> = held
            .map(|(key, loaded)| (key.clone(), Arc::clone(loaded)))
            .collect();
        let generation = self.generation();
        for tracked in self.catalogs.values_mut() {
            let Some(want) = tracked.wants(generation) else {
                continue;
            };
            if let Some(loaded) = held.get(&want.key)
                && tracked.held().is_none_or(|(key, _)| *key != want.key)
            {
                tracked.hold(want, Arc::clone(loaded));
            }
        }
    }

    /// Returns loaded content that was read from the same bytes with the same rules.
    fn same_bytes(&self, loaded: &LoadedContent) -> Option<&Arc<LoadedContent>> {
        let bytes = loaded.sha256?;
        let generation = self.generation();
        let held = self.catalogs.values().filter_map(TrackedCatalog::held);
        let mut same =
            held.filter(|(key, held)| key.generation == generation && held.sha256 == Some(bytes));
        same.next().map(|(_, loaded)| loaded)
    }

    /// Returns how long ago the loaded content of a catalog was last known to match its object.
    fn age(&self, tracked: &TrackedCatalog, now: Instant) -> Option<Duration> {
        tracked.held()?;
        let lost = match self.contact {
            Contact::LostSince(time) => Some(time),
            Contact::Never | Contact::Alive(_) => None,
        };
        let known = [lost, tracked.superseded_since].into_iter().flatten().min();
        Some(known.map_or(Duration::ZERO, |known| now.saturating_duration_since(known)))
    }

    /// Returns when the content of a catalog becomes too old if no event comes.
    fn turns_old(&self, tracked: &TrackedCatalog, now: Instant) -> Option<Instant> {
        let age = self.age(tracked, now).filter(|age| !age.is_zero())?;
        let left = self.limit.max?.checked_sub(age)?;
        Some(now + left + Duration::from_millis(1))
    }
}

/// The maximum age of content, and the consequence for edits if it is older.
///
/// The age is the time since the object was last known to name the digest of the content. It is 0 while the watch is
/// alive and they match, whatever the date of the content.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgeLimit {
    /// The maximum age. If absent, any age is accepted.
    pub max: Option<Duration>,
    /// The consequence for edits.
    pub on_old: OnOldCatalog,
}

impl AgeLimit {
    /// Classifies an age; the age is absent if no content is loaded.
    pub(super) fn of(&self, age: Option<Duration>) -> Age {
        match (age, self.max) {
            (Some(age), Some(max)) if age > max => Age::Old(self.on_old),
            _ => Age::Allowed,
        }
    }
}
