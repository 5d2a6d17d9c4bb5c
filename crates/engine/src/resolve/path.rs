//! The shortest path from an installed bundle to another: each step is an admitted edit.
//!
//! A step is an edit that pins one version, with the channels and the selector of the request. What
//! it resolves to, recorded as the controller records it, is where the next step starts. So a step is
//! no edge: it is a choice between catalogs too, and can be refused where an edge exists.

mod budget;
mod pins;
mod refused;
mod search;

use crate::resolve::{Choice, Effort, Guards, MatchingPolicies, Offer, Origin};
pub use budget::MOST_EXPANSIONS;
use olmguard_catalog::olm::Rules;
pub use refused::{Edits, NotGiven};
pub use search::PathSearch;

/// A path through the upgrade graph: what the pin of each step resolves to, the goal last.
#[derive(Clone, Debug)]
pub struct Path<'s> {
    /// The bundles, without the installed one; never empty.
    pub steps: Vec<Choice<'s>>,
}

/// What binds a path beside the edges.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a, 's> {
    /// The rules of the OLM.
    pub rules: &'a Rules,
    /// The steps that somebody forbids.
    pub guards: &'a Guards<'s>,
    /// The upgrade policies that match the extension; absent if they are not applied.
    pub policies: Option<&'a MatchingPolicies<'a, 's>>,
    /// What the search is paid from; absent where it may take as long as it takes.
    pub effort: Option<&'a Effort<'a>>,
}

impl<'s> Bounds<'_, 's> {
    /// Whether neither guardrails nor policies forbid an edit that pins this bundle.
    fn allow(&self, from: &Origin<'_>, to: &Choice<'s>) -> bool {
        let here = from.version().map(|here| &here.version);
        let policies = self.policies;
        self.guards.allow(here, to) && policies.is_none_or(|policies| policies.allow_pin(from, to))
    }

    /// Whether only edges bind paths. Then [`PathSearch`] decides as the rows do.
    pub fn are_edges_alone(&self) -> bool {
        self.guards.is_empty() && self.policies.is_none_or(MatchingPolicies::is_empty)
    }

    /// How many values one step is compared with at most.
    fn weight(&self) -> usize {
        self.guards.weight() + self.policies.map_or(0, MatchingPolicies::weight)
    }
}

/// What a search for a path came to.
#[derive(Clone, Debug)]
pub struct PathFound<'s> {
    /// The shortest path to the goal; failing that, to the highest candidate that was reached.
    pub path: Option<Path<'s>>,
    /// Whether the search ended at its bound: what it did not reach may be within reach all the same.
    pub is_cut: bool,
}

/// The shortest path to a goal bundle; failing that, to the highest candidate of the offers that can be
/// reached. [`PathSearch`] answers several queries.
pub fn shortest_path<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    goal: Option<Choice<'s>>,
    bounds: &Bounds<'_, 's>,
) -> PathFound<'s> {
    PathSearch::from(offers, origin, bounds).path_to(goal, offers)
}

/// Which bundles can be reached from an installed one, and in how many steps.
#[derive(Clone, Debug)]
pub struct ReachableBundles<'s> {
    reached: Vec<(Choice<'s>, usize)>,
    /// Whether the search ended at its bound: more may be within reach.
    pub is_cut: bool,
}

impl ReachableBundles<'_> {
    /// How many steps away a bundle is; absent if it cannot be reached, and of the installed one.
    pub fn steps_to(&self, bundle: &Choice<'_>) -> Option<usize> {
        let reached = self.reached.iter();
        let mut same = reached.filter(|(reached, _)| reached == bundle);
        same.next().map(|(_, steps)| *steps)
    }
}

/// Everything that can be reached, within the bounds of [`PathSearch`].
pub fn reach<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    bounds: &Bounds<'_, 's>,
) -> ReachableBundles<'s> {
    PathSearch::from(offers, origin, bounds).everywhere()
}

#[cfg(test)]
mod tests;
