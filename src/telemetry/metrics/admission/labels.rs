//! The labels of reviews.

use crate::admission::{Operation, ReviewError};
use crate::telemetry::metrics::label::{Label, label};
use olmguard_engine::judge::{ExemptionKind, Token, Verdict, Wait};

label! {
    /// Why a request was no review that can be answered.
    pub enum DecodeError {
        /// Its media type is not JSON, or it is compressed.
        MediaType => "media_type",
        /// Its body is larger than any review.
        TooLarge => "too_large",
        /// Too many large bodies were being read.
        NoMemory => "no_memory",
        /// Its body ended early, or cannot be read.
        Body => "body",
        /// Its body did not come in time.
        Timeout => "timeout",
        /// Its body is not JSON.
        Json => "json",
        /// Its body is JSON, and no `AdmissionReview`.
        Review => "review",
    }
}

label! {
    /// What a review was waiting for when its time was up.
    pub enum WaitedFor {
        /// The rest of its body.
        Body => "body",
        /// A worker that is free.
        Worker => "worker",
        /// The judge.
        Judge => "judge",
        /// The advice on a refusal, which was sent without it.
        Advice => "advice",
    }
}

label! {
    /// Whether the API server asks only what would be.
    pub(super) enum DryRun {
        No => "false",
        Yes => "true",
    }
}

label! {
    /// What became of a review.
    pub(super) enum Decision {
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
    pub(super) enum Against {
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

impl DryRun {
    pub(super) fn of(dry_run: bool) -> Self {
        if dry_run { Self::Yes } else { Self::No }
    }
}

impl From<Verdict> for Decision {
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
    pub(super) fn of(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Deny => Some(Self::Deny),
            Verdict::Undecided => Some(Self::Undecided),
            Verdict::Allow | Verdict::NotJudged => None,
        }
    }
}

impl Label for Operation {
    const ALL: &'static [Self] = &[Self::Create, Self::Update, Self::Other];

    fn as_str(self) -> &'static str {
        self.as_str()
    }

    fn place(self) -> usize {
        match self {
            Self::Create => 0,
            Self::Update => 1,
            Self::Other => 2,
        }
    }
}

impl Label for Token {
    const ALL: &'static [Self] = Self::ALL;

    fn as_str(self) -> &'static str {
        self.as_str()
    }

    fn place(self) -> usize {
        self as usize
    }
}

impl Label for ExemptionKind {
    const ALL: &'static [Self] = Self::ALL;

    fn as_str(self) -> &'static str {
        self.as_str()
    }

    fn place(self) -> usize {
        self as usize
    }
}
