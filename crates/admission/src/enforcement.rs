//! From a verdict to the answer of a server: whether it denies, and what it warns of if it does not.

use olmguard_engine::judge::Verdict;

/// How verdicts are enforced.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Enforcement {
    /// Whether anything is refused at all.
    pub mode: Mode,
    /// What becomes of an edit that is undecided.
    pub on_undecided: OnUndecided,
}

/// Whether edits are refused.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// They are.
    #[default]
    Enforce,
    /// None is; a warning says which would be.
    Observe,
}

/// What becomes of an edit that the facts do not tell about.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnUndecided {
    /// It goes through, with a warning.
    #[default]
    Warn,
    /// It is refused.
    Deny,
}

/// What an API server is told to do.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ReviewOutcome {
    /// To carry the edit out: nothing stands against it, or it is not judged.
    Admitted,
    /// To carry it out although it is undecided, or denied and only observed; a warning says so.
    LetThrough,
    /// To refuse it.
    Refused,
}

/// Why an edit goes through that is not allowed by its verdict.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Leave {
    /// It is undecided, and that is no reason to refuse.
    Undecided,
    /// It would be refused, but nothing is.
    Observed,
}

/// What becomes of an edit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Consequence {
    Admit,
    LetThrough(Leave),
    Refuse,
}

impl Enforcement {
    pub(super) fn course(self, verdict: Verdict) -> Consequence {
        match (verdict, self.on_undecided, self.mode) {
            (Verdict::Allow | Verdict::NotJudged, _, _) => Consequence::Admit,
            (Verdict::Undecided, OnUndecided::Warn, _) => Consequence::LetThrough(Leave::Undecided),
            (Verdict::Undecided | Verdict::Deny, _, Mode::Observe) => {
                Consequence::LetThrough(Leave::Observed)
            }
            (Verdict::Undecided | Verdict::Deny, _, Mode::Enforce) => Consequence::Refuse,
        }
    }
}

impl Consequence {
    pub(super) fn outcome(self) -> ReviewOutcome {
        match self {
            Self::Admit => ReviewOutcome::Admitted,
            Self::LetThrough(_) => ReviewOutcome::LetThrough,
            Self::Refuse => ReviewOutcome::Refused,
        }
    }
}

impl ReviewOutcome {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::LetThrough => "let_through",
            Self::Refused => "refused",
        }
    }
}
