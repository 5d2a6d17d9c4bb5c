//! Where guardrails bend a way, or leave none.
//!
//! Each hop of a way is compared with the way that edges alone would give from there: where that goes
//! elsewhere, by a step that is forbidden, the hop is there because of it.

use serde::Serialize;

use crate::explain::ForbiddenReport;
use crate::explain::path::{is_same, way_to, way_up};
use crate::explain::see::{BundleReport, Inquiry};
use crate::resolve::{Bounds, Choice, Guards, Origin};
use crate::version::Version;

/// The way that edges alone would give.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "program", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "program", schemars(deny_unknown_fields))]
pub(super) struct BarredReport {
    /// The bundles that it leads over, the goal last.
    pub(super) bundles: Vec<BundleReport>,
    /// Those of its steps that guardrails forbid: one or more.
    pub(super) forbidden: Vec<ForbiddenReport>,
}

/// For each hop of a way, in its order, the forbidden step because of which it is there; none where
/// guardrails do not bend the way there. Beyond its end they bend nothing, or nothing was compared.
pub(super) fn bends<'a>(inquiry: &Inquiry<'a>, way: &[Choice<'a>]) -> Vec<Option<ForbiddenReport>> {
    let Some((goal, hops)) = way.split_last().filter(|_| !inquiry.guards.is_empty()) else {
        return Vec::new();
    };
    let mut bends = Vec::new();
    let mut origin = inquiry.origin();
    for hop in hops.iter().take(MOST_BENDS) {
        let barred = origin
            .as_ref()
            .and_then(|origin| barred_course(inquiry, origin, *goal));
        // Where nothing bends the rest of a way, nothing bends the rest of that.
        let Some((first, forbidden)) = barred else {
            break;
        };
        bends.push((!is_same(&first, hop)).then_some(forbidden));
        origin = after(inquiry, hop);
    }
    bends
}

/// Where edges alone would lead first on the way to a goal, and the first step of that way that is
/// forbidden; nothing where none is.
fn barred_course<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    goal: Choice<'a>,
) -> Option<(Choice<'a>, ForbiddenReport)> {
    let course = by_edges(inquiry, origin, Some(&[goal]))?;
    let forbidden = forbidden(inquiry, origin, &course).into_iter().next()?;
    Some((*course.first()?, forbidden))
}

/// The way that edges alone would give, where guardrails leave none, or none to the same goal.
pub(super) fn barred<'a>(
    inquiry: &Inquiry<'a>,
    targets: Option<&[Choice<'a>]>,
    reached: Option<&Choice<'_>>,
) -> Option<BarredReport> {
    if inquiry.guards.is_empty() || (targets.is_some() && reached.is_some()) {
        return None;
    }
    let origin = inquiry.origin()?;
    let way = by_edges(inquiry, &origin, targets)?;
    let is_reached = reached.is_some_and(|reached| is_same(reached, way.last().unwrap_or(reached)));
    let forbidden = forbidden(inquiry, &origin, &way);
    let bundles = way.iter().copied().map(BundleReport::of).collect();
    (!is_reached && !forbidden.is_empty()).then_some(BarredReport { bundles, forbidden })
}

/// The shortest way where nobody forbids a step.
fn by_edges<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> Option<Vec<Choice<'a>>> {
    let unguarded = Guards::default();
    let bounds = Bounds {
        guards: &unguarded,
        ..inquiry.bounds()
    };
    match targets {
        Some(targets) => way_to(inquiry, origin, targets, &bounds).way,
        None => way_up(inquiry, origin, &bounds).way,
    }
}

fn forbidden<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    way: &[Choice<'a>],
) -> Vec<ForbiddenReport> {
    let start = origin.version().map(|read| &read.version);
    steps(inquiry, start, way)
}

/// Those steps of a way that guardrails forbid.
pub(super) fn steps<'a>(
    inquiry: &Inquiry<'a>,
    start: Option<&Version>,
    way: &[Choice<'a>],
) -> Vec<ForbiddenReport> {
    let version = |choice: &Choice<'_>| {
        let read = choice.bundle().version.as_ref().ok();
        read.map(|read| read.version.clone())
    };
    let starts = std::iter::once(start.cloned()).chain(way.iter().map(version));
    let steps = starts.zip(way);
    let forbidden = steps.filter_map(|(from, to)| inquiry.forbidden(&from?, to));
    forbidden.collect()
}

/// Where the next hop starts.
fn after<'c>(inquiry: &Inquiry<'_>, hop: &Choice<'c>) -> Option<Origin<'c>> {
    let bundle = hop.bundle();
    let version = bundle.version.as_ref().ok()?;
    let rules = inquiry.snapshot.rules();
    Some(Origin::of_bundle(&bundle.name, version, rules))
}

/// How many hops are compared with what edges alone would give: each is a search of its own.
pub(super) const MOST_BENDS: usize = 64;
