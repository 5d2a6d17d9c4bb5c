//! From a body to the answer of its review, in time.
//!
//! ```text
//! body -- ordinary --> read, on the thread of its connection ---------.-> exempt? -- yes --> answer
//!      '- large -----> a place in memory -> read, on another thread --'      '- no --> worker
//!
//! worker -> quick? judged here : judged on another thread
//!       '- none, or too late: onUndecided
//! ```
//!
//! A parsed review takes more memory than its body, so a worker comes first. If none is free, a review is read to check
//! whether it is exempt, and dropped before its body waits for a worker. A large review is read once, but only a few
//! are read at a time. A review keeps its place in memory until its reply is serialized.
//!
//! A judge that refuses an edit reports the refusal before it searches for advice. At the deadline, that refusal is the
//! answer, and the search ends: a known verdict is never given up for advice.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

use crate::body::{BodyError, ReadBody};
use crate::handler::{Rejection, Telemetry};
use crate::judge::{Judge, PendingReview};
use crate::limits::{Deadline, LARGE_REVIEW, Limits, Worker, Workers};
use crate::telemetry::log::reviewing;
use crate::telemetry::metrics::WaitedFor;
use olmguard_admission::Review;
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Token, UnansweredReason, Wait};
use olmguard_policy::Moment;

/// The judge and its workers, and the places in memory of the reviews that they answer.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) judge: Arc<dyn Judge>,
    pub(super) workers: Workers,
    ordinary: Arc<Semaphore>,
    large: Arc<Semaphore>,
    telemetry: Telemetry,
}

/// A received body, and the deadline of its review.
#[derive(Debug)]
pub(super) struct ReceivedReview {
    pub(super) body: Arc<TimedBody>,
    pub(super) peer: IpAddr,
    pub(super) deadline: Deadline,
}

/// A body, and when it arrived. A review that is read again is checked for the same moment.
#[derive(Debug)]
pub(super) struct TimedBody {
    pub(super) read: ReadBody,
    pub(super) at: Moment,
}

/// A review with its answer.
#[derive(Debug)]
pub(super) struct ReviewAnswer {
    pub(super) held: Arc<HeldReview>,
    pub(super) answer: Answer,
}

/// A review, with its body and its place in memory.
#[derive(Debug)]
pub(super) struct HeldReview {
    pub(super) review: Review,
    _body: Arc<TimedBody>,
    /// The place in memory; none if the review is answered without waiting.
    _place: Option<OwnedSemaphorePermit>,
}

/// A wait for an answer. When it ends, at the deadline or because the client has gone, the search for advice ends too.
#[derive(Debug, Default)]
struct PendingAnswer(Arc<PendingReview>);

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        self.0.stop().set();
    }
}

impl Answers {
    pub(super) fn new(judge: Arc<dyn Judge>, limits: &Limits, telemetry: Telemetry) -> Self {
        Self {
            judge,
            workers: Workers::new(limits.workers, limits.queue, Arc::clone(&telemetry.metrics)),
            ordinary: Arc::new(Semaphore::new(limits.ordinary_reviews())),
            large: Arc::new(Semaphore::new(limits.large_memory() / PLACE)),
            telemetry,
        }
    }

    /// Returns the answer. If newer content could decide and is loaded soon, the review is answered again. During that
    /// wait an ordinary review is dropped, so it does not occupy a place.
    pub(super) async fn latest(
        &self,
        received: &ReceivedReview,
    ) -> Result<ReviewAnswer, Rejection> {
        let newer = self.judge.newer();
        let ReviewAnswer { held, answer } = self.answer(received).await?;
        let is_outdated = answer.token == Token::CatalogOutdated;
        let Some(newer) = newer.filter(|_| is_outdated) else {
            return Ok(ReviewAnswer { held, answer });
        };
        let held = Some(held).filter(|_| received.body.read.is_large());
        if newer.loaded(received.deadline).await {
            drop(held);
            return self.answer(received).await;
        }
        let held = match held {
            Some(held) => held,
            None => HeldReview::of(self.review(received)?, received, None),
        };
        Ok(ReviewAnswer { held, answer })
    }

    async fn answer(&self, received: &ReceivedReview) -> Result<ReviewAnswer, Rejection> {
        if received.body.read.is_large() {
            self.large(received).await
        } else {
            self.ordinary(received).await
        }
    }

    /// Answers a review that is read in a tenth of a millisecond, on the thread of its connection.
    async fn ordinary(&self, received: &ReceivedReview) -> Result<ReviewAnswer, Rejection> {
        let free = self.free_worker_and_place();
        let review = self.review(received)?;
        if let Some(answer) = self.telemetry.over(&review, || review.settled())? {
            let held = HeldReview::of(review, received, None);
            return Ok(ReviewAnswer { held, answer });
        }
        let (review, waited) = if let Some(free) = free {
            (review, Ok(free))
        } else {
            drop(review);
            let waited = self.worker_and_place(received).await;
            (self.review(received)?, waited)
        };
        let (worker, place) = match waited {
            Ok((worker, place)) => (Ok(worker), Some(place)),
            Err(cause) => (Err(cause), None),
        };
        let held = HeldReview::of(review, received, place);
        self.judged(held, worker, received.deadline).await
    }

    /// Returns what an ordinary review needs, if both are free now.
    fn free_worker_and_place(&self) -> Option<(Worker, OwnedSemaphorePermit)> {
        let place = Arc::clone(&self.ordinary).try_acquire_owned().ok()?;
        Some((self.workers.free()?, place))
    }

    /// Waits for what an ordinary review needs. The worker comes first: a review that then waits for a place waits only
    /// for replies to be written.
    async fn worker_and_place(
        &self,
        received: &ReceivedReview,
    ) -> Result<(Worker, OwnedSemaphorePermit), UnansweredReason> {
        let deadline = received.deadline;
        let worker = self.workers.one(received.peer, deadline).await?;
        let place = Arc::clone(&self.ordinary).acquire_owned();
        match timeout_at(deadline.at, place).await {
            Ok(Ok(place)) => Ok((worker, place)),
            Ok(Err(_)) | Err(_) => Err(deadline.exceeded(Wait::Worker)),
        }
    }

    /// Answers a large review, which is never read on the thread of a connection.
    async fn large(&self, received: &ReceivedReview) -> Result<ReviewAnswer, Rejection> {
        let deadline = received.deadline;
        let place = self.place(LARGE_REVIEW, deadline).await?;
        let held = self.read_large(&received.body, place).await?;
        let settled = self.telemetry.over(&held.review, || held.review.settled());
        if let Some(answer) = settled? {
            return Ok(ReviewAnswer { held, answer });
        }
        let worker = self.workers.one(received.peer, deadline).await;
        self.judged(held, worker, deadline).await
    }

    /// Acquires a place in memory of `memory` bytes.
    pub(super) async fn place(
        &self,
        memory: usize,
        deadline: Deadline,
    ) -> Result<Option<OwnedSemaphorePermit>, Rejection> {
        let places = u32::try_from(memory / PLACE).unwrap_or(u32::MAX);
        let place = Arc::clone(&self.large).acquire_many_owned(places);
        let place = timeout_at(deadline.at, place).await;
        Ok(place.map_err(|_| BodyError::NoRoom(deadline))?.ok())
    }

    async fn read_large(
        &self,
        body: &Arc<TimedBody>,
        place: Option<OwnedSemaphorePermit>,
    ) -> Result<Arc<HeldReview>, Rejection> {
        let (telemetry, body) = (self.telemetry.clone(), Arc::clone(body));
        let read = move || {
            let review = body.review(&telemetry)?;
            Ok::<_, Rejection>(HeldReview::new(review, body, place))
        };
        let held = tokio::task::spawn_blocking(read).await;
        held.map_err(|_| Rejection::Lost)?
    }

    fn review(&self, received: &ReceivedReview) -> Result<Review, Rejection> {
        received.body.review(&self.telemetry)
    }

    /// Returns the answer of the judge, or the configured answer if no worker was free in time.
    async fn judged(
        &self,
        held: Arc<HeldReview>,
        worker: Result<Worker, UnansweredReason>,
        deadline: Deadline,
    ) -> Result<ReviewAnswer, Rejection> {
        let answer = match worker {
            Ok(worker) => self.in_time(&held, worker, deadline).await?,
            Err(cause) => self.unanswered(&held.review, cause)?,
        };
        Ok(ReviewAnswer { held, answer })
    }

    /// Returns the answer as far as it is known at the deadline.
    async fn in_time(
        &self,
        held: &Arc<HeldReview>,
        worker: Worker,
        deadline: Deadline,
    ) -> Result<Answer, Rejection> {
        let quick = || worker.try_work(|| self.judge.quick_answer(&held.review));
        let worker = match self.telemetry.over(&held.review, quick)? {
            Ok(answer) => return Ok(answer),
            Err(worker) => worker,
        };
        let waiting = PendingAnswer::default();
        let judge = self.judging(worker, Arc::clone(held), Arc::clone(&waiting.0));
        let judged = tokio::task::spawn_blocking(judge);
        if let Ok(answer) = timeout_at(deadline.at, judged).await {
            return answer.map_err(|_| Rejection::Lost)?;
        }
        if let Some(refusal) = waiting.0.refusal() {
            self.telemetry.metrics.deadline_exceeded(WaitedFor::Advice);
            return Ok(refusal);
        }
        self.unanswered(&held.review, deadline.exceeded(Wait::Judge))
    }

    /// Returns the work for a separate thread. If the client stops waiting, only the search for advice ends: the worker
    /// is free when the judgement is done.
    fn judging(
        &self,
        worker: Worker,
        held: Arc<HeldReview>,
        pending: Arc<PendingReview>,
    ) -> impl FnOnce() -> Result<Answer, Rejection> + Send + 'static {
        let (judge, telemetry) = (Arc::clone(&self.judge), self.telemetry.clone());
        move || {
            let _named = reviewing(held.review.uid());
            worker.work(|| telemetry.guarded(|| judge.answer(&held.review, &pending)))
        }
    }

    fn unanswered(&self, review: &Review, cause: UnansweredReason) -> Result<Answer, Rejection> {
        self.telemetry.unanswered(cause);
        self.telemetry.over(review, || review.unanswered(cause))
    }
}

/// The unit, in bytes, in which memory for large reviews is acquired.
const PLACE: usize = 1 << 10;

impl TimedBody {
    fn review(&self, telemetry: &Telemetry) -> Result<Review, Rejection> {
        Ok(telemetry.guarded(|| Review::from_bytes(&self.read.bytes, self.at))??)
    }
}

impl HeldReview {
    fn of(
        review: Review,
        received: &ReceivedReview,
        place: Option<OwnedSemaphorePermit>,
    ) -> Arc<Self> {
        Self::new(review, Arc::clone(&received.body), place)
    }

    fn new(review: Review, body: Arc<TimedBody>, place: Option<OwnedSemaphorePermit>) -> Arc<Self> {
        Arc::new(Self {
            review,
            _body: body,
            _place: place,
        })
    }
}
