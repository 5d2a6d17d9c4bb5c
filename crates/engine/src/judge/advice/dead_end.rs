//! How far users get if there is no upgrade path to what a refused edit requests, and which guardrail is the reason.

use crate::judge::advice::ground::Ground;
use crate::judge::advice::proof::Prover;
use crate::judge::{ForbiddenStep, Ruling, steps_of};
use crate::resolve::{Bounds, CatalogEdge, Choice, Guards, Origin, choose, shortest_way, weigh};

/// What is known if there is no upgrade path.
#[derive(Debug)]
pub struct DeadEnd<'s> {
    /// The highest bundle that can be reached edit by edit, with the channels and the selector of the request;
    /// absent if none above the installed one can.
    pub highest: Option<Choice<'s>>,
    /// The first step that guardrails forbid of the path that edges alone would give.
    pub blocked: Option<ForbiddenStep<'s>>,
}

/// The dead end of a request; none if upgrade edges do not bind it.
pub(super) fn of<'s>(
    prover: &Prover<'_, 's>,
    ruling: &Ruling<'_>,
    anything: Option<&Ground<'s>>,
) -> Option<DeadEnd<'s>> {
    let origin = prover.origin()?;
    let blocked = match ruling {
        Ruling::Guardrail(_) => None,
        Ruling::Downgrade(..) | Ruling::NotASuccessor(..) => {
            let asked = Ground::of(prover.basis, prover.request.filter);
            asked.and_then(|ground| blocked(prover, &ground, &origin))
        }
        _ => anything.and_then(|ground| blocked(prover, ground, &origin)),
    };
    Some(DeadEnd {
        highest: anything.and_then(|ground| highest(prover, ground, &origin)),
        blocked,
    })
}

/// The highest bundle within reach, if that is above what is installed.
fn highest<'s>(
    prover: &Prover<'_, 's>,
    ground: &Ground<'s>,
    origin: &Origin<'_>,
) -> Option<Choice<'s>> {
    let found = shortest_way(&ground.offers, origin, None, &ground.bounds(prover.effort));
    let path = found.way.filter(|_| !found.is_cut)?.hops;
    let last = path.last().copied()?;
    let is_above = !origin.is_at(last.bundle()) && !origin.is_newer_than(last.package, last.index);
    (is_above && prover.admits_way(&path)).then_some(last)
}

/// The first forbidden step of the path that there would be without guardrails.
fn blocked<'s>(
    prover: &Prover<'_, 's>,
    ground: &Ground<'s>,
    origin: &Origin<'_>,
) -> Option<ForbiddenStep<'s>> {
    let bounds = ground.bounds(prover.effort);
    if bounds.guards.is_empty() {
        return None;
    }
    let unguarded = Bounds {
        guards: &Guards::default(),
        ..bounds
    };
    let goal = choose(&weigh(&ground.offers, None)).ok();
    let goal = goal.map(|resolved| resolved.choice);
    let path = shortest_way(&ground.offers, origin, goal, &unguarded)
        .way?
        .hops;
    let start = origin.version().map(|read| read.version.clone());
    let first = *path.first()?;
    steps_of(start, &path).find_map(|(from, to)| {
        let violations = bounds.guards.violations(&from, to, CatalogEdge::Present);
        ForbiddenStep::of(first, &from, *to, violations)
    })
}
