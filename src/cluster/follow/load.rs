//! Loads the content of one digest: from the cache, otherwise from catalogd, and then reads the object once more.
//!
//! catalogd swaps in content before its object names the new digest, so for a moment an address serves other content
//! than the object names. Fetched content counts as content of the digest only if the object still names that digest
//! afterwards. If the object cannot be read again, the watch will report a change. But a cache entry outlives the
//! watch. So an entry is written only if the object was read again and more than one fetch supports the content
//! ([`job`](super::job)).

use std::future::Future;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::Client;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tracing::warn;

use crate::cluster::catalogs;
use crate::cluster::follow::job::{
    Belief, ContentOrigin, Disbelief, Failure, Job, KnownContent, LoadOutcome, LoadedContent, Task,
    Want, WeighedContent,
};
use crate::source::cache::{Cache, CacheEntry, CacheError};
use crate::source::catalogd::Catalogd;
use crate::source::decompress::Tee;
use crate::source::digest::Sha256;
use crate::source::http::FetchedBody;
use crate::source::{Progress, SourceError, finished, io_error, read_from};
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::memory::Pool;
use olmguard_server::telemetry::metrics::{CatalogMetrics, LoadFailure};
use olmguard_server::tls::Clock;

/// A loader that executes jobs.
pub(super) trait Load: Clone + Send + 'static {
    /// Loads content, however long that takes. The future can be dropped at any time. A reading thread then continues
    /// to its end, and its memory counts until then.
    fn load(self, job: Job) -> impl Future<Output = LoadOutcome> + Send + 'static;

    /// Passes the names of all catalogs with the digests of their content. The loader may forget content of all other
    /// digests.
    fn keep(&self, in_use: Vec<(String, String)>);

    /// Forgets content that was loaded under this digest but may belong to another one.
    fn forget(&self, digest: &str);
}

/// A loader that uses a cache and catalogd.
#[derive(Clone, derive_more::Debug)]
#[debug("ContentLoader {{ catalogd: {:?}, cache: {:?}, .. }}", _0.catalogd, _0.cache)]
pub struct ContentLoader(Arc<ContentSources>);

struct ContentSources {
    client: Client,
    catalogd: Catalogd,
    cache: Option<Arc<Cache>>,
    in_use: InUse,
    clock: Arc<dyn Clock>,
    metrics: Arc<CatalogMetrics>,
    memory: Pool,
}

/// The catalogs that exist, with the digests of their content in use. The threads that remove all other entries can run
/// in any order, one at a time; each uses the latest digests.
#[derive(Default)]
struct InUse {
    last: Mutex<Vec<(String, String)>>,
    removing: Mutex<()>,
}

impl ContentLoader {
    /// Creates a loader. `client` reads objects again, `metrics` counts failures of the cache, and loaded content takes
    /// its memory from `memory`.
    pub fn new(
        client: Client,
        catalogd: Catalogd,
        cache: Option<Cache>,
        clock: Arc<dyn Clock>,
        metrics: Arc<CatalogMetrics>,
        memory: Pool,
    ) -> Self {
        let cache = cache.map(Arc::new);
        Self(Arc::new(ContentSources {
            client,
            catalogd,
            cache,
            in_use: InUse::default(),
            clock,
            metrics,
            memory,
        }))
    }

    /// Returns the content from the cache, if the cache has all of it.
    async fn cached(&self, job: &Job) -> Option<WeighedContent> {
        let cache = Arc::clone(self.0.cache.as_ref()?);
        let (digest, rules) = (job.want.key.digest.clone(), job.rules.clone());
        let account = self.0.memory.account();
        let read = spawn_blocking(move || {
            let mut builder = CatalogBuilder::within(&rules, account);
            if !cache.load(&digest, &mut builder)? {
                return Ok(None);
            }
            Ok(Some(WeighedContent::of(builder.finish()?)))
        });
        match read.await.ok()? {
            Ok(content) => content,
            Err(error) => {
                self.complain(job, &error);
                None
            }
        }
    }

    /// Fetches the content, on a connection of its own.
    async fn fetch<T, F>(&self, job: &Job, read: F) -> Result<FetchedBody<T>, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&Self, &Job, &mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        let (loader, reading) = (self.clone(), job.clone());
        let read = move |body: &mut dyn Read| read(&loader, &reading, body);
        Ok(self.0.catalogd.fetch(&job.want.base, read).await?)
    }

    /// Reads content on a blocking thread. The returned cache entry is not committed yet.
    fn read(
        &self,
        job: &Job,
        body: &mut dyn Read,
    ) -> Result<(WeighedContent, Option<CacheEntry>), SourceError> {
        let mut entry = self.begin(job);
        let mut builder = CatalogBuilder::within(&job.rules, self.0.memory.account());
        let (name, progress) = (&job.want.name, Progress::default());
        match &mut entry {
            Some(to) => read_from(name, Tee { from: body, to }, &progress, &mut builder),
            None => read_from(name, body, &progress, &mut builder),
        }?;
        Ok((WeighedContent::of(finished(name, builder)?), entry))
    }

    /// Writes content to a cache entry only. The entry is committed only if the same bytes were parsed before.
    fn store(&self, job: &Job, body: &mut dyn Read) -> Result<Option<CacheEntry>, SourceError> {
        let mut entry = self.begin(job);
        let copied = match &mut entry {
            Some(entry) => io::copy(body, entry),
            None => io::copy(body, &mut io::sink()),
        };
        copied.map_err(|source| io_error(&job.want.name, "read", source))?;
        Ok(entry)
    }

    fn begin(&self, job: &Job) -> Option<CacheEntry> {
        let begun = self.0.cache.as_ref()?.begin(&job.want.key.digest);
        begun.inspect_err(|error| self.complain(job, error)).ok()
    }

    /// Commits an entry to the disk, which can take time.
    async fn commit(&self, job: &Job, entry: Option<CacheEntry>) {
        let Some(entry) = entry else { return };
        let committed = spawn_blocking(move || entry.commit()).await;
        if let Ok(Err(error)) = committed {
            self.complain(job, &error);
        }
    }

    /// Reports a failure of the cache. The cache is optional, so the load continues.
    fn complain(&self, job: &Job, error: &CacheError) {
        let name = &job.want.name;
        warn!(catalog = name, %error, "Failed to use the catalog cache, continuing without it");
        // A thread can read longer than its catalog exists. Under the lock, no series comes back after it was removed.
        let in_use = self.0.in_use.last();
        if in_use.iter().any(|(catalog, _)| catalog == name) {
            self.0.metrics.load_failed(name, LoadFailure::Cache);
        }
    }
}

impl ContentLoader {
    /// Returns the content of a digest.
    async fn content(&self, job: &Job, known: &KnownContent) -> Result<LoadedContent, Failure> {
        let begun = Instant::now();
        let loaded = |weighed: WeighedContent, sha256, is_confirmed, from| LoadedContent {
            content: weighed.content,
            resident_bytes: weighed.resident_bytes,
            sha256,
            is_confirmed,
            from,
            at: self.0.clock.now(),
            took: begun.elapsed(),
        };
        if let Some(content) = self.cached(job).await {
            return Ok(loaded(content, None, true, ContentOrigin::Cache));
        }
        let fetched = self.fetch(job, Self::read).await?;
        let is_same = self.is_same(job).await?;
        let ((content, entry), sha256) = (fetched.value, fetched.sha256);
        let belief = match known.believe(&content.content, sha256, Instant::now()) {
            Ok(belief) => belief,
            Err(why) => {
                content.let_go();
                let held = known.hold_back(sha256, Instant::now());
                return Err(Failure::HeldBack { why, held });
            }
        };
        report(job, &content, &belief);
        // Without a cache, a second fetch would have no use.
        let is_confirmed = belief != Belief::Alone || entry.is_none();
        if is_confirmed && is_same {
            self.commit(job, entry).await;
        }
        let bytes = fetched.bytes;
        Ok(loaded(
            content,
            Some(sha256),
            is_confirmed,
            ContentOrigin::Catalogd { bytes },
        ))
    }

    /// Fetches the loaded content again, and commits it to the cache if it is the same.
    async fn confirm(&self, job: &Job, sha256: Sha256) -> Result<(), Failure> {
        let fetched = self.fetch(job, Self::store).await?;
        let is_same = self.is_same(job).await?;
        if fetched.sha256 != sha256 {
            let known = KnownContent::default();
            let held = known.hold_back(fetched.sha256, Instant::now());
            return Err(Failure::HeldBack {
                why: Disbelief::Differs,
                held,
            });
        }
        if is_same {
            self.commit(job, fetched.value).await;
        }
        Ok(())
    }

    /// Reads the object again. Returns whether it is known to still name the same image.
    async fn is_same(&self, job: &Job) -> Result<bool, Failure> {
        let Want {
            name, image_ref, ..
        } = &job.want;
        match catalogs::get(self.0.client.clone(), name).await {
            Ok(Some(now)) if now.state.image_ref == *image_ref => Ok(true),
            // The watch will report the new digest, and that is loaded then. This answer could be older than the watch,
            // so it is not used.
            Ok(_) => Err(Failure::Moved),
            Err(error) => {
                warn!(
                    catalog = name,
                    %error,
                    "Failed to check whether the catalog changed during the fetch, not caching it"
                );
                Ok(false)
            }
        }
    }
}

impl Load for ContentLoader {
    async fn load(self, job: Job) -> LoadOutcome {
        let done = match &job.task {
            Task::Load(known) => {
                let loaded = self.content(&job, known).await;
                loaded.map(|loaded| LoadOutcome::Loaded(Arc::new(loaded)))
            }
            Task::Confirm(sha256) => {
                let confirmed = self.confirm(&job, *sha256).await;
                confirmed.map(|()| LoadOutcome::Confirmed)
            }
        };
        done.unwrap_or_else(LoadOutcome::Failed)
    }

    fn keep(&self, in_use: Vec<(String, String)>) {
        *self.0.in_use.last() = in_use;
        let sources = Arc::clone(&self.0);
        self.beside(move |cache| sources.in_use.with(|digests| cache.retain(digests)));
    }

    fn forget(&self, digest: &str) {
        let digest = digest.to_owned();
        self.beside(move |cache| cache.remove(&digest));
    }
}

impl InUse {
    /// Locks the catalogs. A panic cannot leave inconsistent data under either lock.
    fn last(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, remove: impl FnOnce(&[&str]) -> T) -> T {
        let _one = self.removing.lock().unwrap_or_else(PoisonError::into_inner);
        // Removing takes a while, and the lock on the catalogs must not be held for long.
        let in_use = self.last().clone();
        let digests: Vec<&str> = in_use.iter().map(|(_, digest)| digest.as_str()).collect();
        remove(&digests)
    }
}

impl ContentLoader {
    /// Runs work on the cache in the background.
    fn beside(&self, work: impl FnOnce(&Cache) -> Result<(), CacheError> + Send + 'static) {
        let Some(cache) = self.0.cache.clone() else {
            return;
        };
        spawn_blocking(move || {
            if let Err(error) = work(&cache) {
                warn!(%error, "Failed to clean up the catalog cache");
            }
        });
    }
}

/// Logs that content with doubts is accepted.
fn report(job: &Job, content: &WeighedContent, belief: &Belief) {
    let Belief::Repeated(Some(doubt)) = belief else {
        return;
    };
    let counts = content.content.counts();
    warn!(
        catalog = job.want.name,
        digest = job.want.key.digest,
        packages = counts.packages,
        bundles = counts.bundles,
        reason = %doubt,
        "Accepting catalog content that was held back, because a later fetch returned the same bytes"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::follow::job::ContentKey;
    use crate::source::http::FetchLimits;
    use olmguard_catalog::olm::Rules;
    use olmguard_server::telemetry::Metrics;
    use olmguard_server::tls::SystemClock;
    use olmguard_support::api::ApiServer;

    #[test]
    fn whoever_comes_late_goes_by_the_last_digests_too() {
        let in_use = InUse::default();
        let put = |digest: &str| *in_use.last() = vec![("hub".to_owned(), digest.to_owned())];
        let removed = || in_use.with(|digests| digests.join(" "));
        put("old");
        assert_eq!(removed(), "old");
        // The second of two started threads runs first.
        put("new");
        assert_eq!(removed(), "new");
        assert_eq!(removed(), "new");
    }

    /// The thread that reads content goes on when its catalog is deleted.
    #[tokio::test]
    async fn a_cache_that_fails_gives_no_series_to_a_deleted_catalog() {
        let metrics = Metrics::new();
        let loader = ContentLoader::new(
            ApiServer::start().client(),
            Catalogd::new(None, FetchLimits::default()).unwrap(),
            None,
            Arc::new(SystemClock),
            Arc::clone(&metrics.catalogs),
            Pool::unbounded(),
        );
        let text = || "hub".to_owned();
        let job = Job {
            want: Want {
                key: ContentKey {
                    digest: text(),
                    generation: 0,
                },
                name: text(),
                base: text(),
                image_ref: None,
                last_unpacked: None,
            },
            rules: Rules::default(),
            task: Task::Load(KnownContent::default()),
        };
        let has_series = || {
            loader.complain(&job, &CacheError::Digest { found: text() });
            metrics.render().contains("catalog=\"hub\"")
        };
        loader.keep(vec![(text(), text())]);
        assert!(has_series());
        loader.keep(Vec::new());
        metrics.catalogs.gone("hub");
        assert!(!has_series());
    }
}
