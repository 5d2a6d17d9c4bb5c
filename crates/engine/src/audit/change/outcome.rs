//! What a spec comes to, as far as it matters to a comparison.

use crate::audit::Audit;
use crate::judge::{Ruling, Verdict};

/// What a spec comes to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    /// It is allowed.
    Allowed,
    /// OLM resolves nothing for it.
    Unresolvable,
    /// Rules of authors or administrators forbid it.
    Forbidden,
    /// A fact is missing.
    Undecided,
    /// It is not judged.
    NotJudged,
}

impl Outcome {
    pub(super) fn of(audit: &Audit<'_>) -> Self {
        match (audit.judgement.verdict(), &audit.judgement.ruled.ruling) {
            (Verdict::Allow, _) => Self::Allowed,
            (Verdict::Deny, Ruling::Guardrail(_) | Ruling::Policy(_)) => Self::Forbidden,
            (Verdict::Deny, _) => Self::Unresolvable,
            (Verdict::Undecided, _) => Self::Undecided,
            (Verdict::NotJudged, _) => Self::NotJudged,
        }
    }
}
