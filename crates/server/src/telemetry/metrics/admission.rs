//! Reviews: their number, outcome, duration and waiting time, and requests that were not reviews.

use std::time::Duration;

use prometheus::{Histogram, IntCounter, IntGauge};

use crate::telemetry::metrics::{GaugeGuard, PerLabel, Register, label, labelled};
use olmguard_admission::{ReviewError, ReviewOperation, ReviewOutcome};
use olmguard_engine::judge::{ExemptionKind, Token, Verdict, Wait};

/// Reviews and their answers.
#[derive(Debug)]
pub struct AdmissionMetrics {
    requests: Requests,
    durations: PerLabel<DecisionLabel, Histogram>,
    not_judged: PerLabel<ExemptionKind, IntCounter>,
    let_through: PerLabel<Against, PerLabel<DryRunLabel, IntCounter>>,
    in_flight: IntGauge,
    queued: IntGauge,
    queue_rejected: IntCounter,
    deadline_exceeded: PerLabel<WaitedFor, IntCounter>,
    decode_errors: PerLabel<DecodeError, IntCounter>,
    panics: IntCounter,
    request_bytes: IntCounter,
    response_bytes: IntCounter,
}

/// An answer to a review, for the metrics.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredReview {
    /// The operation on the object.
    pub operation: ReviewOperation,
    /// The reason code of the answer, which implies the verdict.
    pub token: Token,
    /// Whether the request is a dry run.
    pub dry_run: bool,
    /// The outcome in the reply to the API server.
    pub outcome: ReviewOutcome,
    /// The time from the head of the request to its answer.
    pub elapsed: Duration,
}

/// The answers, by request and by reason code.
#[derive(Debug)]
struct Requests {
    answered: PerLabel<ReviewOperation, PerLabel<DryRunLabel, PerLabel<Token, IntCounter>>>,
    failed: IntCounter,
}

impl AdmissionMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            requests: Requests::new(register),
            durations: durations(register),
            not_judged: register.counter_per(
                "admission_not_judged_total",
                "Edits that olmguard did not check, by reason.",
                "why",
            ),
            let_through: let_through(register),
            in_flight: register.gauge("admission_in_flight", "Requests in progress."),
            queued: register.gauge("admission_queued", "Requests waiting for a worker."),
            queue_rejected: register.counter(
                "admission_queue_rejected_total",
                "Requests rejected as Overloaded because they could not wait for a worker.",
            ),
            deadline_exceeded: register.counter_per(
                "admission_deadline_exceeded_total",
                "Requests answered because their deadline expired, by what they were waiting for.",
                "waited_for",
            ),
            decode_errors: register.counter_per(
                "decode_errors_total",
                "Requests that could not be decoded as an AdmissionReview, by error class.",
                "class",
            ),
            panics: register.counter(
                "panics_total",
                "Panics of the server; each is logged with the uid of its review.",
            ),
            request_bytes: register
                .counter("request_bytes_total", "Bytes of request bodies received."),
            response_bytes: register
                .counter("response_bytes_total", "Bytes of response bodies sent."),
        }
    }

    /// Counts a request as in flight until the guard is dropped.
    pub fn begin(&self) -> GaugeGuard {
        GaugeGuard::new(&self.in_flight)
    }

    /// Counts a request as waiting for a worker until the guard is dropped.
    pub fn queued(&self) -> GaugeGuard {
        GaugeGuard::new(&self.queued)
    }

    /// Counts an answered review, in time or not.
    pub fn answered(&self, answered: &AnsweredReview) {
        let verdict = answered.token.verdict();
        self.requests.of(answered).inc();
        self.durations
            .of(verdict.into())
            .observe(answered.elapsed.as_secs_f64());
        if let (ReviewOutcome::LetThrough, Some(against)) = (answered.outcome, Against::of(verdict))
        {
            self.let_through
                .of(against)
                .of(DryRunLabel::of(answered.dry_run))
                .inc();
        }
    }

    /// Counts an edit that was not judged for this reason. Its answer is counted separately.
    pub fn not_judged(&self, why: ExemptionKind) {
        self.not_judged.of(why).inc();
    }

    /// Counts a request that ended in an internal fault with status 500, which is never a policy decision.
    pub fn failed(&self, elapsed: Duration) {
        self.requests.failed.inc();
        self.durations
            .of(DecisionLabel::Error)
            .observe(elapsed.as_secs_f64());
    }

    /// Counts a request that is not a review that can be answered.
    pub fn decode_error(&self, error: DecodeError) {
        self.decode_errors.of(error).inc();
    }

    /// Counts an expired deadline. The answer is counted separately.
    pub fn deadline_exceeded(&self, waited_for: WaitedFor) {
        self.deadline_exceeded.of(waited_for).inc();
    }

    /// Counts a request without a place in the queue. The answer is counted separately.
    pub fn overloaded(&self) {
        self.queue_rejected.inc();
    }

    /// Counts a caught panic, before or after the answer. The reply to its request is counted separately.
    pub fn panicked(&self) {
        self.panics.inc();
    }

    /// Counts the bytes of a received body.
    pub fn received(&self, bytes: u64) {
        self.request_bytes.inc_by(bytes);
    }

    /// Counts the bytes of a sent body.
    pub fn sent(&self, bytes: u64) {
        self.response_bytes.inc_by(bytes);
    }
}

impl Requests {
    fn new(register: &Register<'_>) -> Self {
        let counters = register.counters(
            "requests_total",
            "Requests answered, by operation, verdict, reason code (token) and dry run; internal errors have the verdict error.",
            &["operation", "verdict", "token", "dry_run"],
        );
        let counter = |operation: ReviewOperation, token: Token, dry_run: DryRunLabel| {
            counters.with_label_values(&[
                operation.as_str(),
                token.verdict().as_str(),
                token.as_str(),
                dry_run.as_str(),
            ])
        };
        Self {
            answered: PerLabel::new(|operation| {
                PerLabel::new(|dry_run| PerLabel::new(|token| counter(operation, token, dry_run)))
            }),
            failed: counters.with_label_values(&[
                UNKNOWN,
                DecisionLabel::Error.as_str(),
                NO_TOKEN,
                UNKNOWN,
            ]),
        }
    }

    fn of(&self, answered: &AnsweredReview) -> &IntCounter {
        self.answered
            .of(answered.operation)
            .of(DryRunLabel::of(answered.dry_run))
            .of(answered.token)
    }
}

fn let_through(register: &Register<'_>) -> PerLabel<Against, PerLabel<DryRunLabel, IntCounter>> {
    let counters = register.counters(
        "admission_let_through_total",
        "Edits allowed with a warning although the verdict was deny or undecided.",
        &["verdict", "dry_run"],
    );
    let counter = |against: Against, dry_run: DryRunLabel| {
        counters.with_label_values(&[against.as_str(), dry_run.as_str()])
    };
    PerLabel::new(|against| PerLabel::new(|dry_run| counter(against, dry_run)))
}

fn durations(register: &Register<'_>) -> PerLabel<DecisionLabel, Histogram> {
    let histograms = register.histograms(
        "admission_duration_seconds",
        "Time from the headers of a request to its answer, in seconds.",
        &["verdict"],
        &BUCKETS,
    );
    PerLabel::new(|decision: DecisionLabel| histograms.with_label_values(&[decision.as_str()]))
}

/// From half a millisecond to the API server's default timeout of 10 s. A decision should be below the first bucket; an
/// alert uses 0.25 s.
const BUCKETS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// The label of a fault that may occur before a request is parsed.
const UNKNOWN: &str = "unknown";

const NO_TOKEN: &str = "none";

// === The labels of reviews ===

label! {
    /// The reason why a request is not a review that can be answered.
    pub enum DecodeError {
        /// The media type is not JSON, or the body is compressed.
        MediaType => "media_type",
        /// The body is larger than any review.
        TooLarge => "too_large",
        /// Too many large bodies were being read.
        NoMemory => "no_memory",
        /// The body ended early, or cannot be read.
        Body => "body",
        /// The body did not arrive in time.
        Timeout => "timeout",
        /// The body is not JSON.
        Json => "json",
        /// The body is JSON, but not an `AdmissionReview`.
        Review => "review",
    }
}

label! {
    /// The state of a review when its deadline expired.
    pub enum WaitedFor {
        /// The rest of the body.
        Body => "body",
        /// A free worker.
        Worker => "worker",
        /// The judge.
        Judge => "judge",
        /// The advice on a refusal, which was sent without it.
        Advice => "advice",
    }
}

label! {
    /// Whether the request is a dry run.
    enum DryRunLabel {
        No => "false",
        Yes => "true",
    }
}

label! {
    /// The verdict on a review, or an error.
    enum DecisionLabel {
        Allow => "allow",
        Deny => "deny",
        Undecided => "undecided",
        NotJudged => "not_judged",
        /// No decision: an internal fault.
        Error => "error",
    }
}

label! {
    /// The verdicts that are against an edit.
    enum Against {
        Deny => "deny",
        Undecided => "undecided",
    }
}

impl From<Wait> for WaitedFor {
    fn from(wait: Wait) -> Self {
        match wait {
            Wait::Worker => Self::Worker,
            Wait::Judge => Self::Judge,
        }
    }
}

impl From<&ReviewError> for DecodeError {
    fn from(error: &ReviewError) -> Self {
        match error {
            ReviewError::Empty
            | ReviewError::ByteOrderMark
            | ReviewError::NotUtf8 { .. }
            | ReviewError::Nul { .. }
            | ReviewError::Json(_) => Self::Json,
            ReviewError::Field { .. } => Self::Review,
        }
    }
}

impl DryRunLabel {
    fn of(dry_run: bool) -> Self {
        if dry_run { Self::Yes } else { Self::No }
    }
}

impl From<Verdict> for DecisionLabel {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Deny => Self::Deny,
            Verdict::Undecided => Self::Undecided,
            Verdict::NotJudged => Self::NotJudged,
        }
    }
}

impl Against {
    fn of(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Deny => Some(Self::Deny),
            Verdict::Undecided => Some(Self::Undecided),
            Verdict::Allow | Verdict::NotJudged => None,
        }
    }
}

labelled!(ReviewOperation);

labelled!(Token);

labelled!(ExemptionKind);
