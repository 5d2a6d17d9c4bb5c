//! Where guardrails bend a way, or leave none.
//!
//! Each hop of a way is compared with the way that edges alone would give from there, with the bypass
//! the one edit: where that goes elsewhere, by a step that is forbidden, the hop is there because of it.

use serde::Serialize;

use crate::path::{free, is_free, way};
use crate::see::{BundleReport, Inquiry};
use olmguard_catalog::version::Version;
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::extension::Policy;
use olmguard_engine::judge::{MOST_FORBIDDEN, most_steps};
use olmguard_engine::resolve::{Bounds, CatalogEdge, Choice, Guards, Origin};

/// The way that edges alone would give, with the bypass one edit.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct BarredReport {
    /// The bundles that it leads over, the goal last.
    pub(super) bundles: Vec<BundleReport>,
    /// Those of its steps that guardrails forbid: one or more.
    pub(super) forbidden: Vec<ForbiddenReport>,
    /// How many steps were looked at, where not all were.
    #[serde(skip)]
    pub(super) looked_at: Option<usize>,
}

/// What guardrails forbid of the steps of a way.
#[derive(Debug, Default)]
pub(super) struct GuardedPath {
    /// The first forbidden steps.
    pub(super) forbidden: Vec<ForbiddenReport>,
    /// How many steps were looked at, where not all were.
    pub(super) looked_at: Option<usize>,
}

impl GuardedPath {
    /// Looks at steps until there are more than there is time for, or than anybody reads.
    fn at(most: usize, steps: impl Iterator<Item = Option<ForbiddenReport>>) -> Self {
        let mut looked = Self::default();
        for (looked_at, step) in steps.enumerate() {
            if looked_at == most || looked.forbidden.len() == MOST_FORBIDDEN {
                looked.looked_at = Some(looked_at);
                break;
            }
            looked.forbidden.extend(step);
        }
        looked
    }
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
        bends.push((first != *hop).then_some(forbidden));
        origin = after(inquiry, hop);
    }
    bends
}

/// Where the way without guardrails would lead first on the way to a goal, and the first step of that way that is
/// forbidden; nothing where none is.
fn barred_course<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    goal: Choice<'a>,
) -> Option<(Choice<'a>, ForbiddenReport)> {
    let course = unguarded(inquiry, origin, Some(&[goal]))?;
    let mut steps = forbidden(inquiry, origin, &course).take(most_steps(&inquiry.guards));
    let forbidden = steps.find_map(|step| step)?;
    Some((*course.first()?, forbidden))
}

/// The way without guardrails, where they leave none, or none to the same goal.
pub(super) fn barred<'a>(
    inquiry: &Inquiry<'a>,
    targets: Option<&[Choice<'a>]>,
    reached: Option<&Choice<'_>>,
) -> Option<BarredReport> {
    if inquiry.guards.is_empty() || (targets.is_some() && reached.is_some()) {
        return None;
    }
    let origin = inquiry.origin()?;
    let way = unguarded(inquiry, &origin, targets)?;
    let is_reached = reached.is_some_and(|reached| way.last().is_none_or(|last| last == reached));
    let steps = forbidden(inquiry, &origin, &way);
    let looked = GuardedPath::at(most_steps(&inquiry.guards), steps);
    let bundles = way.iter().copied().map(BundleReport::of).collect();
    (!is_reached && !looked.forbidden.is_empty()).then_some(BarredReport {
        bundles,
        forbidden: looked.forbidden,
        looked_at: looked.looked_at,
    })
}

/// The shortest way where nobody forbids a step.
fn unguarded<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> Option<Vec<Choice<'a>>> {
    if is_free(inquiry) {
        let wanted = free::wanted(inquiry, origin, targets).into_iter();
        return wanted.map(|to| vec![to]).next();
    }
    let unguarded = Guards::default();
    let bounds = Bounds {
        guards: &unguarded,
        ..inquiry.bounds()
    };
    way(inquiry, origin, targets, &bounds).way
}

/// Each step of a way, as one that guardrails forbid, if they do and the bypass does not lift it.
fn forbidden<'i, 'a>(
    inquiry: &'i Inquiry<'a>,
    origin: &Origin<'_>,
    way: &'i [Choice<'a>],
) -> impl Iterator<Item = Option<ForbiddenReport>> {
    let edge = match way {
        [only] if is_free(inquiry) => inquiry.edge(origin, only),
        _ => CatalogEdge::Present,
    };
    let start = origin.version().map(|read| read.version.clone());
    steps(start, way).map(move |(from, to)| inquiry.forbidden(&from, to, edge))
}

/// Those steps of a walk of OLM v0 that guardrails forbid: it knows no bypass.
pub(super) fn of_classic<'a>(
    inquiry: &Inquiry<'a>,
    start: Option<&Version>,
    way: &[Choice<'a>],
) -> GuardedPath {
    let steps = steps(start.cloned(), way).map(|(from, to)| {
        let violations = inquiry.violations(&from, to);
        ForbiddenReport::found(&from, to, &violations, Policy::CatalogProvided)
    });
    GuardedPath::at(most_steps(&inquiry.guards), steps)
}

/// The steps of a way that start at a version that can be read.
fn steps<'w, 'a>(
    start: Option<Version>,
    way: &'w [Choice<'a>],
) -> impl Iterator<Item = (Version, &'w Choice<'a>)> {
    let version = |choice: &Choice<'_>| {
        let read = choice.bundle().version.as_ref().ok();
        read.map(|read| read.version.clone())
    };
    let starts = std::iter::once(start).chain(way.iter().map(version));
    starts.zip(way).filter_map(|(from, to)| Some((from?, to)))
}

/// Where the next hop starts.
fn after<'c>(inquiry: &Inquiry<'_>, hop: &Choice<'c>) -> Option<Origin<'c>> {
    let bundle = hop.bundle();
    let version = bundle.version.as_ref().ok()?;
    let rules = inquiry.basis.snapshot.rules();
    Some(Origin::of_bundle(&bundle.name, version, rules))
}

/// How many hops are compared with what edges alone would give: each is a search of its own.
pub(super) const MOST_BENDS: usize = 64;
