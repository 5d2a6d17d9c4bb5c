//! Limits of a server: how much work it accepts concurrently, and how long it waits.
//!
//! # Memory
//!
//! The memory that clients can make a server use is bounded, whatever they send:
//!
//! | what | most |
//! | --- | --- |
//! | connections, with their read-ahead | `connections` × 40 KiB |
//! | the body of a request on each, up to its first 16 KiB | `connections` × 16 KiB |
//! | larger bodies, from their first byte | `body_memory`, of which one address can have half |
//! | ordinary reviews that are being read or judged | (`workers` + threads that serve) × 1 MiB |
//! | ordinary reviews that are answered, but whose reply is not written yet | 64 × 256 KiB |
//! | large reviews and objects read whole, while read or judged: 32 MiB, or by body size | [`Limits::large_memory`] |
//!
//! A body of at most 16 KiB has at most a few thousand values. Of a larger body, the program keeps the fields that it
//! uses, up to some thousand entries of lists and maps, and texts. Judging copies them: four times the 7 MiB that a
//! body can have. A review is read only when it has a worker or a place in memory; otherwise it is dropped before
//! anything is awaited. So memory never has more reviews than the last three rows count, however many bodies wait.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::http::Uri;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::telemetry::metrics::{AdmissionMetrics, GaugeGuard};
use olmguard_catalog::go_duration;
use olmguard_engine::judge::{UnansweredReason, Wait};

/// The limits of a server on concurrent work and on waiting.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most edits that are judged at the same time.
    pub workers: NonZeroUsize,
    /// The most edits that wait for a worker.
    pub queue: usize,
    /// The time for a review if its request sets none. A request can only shorten it.
    pub timeout: Duration,
    /// The most open connections on the port for reviews.
    pub connections: NonZeroUsize,
    /// The most connections of one address.
    pub connections_per_peer: NonZeroUsize,
    /// The memory that bodies larger than 16 KiB share while their reviews are answered, in bytes. One address can have
    /// half of it.
    pub body_memory: usize,
    /// How long a connection may keep the server waiting.
    pub patience: Patience,
}

/// How long a connection may keep the server waiting.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The time from accepting a connection to the end of its TLS handshake.
    pub handshake: Duration,
    /// The time from the first byte of a request to the end of its head.
    pub head: Duration,
    /// The time for the rest of a body, unless the deadline of its review is earlier.
    pub body: Duration,
    /// The time until a peer has taken an answer.
    pub write: Duration,
    /// The time between two requests.
    pub idle: Duration,
    /// The approximate maximum age of a connection, from its first byte of HTTP on. The first answer after that closes
    /// the connection. If `None`, a connection has no maximum age.
    pub age: Option<Duration>,
}

impl Patience {
    /// Returns when a connection that starts now reaches its maximum age. The age varies by a tenth, so clients that
    /// connected at the same moment do not all reconnect at the same moment.
    pub(super) fn old_at(&self) -> Option<Instant> {
        self.age
            .map(|age| Instant::now() + spread(age, fastrand::f64()))
    }
}

/// Scales an age by 0.9 to 1.1, by a number from 0 to 1.
fn spread(age: Duration, random: f64) -> Duration {
    age.mul_f64(0.9 + random / 5.0)
}

impl Limits {
    /// Returns how many ordinary reviews can be in memory at the same time, including answered ones.
    pub fn ordinary_reviews(&self) -> usize {
        self.workers.get() + ANSWERED
    }

    /// Returns the memory for large reviews that are read and judged at the same time, in bytes. It is enough for one
    /// review of the largest size, or for two with four workers or more.
    pub fn large_memory(&self) -> usize {
        (self.workers.get() / 2).clamp(1, MOST_LARGE) * LARGE_REVIEW
    }

    /// Returns the most memory that clients can make a server use, in bytes, if `threads` threads serve connections:
    /// the sum of the table above. Flags can set any number, so a sum that is too large is `usize::MAX`.
    pub fn most_memory(&self, threads: usize) -> usize {
        let reviews = self.workers.saturating_add(threads).get();
        let rest = self.body_memory + ANSWERED * ANSWERED_REVIEW + self.large_memory();
        let connections = self.connections.get().saturating_mul(CONNECTION);
        let reviews = reviews.saturating_mul(ORDINARY_REVIEW);
        connections.saturating_add(reviews).saturating_add(rest)
    }
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self {
            workers: cores.min(MOST_WORKERS),
            queue: 256,
            timeout: Duration::from_secs(5),
            connections: CONNECTIONS,
            connections_per_peer: CONNECTIONS_PER_PEER,
            body_memory: BODY_MEMORY,
            patience: Patience::default(),
        }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(5),
            head: Duration::from_secs(5),
            body: Duration::from_secs(30),
            write: Duration::from_secs(5),
            idle: Duration::from_secs(90),
            age: Some(Duration::from_mins(10)),
        }
    }
}

/// The memory of a connection: its TLS session, read-ahead, and the first 16 KiB of a body.
const CONNECTION: usize = 56 << 10;

/// Two bodies of 7 MiB from one address.
const BODY_MEMORY: usize = 32 << 20;

/// The most memory that reading and judging an ordinary review takes, without its body.
const ORDINARY_REVIEW: usize = 1 << 20;

/// Returns the most memory that reading an object whole takes, with copies of the kept parts but without its body of
/// `body` bytes: a map with one value takes 128 times the size of its text.
pub(super) fn whole_review(body: usize) -> usize {
    (128 * body).min(LARGE_REVIEW)
}

/// The most memory that reading and judging a large review takes, without its body.
pub(super) const LARGE_REVIEW: usize = 32 << 20;

/// The most reviews that are answered and wait for a thread to write the reply.
const ANSWERED: usize = 64;

/// The memory of an answered review.
const ANSWERED_REVIEW: usize = 256 << 10;

/// The most workers by default, on machines with more cores too: each worker needs memory, and edits of extensions are
/// rare.
const MOST_WORKERS: NonZeroUsize = NonZeroUsize::new(8).expect("not zero");

/// The most large reviews at the same time, on any number of cores.
const MOST_LARGE: usize = 2;

/// Far more than the few dozen connections that an API server keeps open.
const CONNECTIONS: NonZeroUsize = NonZeroUsize::new(2048).expect("not zero");

/// The limit for one address. Behind a proxy, all API servers of a cluster can have the same address.
const CONNECTIONS_PER_PEER: NonZeroUsize = NonZeroUsize::new(1024).expect("not zero");

// === The deadline of a review: earlier than the API server's timeout ===
//
// An API server sends its timeout with the request: `POST /validate?timeout=5s`. A later answer is lost, and the user
// who edits sees "context deadline exceeded". So the answer is sent earlier, with a margin for its transport.
//
// Upstream: Kubernetes, [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`], which reads the timeout
// from `timeoutSeconds` and gives up after it.
//
// [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go

/// The time until which a review must be answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Deadline {
    /// The instant of the deadline.
    pub(super) at: Instant,
    /// The time from the arrival of the request to the deadline.
    pub(super) within: Duration,
}

impl Deadline {
    /// Returns the deadline of a request that arrives now: the shorter of the requested and the configured time, less
    /// the margin.
    pub(super) fn of(uri: &Uri, configured: Duration) -> Self {
        let within = within(uri.query().unwrap_or_default(), configured);
        Self {
            at: Instant::now() + within,
            within,
        }
    }

    /// Returns the reason of an answer whose deadline passed during this wait.
    pub(super) fn exceeded(self, waited_for: Wait) -> UnansweredReason {
        UnansweredReason::DeadlineExceeded {
            waited_for,
            within: self.within,
        }
    }
}

fn within(query: &str, configured: Duration) -> Duration {
    let patience = asked(query).map_or(configured, |asked| asked.min(configured));
    // If the time is not much longer than the margin, half of it is left to answer in.
    let margin = (patience / 10).max(LEAST_MARGIN).min(patience / 2);
    patience.saturating_sub(margin)
}

/// Returns the timeout in the query, if it has one. An invalid timeout is ignored, because the request is otherwise
/// valid. Zero means no timeout in Go.
fn asked(query: &str) -> Option<Duration> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, text) = pairs.find(|(key, _)| key == "timeout")?;
    let asked = go_duration::parse(&text).ok()?;
    (!asked.is_zero()).then_some(asked)
}

const LEAST_MARGIN: Duration = Duration::from_millis(100);

// === The share of each address in a resource that all addresses use ===
//
// One address can have half of it, so a flood from one address does not take everything. It is half and not less
// because behind a proxy all API servers of a cluster can have the same address.

/// The shares of all addresses.
#[derive(Debug)]
pub(super) struct Peers {
    /// The most that one address can have.
    pub(super) each: usize,
    shares: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

impl Peers {
    /// Divides `all`, so that one address can have half of it, but at least one.
    pub(super) fn of(all: usize) -> Self {
        Self {
            each: (all / 2).clamp(1, Semaphore::MAX_PERMITS),
            shares: Mutex::default(),
        }
    }

    /// Returns the share of an address. The share is removed when no part of it is in use.
    pub(super) fn share(&self, peer: IpAddr) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&peer).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.each));
        shares.insert(peer, Arc::downgrade(&share));
        share
    }
}

// === The workers that judge reviews, and the queue for them ===
//
// Judging occupies a core, so the number of workers limits how many edits are judged at the same time. A limited number
// of edits can wait. All others, and those whose turn would come too late, are answered immediately as not judged,
// while there is time for that answer. One address can have half of the queue.

/// The workers that judge reviews, and their queue.
#[derive(Debug)]
pub(super) struct Workers {
    count: NonZeroUsize,
    free: Arc<Semaphore>,
    queue: usize,
    waiting: AtomicUsize,
    /// The share of the queue that one address can have.
    peers: Peers,
    metrics: Arc<AdmissionMetrics>,
    /// The moving average of the time that judging takes, in nanoseconds.
    pace: Arc<AtomicU64>,
}

/// A permit to judge, until it is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    _permit: OwnedSemaphorePermit,
    pace: Arc<AtomicU64>,
}

impl Workers {
    pub(super) fn new(count: NonZeroUsize, queue: usize, metrics: Arc<AdmissionMetrics>) -> Self {
        Self {
            count,
            free: Arc::new(Semaphore::new(count.get())),
            queue,
            waiting: AtomicUsize::new(0),
            peers: Peers::of(queue),
            metrics,
            pace: Arc::default(),
        }
    }

    /// Returns a worker, if one is free now.
    pub(super) fn free(&self) -> Option<Worker> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        Some(self.begin(permit))
    }

    /// Waits for a worker until the deadline. Fails immediately if the queue is full or too slow.
    pub(super) async fn one(
        &self,
        peer: IpAddr,
        deadline: Deadline,
    ) -> Result<Worker, UnansweredReason> {
        let too_late = deadline.exceeded(Wait::Worker);
        if deadline.at <= Instant::now() {
            return Err(too_late);
        }
        if let Some(worker) = self.free() {
            return Ok(worker);
        }
        let _place = self.queue_up(peer, deadline)?;
        match timeout_at(deadline.at, Arc::clone(&self.free).acquire_owned()).await {
            Ok(permit) => Ok(self.begin(permit.expect("the semaphore is never closed"))),
            Err(_) => Err(too_late),
        }
    }

    fn begin(&self, permit: OwnedSemaphorePermit) -> Worker {
        Worker {
            _permit: permit,
            pace: Arc::clone(&self.pace),
        }
    }

    /// Returns a place in the queue, if there is one and its turn comes before the deadline.
    fn queue_up(
        &self,
        peer: IpAddr,
        deadline: Deadline,
    ) -> Result<QueuePlace<'_>, UnansweredReason> {
        let of_peer = self.peers.share(peer).try_acquire_owned();
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed);
        let place = QueuePlace {
            waiting: &self.waiting,
            of_peer: of_peer.ok(),
            _counted: self.metrics.queued(),
        };
        if waiting >= self.queue || place.of_peer.is_none() {
            return Err(UnansweredReason::QueueFull { waiting });
        }
        let left = deadline.at.saturating_duration_since(Instant::now());
        if self.drained_after(waiting) >= left {
            return Err(UnansweredReason::QueueTooSlow {
                waiting,
                within: deadline.within,
            });
        }
        Ok(place)
    }

    /// Estimates how long a review waits for its turn if `ahead` reviews are ahead of it, at the recent pace.
    fn drained_after(&self, ahead: usize) -> Duration {
        let pace = Duration::from_nanos(self.pace.load(Ordering::Relaxed));
        let rounds = ahead / self.count + 1;
        pace.saturating_mul(rounds.try_into().unwrap_or(u32::MAX))
    }
}

/// A place in the queue, until it is dropped.
struct QueuePlace<'a> {
    waiting: &'a AtomicUsize,
    /// The permit from the share of the address; none if that share is used up.
    of_peer: Option<OwnedSemaphorePermit>,
    _counted: GaugeGuard,
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Worker {
    /// Runs the work and measures it: the average moves an eighth of the way to the new time. An update that is lost to
    /// another worker makes no difference.
    pub(super) fn work<T>(self, run: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = run();
        self.keep_pace(begun);
        done
    }

    /// Runs work that may turn out to be too long for this thread; in that case it returns the worker.
    pub(super) fn try_work<T>(self, run: impl FnOnce() -> Option<T>) -> Result<T, Self> {
        let begun = Instant::now();
        let Some(done) = run() else { return Err(self) };
        self.keep_pace(begun);
        Ok(done)
    }

    fn keep_pace(&self, begun: Instant) {
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let pace = self.pace.load(Ordering::Relaxed);
        self.pace
            .store(pace - pace / 8 + took / 8, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::telemetry::Metrics;

    #[test]
    fn ages_differ_by_a_tenth() {
        let age = Duration::from_mins(10);
        for (random, expected) in [(0.0, 540), (0.5, 600), (1.0, 660)] {
            assert_eq!(spread(age, random), Duration::from_secs(expected));
        }
    }

    /// The same sum as in docs/reliability.md.
    #[test]
    fn two_cores_take_196_mebibytes() {
        let limits = |workers| Limits {
            workers: NonZeroUsize::new(workers).unwrap(),
            ..Limits::default()
        };
        assert_eq!(limits(2).most_memory(2), 196 << 20);
        let large = [1, 2, 3, 4, 64].map(|count| limits(count).large_memory() >> 20);
        assert_eq!(large, [32, 32, 32, 64, 64]);
        let of_object = [2 << 10, 1 << 20].map(|body| whole_review(body) >> 10);
        assert_eq!(of_object, [256, 32_768]);
    }

    #[test]
    fn each_address_has_half_and_is_forgotten_afterwards() {
        let peers = Peers::of(9);
        let [one, other] = [1, 2].map(|last| IpAddr::from(Ipv4Addr::new(192, 0, 2, last)));
        let all = peers.share(one).try_acquire_many_owned(4).unwrap();
        assert!(peers.share(one).try_acquire_owned().is_err());
        let of_other = peers.share(other).try_acquire_owned().unwrap();
        drop((all, of_other));
        assert_eq!(peers.share(one).available_permits(), 4);
        assert_eq!(peers.shares.lock().unwrap().len(), 1);
    }

    #[test]
    fn the_answer_leaves_before_the_one_who_asked_gives_up() {
        for (query, expected_ms) in [
            ("", 4_500),
            ("timeout=10s", 4_500),
            ("timeout=3s", 2_700),
            ("timeout=1s", 900),
            ("timeout=500ms", 400),
            ("timeout=150ms", 75),
            ("timeout=1ns", 0),
            ("timeout=0s", 4_500),
            ("timeout=-1s", 4_500),
            ("timeout=soon", 4_500),
            ("timeout=", 4_500),
            ("timeout=99999999999999999h", 4_500),
            ("pretty=true&timeout=2s&timeout=3s", 1_800),
            ("timeout=1%735", 4_500),
            ("%74imeout=2%73", 1_800),
        ] {
            let configured = Duration::from_secs(5);
            let millis = within(query, configured).as_millis();
            assert_eq!(millis, expected_ms, "{query}");
        }
    }

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn workers(count: usize, queue: usize) -> Workers {
        let count = NonZeroUsize::new(count).unwrap();
        Workers::new(count, queue, Metrics::new().admission)
    }

    fn after(seconds: u64) -> Deadline {
        let within = Duration::from_secs(seconds);
        Deadline {
            at: Instant::now() + within,
            within,
        }
    }

    fn too_late(seconds: u64) -> UnansweredReason {
        UnansweredReason::DeadlineExceeded {
            waited_for: Wait::Worker,
            within: Duration::from_secs(seconds),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_free_worker_waits_for_one() {
        let workers = workers(1, 1);
        let first = workers.one(PEER, after(1)).await.unwrap();
        let (second, ()) = tokio::join!(workers.one(PEER, after(1)), async { drop(first) });
        assert!(second.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_in_vain_is_told_in_time() {
        let workers = workers(1, 1);
        let _first = workers.one(PEER, after(1)).await.unwrap();
        let deadline = after(2);
        assert_eq!(workers.one(PEER, deadline).await.unwrap_err(), too_late(2));
        assert_eq!(Instant::now(), deadline.at);
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_the_queue_full_is_told_at_once() {
        let workers = workers(1, 1);
        let _first = workers.one(PEER, after(1)).await.unwrap();
        let third = async {
            let begun = Instant::now();
            let refused = workers.one(PEER, after(1)).await.unwrap_err();
            assert_eq!(begun.elapsed(), Duration::ZERO);
            refused
        };
        let (second, third) = tokio::join!(workers.one(PEER, after(1)), third);
        assert_eq!(second.unwrap_err(), too_late(1));
        assert_eq!(third, UnansweredReason::QueueFull { waiting: 1 });
        assert_eq!(workers.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn no_address_has_more_than_half_of_the_queue() {
        let workers = workers(1, 2);
        let _first = workers.one(PEER, after(1)).await.unwrap();
        let (waits, refused, of_other) = tokio::join!(
            workers.one(PEER, after(1)),
            workers.one(PEER, after(1)),
            workers.one(OTHER, after(1)),
        );
        assert_eq!(waits.unwrap_err(), too_late(1));
        assert_eq!(
            refused.unwrap_err(),
            UnansweredReason::QueueFull { waiting: 1 }
        );
        assert_eq!(of_other.unwrap_err(), too_late(1));
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_too_late_is_told_so() {
        let workers = workers(1, 1);
        assert_eq!(workers.one(PEER, after(0)).await.unwrap_err(), too_late(0));
    }

    #[tokio::test]
    async fn the_pace_follows_the_work() {
        let workers = workers(1, 1);
        let hours = 3_600_000_000_000 * 8;
        workers.pace.store(hours, Ordering::Relaxed);
        let worker = workers.one(PEER, after(1)).await.unwrap();
        assert_eq!(worker.work(|| 7), 7);
        let pace = workers.pace.load(Ordering::Relaxed);
        assert!((hours / 8 * 7..hours).contains(&pace), "{pace}");
    }

    #[tokio::test]
    async fn only_what_was_done_counts_for_the_pace() {
        let workers = workers(1, 1);
        workers.pace.store(8_000_000_000, Ordering::Relaxed);
        let worker = workers.free().unwrap();
        let worker = worker.try_work(|| None::<()>).unwrap_err();
        assert_eq!(workers.pace.load(Ordering::Relaxed), 8_000_000_000);
        assert!(workers.free().is_none());
        assert_eq!(worker.try_work(|| Some(7)).unwrap(), 7);
        assert!(workers.pace.load(Ordering::Relaxed) < 8_000_000_000);
        assert!(workers.free().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_would_be_too_late_is_told_at_once() {
        let workers = workers(2, 100);
        workers.pace.store(10_000_000_000, Ordering::Relaxed);
        let rounds: Vec<_> = (0..3)
            .map(|ahead| workers.drained_after(ahead).as_secs())
            .collect();
        assert_eq!(rounds, [10, 10, 20]);
        let _both = (
            workers.one(PEER, after(1)).await,
            workers.one(PEER, after(1)).await,
        );
        let begun = Instant::now();
        let expected = UnansweredReason::QueueTooSlow {
            waiting: 0,
            within: Duration::from_secs(9),
        };
        assert_eq!(workers.one(PEER, after(9)).await.unwrap_err(), expected);
        assert_eq!(begun.elapsed(), Duration::ZERO);
        assert_eq!(
            workers.one(PEER, after(11)).await.unwrap_err(),
            too_late(11)
        );
    }
}
