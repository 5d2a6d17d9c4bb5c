//! Handles reviews: from a request to the bytes of its reply, before the deadline.
//!
//! ```text
//! route -> head -> body (bounded, in time) -> answers: a review and its answer -> reply, with its records
//! ```
//!
//! Invariant: a panic over one review is an internal fault of that review alone, counted and logged with its
//! uid.

mod answers;
mod objects;

use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use tokio::time::{Duration, Instant};
use tracing::{debug, error};

use crate::body::{BodyError, BodyMemory, ReadBody, is_chunked_at_most, is_identity, is_json};
use crate::catalog_preview::CatalogPreviews;
use crate::judge::Judge;
use crate::limits::{Deadline, Limits};
use crate::live_facts::moment;
use crate::telemetry::log::{DecisionLog, LoggedAnswer, reviewing};
use crate::telemetry::metrics::{
    AdmissionMetrics, AnsweredReview, CatalogReviewMetrics, DecodeError, PolicyEffect,
    PolicyMetrics, WaitedFor,
};
use crate::telemetry::{EditEvents, Metrics};
use crate::tls::{Clock, SystemClock};
use answers::{Answers, ReceivedReview, ReviewAnswer, TimedBody};
use olmguard_admission::{Enforcement, Review, ReviewError, ReviewOutcome};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::UnansweredReason;

/// The handler of all review requests.
#[derive(Debug)]
pub(super) struct Handler {
    answers: Answers,
    /// The previews of catalog edits, if enabled.
    previews: Option<CatalogPreviews>,
    enforcement: Enforcement,
    bodies: BodyMemory,
    timeout: Duration,
    telemetry: Telemetry,
    clock: SystemClock,
}

impl Handler {
    pub(super) fn new(
        judge: Arc<dyn Judge>,
        enforcement: Enforcement,
        limits: &Limits,
        telemetry: Telemetry,
    ) -> Self {
        Self {
            answers: Answers::new(judge, limits, telemetry.clone()),
            previews: None,
            enforcement,
            bodies: BodyMemory::of(limits.body_memory),
            timeout: limits.timeout,
            telemetry,
            clock: SystemClock,
        }
    }

    /// Also answers edits of catalogs, if `previews` is given.
    pub(super) fn with_previews(self, previews: Option<CatalogPreviews>) -> Self {
        Self { previews, ..self }
    }

    /// Answers a request.
    pub(super) async fn admit(&self, request: Request) -> Result<Vec<u8>, Rejection> {
        let begun = Instant::now();
        self.counted(begun, self.reply(request, begun)).await
    }

    /// Awaits a reply, and counts it.
    async fn counted(
        &self,
        begun: Instant,
        reply: impl Future<Output = Result<Vec<u8>, Rejection>>,
    ) -> Result<Vec<u8>, Rejection> {
        let _in_flight = self.telemetry.metrics.begin();
        let replied = reply.await;
        match &replied {
            Ok(reply) => self.telemetry.metrics.sent(reply.len() as u64),
            Err(refused) => self.telemetry.refused(refused, begun.elapsed()),
        }
        replied
    }

    async fn reply(&self, request: Request, begun: Instant) -> Result<Vec<u8>, Rejection> {
        let deadline = Deadline::of(request.uri(), self.timeout);
        let (peer, body) = self.body(request, deadline).await?;
        let received = ReceivedReview {
            body: Arc::new(TimedBody {
                read: body,
                at: moment(self.clock.now()),
            }),
            peer,
            deadline,
        };
        let answered = self.answers.latest(&received).await?;
        self.recorded(&answered, begun)
    }

    /// Reads the body of a request that can be a review, and returns the address of the client with it.
    async fn body(
        &self,
        request: Request,
        deadline: Deadline,
    ) -> Result<(IpAddr, ReadBody), Rejection> {
        let peer = peer(&request)?;
        let (parts, body) = request.into_parts();
        expect_json(&parts.headers)?;
        let body = self.bodies.read(peer, &parts.headers, body, deadline);
        let body = body.await?;
        self.telemetry.metrics.received(body.bytes.len() as u64);
        Ok((peer, body))
    }

    /// Returns the bytes of a reply, after it is counted, logged and reported.
    fn recorded(&self, answered: &ReviewAnswer, begun: Instant) -> Result<Vec<u8>, Rejection> {
        let (review, answer) = (&answered.held.review, &answered.answer);
        self.telemetry.over(review, || {
            let reply = review.reply(answer, self.enforcement);
            self.telemetry.events.report(review, answer.token, &reply);
            let outcome = reply.outcome();
            self.telemetry
                .answered(review, answer, outcome, begun.elapsed());
            reply.to_bytes()
        })
    }
}

/// Returns the address of the client. A request without one is an error: otherwise all clients would share the limits
/// of one.
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

// === Records of an answer: metrics, the log of decisions, and Events ===

/// The metrics, log and Events that record answers.
#[derive(Clone, Debug)]
pub(super) struct Telemetry {
    metrics: Arc<AdmissionMetrics>,
    events: EditEvents,
    policies: Arc<PolicyMetrics>,
    catalogs: Arc<CatalogReviewMetrics>,
    decisions: DecisionLog,
}

impl Telemetry {
    pub(super) fn of(metrics: &Metrics, decisions: DecisionLog, events: EditEvents) -> Self {
        Self {
            metrics: Arc::clone(&metrics.admission),
            decisions,
            events,
            policies: Arc::clone(&metrics.policies),
            catalogs: Arc::clone(&metrics.catalog_reviews),
        }
    }

    /// Runs a part of a review, and counts a panic. No state that a panic can leave half done is used again.
    fn guarded<T>(&self, run: impl FnOnce() -> T) -> Result<T, Rejection> {
        catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
            self.metrics.panicked();
            Rejection::Lost
        })
    }

    /// Runs a part of one review. A panic is logged with the uid of the review.
    fn over<T>(&self, review: &Review, run: impl FnOnce() -> T) -> Result<T, Rejection> {
        let _named = reviewing(review.uid());
        self.guarded(run)
    }

    fn answered(
        &self,
        review: &Review,
        answer: &Answer,
        outcome: ReviewOutcome,
        elapsed: Duration,
    ) {
        self.metrics.answered(&AnsweredReview {
            operation: review.operation(),
            token: answer.token,
            dry_run: review.is_dry_run(),
            outcome,
            elapsed,
        });
        if let Some(exemption) = &answer.exemption {
            self.metrics.not_judged(exemption.kind);
        }
        for finding in PolicyEffect::ALL {
            let word = finding.as_str();
            if answer.policies.iter().any(|one| one.enforcement == word) {
                self.policies.found(finding);
            }
        }
        self.decisions.say(&LoggedAnswer {
            asked: review.into(),
            answer,
            outcome,
            elapsed,
        });
    }

    fn unanswered(&self, cause: UnansweredReason) {
        match cause {
            UnansweredReason::DeadlineExceeded { waited_for, .. } => {
                self.metrics.deadline_exceeded(waited_for.into());
            }
            UnansweredReason::QueueFull { .. } | UnansweredReason::QueueTooSlow { .. } => {
                self.metrics.overloaded();
            }
        }
    }

    fn refused(&self, refused: &Rejection, elapsed: Duration) {
        match refused.class() {
            Some(class) => self.metrics.decode_error(class),
            // The reason why no worker was free is counted where the worker was awaited.
            None if matches!(refused, Rejection::Busy) => {}
            None => self.metrics.failed(elapsed),
        }
        if let Rejection::Body(BodyError::TooSlow(_)) = refused {
            self.metrics.deadline_exceeded(WaitedFor::Body);
        }
    }
}

// === The routes of reviews: `POST /validate`, `/validate-policy` and `/validate-catalog` ===
//
// A request that is not a review gets a status of 400 or more and one line of text. An API server treats that as a
// failure of the webhook, never as a verdict. A review gets a verdict, in time.

pub(super) fn routes(handler: Arc<Handler>) -> Router {
    let routes = Router::new()
        .route(PATH, post(validate))
        .route(POLICY_PATH, post(validate_policy));
    let (routes, expected) = if handler.previews.is_some() {
        let routes = routes.route(CATALOG_PATH, post(validate_catalog));
        (routes, ALL_PATHS)
    } else {
        (routes, USUAL_PATHS)
    };
    routes
        .fallback(async move || (StatusCode::NOT_FOUND, expected))
        .method_not_allowed_fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "expected POST\n"))
        .with_state(handler)
}

async fn validate(State(handler): State<Arc<Handler>>, request: Request) -> Response {
    response(handler.admit(request).await)
}

async fn validate_policy(State(handler): State<Arc<Handler>>, request: Request) -> Response {
    response(handler.admit_object(request).await)
}

async fn validate_catalog(State(handler): State<Arc<Handler>>, request: Request) -> Response {
    response(handler.admit_catalog(request).await)
}

fn response(reply: Result<Vec<u8>, Rejection>) -> Response {
    match reply {
        Ok(reply) => {
            let mut response = Response::new(reply.into());
            response.headers_mut().insert(header::CONTENT_TYPE, JSON);
            response
        }
        Err(refused) => refused.into_response(),
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

const PATH: &str = "/validate";

const POLICY_PATH: &str = "/validate-policy";

const CATALOG_PATH: &str = "/validate-catalog";

const USUAL_PATHS: &str = "not found: expected /validate or /validate-policy\n";

const ALL_PATHS: &str = "not found: expected /validate, /validate-policy or /validate-catalog\n";

// === Requests that get no review back: the reason, and the response ===

/// The reason why a request gets no review back.
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

impl Rejection {
    fn status(&self) -> StatusCode {
        match self {
            Self::MediaType | Self::Encoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TransferCoding => StatusCode::NOT_IMPLEMENTED,
            Self::Body(BodyError::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(BodyError::NoRoom(_)) | Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Body(BodyError::TooSlow(_)) => StatusCode::REQUEST_TIMEOUT,
            Self::Body(BodyError::Broken(_)) | Self::Review(_) => StatusCode::BAD_REQUEST,
            Self::Lost => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns what was wrong with the request; none if the fault is in the server.
    pub(super) fn class(&self) -> Option<DecodeError> {
        Some(match self {
            Self::MediaType | Self::Encoding | Self::TransferCoding => DecodeError::MediaType,
            Self::Body(BodyError::TooLarge) => DecodeError::TooLarge,
            Self::Body(BodyError::NoRoom(_)) => DecodeError::NoMemory,
            Self::Body(BodyError::TooSlow(_)) => DecodeError::Timeout,
            Self::Body(BodyError::Broken(_)) => DecodeError::Body,
            Self::Review(error) => error.into(),
            Self::Busy | Self::Lost => return None,
        })
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        if matches!(self, Self::Lost) {
            error!(error = %self, "Failed to answer a request");
        } else {
            debug!(error = %self, "Rejected a request");
        }
        (self.status(), format!("{self}\n")).into_response()
    }
}
