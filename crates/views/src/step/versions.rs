//! What versions alone allow: the semver rules.

use serde::Serialize;

use olmguard_engine::explain::hindrance;
use olmguard_engine::inquiry::Inquiry;
use olmguard_engine::resolve::Choice;
use olmguard_engine::resolve::semver::Hindrance;

/// What the semver rules allow, without the catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct SemverReading {
    /// Whether the semver rules allow the step.
    allowed: bool,
    /// Why the semver rules do not allow the step, in one sentence.
    pub(super) reason: Option<String>,
}

impl SemverReading {
    pub(super) fn of<'a>(inquiry: &Inquiry<'a>, targets: &[Choice<'a>]) -> Self {
        let step = inquiry.by_versions(targets);
        Self {
            allowed: matches!(step, Some(Ok(()) | Err(Hindrance::Same))),
            reason: match step {
                Some(Ok(())) => None,
                Some(Err(what)) => Some(hindrance(what).to_owned()),
                None => Some(super::text::UNREADABLE.to_owned()),
            },
        }
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.allowed
    }
}
