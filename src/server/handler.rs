//! From a request to the bytes of its reply, in time.
//!
//! ```text
//! head -> body (bounded, in time) -> a worker -> review -> not to be judged? ------> reply
//!                                                    '-> judge (in time) -----------'
//!                                                           '-- none, or too late: onUndecided
//! ```
//!
//! What is kept of a review weighs more than its body, so its worker comes first. Where none is free, a
//! review is read to see whether it is to be judged, and forgotten before its body waits for a worker. A
//! large one is read once, but only so many of them at a time. A review has its place in memory until its
//! reply is written.
//!
//! A judge that refuses says so before it searches for advice. At the deadline such a refusal is the
//! answer, and the search ends: what is known is never given up for what is only useful.
//!
//! Invariant: whatever panics over one review is an internal fault of that review alone, counted and
//! logged with its uid.

mod objects;
mod telemetry;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request};
use axum::http::HeaderMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Duration, Instant, timeout_at};

use crate::admission::{Enforcement, Review, ReviewError};
use crate::live_facts::moment;
use crate::server::body::{BodyError, BodyMemory, ReadBody};
use crate::server::catalog_preview::CatalogPreviews;
use crate::server::deadline::Deadline;
use crate::server::judge::{Judge, PendingReview};
use crate::server::limits::Limits;
use crate::server::media_type::{is_chunked_at_most, is_identity, is_json};
use crate::server::workers::{Worker, Workers};
use crate::telemetry::log::reviewing;
use crate::telemetry::metrics::WaitedFor;
use crate::tls::{Clock, SystemClock};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Token, UnansweredReason, Wait};
use olmguard_policy::Moment;
pub(super) use telemetry::Telemetry;

/// Where reviews are answered.
#[derive(Debug)]
pub(super) struct Handler {
    judge: Arc<dyn Judge>,
    /// What answers edits of catalogs, if anything does.
    previews: Option<CatalogPreviews>,
    enforcement: Enforcement,
    workers: Workers,
    bodies: BodyMemory,
    /// The places in memory of ordinary reviews, and of large ones.
    ordinary: Arc<Semaphore>,
    large: Arc<Semaphore>,
    timeout: Duration,
    telemetry: Telemetry,
    clock: SystemClock,
}

/// Why a request gets no review back.
#[derive(Debug, thiserror::Error)]
pub(super) enum Rejection {
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
    #[error("no worker is free in time: expected fewer reviews at once; try again")]
    Busy,
    #[error("internal fault: the review cannot be answered; please report this")]
    Lost,
}

/// A body, and when it came: a review that is read again is asked at the same moment.
#[derive(Debug)]
struct TimedBody {
    read: ReadBody,
    at: Moment,
}

/// A review, and what it takes of the memory.
#[derive(Debug)]
struct HeldReview {
    review: Review,
    _body: Arc<TimedBody>,
    /// Its place; none where it is answered before anything is waited for.
    _place: Option<OwnedSemaphorePermit>,
}

/// Waits for an answer, and ends the search for advice when it does so no more: at the deadline, or
/// because the client has gone.
#[derive(Debug, Default)]
struct PendingAnswer(Arc<PendingReview>);

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        self.0.stop().set();
    }
}

impl Handler {
    pub(super) fn new(
        judge: Arc<dyn Judge>,
        enforcement: Enforcement,
        limits: &Limits,
        telemetry: Telemetry,
    ) -> Self {
        Self {
            judge,
            previews: None,
            enforcement,
            workers: Workers::new(limits.workers, limits.queue, Arc::clone(&telemetry.metrics)),
            bodies: BodyMemory::of(limits.body_memory),
            ordinary: Arc::new(Semaphore::new(limits.ordinary_reviews())),
            large: Arc::new(Semaphore::new(limits.large_reviews())),
            timeout: limits.timeout,
            telemetry,
            clock: SystemClock,
        }
    }

    /// The same, which also answers edits of catalogs if there are previews of them.
    pub(super) fn with_previews(self, previews: Option<CatalogPreviews>) -> Self {
        Self { previews, ..self }
    }

    /// Whether edits of catalogs are answered.
    pub(super) fn has_previews(&self) -> bool {
        self.previews.is_some()
    }

    /// Answers a request.
    pub(super) async fn admit(&self, request: Request) -> Result<Vec<u8>, Rejection> {
        let _in_flight = self.telemetry.metrics.begin();
        let begun = Instant::now();
        let admitted = self.reply(request, begun).await;
        match &admitted {
            Ok(reply) => self.telemetry.metrics.sent(reply.len() as u64),
            Err(refused) => self.telemetry.refused(refused, begun.elapsed()),
        }
        admitted
    }

    async fn reply(&self, request: Request, begun: Instant) -> Result<Vec<u8>, Rejection> {
        let deadline = Deadline::of(request.uri(), self.timeout);
        let peer = peer(&request)?;
        let (parts, body) = request.into_parts();
        expect_json(&parts.headers)?;
        let body = self.bodies.read(peer, &parts.headers, body, deadline);
        let body = body.await?;
        self.telemetry.metrics.received(body.bytes.len() as u64);
        let body = TimedBody {
            read: body,
            at: moment(self.clock.now()),
        };
        let (held, answer) = self.latest(&Arc::new(body), peer, deadline).await?;
        self.over(&held.review, || {
            let reply = held.review.reply(&answer, self.enforcement);
            let events = &self.telemetry.events;
            events.report(&held.review, answer.token, &reply);
            self.telemetry
                .answered(&held.review, &answer, reply.outcome(), begun.elapsed());
            reply.to_bytes()
        })
    }

    /// The answer, given again where newer content could decide and is loaded soon. While that is waited
    /// for an ordinary review is forgotten, so that it keeps no place from others.
    async fn latest(
        &self,
        body: &Arc<TimedBody>,
        peer: IpAddr,
        deadline: Deadline,
    ) -> Result<(Arc<HeldReview>, Answer), Rejection> {
        let newer = self.judge.newer();
        let (held, answer) = self.answered(body, peer, deadline).await?;
        let is_outdated = answer.token == Token::CatalogOutdated;
        let Some(newer) = newer.filter(|_| is_outdated) else {
            return Ok((held, answer));
        };
        let held = Some(held).filter(|_| body.read.is_large());
        if newer.loaded(deadline).await {
            drop(held);
            return self.answered(body, peer, deadline).await;
        }
        let held = match held {
            Some(held) => held,
            None => Arc::new(HeldReview::of(
                self.telemetry.review(body)?,
                Arc::clone(body),
                None,
            )),
        };
        Ok((held, answer))
    }

    async fn answered(
        &self,
        body: &Arc<TimedBody>,
        peer: IpAddr,
        deadline: Deadline,
    ) -> Result<(Arc<HeldReview>, Answer), Rejection> {
        if body.read.is_large() {
            self.large(Arc::clone(body), peer, deadline).await
        } else {
            self.ordinary(Arc::clone(body), peer, deadline).await
        }
    }

    /// Answers a review that is read in a tenth of a millisecond, where connections are served.
    async fn ordinary(
        &self,
        body: Arc<TimedBody>,
        peer: IpAddr,
        deadline: Deadline,
    ) -> Result<(Arc<HeldReview>, Answer), Rejection> {
        let place = Arc::clone(&self.ordinary).try_acquire_owned().ok();
        let free = place.and_then(|place| Some((self.workers.free()?, place)));
        let review = self.telemetry.review(&body)?;
        if let Some(answer) = self.over(&review, || review.settled())? {
            return Ok((Arc::new(HeldReview::of(review, body, None)), answer));
        }
        let (free, review) = if let Some(free) = free {
            (Ok(free), review)
        } else {
            drop(review);
            let free = self.worker_and_place(peer, deadline).await;
            (free, self.telemetry.review(&body)?)
        };
        let (worker, place) = match free {
            Ok((worker, place)) => (Ok(worker), Some(place)),
            Err(cause) => (Err(cause), None),
        };
        let held = Arc::new(HeldReview::of(review, body, place));
        self.answer(held, worker, deadline).await
    }

    /// What an ordinary review needs to be judged. The worker comes first: what waits for a place then
    /// waits only for replies to be written.
    async fn worker_and_place(
        &self,
        peer: IpAddr,
        deadline: Deadline,
    ) -> Result<(Worker, OwnedSemaphorePermit), UnansweredReason> {
        let worker = self.workers.one(peer, deadline).await?;
        let place = Arc::clone(&self.ordinary).acquire_owned();
        match timeout_at(deadline.at, place).await {
            Ok(Ok(place)) => Ok((worker, place)),
            Ok(Err(_)) | Err(_) => Err(UnansweredReason::DeadlineExceeded {
                waited_for: Wait::Worker,
                within: deadline.within,
            }),
        }
    }

    /// Answers a large review, which is never read where connections are served.
    async fn large(
        &self,
        body: Arc<TimedBody>,
        peer: IpAddr,
        deadline: Deadline,
    ) -> Result<(Arc<HeldReview>, Answer), Rejection> {
        let place = Arc::clone(&self.large).acquire_owned();
        let place = timeout_at(deadline.at, place).await;
        let place = place.map_err(|_| BodyError::NoRoom(deadline))?.ok();
        let telemetry = self.telemetry.clone();
        let read = move || {
            let review = telemetry.review(&body)?;
            Ok::<_, Rejection>(HeldReview::of(review, body, place))
        };
        let held = tokio::task::spawn_blocking(read).await;
        let held = Arc::new(held.map_err(|_| Rejection::Lost)??);
        if let Some(answer) = self.over(&held.review, || held.review.settled())? {
            return Ok((held, answer));
        }
        let worker = self.workers.one(peer, deadline).await;
        self.answer(held, worker, deadline).await
    }

    /// The answer of the judge, or one of our own where there is no time.
    async fn answer(
        &self,
        held: Arc<HeldReview>,
        worker: Result<Worker, UnansweredReason>,
        deadline: Deadline,
    ) -> Result<(Arc<HeldReview>, Answer), Rejection> {
        let answer = match worker {
            Ok(worker) => self.in_time(&held, worker, deadline).await?,
            Err(cause) => self.unanswered(&held.review, cause)?,
        };
        Ok((held, answer))
    }

    /// What is known at the deadline.
    async fn in_time(
        &self,
        held: &Arc<HeldReview>,
        worker: Worker,
        deadline: Deadline,
    ) -> Result<Answer, Rejection> {
        let quick = || worker.try_work(|| self.judge.quick_answer(&held.review));
        let worker = match self.over(&held.review, quick)? {
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
        let cause = UnansweredReason::DeadlineExceeded {
            waited_for: Wait::Judge,
            within: deadline.within,
        };
        self.unanswered(&held.review, cause)
    }

    /// What runs on a separate thread. If the client stops waiting, only the search for advice ends: the worker is free
    /// when the judgement is done.
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
        self.over(review, || review.unanswered(cause))
    }

    fn over<T>(&self, review: &Review, run: impl FnOnce() -> T) -> Result<T, Rejection> {
        let _named = reviewing(review.uid());
        self.telemetry.guarded(run)
    }
}

impl HeldReview {
    fn of(review: Review, body: Arc<TimedBody>, place: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            review,
            _body: body,
            _place: place,
        }
    }
}

/// The address that a request comes from. Without it all peers would share the limits of one.
fn peer(request: &Request) -> Result<IpAddr, Rejection> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.ok_or(Rejection::Lost)?;
    Ok(peer.0.ip().to_canonical())
}

fn expect_json(headers: &HeaderMap) -> Result<(), Rejection> {
    if !is_json(headers) {
        return Err(Rejection::MediaType);
    }
    if !is_identity(headers) {
        return Err(Rejection::Encoding);
    }
    if !is_chunked_at_most(headers) {
        return Err(Rejection::TransferCoding);
    }
    Ok(())
}
