//! The bundle images that installed extensions can be upgraded to, read before an edit needs them.
//!
//! ```text
//! ClusterExtensions, catalogs --> wanted images --> registry or store --> bundle --.
//!                                              CRDs and kinds of the cluster ------+--> loaded images
//! CRDs --watch (metadata)--> versions --> which of the images are current --> BundleContents --> follower
//!                       '--> owners --------------------------------------------^
//! ```
//!
//! Invariants: no answer waits for this; published contents were compared with each CRD in the version that the watch
//! reported last; images are read one at a time, in memory of a separate pool; an image that cannot be read affects
//! only itself, and is tried again after a pause that grows.

mod held;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use held::{ClusterVersions, HeldImage, ReadStamp, WatchedCrds};
use kube::Client;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use crate::cluster::bundle_objects::{self, SoughtObjects};
use crate::cluster::extensions::{self, ExtensionsError};
use crate::cluster::watch::WatchedKind;
use crate::cluster::{WatchEvent, in_chunks};
use crate::source::http::Retry;
use olmguard_catalog::memory::{Account, Heap, Loan, Pool};
use olmguard_engine::audit::images_ahead;
use olmguard_engine::extension::Extension;
use olmguard_engine::snapshot::Snapshot;
use olmguard_preflight::KubernetesVersion;
use olmguard_preflight::bundle::RegistryBundle;
use olmguard_preflight::content::{BundleContents, UnreadableBundle};
use olmguard_server::telemetry::OncePerChange;
use olmguard_server::telemetry::metrics::{ImageMetrics, ImageState};

/// A reader of images.
pub trait ReadImage: Debug + Send + Sync {
    /// Reads the image of a bundle, in memory of this account. Blocks while it waits for a registry.
    ///
    /// # Errors
    /// Returns the reason why the image is unavailable, in one line.
    fn read(&self, image: &str, memory: &Account) -> Result<ReadBundle, String>;
}

/// The contents of an image, with the memory that they occupy.
pub type ReadBundle = (Result<RegistryBundle, UnreadableBundle>, Loan);

/// The inputs and outputs of reading images ahead.
#[derive(Clone, Debug)]
pub struct ImagesConfig {
    /// The reader of the images.
    pub source: Arc<dyn ReadImage>,
    /// The catalogs that edits are judged by.
    pub snapshot: Arc<ArcSwap<Snapshot>>,
    /// The receiver of the contents, which are sent again when they change.
    pub contents: mpsc::Sender<Arc<BundleContents>>,
    /// The memory for all bundles together.
    pub memory: Pool,
    /// The metrics of images.
    pub metrics: Arc<ImageMetrics>,
}

/// Reads images ahead whenever `is_ready` reports that the catalogs are known. Ends if the watch of CRDs or the
/// receiver of contents ends, which only a bug in this program can cause.
pub async fn read_ahead(client: Client, is_ready: impl Fn() -> bool, config: ImagesConfig) {
    let (events, mut received) = mpsc::channel(BACKLOG);
    let crds = WatchedKind::required(held::CRDS).metadata();
    let mut watch = JoinSet::new();
    let read = |crd: Value| held::marks(&crd);
    watch.spawn(crds.watch(client.clone(), read, events));
    let mut images = Images::new(client, config);
    loop {
        let wake = images.wake();
        tokio::select! {
            event = received.recv() => match event {
                Some(event) => images.crds(event),
                None => return,
            },
            Some(done) = images.work.join_next() => images.done(done),
            () = sleep_until(wake), if images.work.is_empty() => {}
        }
        if images.work.is_empty() {
            images.begin_next(&is_ready);
        }
        if images.publish().await.is_err() {
            return;
        }
    }
}

/// The result of background work. Only one piece of work runs at a time.
enum Work {
    Listed(
        Result<Vec<String>, ExtensionsError>,
        Option<KubernetesVersion>,
    ),
    Read(String, Result<Box<HeldImage>, String>),
}

/// An image that could not be read.
struct FailedImage {
    times: u32,
    next: Instant,
}

/// The contents that were last sent to the follower.
struct SentContents {
    reads: BTreeSet<u64>,
    /// The number of changes of CRD owners; none if they were not known.
    owners: Option<u64>,
    /// The release 1.x of operator-controller that the contents are for.
    minor: u8,
    contents: Arc<BundleContents>,
    at: Instant,
}

struct Images {
    client: Client,
    config: ImagesConfig,
    crds: WatchedCrds,
    kubernetes: Option<KubernetesVersion>,
    /// The images of the last list, the most likely first.
    wanted: Vec<String>,
    /// The images to read now.
    queue: VecDeque<String>,
    held: BTreeMap<String, HeldImage>,
    failed: BTreeMap<String, FailedImage>,
    work: JoinSet<Work>,
    /// The time to list the extensions again.
    list_at: Instant,
    /// The time to check which images are due, if something has changed.
    check_at: Option<Instant>,
    /// The number of reads so far.
    reads: u64,
    /// The contents that were sent last; none before the first time.
    sent: Option<SentContents>,
    /// The reason why the CRDs are not known.
    watch_fault: OncePerChange,
    /// The reason why the extensions are not known.
    list_fault: OncePerChange,
}

impl Images {
    fn new(client: Client, config: ImagesConfig) -> Self {
        Self {
            client,
            config,
            crds: WatchedCrds::default(),
            kubernetes: None,
            wanted: Vec::new(),
            queue: VecDeque::new(),
            held: BTreeMap::new(),
            failed: BTreeMap::new(),
            work: JoinSet::new(),
            list_at: Instant::now(),
            check_at: None,
            reads: 0,
            sent: None,
            watch_fault: OncePerChange::default(),
            list_fault: OncePerChange::default(),
        }
    }

    fn done(&mut self, done: Result<Work, JoinError>) {
        match done {
            Ok(Work::Listed(listed, kubernetes)) => {
                // If the API server does not report its version, the last known one stays.
                self.kubernetes = kubernetes.or(self.kubernetes);
                self.listed(listed);
            }
            Ok(Work::Read(image, read)) => self.read(image, read),
            Err(error) => {
                warn!(%error, "Failed to read images ahead, trying again; please report this");
                self.config.metrics.failed();
                self.queue.clear();
            }
        }
    }

    /// Returns the time of the next work, if none is running.
    fn wake(&self) -> Instant {
        self.check_at
            .map_or(self.list_at, |at| at.min(self.list_at))
    }

    fn crds(&mut self, event: WatchEvent<(String, Value)>) {
        match &event {
            WatchEvent::Lost(fault) => {
                self.config.metrics.failed();
                if self.watch_fault.is_new(&fault.words) {
                    let error = &fault.words;
                    warn!(error, "Failed to watch CRDs, checking edits without images");
                }
            }
            WatchEvent::Absent => {}
            _ if self.watch_fault.is_gone() => info!("Watching CRDs again"),
            _ => {}
        }
        if self.crds.take(event) {
            // CRDs often change several at a time.
            self.check_at.get_or_insert(Instant::now() + SOON);
        }
    }

    /// Lists the extensions and the images that they may need.
    fn list(&mut self) {
        self.list_at = Instant::now() + INTERVAL;
        let (client, snapshot) = (self.client.clone(), self.config.snapshot.load_full());
        self.work.spawn(async move {
            let kubernetes = bundle_objects::kubernetes(&client).await;
            Work::Listed(wanted(client, snapshot).await, kubernetes)
        });
    }

    fn listed(&mut self, listed: Result<Vec<String>, ExtensionsError>) {
        match listed {
            Ok(wanted) => {
                self.held.retain(|image, _| wanted.contains(image));
                self.failed.retain(|image, _| wanted.contains(image));
                self.wanted = wanted;
                self.list_fault.is_gone();
                self.send_again_if_lost();
                self.check_at = Some(Instant::now());
            }
            Err(error) => {
                self.config.metrics.failed();
                let error = error.to_string();
                if self.list_fault.is_new(&error) {
                    warn!(
                        error,
                        "Failed to list ClusterExtensions, keeping the images of the last list"
                    );
                }
            }
        }
    }

    /// Returns the images that are not loaded for the current state of the cluster, except those that failed recently.
    fn due(&self) -> VecDeque<String> {
        let (now, versions) = (Instant::now(), self.versions());
        let is_held = |image: &String| {
            self.held.get(image).is_some_and(|held| {
                let is_steady = image.contains('@') || now < held.stamp.at + TAG_AGE;
                is_steady && held.is_current(&self.crds, versions)
            })
        };
        let is_waiting = |image| {
            let failed = self.failed.get(image);
            failed.is_some_and(|failed| failed.next > now)
        };
        let due = self.wanted.iter();
        let due = due.filter(|image| !is_held(image) && !is_waiting(*image));
        due.cloned().collect()
    }

    /// Starts the next piece of work. Listing comes first, so that a long queue does not delay new facts.
    fn begin_next(&mut self, is_ready: &impl Fn() -> bool) {
        let now = Instant::now();
        if now >= self.list_at && is_ready() {
            return self.list();
        }
        if now >= self.list_at {
            self.list_at = now + SOON;
        }
        // Before the CRDs are listed, no image counts as current.
        if !self.crds.is_listed {
            self.check_at = None;
            return;
        }
        if self.check_at.is_some_and(|at| now >= at) {
            self.check_at = None;
            self.queue = self.due();
        }
        if let Some(image) = self.queue.pop_front() {
            self.begin(image);
        }
    }

    fn begin(&mut self, image: String) {
        self.reads += 1;
        let stamp = ReadStamp {
            read: self.reads,
            at: Instant::now(),
            versions: self.versions(),
            changes: self.crds.changes(),
        };
        let (client, source) = (self.client.clone(), Arc::clone(&self.config.source));
        let memory = self.config.memory.clone();
        self.work.spawn(async move {
            let held = held(client, source, &image, &memory, stamp).await;
            Work::Read(image, held.map(Box::new))
        });
    }

    fn read(&mut self, image: String, read: Result<Box<HeldImage>, String>) {
        match read {
            Ok(held) => {
                if self.failed.remove(&image).is_some() {
                    info!(image, "Read the image of a bundle ahead after failures");
                }
                self.held.insert(image, *held);
            }
            Err(error) => {
                self.config.metrics.failed();
                let versions = self.versions();
                self.held
                    .retain(|held, it| *held != image || it.is_current(&self.crds, versions));
                let times = self.failed.get(&image).map_or(0, |failed| failed.times) + 1;
                let pause = RETRY.delay(times);
                warn!(image, error, next_try = ?pause, "Failed to read the image of a bundle ahead");
                let next = Instant::now() + pause;
                self.failed.insert(image, FailedImage { times, next });
            }
        }
    }

    fn versions(&self) -> ClusterVersions {
        ClusterVersions {
            minor: self.config.snapshot.load().rules().olm.minor(),
            kubernetes: self.kubernetes,
        }
    }

    /// Sends the current contents, if they differ from what was last sent.
    async fn publish(&mut self) -> Result<(), mpsc::error::SendError<Arc<BundleContents>>> {
        let versions = self.versions();
        let held = self.held.values();
        let current: Vec<_> = held
            .filter(|held| held.is_current(&self.crds, versions))
            .collect();
        self.count(current.len());
        let reads: BTreeSet<u64> = current.iter().map(|held| held.stamp.read).collect();
        if self.can_wait(&reads, versions.minor) {
            return Ok(());
        }
        let current = current.into_iter().map(|held| &held.contents);
        let contents = BundleContents::ahead(versions.minor, current, self.crds.known());
        let contents = Arc::new(contents);
        self.config.contents.send(Arc::clone(&contents)).await?;
        let at = Instant::now();
        self.sent = Some(SentContents {
            reads,
            owners: self.crds.owner_changes(),
            minor: versions.minor,
            contents,
            at,
        });
        Ok(())
    }

    /// Whether nothing must be withdrawn, and either nothing is new or more images will follow soon.
    fn can_wait(&self, reads: &BTreeSet<u64>, minor: u8) -> bool {
        self.sent.as_ref().is_some_and(|sent| {
            let comes_more = !self.queue.is_empty() && Instant::now() < sent.at + SOON;
            let are_enough = sent.reads == *reads || comes_more && sent.reads.is_subset(reads);
            are_enough && sent.owners == self.crds.owner_changes() && sent.minor == minor
        })
    }

    /// Sends the contents again if the follower has dropped them. It drops contents for another OLM version, and that
    /// version may have been in use only for a while.
    fn send_again_if_lost(&mut self) {
        let snapshot = self.config.snapshot.load();
        let is_lost = |sent: &SentContents| {
            let has_some = !sent.reads.is_empty() || sent.owners.is_some();
            has_some && !ptr::eq(Arc::as_ptr(&sent.contents), snapshot.contents())
        };
        if self.sent.as_ref().is_some_and(is_lost) {
            self.sent = None;
        }
    }

    fn count(&self, read: usize) {
        let (metrics, failed) = (&self.config.metrics, self.failed.len());
        metrics.count(ImageState::Read, read);
        metrics.count(ImageState::Failed, failed);
        let unread = self.wanted.len().saturating_sub(read + failed);
        metrics.count(ImageState::Unread, unread);
    }
}

/// Reads one image, and compares its bundle with the objects in the cluster.
async fn held(
    client: Client,
    source: Arc<dyn ReadImage>,
    image: &str,
    memory: &Pool,
    stamp: ReadStamp,
) -> Result<HeldImage, String> {
    let (name, account) = (image.to_owned(), memory.account());
    let reading = spawn_blocking(move || source.read(&name, &account));
    let lost = |_: JoinError| "the thread that read it panicked; please report this".to_owned();
    let (bundle, whole) = reading.await.map_err(lost)??;
    let contents = BundleContents::of([(image.to_owned(), bundle)]);
    let sought = SoughtObjects::default();
    let compared =
        bundle_objects::of_bundles(client, &contents, &sought, stamp.versions.minor).await;
    let (compared, error) = compared.map_err(|error| error.to_string())?;
    error.map_or(Ok(()), |error| Err(error.to_string()))?;
    // Dropping the complete bundle takes a while, because it is large.
    let memory = memory.clone();
    let kept = spawn_blocking(move || {
        drop((contents, whole));
        let kept = memory.account().lend(compared.heap_bytes());
        kept.map(|kept| HeldImage::of(compared, stamp, kept))
    });
    let kept = kept.await.map_err(lost)?;
    kept.map_err(|_| "no room: the memory of images is taken by others".to_owned())
}

/// Returns the images that the extensions of a cluster can be upgraded to. The most likely image of each extension
/// comes first, then the second of each, and so on.
async fn wanted(client: Client, snapshot: Arc<Snapshot>) -> Result<Vec<String>, ExtensionsError> {
    let listed = extensions::list(client, |object| Extension::recognised(&object)).await;
    if let Some(fault) = listed.fault {
        return Err(fault);
    }
    let extensions = listed.all.into_iter().flatten().take(MOST_EXTENSIONS);
    let of_each = in_chunks(extensions, move |chunk| {
        let images = |extension| images_ahead(&snapshot, extension, MOST_EACH);
        chunk.iter().map(images).collect::<Vec<_>>()
    });
    let of_each: Vec<Vec<String>> = match of_each.await.map_err(JoinError::try_into_panic) {
        Ok(of_each) => of_each.into_iter().flatten().collect(),
        Err(Ok(panic)) => resume_unwind(panic),
        // The runtime is shutting down.
        Err(Err(_)) => Vec::new(),
    };
    Ok(in_turns(&of_each))
}

/// Takes the first image of each extension, then the second of each, and so on, without duplicates.
fn in_turns(of_each: &[Vec<String>]) -> Vec<String> {
    let turns = (0..MOST_EACH).flat_map(|at| of_each.iter().filter_map(move |all| all.get(at)));
    let mut seen = BTreeSet::new();
    let each_once = turns.filter(|image| seen.insert(*image));
    each_once.take(MOST_IMAGES).cloned().collect()
}

/// The interval between two lists of the extensions.
const INTERVAL: Duration = Duration::from_mins(1);

/// The time for which an image counts as the current one of its tag.
const TAG_AGE: Duration = Duration::from_mins(10);

/// The delay after a change of CRDs.
const SOON: Duration = Duration::from_secs(2);

/// The most extensions that are considered.
const MOST_EXTENSIONS: usize = 5000;

/// The most images per extension.
const MOST_EACH: usize = 5;

/// The most images in total.
const MOST_IMAGES: usize = 500;

/// The most waiting events.
const BACKLOG: usize = 16;

/// The delays between attempts to read an image. Attempts never end.
const RETRY: Retry = Retry {
    base: Duration::from_mins(1),
    cap: Duration::from_hours(1),
};
