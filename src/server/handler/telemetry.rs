//! What an answer leaves behind: counts, the log of decisions, and Events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::time::Duration;

use crate::admission::{Outcome, Review};
use crate::server::body::BodyError;
use crate::server::handler::{Rejection, TimedBody};
use crate::telemetry::log::{Decision, DecisionLog};
use crate::telemetry::metrics::{
    AdmissionMetrics, AnsweredReview, CatalogReviewMetrics, PolicyFinding, PolicyMetrics, WaitedFor,
};
use crate::telemetry::{EditEvents, Metrics};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::UnansweredReason;

/// Where answers are counted and written down.
#[derive(Clone, Debug)]
pub(in crate::server) struct Telemetry {
    pub(super) metrics: Arc<AdmissionMetrics>,
    pub(super) decisions: DecisionLog,
    pub(super) events: EditEvents,
    pub(super) policies: Arc<PolicyMetrics>,
    pub(super) catalogs: Arc<CatalogReviewMetrics>,
}

impl Telemetry {
    pub(in crate::server) fn of(
        metrics: &Metrics,
        decisions: DecisionLog,
        events: EditEvents,
    ) -> Self {
        Self {
            metrics: Arc::clone(&metrics.admission),
            decisions,
            events,
            policies: Arc::clone(&metrics.policies),
            catalogs: Arc::clone(&metrics.catalog_reviews),
        }
    }

    /// Reads a review.
    pub(super) fn review(&self, body: &TimedBody) -> Result<Review, Rejection> {
        let review = self.guarded(|| Review::from_bytes(&body.read.bytes))??;
        Ok(review.at(body.at))
    }

    /// Nothing that a panic may have left half done is used again.
    pub(super) fn guarded<T>(&self, run: impl FnOnce() -> T) -> Result<T, Rejection> {
        catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
            self.metrics.panicked();
            Rejection::Lost
        })
    }

    pub(super) fn answered(
        &self,
        review: &Review,
        answer: &Answer,
        outcome: Outcome,
        elapsed: Duration,
    ) {
        self.metrics.answered(&AnsweredReview {
            operation: review.operation(),
            token: answer.token,
            dry_run: review.is_dry_run(),
            outcome,
            elapsed,
        });
        if let Some(why) = answer.exemption {
            self.metrics.not_judged(why);
        }
        for finding in PolicyFinding::ALL {
            let word = finding.as_str();
            if answer.policies.iter().any(|one| one.enforcement == word) {
                self.policies.found(*finding);
            }
        }
        self.decisions.say(&Decision {
            asked: review.into(),
            answer,
            outcome,
            elapsed,
        });
    }

    pub(super) fn unanswered(&self, cause: UnansweredReason) {
        match cause {
            UnansweredReason::DeadlineExceeded { waited_for, .. } => {
                self.metrics.deadline_exceeded(waited_for.into());
            }
            UnansweredReason::QueueFull { .. } | UnansweredReason::QueueTooSlow { .. } => {
                self.metrics.overloaded();
            }
        }
    }

    pub(super) fn refused(&self, refused: &Rejection, elapsed: Duration) {
        match refused.class() {
            Some(class) => self.metrics.decode_error(class),
            None => self.metrics.failed(elapsed),
        }
        if let Rejection::Body(BodyError::TooSlow(_)) = refused {
            self.metrics.deadline_exceeded(WaitedFor::Body);
        }
    }
}
