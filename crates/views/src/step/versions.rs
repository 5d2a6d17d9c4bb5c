//! What versions alone allow: the semver rules.

use serde::Serialize;

use olmguard_catalog::version::VersionRelease;
use olmguard_engine::explain::hindrance;
use olmguard_engine::inquiry::Inquiry;
use olmguard_engine::resolve::Choice;
use olmguard_engine::resolve::semver::{Hindrance, step};

/// What versions alone allow.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct SemverReading {
    /// Whether they allow the step.
    allowed: bool,
    /// Why not, in one sentence.
    pub(super) reason: Option<String>,
}

impl SemverReading {
    pub(super) fn of(inquiry: &Inquiry<'_>, targets: &[Choice<'_>]) -> Self {
        let step = by_versions(inquiry, targets);
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

/// Whether versions alone allow the step; absent where one of them cannot be read.
pub(super) fn by_versions(
    inquiry: &Inquiry<'_>,
    targets: &[Choice<'_>],
) -> Option<Result<(), Hindrance>> {
    let rules = inquiry.basis.snapshot.rules();
    let here =
        VersionRelease::parse_legacy(&inquiry.installed.version, rules.legacy_release).ok()?;
    let mut there = targets.iter();
    let there = there.find_map(|to| to.bundle().version.as_ref().ok())?;
    Some(step(&here.version, &there.version))
}
