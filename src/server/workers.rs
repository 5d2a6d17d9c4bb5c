//! The workers that judge reviews, and the queue for them.
//!
//! Judging takes a core, so only as many edits are judged at once as there are workers. A few more
//! may wait; of the rest, and of those whose turn would come too late, it is said at once that they
//! were not judged, while there is still time to say it. One address may have half of the queue.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::server::limits::{Deadline, Peers};
use crate::telemetry::metrics::{AdmissionMetrics, GaugeGuard};
use olmguard_engine::judge::{UnansweredReason, Wait};

/// The places to judge at, and the queue before them.
#[derive(Debug)]
pub(super) struct Workers {
    count: NonZeroUsize,
    free: Arc<Semaphore>,
    queue: usize,
    waiting: AtomicUsize,
    /// The places in the queue that one address may have.
    peers: Peers,
    metrics: Arc<AdmissionMetrics>,
    /// How long judging takes of late, in nanoseconds.
    pace: Arc<AtomicU64>,
}

/// A place to judge at, until it is dropped.
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

    /// A worker that is free now, if there is one.
    pub(super) fn free(&self) -> Option<Worker> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        Some(self.begin(permit))
    }

    /// Waits for a worker until the deadline, if that makes sense, on behalf of an address.
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

    /// A place in the queue, if there is one and its turn will come in time.
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

    /// How long it will take until those ahead have had their turn, at the pace of late.
    fn drained_after(&self, ahead: usize) -> Duration {
        let pace = Duration::from_nanos(self.pace.load(Ordering::Relaxed));
        let rounds = ahead / self.count + 1;
        pace.saturating_mul(rounds.try_into().unwrap_or(u32::MAX))
    }
}

/// A place in the queue, until it is dropped.
struct QueuePlace<'a> {
    waiting: &'a AtomicUsize,
    /// The share of its address; none if the share is used up.
    of_peer: Option<OwnedSemaphorePermit>,
    _counted: GaugeGuard,
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Worker {
    /// Does the work, and takes the time: the pace moves an eighth of the way to what this took. A
    /// change that is lost to another worker's makes no difference.
    pub(super) fn work<T>(self, run: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = run();
        self.keep_pace(begun);
        done
    }

    /// The same for work that can turn out to be too long for this thread: the worker is then given back.
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
