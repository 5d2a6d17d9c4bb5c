//! The tightest range that leads as far as a step and lets its patches in: it ends before the lowest
//! version there is above the step.
//!
//! Where guardrails bind, a pin holds still what its patches could mend, and a wider range would go
//! on by itself.

use crate::judge::advice::ground::Ground;
use crate::judge::advice::proof::Prover;
use crate::resolve::{Choice, Origin};
use olmguard_catalog::version::Version;

/// The range, if an edit to it resolves to the step.
pub(super) fn range(
    prover: &Prover<'_, '_>,
    anything: &Ground<'_, '_>,
    origin: &Origin<'_>,
    step: Choice<'_>,
) -> Option<String> {
    let from = origin.version()?.version.without_build();
    let to = &step.bundle().version.as_ref().ok()?.version;
    let end = match above(anything, to) {
        Some(next) => format!("<{}", next.without_build()),
        None => format!("<={}", to.without_build()),
    };
    let range = format!(">={from} {end}");
    let is_step = prover.admits_range(&range)? == step;
    is_step.then_some(range)
}

/// The lowest version above one that an asked channel has.
fn above<'s>(anything: &Ground<'_, 's>, version: &Version) -> Option<&'s Version> {
    let members = anything.offers.iter().flat_map(|offer| {
        let bundles = offer.members.iter();
        bundles.map(|index| offer.package.bundle(index))
    });
    let versions = members.filter_map(|bundle| Some(&bundle.version.as_ref().ok()?.version));
    versions
        .filter(|other| other.cmp_precedence(version).is_gt())
        .min_by(|a, b| a.cmp_precedence(b))
}
