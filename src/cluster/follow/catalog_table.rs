//! The state of each catalog, its loaded content, and what to do next.
//!
//! Events and results go in; jobs, a snapshot and the time of the next look come out. There is no
//! I/O here and no clock: every entry is told the time, so that all of it can be tried in any order.
//!
//! Invariants:
//! - What is held stays held until other content of the same catalog takes its place, or the catalog
//!   is gone: no failure, and no object that stops serving, takes content away.
//! - Content is loaded for a digest (and the rules it is read by) that is not held yet; no change of
//!   labels, priority or availability makes a job.
//! - Two catalogs of one digest share one content.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::cluster::catalogs::ObservedCatalog;
use crate::cluster::follow::StartProgress;
use crate::cluster::follow::job::{ContentKey, Failure, Job, LoadedContent, Task, may_begin};
use crate::cluster::follow::report::CatalogCondition;
use crate::cluster::follow::tracked::TrackedCatalog;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{Age, CatalogState, OnOldCatalog, Snapshot};

/// All catalogs of the cluster, as they are followed.
#[derive(Debug)]
pub(super) struct CatalogTable {
    limit: AgeLimit,
    /// The OLM that content is read for.
    wanted: Option<OlmInUse>,
    /// The OLM that edits are judged for: another one until content was read for the new one.
    in_force: Option<OlmInUse>,
    contact: Contact,
    boot: StartProgress,
    catalogs: BTreeMap<String, TrackedCatalog>,
}

/// The OLM in use.
#[derive(Clone, Debug)]
struct OlmInUse {
    rules: Rules,
    /// How many others there were before.
    generation: u32,
}

/// Whether the objects are known to be as they are in the cluster.
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
            boot: StartProgress::default(),
            catalogs: BTreeMap::new(),
        }
    }

    /// Which OLM it is; content that was read by other rules is to be read again, and until it is
    /// edits are judged by those.
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

    /// These are all the catalogs there are.
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
        self.boot.begin(wanting.map(|(name, _)| name.clone()));
        self.settle();
    }

    /// A catalog is there, and is so.
    pub(super) fn applied(&mut self, observed: ObservedCatalog, now: Instant) {
        self.alive(now);
        self.observe(observed, now);
        self.settle();
    }

    /// A catalog is gone.
    pub(super) fn deleted(&mut self, name: &str, now: Instant) {
        self.alive(now);
        self.catalogs.remove(name);
        self.settle();
    }

    /// The objects are known to be as they are.
    pub(super) fn alive(&mut self, now: Instant) {
        // What was missed meanwhile is only known once they have been listed.
        if matches!(self.contact, Contact::Alive(_)) {
            self.contact = Contact::Alive(now);
        }
    }

    /// The objects may have changed unseen since something was heard last, which is returned.
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

    /// What is to be loaded now, beside what is being loaded already.
    pub(super) fn due(&self, running: &[Job], now: Instant) -> Vec<Job> {
        let Some(wanted) = &self.wanted else {
            return Vec::new();
        };
        let mut waiting: Vec<&TrackedCatalog> = self.catalogs.values().collect();
        // Nobody waits for those that fail again and again, nor for what is loaded to be confirmed.
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

    /// Whether anyone still waits for what a job brings.
    pub(super) fn is_wanted(&self, job: &Job) -> bool {
        let mut catalogs = self.catalogs.values();
        catalogs.any(|tracked| self.waits_for(tracked, job))
    }

    /// What a job brought is to be fetched again then, if it was fetched only once.
    pub(super) fn confirm_at(&mut self, job: &Job, time: Instant) {
        if let Some(tracked) = self.catalogs.get_mut(&job.want.name) {
            tracked.confirm_at(time);
        }
    }

    /// A job found that what is loaded is what catalogd serves.
    pub(super) fn confirmed(&mut self, job: &Job) {
        let catalogs = self.catalogs.values_mut();
        catalogs.for_each(|tracked| tracked.confirm(&job.want.key));
        self.settle();
    }

    /// A job brought content. If something else is wanted by now it is better than nothing, but not
    /// than what is held.
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

    /// The digest that these very bytes are held under for the catalog of a job, if that is another
    /// one: then they were fetched too early, and were those of the job already.
    pub(super) fn misfiled(&self, job: &Job, loaded: &LoadedContent) -> Option<&str> {
        let tracked = self.catalogs.get(&job.want.name)?;
        tracked.holds_as_another(&job.want.key, loaded.sha256?)
    }

    /// A job brought nothing, for this reason. False if nobody waits for it any more.
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

    /// A job was ended, as something else is wanted by now. A catalog that changes faster than it can
    /// be loaded is not waited for at the start either.
    pub(super) fn overtaken(&mut self, job: &Job) {
        if let Some(tracked) = self.catalogs.get_mut(&job.want.name) {
            tracked.overtaken();
        }
        self.settle();
    }

    /// How often in a row loading what a catalog says now came to nothing: with another digest,
    /// another address, or content that was unpacked anew, waiting begins anew.
    pub(super) fn failures_since_news(&self, name: &str) -> u32 {
        self.catalogs
            .get(name)
            .map_or(0, |tracked| tracked.failures_since_news)
    }

    /// Whether every catalog that was there at first is loaded, or will not be for now.
    pub(super) fn is_ready(&self) -> bool {
        self.boot.is_over()
    }

    /// What edits are judged by.
    pub(super) fn snapshot(&self, now: Instant) -> Snapshot {
        let rules = self.in_force.as_ref().map(|olm| olm.rules.clone());
        let states = self.catalogs.values();
        Snapshot::new(
            rules.unwrap_or_default(),
            states.map(|tracked| self.state(tracked, now)),
        )
    }

    /// How each catalog is, in the order of their names.
    pub(super) fn report(&self, now: Instant) -> Vec<CatalogCondition> {
        let catalogs = self.catalogs.values();
        let report = |tracked: &TrackedCatalog| {
            tracked.report(&self.state(tracked, now), now, self.age(tracked, now))
        };
        catalogs.map(report).collect()
    }

    /// The digests of all content that is held or wanted.
    pub(super) fn digests(&self) -> Vec<&str> {
        self.catalogs
            .values()
            .flat_map(TrackedCatalog::digests)
            .collect()
    }

    /// When to look again if nothing happens.
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

    /// Of the OLM that content is read for.
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

    /// What follows from any change: content is shared, the OLM in force may be another, and the
    /// start may be over.
    fn settle(&mut self) {
        self.share();
        let generation = self.generation();
        let is_awaited = |tracked: &TrackedCatalog| {
            tracked.wants(generation).is_some() && !tracked.is_out_of_tries()
        };
        let is_prepared = !self.catalogs.values().any(is_awaited);
        self.switch(is_prepared);
        let catalogs = &self.catalogs;
        self.boot
            .go_on(|name| catalogs.get(name).is_some_and(is_awaited));
    }

    /// The OLM that there is comes into force once all that was to be read for it was, as far as it
    /// can be; what is read for it later is judged by at once.
    fn switch(&mut self, is_prepared: bool) {
        let in_force = self.in_force.as_ref().map_or(0, |olm| olm.generation);
        if is_prepared || in_force == self.generation() {
            self.in_force.clone_from(&self.wanted);
            self.catalogs.values_mut().for_each(TrackedCatalog::switch);
        }
    }

    /// Gives content that is held to every catalog that wants the same.
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

    /// Content that is held and was made of the same bytes by the same rules.
    fn same_bytes(&self, loaded: &LoadedContent) -> Option<&Arc<LoadedContent>> {
        let bytes = loaded.sha256?;
        let generation = self.generation();
        let held = self.catalogs.values().filter_map(TrackedCatalog::held);
        let mut same =
            held.filter(|(key, held)| key.generation == generation && held.sha256 == Some(bytes));
        same.next().map(|(_, loaded)| loaded)
    }

    /// How long ago it was known that what is held of a catalog is what its object names.
    fn age(&self, tracked: &TrackedCatalog, now: Instant) -> Option<Duration> {
        tracked.held()?;
        let lost = match self.contact {
            Contact::LostSince(time) => Some(time),
            Contact::Never | Contact::Alive(_) => None,
        };
        let known = [lost, tracked.superseded_since].into_iter().flatten().min();
        Some(known.map_or(Duration::ZERO, |known| now.saturating_duration_since(known)))
    }

    /// When the content of a catalog turns old if nothing happens.
    fn turns_old(&self, tracked: &TrackedCatalog, now: Instant) -> Option<Instant> {
        let age = self.age(tracked, now).filter(|age| !age.is_zero())?;
        let left = self.limit.max?.checked_sub(age)?;
        Some(now + left + Duration::from_millis(1))
    }
}

/// How old content may be, and what becomes of edits where it is older.
///
/// Its age is the time since it was known that the object names its digest: 0 while the watch is
/// alive and they agree, whatever the date of the content.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgeLimit {
    /// Absent: any age will do.
    pub max: Option<Duration>,
    /// What becomes of edits.
    pub on_old: OnOldCatalog,
}

impl AgeLimit {
    /// What this age means; absent where nothing is held.
    pub(super) fn of(&self, age: Option<Duration>) -> Age {
        match (age, self.max) {
            (Some(age), Some(max)) if age > max => Age::Old(self.on_old),
            _ => Age::Allowed,
        }
    }
}
