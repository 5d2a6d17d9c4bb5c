//! What is known of each catalog, what is held of it, and what is to be done next.
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

use crate::cluster::catalogs::Observed;
use crate::cluster::follow::AgeLimit;
use crate::cluster::follow::boot::Boot;
use crate::cluster::follow::job::{Job, Loaded, may_begin};
use crate::cluster::follow::report::CatalogReport;
use crate::cluster::follow::tracked::{Key, Tracked};
use crate::olm::Rules;
use crate::snapshot::Snapshot;

/// All catalogs of the cluster, as they are followed.
#[derive(Debug)]
pub(super) struct Ledger {
    limit: AgeLimit,
    rules: Option<Rules>,
    /// How many times the rules were others before.
    generation: u32,
    contact: Contact,
    boot: Boot,
    catalogs: BTreeMap<String, Tracked>,
}

/// Whether the objects are known to be as they are in the cluster.
#[derive(Clone, Copy, Debug)]
enum Contact {
    /// They never were.
    Never,
    /// They are.
    Alive,
    /// They were until then.
    LostSince(Instant),
}

impl Ledger {
    pub(super) fn new(limit: AgeLimit) -> Self {
        Self {
            limit,
            rules: None,
            generation: 0,
            contact: Contact::Never,
            boot: Boot::default(),
            catalogs: BTreeMap::new(),
        }
    }

    /// Which OLM it is; content that was read by other rules is to be read again.
    pub(super) fn rules(&mut self, rules: Rules) {
        if self.rules.as_ref() != Some(&rules) {
            self.rules = Some(rules);
            self.generation += 1;
        }
        self.settle();
    }

    /// These are all the catalogs there are.
    pub(super) fn listed(&mut self, all: Vec<Observed>, now: Instant) {
        self.contact = Contact::Alive;
        self.catalogs
            .retain(|name, _| all.iter().any(|observed| observed.state.name == *name));
        for observed in all {
            self.observe(observed, now);
        }
        let names = self.catalogs.iter();
        let wanting = names.filter(|(_, tracked)| tracked.wants(self.generation).is_some());
        self.boot.begin(wanting.map(|(name, _)| name.clone()));
        self.settle();
    }

    /// A catalog is there, and is so.
    pub(super) fn applied(&mut self, observed: Observed, now: Instant) {
        self.observe(observed, now);
        self.settle();
    }

    /// A catalog is gone.
    pub(super) fn deleted(&mut self, name: &str) {
        self.catalogs.remove(name);
        self.settle();
    }

    /// The objects are known to be as they are.
    pub(super) fn alive(&mut self) {
        // What was missed meanwhile is only known once they have been listed.
        if !matches!(self.contact, Contact::Never) {
            self.contact = Contact::Alive;
        }
    }

    /// The objects may change unseen from now on.
    pub(super) fn lost(&mut self, now: Instant) {
        if matches!(self.contact, Contact::Alive) {
            self.contact = Contact::LostSince(now);
        }
    }

    /// What is to be loaded now, beside what is being loaded already.
    pub(super) fn due(&self, running: &[Job], now: Instant) -> Vec<Job> {
        let Some(rules) = &self.rules else {
            return Vec::new();
        };
        let mut jobs = running.to_vec();
        for tracked in self.catalogs.values() {
            let Some(want) = tracked.wants(self.generation) else {
                continue;
            };
            let is_running = jobs.iter().any(|job| job.want.key == want.key);
            if is_running || !tracked.may_try(now) {
                continue;
            }
            let job = Job {
                want,
                rules: rules.clone(),
                replaces: tracked.held().is_some(),
            };
            if may_begin(&job, &jobs) {
                jobs.push(job);
            }
        }
        jobs.split_off(running.len())
    }

    /// Whether anyone still waits for what a job brings.
    pub(super) fn is_wanted(&self, job: &Job) -> bool {
        let mut wants = self.catalogs.values();
        wants.any(|tracked| {
            tracked
                .wants(self.generation)
                .is_some_and(|want| want.key == job.want.key)
        })
    }

    /// A job brought content.
    pub(super) fn loaded(&mut self, job: &Job, loaded: Arc<Loaded>) {
        let loaded = self.same_bytes(&loaded).map_or(loaded, Arc::clone);
        if let Some(tracked) = self.catalogs.get_mut(&job.want.name) {
            tracked.hold(job.want.clone(), loaded);
        }
        self.settle();
    }

    /// The digest that these very bytes are held under for the catalog of a job, if that is another
    /// one: then they were fetched too early, and were those of the job already.
    pub(super) fn misfiled(&self, job: &Job, loaded: &Loaded) -> Option<&str> {
        let tracked = self.catalogs.get(&job.want.name)?;
        tracked.holds_as_another(&job.want.key, loaded.sha256?)
    }

    /// A job brought nothing, for this reason.
    pub(super) fn failed(&mut self, job: &Job, why: String, retry: Instant) {
        if let Some(tracked) = self.catalogs.get_mut(&job.want.name) {
            tracked.failed(why, retry);
        }
        self.settle();
    }

    /// While content was loaded its object came to name something else. Loading begins anew at once,
    /// but for one that does so each time: for that nobody hurries.
    pub(super) fn moved(&mut self, job: &Job, observed: Observed, now: Instant, retry: Instant) {
        self.observe(observed, now);
        if let Some(tracked) = self.catalogs.get_mut(&job.want.name) {
            tracked.moved(retry);
        }
        self.settle();
    }

    /// How often in a row a catalog failed, or moved.
    pub(super) fn failures(&self, name: &str) -> u32 {
        self.catalogs.get(name).map_or(0, Tracked::failures)
    }

    /// Whether every catalog that was there at first is loaded, or will not be for now.
    pub(super) fn is_ready(&self) -> bool {
        self.boot.is_over()
    }

    /// What edits are judged by.
    pub(super) fn snapshot(&self, now: Instant) -> Snapshot {
        let states = self.catalogs.values();
        let states = states.map(|tracked| {
            let age = self.limit.of(self.age(tracked, now));
            tracked.state(age)
        });
        Snapshot::new(self.rules.clone().unwrap_or_default(), states)
    }

    /// How each catalog is, in the order of their names.
    pub(super) fn report(&self, now: Instant) -> Vec<CatalogReport> {
        let catalogs = self.catalogs.values();
        catalogs
            .map(|tracked| tracked.report(now, self.age(tracked, now)))
            .collect()
    }

    /// The digests of all content that is held or wanted.
    pub(super) fn digests(&self) -> Vec<&str> {
        self.catalogs.values().flat_map(Tracked::digests).collect()
    }

    /// When to look again if nothing happens.
    pub(super) fn wake(&self, now: Instant) -> Option<Instant> {
        let catalogs = self.catalogs.values();
        let times = catalogs.flat_map(|tracked| {
            let retry = tracked.wants(self.generation).and_then(|_| tracked.retry());
            [retry, self.turns_old(tracked, now)]
        });
        times.flatten().filter(|time| *time > now).min()
    }

    fn observe(&mut self, observed: Observed, now: Instant) {
        if let Some(tracked) = self.catalogs.get_mut(&observed.state.name) {
            tracked.observe(observed, now);
        } else {
            let name = observed.state.name.clone();
            self.catalogs.insert(name, Tracked::new(observed, now));
        }
    }

    /// What follows from any change: content is shared, and the start may be over.
    fn settle(&mut self) {
        self.share();
        let generation = self.generation;
        let catalogs = &self.catalogs;
        self.boot.go_on(|name| {
            let tracked = catalogs.get(name);
            tracked.is_some_and(|tracked| {
                tracked.wants(generation).is_some() && !tracked.is_out_of_tries()
            })
        });
    }

    /// Gives content that is held to every catalog that wants the same.
    fn share(&mut self) {
        let held = self.catalogs.values().filter_map(Tracked::held);
        let held: BTreeMap<Key, Arc<Loaded>> = held
            .map(|(key, loaded)| (key.clone(), Arc::clone(loaded)))
            .collect();
        for tracked in self.catalogs.values_mut() {
            let Some(want) = tracked.wants(self.generation) else {
                continue;
            };
            if let Some(loaded) = held.get(&want.key) {
                tracked.hold(want, Arc::clone(loaded));
            }
        }
    }

    /// Content that is held and was made of the same bytes by the same rules.
    fn same_bytes(&self, loaded: &Loaded) -> Option<&Arc<Loaded>> {
        let bytes = loaded.sha256?;
        let held = self.catalogs.values().filter_map(Tracked::held);
        let mut same = held
            .filter(|(key, held)| key.generation == self.generation && held.sha256 == Some(bytes));
        same.next().map(|(_, loaded)| loaded)
    }

    /// How long ago it was known that what is held of a catalog is what its object names.
    fn age(&self, tracked: &Tracked, now: Instant) -> Option<Duration> {
        tracked.held()?;
        let lost = match self.contact {
            Contact::LostSince(time) => Some(time),
            Contact::Never | Contact::Alive => None,
        };
        let known = [lost, tracked.superseded_since()]
            .into_iter()
            .flatten()
            .min();
        Some(known.map_or(Duration::ZERO, |known| now.saturating_duration_since(known)))
    }

    /// When the content of a catalog turns old if nothing happens.
    fn turns_old(&self, tracked: &Tracked, now: Instant) -> Option<Instant> {
        let age = self.age(tracked, now).filter(|age| !age.is_zero())?;
        let left = self.limit.max?.checked_sub(age)?;
        Some(now + left + Duration::from_millis(1))
    }
}
