//! The line of the log for one answer, at a level that fits its verdict.
//!
//! | verdict | level |
//! | --- | --- |
//! | deny | info |
//! | undecided | warn |
//! | allow, not judged | debug |

use std::time::Duration;

use tracing::{debug, info, warn};

use crate::telemetry::log::{LogUser, shown};
use olmguard_admission::{Review, ReviewOperation, ReviewOutcome};
use olmguard_engine::explain::{Answer, ResolvedBundle};
use olmguard_engine::extension::InstalledBundle;
use olmguard_engine::judge::Verdict;

/// Writes decisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecisionLog {
    /// What is said of who asked.
    pub user: LogUser,
}

/// One answer to a review.
#[derive(Clone, Copy, Debug)]
pub struct LoggedAnswer<'a> {
    /// What was asked.
    pub asked: ReviewRequest<'a>,
    /// What was found.
    pub answer: &'a Answer,
    /// What the API server was told.
    pub outcome: ReviewOutcome,
    /// The time from the head of the request to its answer.
    pub elapsed: Duration,
}

/// What a review asks, as far as it is known where it is answered.
#[derive(Clone, Copy, Debug)]
pub struct ReviewRequest<'a> {
    /// The UID of the review.
    pub uid: &'a str,
    /// What is done to the object.
    pub operation: ReviewOperation,
    /// Whether the API server asks only what would be.
    pub dry_run: bool,
    /// The name of the object, or what one is to be generated from.
    pub extension: Option<&'a str>,
    /// The user of the request.
    pub user: Option<&'a str>,
}

impl<'a> From<&'a Review> for ReviewRequest<'a> {
    fn from(review: &'a Review) -> Self {
        let identity = review.identity();
        let extension = identity.name.as_ref().or(identity.generate_name.as_ref());
        Self {
            uid: review.uid(),
            operation: review.operation(),
            dry_run: review.is_dry_run(),
            extension: extension.map(String::as_str),
            user: review.user(),
        }
    }
}

/// One event with the fields of a decision; nothing of them is made where its level is off.
macro_rules! line {
    ($event:ident, $log:expr, $decision:expr, $message:literal) => {{
        let LoggedAnswer {
            asked,
            answer,
            outcome,
            elapsed,
        } = $decision;
        let (requested, catalog) = (answer.requested.as_ref(), answer.catalog.as_ref());
        $event!(
            uid = shown(asked.uid),
            operation = asked.operation.as_str(),
            dry_run = asked.dry_run,
            extension = asked.extension.map(shown),
            user = asked
                .user
                .and_then(|user| $log.user.written(user))
                .as_deref()
                .map(shown),
            package = requested.map(|filter| shown(&filter.package)),
            installed = answer
                .installed
                .as_ref()
                .map(InstalledBundle::line)
                .as_deref()
                .map(shown),
            requested = requested
                .and_then(|filter| filter.version.as_deref())
                .map(shown),
            resolved = answer
                .resolved
                .as_ref()
                .map(ResolvedBundle::line)
                .as_deref()
                .map(shown),
            policy = requested.map(|filter| filter.policy.as_str()),
            catalog = catalog.map(|catalog| shown(&catalog.name)),
            digest = catalog
                .and_then(|catalog| catalog.digest.as_deref())
                .map(shown),
            verdict = answer.verdict().as_str(),
            token = answer.token.as_str(),
            why = answer
                .exemption
                .as_ref()
                .map(|exemption| exemption.kind.as_str()),
            outcome = outcome.as_str(),
            duration_ms = milliseconds(*elapsed),
            $message
        );
    }};
}

impl DecisionLog {
    /// Writes one line about it.
    pub fn say(&self, decision: &LoggedAnswer<'_>) {
        match decision.answer.verdict() {
            Verdict::Deny => line!(info, self, decision, "Denied"),
            Verdict::Undecided => line!(warn, self, decision, "Undecided"),
            Verdict::Allow => line!(debug, self, decision, "Allowed"),
            Verdict::NotJudged => line!(debug, self, decision, "Not checked"),
        }
    }
}

/// Milliseconds, to the microsecond: more precision has no meaning.
fn milliseconds(elapsed: Duration) -> f64 {
    f64::from(u32::try_from(elapsed.as_micros()).unwrap_or(u32::MAX)) / 1e3
}
