//! `POST /validate`: from a request to bytes of a review, and from its reply to a response.
//!
//! ```text
//! head -> body (bounded, in time) -> review -> not to be judged? ------------------> reply
//!                                       '----> a worker (queue, in time) -> judge --'
//!                                                 '-- none, or too late: onUndecided
//! ```
//!
//! Whatever is no review gets a status of 400 or more and one line of text; an API server takes that
//! as a failure of the webhook, never as a verdict. Whatever is one gets a verdict, in time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::FutureExt;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, timeout_at};
use tracing::{debug, error};

use crate::admission::{Enforcement, Outcome, Reply, Review, ReviewError};
use crate::explain::Answer;
use crate::judge::{Unanswered, Wait};
use crate::server::body::{BodyError, BodyMemory, Read};
use crate::server::deadline::Deadline;
use crate::server::judge::Judge;
use crate::server::limits::Limits;
use crate::server::media_type::is_json;
use crate::server::workers::{Worker, Workers};
use crate::telemetry::log::{Decision, DecisionLog, reviewing};
use crate::telemetry::metrics::{AdmissionMetrics, Answered, DecodeError, WaitedFor};

/// Where reviews are answered.
#[derive(Debug)]
pub(super) struct Desk {
    judge: Arc<dyn Judge>,
    enforcement: Enforcement,
    workers: Workers,
    bodies: BodyMemory,
    timeout: Duration,
    sight: Sight,
}

/// Where answers are counted and written down.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) metrics: Arc<AdmissionMetrics>,
    pub(super) decisions: DecisionLog,
}

/// Why a request gets no review back.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("content-type is not JSON: expected application/json")]
    MediaType,
    #[error("content-encoding is not identity: expected a body that is not compressed")]
    Encoding,
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Review(#[from] ReviewError),
    #[error("internal fault: the judge was lost; please report this")]
    Lost,
}

pub(super) fn routes(desk: Arc<Desk>) -> Router {
    Router::new()
        .route(PATH, post(validate))
        .fallback(async || (StatusCode::NOT_FOUND, "not found: expected /validate\n"))
        .method_not_allowed_fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "expected POST\n"))
        .with_state(desk)
}

async fn validate(State(desk): State<Arc<Desk>>, request: Request) -> Response {
    let _in_flight = desk.sight.metrics.begin();
    let begun = Instant::now();
    // A panic is a fault of this one review: nothing that it may have left half done is used again.
    let admitted = AssertUnwindSafe(desk.admit(request, begun)).catch_unwind();
    match admitted.await.unwrap_or(Err(Refused::Lost)) {
        Ok(reply) => {
            let body = reply.to_bytes();
            desk.sight.metrics.sent(body.len() as u64);
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Err(refused) => {
            desk.count(&refused, begun);
            refused.into_response()
        }
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
            timeout: limits.timeout,
            sight,
        }
    }

    async fn admit(&self, request: Request, begun: Instant) -> Result<Reply, Refused> {
        let deadline = Deadline::of(request.uri(), self.timeout);
        let (head, body) = request.into_parts();
        expect_json(&head.headers)?;
        let body = self.bodies.read(&head.headers, body, deadline).await?;
        self.sight.metrics.received(body.bytes.len() as u64);
        let review = Arc::new(decode(body).await?);
        let answer = self.answer(&review, deadline).await?;
        let reply = review.reply(&answer, self.enforcement);
        self.sight
            .answered(&review, &answer, reply.outcome(), begun.elapsed());
        Ok(reply)
    }

    /// The answer of the judge, or one of our own where there is nothing to judge or no time.
    async fn answer(&self, review: &Arc<Review>, deadline: Deadline) -> Result<Answer, Refused> {
        if let Some(answer) = review.settled() {
            return Ok(answer);
        }
        let worker = match self.workers.one(deadline).await {
            Ok(worker) => worker,
            Err(cause) => return Ok(self.unanswered(review, cause)),
        };
        let judged = self.judged(worker, Arc::clone(review));
        match timeout_at(deadline.at, judged).await {
            Ok(answer) => answer.map_err(|_| Refused::Lost),
            Err(_) => Ok(self.unanswered(
                review,
                Unanswered::DeadlineExceeded {
                    waited_for: Wait::Judge,
                    within: deadline.within,
                },
            )),
        }
    }

    /// Judging never runs where connections are served. Who stops waiting for it does not stop it:
    /// the worker is free when it is done.
    fn judged(&self, worker: Worker, review: Arc<Review>) -> JoinHandle<Answer> {
        let judge = Arc::clone(&self.judge);
        tokio::task::spawn_blocking(move || {
            let _worker = worker;
            let _named = reviewing(review.uid());
            judge.answer(&review)
        })
    }

    fn unanswered(&self, review: &Review, cause: Unanswered) -> Answer {
        match cause {
            Unanswered::DeadlineExceeded { waited_for, .. } => {
                self.sight.metrics.deadline_exceeded(waited_for.into());
            }
            Unanswered::QueueFull { .. } | Unanswered::QueueTooSlow { .. } => {
                self.sight.metrics.overloaded();
            }
        }
        review.unanswered(cause)
    }

    fn count(&self, refused: &Refused, begun: Instant) {
        match refused.class() {
            Some(class) => self.sight.metrics.decode_error(class),
            None => {
                self.sight.metrics.panicked();
                self.sight.metrics.failed(begun.elapsed());
            }
        }
        if let Refused::Body(BodyError::TooSlow(_)) = refused {
            self.sight.metrics.deadline_exceeded(WaitedFor::Body);
        }
    }
}

impl Sight {
    fn answered(&self, review: &Review, answer: &Answer, outcome: Outcome, elapsed: Duration) {
        self.metrics.answered(&Answered {
            operation: review.operation(),
            token: answer.token,
            dry_run: review.is_dry_run(),
            outcome,
            elapsed,
        });
        self.decisions.say(&Decision {
            asked: review.into(),
            answer,
            outcome,
            elapsed,
        });
    }
}

fn expect_json(headers: &HeaderMap) -> Result<(), Refused> {
    if !is_json(headers) {
        return Err(Refused::MediaType);
    }
    match headers.get(header::CONTENT_ENCODING) {
        Some(coding) if coding != "identity" => Err(Refused::Encoding),
        _ => Ok(()),
    }
}

/// Decoding a large body takes as long as it is large, so it never runs where connections are served.
async fn decode(body: Read) -> Result<Review, Refused> {
    if body.bytes.len() <= AT_ONCE {
        return Ok(Review::from_bytes(&body.bytes)?);
    }
    let decoded = tokio::task::spawn_blocking(move || Review::from_bytes(&body.bytes)).await;
    Ok(decoded.map_err(|_| Refused::Lost)??)
}

impl Refused {
    fn status(&self) -> StatusCode {
        match self {
            Self::MediaType | Self::Encoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Body(BodyError::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(BodyError::NoMemory) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Body(BodyError::TooSlow(_)) => StatusCode::REQUEST_TIMEOUT,
            Self::Body(BodyError::Broken(_)) | Self::Review(_) => StatusCode::BAD_REQUEST,
            Self::Lost => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl Refused {
    /// What was wrong with the request; none where it was us.
    fn class(&self) -> Option<DecodeError> {
        Some(match self {
            Self::MediaType | Self::Encoding => DecodeError::MediaType,
            Self::Body(BodyError::TooLarge) => DecodeError::TooLarge,
            Self::Body(BodyError::NoMemory) => DecodeError::NoMemory,
            Self::Body(BodyError::TooSlow(_)) => DecodeError::Timeout,
            Self::Body(BodyError::Broken(_)) => DecodeError::Body,
            Self::Review(error) => error.into(),
            Self::Lost => return None,
        })
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = self.status();
        if status.is_server_error() {
            error!(error = %self, "Cannot answer");
        } else {
            debug!(error = %self, "Refused a request");
        }
        (status, format!("{self}\n")).into_response()
    }
}

const PATH: &str = "/validate";

/// The most bytes that are decoded where connections are served: a tenth of a millisecond.
const AT_ONCE: usize = 64 << 10;
