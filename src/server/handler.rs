//! From a request to the bytes of its reply, in time.
//!
//! ```text
//! head -> body (bounded, in time) -> answers: a review and its answer -> reply, with its records
//! ```
//!
//! Invariant: a panic over one review is an internal fault of that review alone, counted and logged with its
//! uid.

mod answers;
mod objects;
mod telemetry;

pub(super) use telemetry::Telemetry;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request};
use axum::http::HeaderMap;
use tokio::time::{Duration, Instant};

use crate::live_facts::moment;
use crate::server::body::{BodyMemory, is_chunked_at_most, is_identity, is_json};
use crate::server::catalog_preview::CatalogPreviews;
use crate::server::judge::Judge;
use crate::server::limits::{Deadline, Limits};
use crate::server::rejection::Rejection;
use crate::tls::{Clock, SystemClock};
use answers::{Answers, ReceivedReview, ReviewAnswer, TimedBody};
use olmguard_admission::Enforcement;

/// The handler of all requests with reviews.
#[derive(Debug)]
pub(super) struct Handler {
    answers: Answers,
    /// The previews of edits of catalogs, if there are any.
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

    /// The same handler, which also answers edits of catalogs if there are previews of them.
    pub(super) fn with_previews(self, previews: Option<CatalogPreviews>) -> Self {
        Self { previews, ..self }
    }

    /// Whether edits of catalogs are answered.
    pub(super) fn has_previews(&self) -> bool {
        self.previews.is_some()
    }

    /// Answers a request.
    pub(super) async fn admit(&self, request: Request) -> Result<Vec<u8>, Rejection> {
        let begun = Instant::now();
        self.counted(begun, self.reply(request, begun)).await
    }

    /// A reply on its way, counted.
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
        let peer = peer(&request)?;
        let (parts, body) = request.into_parts();
        expect_json(&parts.headers)?;
        let body = self.bodies.read(peer, &parts.headers, body, deadline);
        let body = body.await?;
        self.telemetry.metrics.received(body.bytes.len() as u64);
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

    /// The bytes of a reply, after it is counted, logged and reported.
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
