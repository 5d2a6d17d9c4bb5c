//! The tightest range that leads as far as a hop and lets its patches in: it ends before the lowest
//! version there is above the hop.
//!
//! Where guardrails bind, a pin holds still what its patches could mend, and a wider range would go
//! on by itself.

use crate::judge::advice::ground::Ground;
use crate::judge::advice::proof::Prover;
use crate::resolve::{Choice, Origin};
use olmguard_catalog::version::Version;

/// The range, if an edit to it resolves to the hop.
pub(super) fn range(
    prover: &Prover<'_, '_>,
    anything: &Ground<'_, '_>,
    origin: &Origin<'_>,
    hop: Choice<'_>,
) -> Option<String> {
    let from = origin.version()?.version.without_build();
    let to = &hop.bundle().version.as_ref().ok()?.version;
    let end = match above(anything, to) {
        Some(next) => format!("<{}", next.without_build()),
        None => format!("<={}", to.without_build()),
    };
    let range = format!(">={from} {end}");
    let is_hop = prover.admits_range(&range)? == hop;
    is_hop.then_some(range)
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
