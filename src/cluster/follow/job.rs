//! A job to load content, its result, and whether the content is believed.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use crate::source::digest::Sha256;
use crate::source::http::{FetchClass, FetchError};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, Doubt};
use olmguard_server::telemetry::metrics::{CatalogLoad, LoadFailure};

/// The key of content: the digest of its image, and the rules it was read by.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct ContentKey {
    pub(super) digest: String,
    /// The generation of the rules in the table.
    pub(super) generation: u32,
}

/// The content that a catalog wants: of the digest that its object names.
#[derive(Clone, Debug)]
pub(super) struct Want {
    pub(super) key: ContentKey,
    /// The name of the catalog.
    pub(super) name: String,
    /// The URL at which catalogd serves the content.
    pub(super) base: String,
    pub(super) image_ref: Option<String>,
    pub(super) last_unpacked: Option<String>,
}

/// A job to load content.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) want: Want,
    /// The rules to read it by.
    pub(super) rules: Rules,
    pub(super) task: Task,
}

/// The task of a job.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Load the content.
    Load(KnownContent),
    /// Fetch content again that was fetched only once, to check whether it still has this SHA-256.
    Confirm(Sha256),
}

/// The result of a job.
#[derive(Debug)]
pub(super) enum LoadOutcome {
    /// Content was loaded, and its object was not seen to name another digest.
    Loaded(Arc<LoadedContent>),
    /// The loaded content is what catalogd serves.
    Confirmed,
    /// No content, for this reason.
    Failed(Failure),
}

/// The reason why content could not be loaded, in one line.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The fetch failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The fetched content is not believed.
    #[error("{why}")]
    HeldBack { why: Disbelief, held: HeldBack },
    /// The object named another digest by the end of the fetch.
    #[error("its digest changed while it was fetched")]
    Moved,
    /// The task that loaded it panicked.
    #[error("internal fault while it was loaded, see the log; please report this")]
    Panicked,
}

impl Failure {
    /// Returns the label for metrics.
    pub(super) fn class(&self) -> LoadFailure {
        match self {
            Self::Fetch(error) => error.class().into(),
            Self::HeldBack { .. } => LoadFailure::Implausible,
            Self::Moved => LoadFailure::Moved,
            Self::Panicked => LoadFailure::Other,
        }
    }
}

impl From<FetchClass> for LoadFailure {
    fn from(class: FetchClass) -> Self {
        match class {
            FetchClass::Address => Self::Address,
            FetchClass::Connect => Self::Connect,
            FetchClass::Tls => Self::Tls,
            FetchClass::Timeout => Self::Timeout,
            FetchClass::Status => Self::Status,
            FetchClass::Truncated => Self::Truncated,
            FetchClass::TooLarge => Self::TooLarge,
            FetchClass::Content => Self::Content,
            FetchClass::Other => Self::Other,
        }
    }
}

/// Whether a job can start next to the running ones. A slow catalog does not block the others, and
/// only one catalog at a time has its old and its new content in memory.
pub(super) fn may_begin(job: &Job, running: &[Job]) -> bool {
    let replacing = running.iter().any(Job::replaces);
    running.len() < MOST_AT_ONCE && !(job.replaces() && replacing)
}

impl Job {
    /// Whether content of the catalog is loaded, and stays in use if this job fails.
    pub(super) fn is_loaded(&self) -> bool {
        match &self.task {
            Task::Load(known) => known.loaded.is_some(),
            Task::Confirm(_) => true,
        }
    }

    /// Whether other content of the catalog stays in memory during the job.
    fn replaces(&self) -> bool {
        matches!(&self.task, Task::Load(known) if known.loaded.is_some())
    }
}

const MOST_AT_ONCE: usize = 2;

// === Content of a catalog in memory ===

/// Content with its size, which the reading thread computes because that takes time.
#[derive(Debug)]
pub(super) struct WeighedContent {
    pub(super) content: Arc<Catalog>,
    /// The memory that it occupies, in bytes.
    pub(super) resident_bytes: usize,
}

/// Loaded content.
#[derive(Clone, Debug)]
pub(super) struct LoadedContent {
    pub(super) content: Arc<Catalog>,
    /// The memory that it occupies, in bytes.
    pub(super) resident_bytes: usize,
    /// The digest of the fetched bytes; absent if the content comes from the cache.
    pub(super) sha256: Option<Sha256>,
    /// Whether more than one fetch supports it.
    pub(super) is_confirmed: bool,
    pub(super) from: ContentOrigin,
    pub(super) at: SystemTime,
    pub(super) took: Duration,
}

/// The origin of content.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub(super) enum ContentOrigin {
    /// The cache, which keeps content across restarts.
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

    /// Drops the content on another thread, because dropping large content takes too long for a
    /// thread that serves.
    pub(super) fn let_go(self) {
        tokio::task::spawn_blocking(move || drop(self));
    }
}

impl LoadedContent {
    /// Returns the values for metrics.
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
    /// Returns the number of downloaded bytes.
    pub(super) fn wire_bytes(self) -> u64 {
        match self {
            Self::Cache => 0,
            Self::Catalogd { bytes } => bytes,
        }
    }
}

// === Fetched content that is believed, and content that is held back ===
//
// | content | believed |
// | --- | --- |
// | plausible compared with the loaded content | yes, and thereby confirmed |
// | plausible in itself, nothing loaded | yes; confirmed by a second fetch |
// | incomplete, or most of the loaded content is missing | if another fetch returns the same bytes |
// | no bundle, nothing loaded | if every fetch returns the same bytes for a minute |
// | no bundle, but the loaded content has some | if every fetch returns the same bytes for ten minutes |
// | first value without a schema | never |
//
// A proxy returns its error page as reliably as catalogd returns a catalog. So the more an edit
// would lose by the content, the longer the content must repeat itself; and content that is not a
// catalog is never believed.

/// The facts that content is compared with before it is believed.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownContent {
    /// The loaded content of the catalog.
    pub(super) loaded: Option<Arc<LoadedContent>>,
    /// Whether the loaded content has the digest of the new content.
    pub(super) is_of_digest: bool,
    /// The content that was fetched for the digest and held back.
    pub(super) held_back: Option<HeldBack>,
}

/// Fetched content that is not believed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct HeldBack {
    /// The SHA-256 of the bytes.
    pub(super) sha256: Sha256,
    /// The first fetch from which on every fetch returned these bytes.
    pub(super) since: Instant,
}

/// The reason why content is believed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Belief {
    /// Nothing contradicts the content, but only the content itself supports it.
    Alone,
    /// The content agrees with the loaded content.
    Compared,
    /// Another fetch returned the same bytes, with the doubt that was overcome.
    Repeated(Option<Doubt>),
}

/// The reason why content is not believed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Disbelief {
    /// The content is implausible, and has not been fetched again for long enough.
    #[error("held back: {0}")]
    Doubted(Doubt),
    /// Two fetches of one digest gave different bytes.
    #[error("held back: two fetches of one digest gave different content")]
    Differs,
}

impl KnownContent {
    /// Decides whether to believe content with this SHA-256.
    pub(super) fn believe(
        &self,
        content: &Catalog,
        sha256: Sha256,
        now: Instant,
    ) -> Result<Belief, Disbelief> {
        let loaded = self.loaded.as_deref();
        let of_digest = loaded.filter(|_| self.is_of_digest);
        let fetched_before = of_digest.and_then(|loaded| loaded.sha256);
        if fetched_before == Some(sha256) {
            return Ok(Belief::Repeated(None));
        }
        let doubt = content.doubt(loaded.map(|loaded| &*loaded.content));
        let time = |held: HeldBack| now.saturating_duration_since(held.since);
        match self.held_back.filter(|held| held.sha256 == sha256) {
            Some(held) if repeats(doubt.as_ref(), loaded.is_some(), time(held)) => {
                Ok(Belief::Repeated(doubt))
            }
            _ => match doubt {
                Some(doubt) => Err(Disbelief::Doubted(doubt)),
                None if fetched_before.is_some() => Err(Disbelief::Differs),
                None if loaded.is_some() => Ok(Belief::Compared),
                None => Ok(Belief::Alone),
            },
        }
    }

    /// Returns the record of held-back content, which keeps its start while the same bytes come.
    pub(super) fn hold_back(&self, sha256: Sha256, now: Instant) -> HeldBack {
        let before = self.held_back.filter(|held| held.sha256 == sha256);
        before.unwrap_or(HeldBack { sha256, since: now })
    }
}

/// Whether doubtful content has repeated itself long enough to be believed.
fn repeats(doubt: Option<&Doubt>, is_loaded: bool, time: Duration) -> bool {
    match doubt {
        Some(Doubt::Foreign) => false,
        Some(Doubt::Empty) if is_loaded => time >= EMPTIED_FOR,
        Some(Doubt::Empty) => time >= EMPTY_FOR,
        _ => true,
    }
}

/// Longer than a proxy, a service mesh or catalogd takes to start, and longer than the alert waits.
const EMPTIED_FOR: Duration = Duration::from_mins(10);

/// Longer than a momentary fault that makes an answer empty.
const EMPTY_FOR: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::follow::tests::loaded;
    use olmguard_catalog::olm::Rules;
    use olmguard_catalog::{CatalogBuilder, fbc};

    fn catalog(text: &str) -> Arc<Catalog> {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        fbc::read("c", text.as_bytes(), &mut builder).unwrap();
        Arc::new(builder.finish().expect("no bound"))
    }

    fn package(name: &str) -> String {
        format!(
            "{{\"schema\":\"olm.package\",\"name\":\"{name}\"}}\n\
             {{\"schema\":\"olm.channel\",\"package\":\"{name}\",\"name\":\"c\",\"entries\":[{{\"name\":\"b\"}}]}}\n\
             {{\"schema\":\"olm.bundle\",\"package\":\"{name}\",\"name\":\"b\"}}\n"
        )
    }

    const FOREIGN: &str = r#"{"error":"unauthorized"}"#;

    /// Asserts after how many seconds of repetition content is believed, if ever.
    #[track_caller]
    fn believed_after(loaded_text: Option<&str>, text: &str, expected: Option<u64>) {
        let now = Instant::now();
        let held_back = HeldBack {
            sha256: Sha256::of(&[1]),
            since: now,
        };
        let known = KnownContent {
            loaded: loaded_text.map(|text| loaded(catalog(text), Some(Sha256::of(&[0])))),
            is_of_digest: false,
            held_back: Some(held_back),
        };
        let believes = |sha, seconds| {
            let later = now + Duration::from_secs(seconds);
            known
                .believe(&catalog(text), Sha256::of(&[sha]), later)
                .is_ok()
        };
        let mut times = [0, 1, 59, 60, 599, 600, 1_000_000].into_iter();
        assert_eq!(times.find(|time| believes(1, *time)), expected, "{text}");
        assert!(
            !believes(2, 1_000_000) || expected == Some(0),
            "other bytes"
        );
    }

    #[test]
    fn the_more_is_lost_the_longer_content_must_repeat_itself() {
        let (a, b) = (package("a"), package("b"));
        for (loaded, text, expected) in [
            (Some(&*a), &*b, Some(0)),
            (Some(&a), "", Some(600)),
            (Some(&a), "null\n", Some(600)),
            (Some(&a), FOREIGN, None),
            (None, "", Some(60)),
            (None, FOREIGN, None),
        ] {
            believed_after(loaded, text, expected);
        }
    }

    #[test]
    fn other_bytes_of_one_digest_are_believed_when_they_come_twice() {
        let now = Instant::now();
        let (a, both) = (package("a"), package("a") + &package("b"));
        let mut known = KnownContent {
            loaded: Some(loaded(catalog(&a), Some(Sha256::of(&[0])))),
            is_of_digest: true,
            held_back: None,
        };
        let content = catalog(&both);
        assert_eq!(
            known.believe(&content, Sha256::of(&[1]), now),
            Err(Disbelief::Differs)
        );
        known.held_back = Some(known.hold_back(Sha256::of(&[1]), now));
        assert_eq!(
            known.believe(&content, Sha256::of(&[1]), now),
            Ok(Belief::Repeated(None))
        );
        assert_eq!(
            known.believe(&content, Sha256::of(&[2]), now),
            Err(Disbelief::Differs)
        );
        assert_eq!(
            known.believe(&catalog(&a), Sha256::of(&[0]), now),
            Ok(Belief::Repeated(None)),
            "the first again"
        );
    }

    #[test]
    fn content_that_is_compared_is_confirmed_by_that() {
        let (now, a) = (Instant::now(), package("a"));
        let with = |text: Option<&str>| KnownContent {
            loaded: text.map(|text| loaded(catalog(text), Some(Sha256::of(&[0])))),
            ..KnownContent::default()
        };
        let content = catalog(&a);
        let believe = |known: KnownContent| known.believe(&content, Sha256::of(&[1]), now);
        assert_eq!(believe(with(Some(&a))), Ok(Belief::Compared));
        assert_eq!(believe(with(None)), Ok(Belief::Alone));
    }
}
