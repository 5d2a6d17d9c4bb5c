//! The tightest range that leads as far as a hop and lets its patches in: it ends before the lowest
//! version there is above the hop.
//!
//! Where guardrails bind, a pin holds still what its patches could mend, and a wider range would go
//! on by itself.

use crate::judge::advice::proof::Prover;
use crate::resolve::{Choice, Origin, Query};
use crate::version::{Version, crd};

/// The range, if an edit to it resolves to the hop.
pub(super) fn range(
    prover: &Prover<'_, '_>,
    origin: &Origin<'_>,
    hop: Choice<'_>,
) -> Option<String> {
    let from = origin.version()?.version.without_build();
    let to = &hop.bundle().version.as_ref().ok()?.version;
    let end = match above(prover, to) {
        Some(next) => format!("<{}", next.without_build()),
        None => format!("<={}", to.without_build()),
    };
    let range = format!(">={from} {end}");
    let fits = crd::fits_length(&range) && crd::fits_pattern(&range);
    let reached = fits.then(|| prover.admits(&prover.request.filter.with_version(&range)))??;
    let is_hop = std::ptr::eq(reached.catalog, hop.catalog) && reached.index == hop.index;
    is_hop.then_some(range)
}

/// The lowest version above one that an asked channel has.
fn above(prover: &Prover<'_, '_>, version: &Version) -> Option<Version> {
    let snapshot = prover.snapshot;
    let anything = prover.request.filter.without_version();
    let query = Query::compile(&anything, snapshot).ok()?;
    let offers = query.offers(&query.in_play(snapshot)).ok()?;
    let mut above: Option<&Version> = None;
    for offer in &offers {
        for index in offer.members.iter() {
            let Ok(read) = &offer.package.bundle(index).version else {
                continue;
            };
            let is_above = read.version.cmp_precedence(version).is_gt();
            let is_lower = above.is_none_or(|least| read.version.cmp_precedence(least).is_lt());
            if is_above && is_lower {
                above = Some(&read.version);
            }
        }
    }
    above.cloned()
}
