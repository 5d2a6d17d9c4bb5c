//! How far users get if there is no upgrade path to what a refused edit requests, and which guardrail or policy is the
//! reason.

use crate::judge::advice::ground::Ground;
use crate::judge::advice::proof::Prover;
use crate::judge::{ForbiddenStep, Ruling, steps_of};
use crate::resolve::{
    Bounds, CatalogEdge, Choice, Guards, Origin, PolicyFinding, Ways, choose, shortest_way, weigh,
};

/// What is known if there is no upgrade path.
#[derive(Debug)]
pub struct DeadEnd<'s> {
    /// The highest bundle that can be reached edit by edit, with the channels and the selector of the request;
    /// absent if none above the installed one can.
    pub highest: Option<Choice<'s>>,
    /// The first step that guardrails forbid of the path that edges alone would give.
    pub blocked: Option<ForbiddenStep<'s>>,
    /// What upgrade policies deny of the first step of the path that there would be without them.
    pub policies: Vec<PolicyFinding<'s>>,
}

/// The dead end of a request; none if upgrade edges do not bind it.
pub(super) fn of<'s>(
    prover: &Prover<'_, 's>,
    ruling: &Ruling<'_>,
    anything: Option<&Ground<'_, 's>>,
    ways: Option<Ways<'_, 's>>,
) -> Option<DeadEnd<'s>> {
    let origin = prover.origin()?;
    let blocked = match ruling {
        Ruling::Guardrail(_) | Ruling::Policy(_) => None,
        Ruling::Downgrade(..) | Ruling::NotASuccessor(..) => {
            let asked = Ground::of(prover.basis, prover.request.filter, prover.request.context);
            asked.and_then(|ground| blocked(prover, &ground, origin))
        }
        _ => anything.and_then(|ground| blocked(prover, ground, origin)),
    };
    let reached = anything.zip(ways);
    Some(DeadEnd {
        policies: anything.map_or_else(Vec::new, |ground| policed(prover, ruling, ground, origin)),
        highest: reached.and_then(|(ground, ways)| highest(prover, ground, origin, ways)),
        blocked,
    })
}

/// The highest bundle within reach, if that is above what is installed.
fn highest<'s>(
    prover: &Prover<'_, 's>,
    anything: &Ground<'_, 's>,
    origin: &Origin<'_>,
    mut ways: Ways<'_, 's>,
) -> Option<Choice<'s>> {
    let found = ways.to(None, &anything.offers);
    let path = found.way.filter(|_| !found.is_cut)?.hops;
    let last = path.last().copied()?;
    let is_above = !origin.is_at(last.bundle()) && !origin.is_newer_than(last.package, last.index);
    (is_above && anything.admits(prover, &path)).then_some(last)
}

/// What policies deny of a step, the first one that they deny on the path to what the request resolves to if no edge
/// counts.
fn policed<'s>(
    prover: &Prover<'_, 's>,
    ruling: &Ruling<'_>,
    anything: &Ground<'_, 's>,
    origin: &Origin<'_>,
) -> Vec<PolicyFinding<'s>> {
    let is_of_edges = matches!(ruling, Ruling::Downgrade(..) | Ruling::NotASuccessor(..));
    if !is_of_edges || anything.policies().is_empty() {
        return Vec::new();
    }
    let (filter, context) = (prover.request.filter, prover.request.context);
    let Some(ground) = Ground::of(prover.basis, filter, context) else {
        return Vec::new();
    };
    let free = Bounds {
        policies: None,
        ..ground.bounds(prover.effort)
    };
    let goal = choose(&weigh(&ground.offers, None)).ok();
    let goal = goal.map(|resolved| resolved.choice);
    let way = shortest_way(&ground.offers, origin, goal, &free).way;
    let hops = way.map(|way| way.hops).unwrap_or_default();
    let rules = prover.basis.snapshot.rules();
    let starts = hops.iter().filter_map(|hop| Origin::of_choice(*hop, rules));
    let starts = std::iter::once(origin.clone()).chain(starts);
    let mut steps = starts.zip(&hops);
    steps
        .find_map(|(from, to)| {
            let findings = ground.policies().denials_of_pin(&from, to);
            (!findings.is_empty()).then_some(findings)
        })
        .unwrap_or_default()
}

/// The first forbidden step of the path that there would be without guardrails.
fn blocked<'s>(
    prover: &Prover<'_, 's>,
    ground: &Ground<'_, 's>,
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
