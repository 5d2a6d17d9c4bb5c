//! One catalog: its object, its loaded content, and its failures.

use std::num::NonZero;
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

/// One catalog.
#[derive(Debug)]
pub(super) struct TrackedCatalog {
    observed: ObservedCatalog,
    held: Option<HeldContent>,
    /// The same content, read by rules that are not in force yet.
    prepared: Option<HeldContent>,
    /// Since when the object names the digest that it names.
    named_since: Instant,
    /// Since when the object names another digest than that of what is held.
    pub(super) superseded_since: Option<Instant>,
    /// How often in a row loading came to nothing.
    pub(super) failures: u32,
    /// The same since the object last said something that loading depends on: how long to wait.
    pub(super) failures_since_news: u32,
    trouble: Option<LoadTrouble>,
    /// What was fetched for the digest that the object names, and is not believed.
    held_back: Option<HeldBack>,
    /// When to fetch again what was fetched only once.
    confirm: Option<Instant>,
}

/// Content, and where it is from.
#[derive(Clone, Debug)]
struct HeldContent {
    key: ContentKey,
    image_ref: Option<String>,
    last_unpacked: Option<String>,
    loaded: Arc<LoadedContent>,
}

/// Loading failed, and what is to be loaded is still the same.
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

    /// The object is so; until `agreed` it was known to be as it was before.
    pub(super) fn observe(&mut self, observed: ObservedCatalog, agreed: Instant) {
        let names_another = observed.state.digest() != self.observed.state.digest();
        if names_another {
            self.named_since = agreed;
            self.held_back = None;
            self.confirm = None;
        }
        // A catalogd that was away says so when it has unpacked the content anew.
        let is_unpacked_anew = observed.state.last_unpacked != self.observed.state.last_unpacked;
        if names_another || is_unpacked_anew || observed.base != self.observed.base {
            self.trouble = None;
            self.failures_since_news = 0;
        }
        self.observed = observed;
        self.compare();
    }

    /// What is to be loaded for it, if anything is.
    ///
    /// A catalog that does not serve, or is not available, has nothing to load; what is held of it is
    /// kept for its return.
    pub(super) fn wants(&self, generation: u32) -> Option<Want> {
        let want = self.named(generation)?;
        // Where two fetches of it differ nothing but a third one tells which is right.
        let is_loaded = self.loaded_as(&want.key).is_some() && self.held_back.is_none();
        (!is_loaded).then_some(want)
    }

    /// What is to be done for it, if anything is.
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

    /// What the object names, if it serves it.
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
        held.find(|held| held.key == *key)
    }

    /// What content of this key is compared with.
    fn known(&self, key: &ContentKey) -> KnownContent {
        let held = self.held.as_ref();
        KnownContent {
            loaded: held.map(|held| Arc::clone(&held.loaded)),
            is_of_digest: held.is_some_and(|held| held.key.digest == key.digest),
            held_back: self.held_back,
        }
    }

    /// Content of what it wants, or wanted when the loading began, is held from now on.
    pub(super) fn hold(&mut self, want: Want, loaded: Arc<LoadedContent>) {
        let by_others = |held: &HeldContent| held.key.generation != want.key.generation;
        let place = if self.held.as_ref().is_some_and(by_others) {
            &mut self.prepared
        } else {
            &mut self.held
        };
        *place = Some(HeldContent {
            key: want.key,
            image_ref: want.image_ref,
            last_unpacked: want.last_unpacked,
            loaded,
        });
        self.held_back = None;
        self.confirm = None;
        self.succeeded();
        self.compare();
    }

    /// A second fetch of what is loaded is to wait until then: what was wrong for a moment is over.
    pub(super) fn confirm_at(&mut self, time: Instant) {
        self.confirm = Some(time);
    }

    /// What is loaded under this key is what catalogd serves.
    pub(super) fn confirm(&mut self, key: &ContentKey) {
        let held = self.held.iter_mut().chain(&mut self.prepared);
        for held in held.filter(|held| held.key == *key) {
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

    /// What was read by the rules that are in force from now on takes the place of what was not.
    pub(super) fn switch(&mut self) {
        if let Some(prepared) = self.prepared.take() {
            self.held = Some(prepared);
            self.compare();
        }
    }

    /// Loading failed.
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

    /// Something else was to be loaded before loading came to an end.
    pub(super) fn overtaken(&mut self) {
        self.failures += 1;
    }

    /// Whether it failed so often that nobody should wait for it.
    pub(super) fn is_out_of_tries(&self) -> bool {
        self.failures >= RETRY.tries.get()
    }

    /// When to try again, if it failed, or is to be confirmed.
    pub(super) fn retry(&self) -> Option<Instant> {
        let trouble = self.trouble.as_ref().map(|trouble| trouble.retry);
        trouble.or(self.confirm)
    }

    pub(super) fn may_try(&self, now: Instant) -> bool {
        self.retry().is_none_or(|retry| retry <= now)
    }

    /// What is held, and by what.
    pub(super) fn held(&self) -> Option<(&ContentKey, &Arc<LoadedContent>)> {
        let held = self.held.as_ref()?;
        Some((&held.key, &held.loaded))
    }

    /// The digest under which these bytes are held, if it is another one.
    pub(super) fn holds_as_another(&self, key: &ContentKey, sha256: Sha256) -> Option<&str> {
        let held = self.held.as_ref()?;
        let is_another = held.loaded.sha256 == Some(sha256) && held.key.digest != key.digest;
        is_another.then_some(held.key.digest.as_str())
    }

    /// The digests of what is held and what the object names.
    pub(super) fn digests(&self) -> impl Iterator<Item = &str> {
        let held = self.held.as_ref().map(|held| held.key.digest.as_str());
        held.into_iter().chain(self.observed.state.digest())
    }

    /// What edits are judged by, by the rules in force: not by what other rules made of content,
    /// and not by anything where the object names no content at all.
    pub(super) fn state(&self, in_force: u32, age: Age) -> CatalogState {
        let state = self.observed.state.clone();
        if !matches!(state.content, Content::Missing) {
            return state;
        }
        let held = self.held.as_ref();
        let held = held.filter(|held| held.key.generation == in_force && state.digest().is_some());
        let Some(held) = held else {
            return CatalogState {
                content: self.missing(),
                ..state
            };
        };
        CatalogState {
            image_ref: held.image_ref.clone(),
            last_unpacked: held.last_unpacked.clone(),
            currency: self.currency(),
            age,
            content: Content::Loaded(Arc::clone(&held.loaded.content)),
            ..state
        }
    }

    /// How it is, where this is what edits are judged by.
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

    /// Whether the object names a digest, and another than that of what is held.
    fn is_superseded(&self) -> bool {
        match (&self.held, self.observed.state.digest()) {
            (Some(held), Some(named)) => held.key.digest != named,
            _ => false,
        }
    }

    /// What is held, or what the object names, is not what it was.
    fn compare(&mut self) {
        let since = self.superseded_since.unwrap_or(self.named_since);
        self.superseded_since = self.is_superseded().then_some(since);
        let state = &self.observed.state;
        if let Some(held) = &mut self.held
            && state.digest() == Some(&held.key.digest)
        {
            // catalogd may unpack the same content again.
            held.image_ref.clone_from(&state.image_ref);
            held.last_unpacked.clone_from(&state.last_unpacked);
        }
    }

    /// Why nothing is held.
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

/// How what fails is tried again. It is never given up; after so many tries nobody waits for it at
/// the start any longer.
pub(super) const RETRY: Retry = Retry {
    base: Duration::from_millis(500),
    cap: Duration::from_mins(1),
    tries: NonZero::new(4).expect("more than none"),
};
