//! From a request to the bytes of its reply, in time.
//!
//! ```text
//! head -> body (bounded, in time) -> review -> not to be judged? ------------------> reply
//!                                       '----> a worker (queue, in time) -> judge --'
//!                                                 '-- none, or too late: onUndecided
//! ```
//!
//! A judge that refuses says so before it searches for advice. At the deadline such a refusal is the
//! answer, and the search ends: what is known is never given up for what is only useful.
//!
//! Invariant: whatever panics over one review is an internal fault of that review alone, counted and
//! logged with its uid.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderMap;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, timeout_at};

use crate::admission::{Enforcement, Outcome, Review, ReviewError};
use crate::explain::Answer;
use crate::judge::{Token, Unanswered, Wait};
use crate::server::body::{BodyError, BodyMemory, Read, Share};
use crate::server::deadline::Deadline;
use crate::server::judge::{Judge, Pending};
use crate::server::limits::Limits;
use crate::server::media_type::{is_chunked_at_most, is_identity, is_json};
use crate::server::workers::{Worker, Workers};
use crate::telemetry::log::{Decision, DecisionLog, reviewing};
use crate::telemetry::metrics::{AdmissionMetrics, Answered, WaitedFor};

/// Where reviews are answered.
#[derive(Debug)]
pub(super) struct Desk {
    judge: Arc<dyn Judge>,
    enforcement: Enforcement,
    workers: Workers,
    bodies: BodyMemory,
    /// How many large bodies are decoded at once.
    decoders: Semaphore,
    timeout: Duration,
    sight: Sight,
}

/// Where answers are counted and written down.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub(super) metrics: Arc<AdmissionMetrics>,
    pub(super) decisions: DecisionLog,
}

/// Why a request gets no review back.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("content-type is not JSON: expected application/json")]
    MediaType,
    #[error("content-encoding is not identity: expected a body that is not compressed")]
    Encoding,
    #[error("transfer-encoding is not supported: expected chunked, or a content-length")]
    TransferCoding,
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Review(#[from] ReviewError),
    #[error("internal fault: the review cannot be answered; please report this")]
    Lost,
}

/// A review, and the memory that it takes.
#[derive(Debug)]
struct Held {
    review: Review,
    _share: Share,
}

/// Waits for an answer, and ends the search for advice when it does so no more: at the deadline, or
/// because the client has gone.
#[derive(Debug, Default)]
struct Waiting(Arc<Pending>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.stop().set();
    }
}

impl Desk {
    pub(super) fn new(
        judge: Arc<dyn Judge>,
        enforcement: Enforcement,
        limits: &Limits,
        sight: Sight,
    ) -> Self {
        Self {
            judge,
            enforcement,
            workers: Workers::new(limits.workers, limits.queue, Arc::clone(&sight.metrics)),
            bodies: BodyMemory::of(limits.body_memory),
            decoders: Semaphore::new(limits.workers.get()),
            timeout: limits.timeout,
            sight,
        }
    }

    /// Answers a request.
    pub(super) async fn admit(&self, request: Request) -> Result<Vec<u8>, Refused> {
        let _in_flight = self.sight.metrics.begin();
        let begun = Instant::now();
        let admitted = self.reply(request, begun).await;
        match &admitted {
            Ok(reply) => self.sight.metrics.sent(reply.len() as u64),
            Err(refused) => self.sight.refused(refused, begun.elapsed()),
        }
        admitted
    }

    async fn reply(&self, request: Request, begun: Instant) -> Result<Vec<u8>, Refused> {
        let deadline = Deadline::of(request.uri(), self.timeout);
        let (parts, body) = request.into_parts();
        expect_json(&parts.headers)?;
        let body = self.bodies.read(&parts.headers, body, deadline).await?;
        self.sight.metrics.received(body.bytes.len() as u64);
        let held = Arc::new(self.decode(body, deadline).await?);
        let answer = self.latest(&held, deadline).await?;
        self.over(&held.review, || {
            let reply = held.review.reply(&answer, self.enforcement);
            self.sight
                .answered(&held.review, &answer, reply.outcome(), begun.elapsed());
            reply.to_bytes()
        })
    }

    /// Decoding takes as long as a body is large, so that of a large one never runs where
    /// connections are served.
    async fn decode(&self, body: Read, deadline: Deadline) -> Result<Held, Refused> {
        let sight = self.sight.clone();
        let is_small = body.bytes.len() <= AT_ONCE;
        let decode = move || {
            let Read { bytes, share } = body;
            let review = sight.guarded(|| Review::from_bytes(&bytes))??;
            Ok(Held {
                review,
                _share: share,
            })
        };
        if is_small {
            return decode();
        }
        let decoder = timeout_at(deadline.at, self.decoders.acquire()).await;
        let _decoder = decoder.map_err(|_| BodyError::NoRoom(deadline))?;
        let held = tokio::task::spawn_blocking(decode).await;
        held.map_err(|_| Refused::Lost)?
    }

    /// The answer, given again where newer content could decide and is loaded soon.
    async fn latest(&self, held: &Arc<Held>, deadline: Deadline) -> Result<Answer, Refused> {
        let newer = self.judge.newer();
        let answer = self.answer(held, deadline).await?;
        let is_outdated = answer.token == Token::CatalogOutdated;
        match newer.filter(|_| is_outdated) {
            Some(newer) if newer.loaded(deadline).await => self.answer(held, deadline).await,
            _ => Ok(answer),
        }
    }

    /// The answer of the judge, or one of our own where there is nothing to judge or no time.
    async fn answer(&self, held: &Arc<Held>, deadline: Deadline) -> Result<Answer, Refused> {
        if let Some(answer) = self.over(&held.review, || held.review.settled())? {
            return Ok(answer);
        }
        let worker = match self.workers.one(deadline).await {
            Ok(worker) => worker,
            Err(cause) => return self.unanswered(&held.review, cause),
        };
        let waiting = Waiting::default();
        let judged = self.judged(worker, Arc::clone(held), Arc::clone(&waiting.0));
        if let Ok(answer) = timeout_at(deadline.at, judged).await {
            return answer.map_err(|_| Refused::Lost)?;
        }
        if let Some(refusal) = waiting.0.refusal() {
            self.sight.metrics.deadline_exceeded(WaitedFor::Advice);
            return Ok(refusal);
        }
        let cause = Unanswered::DeadlineExceeded {
            waited_for: Wait::Judge,
            within: deadline.within,
        };
        self.unanswered(&held.review, cause)
    }

    /// Judging never runs where connections are served. Who stops waiting for it ends the search for
    /// advice, and nothing else: the worker is free when it is done.
    fn judged(
        &self,
        worker: Worker,
        held: Arc<Held>,
        pending: Arc<Pending>,
    ) -> JoinHandle<Result<Answer, Refused>> {
        let (judge, sight) = (Arc::clone(&self.judge), self.sight.clone());
        tokio::task::spawn_blocking(move || {
            let _named = reviewing(held.review.uid());
            worker.work(|| sight.guarded(|| judge.answer(&held.review, &pending)))
        })
    }

    fn unanswered(&self, review: &Review, cause: Unanswered) -> Result<Answer, Refused> {
        self.sight.unanswered(cause);
        self.over(review, || review.unanswered(cause))
    }

    fn over<T>(&self, review: &Review, run: impl FnOnce() -> T) -> Result<T, Refused> {
        let _named = reviewing(review.uid());
        self.sight.guarded(run)
    }
}

impl Sight {
    /// Nothing that a panic may have left half done is used again.
    fn guarded<T>(&self, run: impl FnOnce() -> T) -> Result<T, Refused> {
        catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
            self.metrics.panicked();
            Refused::Lost
        })
    }

    fn answered(&self, review: &Review, answer: &Answer, outcome: Outcome, elapsed: Duration) {
        self.metrics.answered(&Answered {
            operation: review.operation(),
            token: answer.token,
            dry_run: review.is_dry_run(),
            outcome,
            elapsed,
        });
        if let Some(why) = answer.exemption {
            self.metrics.not_judged(why);
        }
        self.decisions.say(&Decision {
            asked: review.into(),
            answer,
            outcome,
            elapsed,
        });
    }

    fn unanswered(&self, cause: Unanswered) {
        match cause {
            Unanswered::DeadlineExceeded { waited_for, .. } => {
                self.metrics.deadline_exceeded(waited_for.into());
            }
            Unanswered::QueueFull { .. } | Unanswered::QueueTooSlow { .. } => {
                self.metrics.overloaded();
            }
        }
    }

    fn refused(&self, refused: &Refused, elapsed: Duration) {
        match refused.class() {
            Some(class) => self.metrics.decode_error(class),
            None => self.metrics.failed(elapsed),
        }
        if let Refused::Body(BodyError::TooSlow(_)) = refused {
            self.metrics.deadline_exceeded(WaitedFor::Body);
        }
    }
}

fn expect_json(headers: &HeaderMap) -> Result<(), Refused> {
    if !is_json(headers) {
        return Err(Refused::MediaType);
    }
    if !is_identity(headers) {
        return Err(Refused::Encoding);
    }
    if !is_chunked_at_most(headers) {
        return Err(Refused::TransferCoding);
    }
    Ok(())
}

/// The most bytes that are decoded where connections are served: a tenth of a millisecond.
const AT_ONCE: usize = 64 << 10;
