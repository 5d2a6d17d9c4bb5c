//! Records of an answer: metrics, the log of decisions, and Events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::time::Duration;

use crate::server::body::BodyError;
use crate::server::rejection::Rejection;
use crate::telemetry::log::{DecisionLog, LoggedAnswer, reviewing};
use crate::telemetry::metrics::{
    AdmissionMetrics, AnsweredReview, CatalogReviewMetrics, PolicyEffect, PolicyMetrics, WaitedFor,
};
use crate::telemetry::{EditEvents, Metrics};
use olmguard_admission::{Review, ReviewOutcome};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::UnansweredReason;

/// The metrics, log and Events that record answers.
#[derive(Clone, Debug)]
pub(in crate::server) struct Telemetry {
    pub(super) metrics: Arc<AdmissionMetrics>,
    pub(super) events: EditEvents,
    pub(super) policies: Arc<PolicyMetrics>,
    pub(super) catalogs: Arc<CatalogReviewMetrics>,
    decisions: DecisionLog,
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

    /// Runs a part of a review. Nothing that a panic can leave half done is used again.
    pub(super) fn guarded<T>(&self, run: impl FnOnce() -> T) -> Result<T, Rejection> {
        catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
            self.metrics.panicked();
            Rejection::Lost
        })
    }

    /// Runs a part of one review, whose uid a panic is logged with.
    pub(super) fn over<T>(&self, review: &Review, run: impl FnOnce() -> T) -> Result<T, Rejection> {
        let _named = reviewing(review.uid());
        self.guarded(run)
    }

    pub(super) fn answered(
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
            // Why no worker was free is counted where it was waited for.
            None if matches!(refused, Rejection::Busy) => {}
            None => self.metrics.failed(elapsed),
        }
        if let Rejection::Body(BodyError::TooSlow(_)) = refused {
            self.metrics.deadline_exceeded(WaitedFor::Body);
        }
    }
}
