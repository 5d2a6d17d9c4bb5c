//! The steps that a path takes because of guardrails, and the path that guardrails block.
//!
//! Each step is compared with the path that edges alone allow from there; with the override, that path is one edit. If
//! that path starts differently and has a forbidden step, the guardrails are the reason.

use olmguard_catalog::version::Version;

use crate::inquiry::Inquiry;
use crate::inquiry::path::{along, wanted};
use crate::judge::{ForbiddenStep, MOST_FORBIDDEN, most_steps, steps_of};
use crate::resolve::{Bounds, CatalogEdge, Choice, Guards, Origin};

/// The path that edges alone allow; with the bypass, one edit.
#[derive(Debug)]
pub struct ForbiddenPath<'a> {
    /// The bundles in order, the goal last.
    pub bundles: Vec<Choice<'a>>,
    /// The steps of the path that guardrails forbid, at least one.
    pub steps: GuardedSteps<'a>,
}

/// The steps of a path that guardrails forbid.
#[derive(Debug, Default)]
pub struct GuardedSteps<'a> {
    /// The first forbidden steps.
    pub forbidden: Vec<ForbiddenStep<'a>>,
    /// The number of compared steps, if not all.
    pub looked_at: Option<usize>,
}

impl<'a> GuardedSteps<'a> {
    /// Compares steps until `most` are compared or enough are forbidden.
    fn at(most: usize, steps: impl Iterator<Item = Option<ForbiddenStep<'a>>>) -> Self {
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

impl<'a> Inquiry<'a> {
    /// For each step of a path, the forbidden step that it avoids, or `None`. Steps beyond the end of the list avoid
    /// none or were not compared; at most [`MOST_BENDS`] are compared.
    pub fn bends(&self, path: &[Choice<'a>]) -> Vec<Option<ForbiddenStep<'a>>> {
        let Some((goal, steps)) = path.split_last().filter(|_| !self.guards.is_empty()) else {
            return Vec::new();
        };
        let mut bends = Vec::new();
        let mut origin = self.origin();
        for step in steps.iter().take(MOST_BENDS) {
            let forbidden = origin
                .as_ref()
                .and_then(|origin| forbidden_detour(self, origin, *goal));
            // If no step from here to the goal is forbidden, the same is true for all later steps.
            let Some((first, forbidden)) = forbidden else {
                break;
            };
            bends.push((first != *step).then_some(forbidden));
            origin = Origin::of_choice(*step, self.basis.snapshot.rules());
        }
        bends
    }

    /// The path without guardrails, if they allow no path or no path to the same end.
    pub fn forbidden_path(
        &self,
        targets: Option<&[Choice<'a>]>,
        reached: Option<&Choice<'_>>,
    ) -> Option<ForbiddenPath<'a>> {
        if self.guards.is_empty() || (targets.is_some() && reached.is_some()) {
            return None;
        }
        let origin = self.origin()?;
        let bundles = unguarded(self, &origin, targets)?;
        let is_reached =
            reached.is_some_and(|reached| bundles.last().is_none_or(|last| last == reached));
        let steps = forbidden(self, &origin, &bundles);
        let steps = GuardedSteps::at(most_steps(self.guards.weight()), steps);
        let is_there = !is_reached && !steps.forbidden.is_empty();
        is_there.then_some(ForbiddenPath { bundles, steps })
    }

    /// The steps of a path of OLM v0 that guardrails forbid. OLM v0 has no bypass.
    pub fn forbidden_of_classic(
        &self,
        start: Option<&Version>,
        path: &[Choice<'a>],
    ) -> GuardedSteps<'a> {
        let steps = steps_of(start.cloned(), path).map(|(from, to)| {
            let violations = self.violations(&from, to);
            ForbiddenStep::of(*to, &from, *to, violations)
        });
        GuardedSteps::at(most_steps(self.guards.weight()), steps)
    }
}

/// The first step of the path to a goal without guardrails, and the first forbidden step of that path. `None` if no
/// step is forbidden.
fn forbidden_detour<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    goal: Choice<'a>,
) -> Option<(Choice<'a>, ForbiddenStep<'a>)> {
    let path = unguarded(inquiry, origin, Some(&[goal]))?;
    let mut steps = forbidden(inquiry, origin, &path).take(most_steps(inquiry.guards.weight()));
    let forbidden = steps.find_map(|step| step)?;
    Some((*path.first()?, forbidden))
}

/// The shortest path without guardrails.
fn unguarded<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> Option<Vec<Choice<'a>>> {
    if inquiry.is_free() {
        let wanted = wanted(inquiry, origin, targets).into_iter();
        return wanted.map(|to| vec![to]).next();
    }
    let unguarded = Guards::default();
    let bounds = Bounds {
        guards: &unguarded,
        install: None,
        ..inquiry.bounds()
    };
    along(inquiry, origin, targets, &bounds).steps
}

/// Each step of a path, as a forbidden step if guardrails forbid it and the bypass does not lift the violation.
fn forbidden<'i, 'a>(
    inquiry: &'i Inquiry<'a>,
    origin: &Origin<'_>,
    path: &'i [Choice<'a>],
) -> impl Iterator<Item = Option<ForbiddenStep<'a>>> {
    let edge = match path {
        [only] if inquiry.is_free() && !inquiry.leads(origin, only) => CatalogEdge::Absent,
        _ => CatalogEdge::Present,
    };
    let start = origin.version().map(|read| read.version.clone());
    steps_of(start, path).map(move |(from, to)| inquiry.forbidden(&from, to, edge))
}

/// The most steps that are compared with the path by edges alone. Each comparison is a search.
pub const MOST_BENDS: usize = 64;
