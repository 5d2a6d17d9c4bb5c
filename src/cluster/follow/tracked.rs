//! One catalog: its object, its loaded content, and its failures.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::cluster::catalogs::ObservedCatalog;
use crate::cluster::follow::job::{
    ContentKey, Failure, HeldBack, KnownContent, LoadedContent, Task, Want,
};
use crate::cluster::follow::report::CatalogCondition;
use crate::source::digest::Sha256;
use crate::source::http::Retry;
use olmguard_engine::snapshot::{Age, CatalogState, Content, Currency};

/// A followed catalog.
#[derive(Debug)]
pub(super) struct TrackedCatalog {
    observed: ObservedCatalog,
    held: Option<HeldContent>,
    /// The same content, read with rules that are not in force yet.
    prepared: Option<HeldContent>,
    /// The time from which the object names its current digest.
    named_since: Instant,
    /// The time from which the object names a digest other than that of the loaded content.
    pub(super) superseded_since: Option<Instant>,
    /// The number of consecutive failed loads.
    pub(super) failures: u32,
    /// The number of consecutive failed loads since the object last changed in a way that affects
    /// loading. It determines the next delay.
    pub(super) failures_since_news: u32,
    trouble: Option<LoadTrouble>,
    /// The fetched content for the current digest that is held back as implausible.
    held_back: Option<HeldBack>,
    /// The time to fetch the content again, if it was fetched only once.
    confirm: Option<Instant>,
}

/// Loaded content, with its origin.
#[derive(Clone, Debug)]
struct HeldContent {
    /// What the object named, with what it says of that content now.
    want: Want,
    loaded: Arc<LoadedContent>,
}

/// A failed load that is still wanted.
#[derive(Debug)]
struct LoadTrouble {
    why: Failure,
    retry: Instant,
}

impl TrackedCatalog {
    pub(super) fn new(observed: ObservedCatalog, now: Instant) -> Self {
        Self {
            observed,
            held: None,
            prepared: None,
            named_since: now,
            superseded_since: None,
            failures: 0,
            failures_since_news: 0,
            trouble: None,
            held_back: None,
            confirm: None,
        }
    }

    /// Updates the object, which was known to be unchanged until `agreed`.
    pub(super) fn observe(&mut self, observed: ObservedCatalog, agreed: Instant) {
        let names_another = observed.state.digest() != self.observed.state.digest();
        if names_another {
            self.named_since = agreed;
            self.held_back = None;
            self.confirm = None;
        }
        // A catalogd that was unavailable updates `lastUnpacked` when it has unpacked the content again.
        let is_unpacked_anew = observed.state.last_unpacked != self.observed.state.last_unpacked;
        if names_another || is_unpacked_anew || observed.base != self.observed.base {
            self.trouble = None;
            self.failures_since_news = 0;
        }
        self.observed = observed;
        self.compare();
    }

    /// Returns the content to load, if any.
    ///
    /// A catalog that does not serve or is not available has nothing to load. Its loaded content is kept for its
    /// return.
    pub(super) fn wants(&self, generation: u32) -> Option<Want> {
        let want = self.named(generation)?;
        // If two fetches of it differ, only a third one can decide.
        let is_loaded = self.loaded_as(&want.key).is_some() && self.held_back.is_none();
        (!is_loaded).then_some(want)
    }

    /// Returns the next task for the catalog, if any.
    pub(super) fn task(&self, generation: u32) -> Option<(Want, Task)> {
        if let Some(want) = self.wants(generation) {
            let known = self.known(&want.key);
            return Some((want, Task::Load(known)));
        }
        let want = self.named(generation)?;
        let loaded = &self.loaded_as(&want.key)?.loaded;
        let sha256 = loaded.sha256.filter(|_| !loaded.is_confirmed)?;
        Some((want, Task::Confirm(sha256)))
    }

    /// Returns the content that the object names, if it serves it.
    fn named(&self, generation: u32) -> Option<Want> {
        let state = &self.observed.state;
        Some(Want {
            key: ContentKey {
                digest: state.digest()?.to_owned(),
                generation,
            },
            name: state.name.clone(),
            base: self.observed.source()?.to_owned(),
            image_ref: state.image_ref.clone(),
            last_unpacked: state.last_unpacked.clone(),
        })
    }

    fn loaded_as(&self, key: &ContentKey) -> Option<&HeldContent> {
        let mut held = self.held.iter().chain(&self.prepared);
        held.find(|held| held.want.key == *key)
    }

    /// Returns the facts that new content of this key is compared with.
    fn known(&self, key: &ContentKey) -> KnownContent {
        let held = self.held.as_ref();
        KnownContent {
            loaded: held.map(|held| Arc::clone(&held.loaded)),
            is_of_digest: held.is_some_and(|held| held.want.key.digest == key.digest),
            held_back: self.held_back,
        }
    }

    /// Stores loaded content, of the current want or of the want at the start of the job.
    pub(super) fn hold(&mut self, want: Want, loaded: Arc<LoadedContent>) {
        let by_others = |held: &HeldContent| held.want.key.generation != want.key.generation;
        let place = if self.held.as_ref().is_some_and(by_others) {
            &mut self.prepared
        } else {
            &mut self.held
        };
        *place = Some(HeldContent { want, loaded });
        self.held_back = None;
        self.confirm = None;
        self.succeeded();
        self.compare();
    }

    /// Schedules the second fetch of the loaded content. The delay lets a momentary fault pass.
    pub(super) fn confirm_at(&mut self, time: Instant) {
        self.confirm = Some(time);
    }

    /// Records that the content under this key is what catalogd serves.
    pub(super) fn confirm(&mut self, key: &ContentKey) {
        let held = self.held.iter_mut().chain(&mut self.prepared);
        for held in held.filter(|held| held.want.key == *key) {
            held.loaded = Arc::new(LoadedContent {
                is_confirmed: true,
                ..LoadedContent::clone(&held.loaded)
            });
        }
        if self.loaded_as(key).is_some() {
            self.succeeded();
        }
    }

    fn succeeded(&mut self) {
        self.trouble = None;
        self.failures = 0;
        self.failures_since_news = 0;
    }

    /// Replaces the content with the prepared content for the rules that are now in force.
    pub(super) fn switch(&mut self) {
        if let Some(prepared) = self.prepared.take() {
            self.held = Some(prepared);
            self.compare();
        }
    }

    /// Records a failed load.
    pub(super) fn failed(&mut self, failure: Failure, retry: Instant) {
        self.failures += 1;
        self.failures_since_news += 1;
        if let Failure::HeldBack { held, .. } = &failure {
            self.held_back = Some(*held);
        }
        self.trouble = Some(LoadTrouble {
            why: failure,
            retry,
        });
    }

    /// Records that a load was aborted because something else is wanted.
    pub(super) fn overtaken(&mut self) {
        self.failures += 1;
    }

    /// Whether it has failed too often to wait for at the start.
    pub(super) fn is_out_of_tries(&self) -> bool {
        self.failures >= TRIES
    }

    /// Returns the time of the next attempt, if a load failed or must be confirmed.
    pub(super) fn retry(&self) -> Option<Instant> {
        let trouble = self.trouble.as_ref().map(|trouble| trouble.retry);
        trouble.or(self.confirm)
    }

    pub(super) fn may_try(&self, now: Instant) -> bool {
        self.retry().is_none_or(|retry| retry <= now)
    }

    /// Returns the loaded content and its key.
    pub(super) fn held(&self) -> Option<(&ContentKey, &Arc<LoadedContent>)> {
        let held = self.held.as_ref()?;
        Some((&held.want.key, &held.loaded))
    }

    /// Returns the digest under which these bytes are loaded, if it is another one.
    pub(super) fn holds_as_another(&self, key: &ContentKey, sha256: Sha256) -> Option<&str> {
        let held = self.held.as_ref()?;
        let is_another = held.loaded.sha256 == Some(sha256) && held.want.key.digest != key.digest;
        is_another.then_some(held.want.key.digest.as_str())
    }

    /// Returns the digest of the loaded content and the digest that the object names.
    pub(super) fn digests(&self) -> impl Iterator<Item = &str> {
        let held = self.held.as_ref().map(|held| held.want.key.digest.as_str());
        held.into_iter().chain(self.observed.state.digest())
    }

    /// Returns the state that edits are judged by. Content that was read with rules not in force is not used, nor any
    /// content if the object names no digest.
    pub(super) fn state(&self, in_force: u32, age: Age) -> CatalogState {
        let state = self.observed.state.clone();
        if !matches!(state.content, Content::Missing) {
            return state;
        }
        let held = self.held.as_ref();
        let held =
            held.filter(|held| held.want.key.generation == in_force && state.digest().is_some());
        let Some(held) = held else {
            return CatalogState {
                content: self.missing(),
                ..state
            };
        };
        CatalogState {
            image_ref: held.want.image_ref.clone(),
            last_unpacked: held.want.last_unpacked.clone(),
            currency: self.currency(),
            age,
            content: Content::Loaded(Arc::clone(&held.loaded.content)),
            ..state
        }
    }

    /// Returns the condition of the catalog, given the state that edits are judged by.
    pub(super) fn report(
        &self,
        state: &CatalogState,
        now: Instant,
        age: Option<Duration>,
    ) -> CatalogCondition {
        let trouble = self.trouble.as_ref().map(|trouble| trouble.why.to_string());
        CatalogCondition {
            name: state.name.clone(),
            held: self.held.as_ref().map(|held| held.loaded.figures()),
            is_loaded: state.loaded().is_some(),
            age,
            at: now,
            serving: state.serving,
            availability: state.availability,
            currency: state.currency,
            is_held_back: self.held_back.is_some(),
            trouble: match (&state.content, self.missing()) {
                (Content::Unreadable(why), _) => Some(why.clone()),
                (_, Content::Unreadable(why)) if state.currency == Currency::Superseded => {
                    Some(why)
                }
                _ => trouble,
            },
        }
    }

    fn currency(&self) -> Currency {
        if self.is_superseded() {
            Currency::Superseded
        } else {
            Currency::Current
        }
    }

    /// Whether the object names a digest other than that of the loaded content.
    fn is_superseded(&self) -> bool {
        match (&self.held, self.observed.state.digest()) {
            (Some(held), Some(named)) => held.want.key.digest != named,
            _ => false,
        }
    }

    /// Compares the object with the loaded content, after a change of either.
    fn compare(&mut self) {
        let since = self.superseded_since.unwrap_or(self.named_since);
        self.superseded_since = self.is_superseded().then_some(since);
        let state = &self.observed.state;
        if let Some(held) = &mut self.held
            && state.digest() == Some(&held.want.key.digest)
        {
            // catalogd may unpack the same content again.
            held.want.image_ref.clone_from(&state.image_ref);
            held.want.last_unpacked.clone_from(&state.last_unpacked);
        }
    }

    /// Returns the reason why no content is loaded.
    fn missing(&self) -> Content {
        let state = &self.observed.state;
        match &self.trouble {
            Some(trouble) => Content::Unfetched(trouble.why.to_string()),
            None if state.digest().is_none() => Content::Unfetched(NO_DIGEST.to_owned()),
            None if self.observed.base.is_none() => Content::Unfetched(NO_URL.to_owned()),
            None => Content::Missing,
        }
    }
}

const NO_DIGEST: &str = "its status.resolvedSource names no image with a digest yet";
const NO_URL: &str = "its status.urls.base names no address to fetch it from yet";

/// The delays between attempts, which never end.
pub(super) const RETRY: Retry = Retry {
    base: Duration::from_millis(500),
    cap: Duration::from_mins(1),
};

/// The number of failures after which the start no longer waits for a catalog.
const TRIES: u32 = 4;
