//! The shortest way from an installed bundle to another, one admitted edit a hop.
//!
//! A hop is an edit that pins one version, with the channels and the selector of the request. What
//! it resolves to, recorded as the controller records it, is where the next hop starts. So a hop is
//! no edge: it is a choice between catalogs too, and can be refused where an edge exists.

mod pins;
mod refused;

use std::collections::HashSet;

use crate::resolve::olmv1::{Choice, choose_among};
use crate::resolve::{Effort, Guards, MOST_COMPARISONS, MatchingPolicies, Offer, Origin};
use olmguard_catalog::graph::search::{Visit, Visits};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Bundle, BundleIndex, BundleSet};
use pins::{Pin, Pins};
pub use refused::{Edits, NotGiven};

/// A way through the upgrade graph: what each hop's pin resolves to, the goal last.
#[derive(Clone, Debug)]
pub struct Path<'s> {
    /// The bundles on the way, the installed one left out; never empty.
    pub hops: Vec<Choice<'s>>,
}

/// By what a way is bound beside the edges.
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

    /// How many values one step is compared with at most.
    fn weight(&self) -> usize {
        self.guards.weight() + self.policies.map_or(0, MatchingPolicies::weight)
    }
}

/// What a search for a way came to.
#[derive(Clone, Debug)]
pub struct PathFound<'s> {
    /// The shortest way to the goal; failing that, to the highest candidate that was reached.
    pub way: Option<Path<'s>>,
    /// Whether the search ended at its bound: what it did not reach may be within reach all the same.
    pub is_cut: bool,
}

/// The shortest way to a goal bundle; failing that, to the highest candidate that can be reached.
///
/// Among ways of one length that with the fewest prereleases is taken, and of those that of the higher
/// first hops: a range of a rule that means releases has prereleases in it, too. The search is bounded,
/// at [`MOST_EXPANSIONS`] bundles: beyond every published package.
pub fn shortest_way<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    goal: Option<Choice<'s>>,
    bounds: &Bounds<'_, 's>,
) -> PathFound<'s> {
    way_within(Budget::FULL, offers, origin, goal, bounds)
}

/// Which bundles can be reached from an installed one, and in how many hops.
#[derive(Clone, Debug)]
pub struct ReachableBundles<'s> {
    reached: Vec<(Choice<'s>, usize)>,
    /// Whether the search ended at its bound: more may be within reach.
    pub is_cut: bool,
}

impl ReachableBundles<'_> {
    /// How many hops away a bundle is; absent where none lead there, and of the installed one.
    pub fn hops_to(&self, bundle: &Choice<'_>) -> Option<usize> {
        let reached = self.reached.iter();
        let mut same = reached.filter(|(reached, _)| reached == bundle);
        same.next().map(|(_, hops)| *hops)
    }
}

/// Everything that can be reached, within the bounds of [`shortest_way`].
pub fn reach<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    bounds: &Bounds<'_, 's>,
) -> ReachableBundles<'s> {
    reach_within(Budget::FULL, offers, origin, bounds)
}

fn reach_within<'s>(
    budget: Budget,
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    bounds: &Bounds<'_, 's>,
) -> ReachableBundles<'s> {
    let mut search = Search::new(budget, offers, None, bounds);
    search.run(origin);
    // What is not a step away from the first bundle is one away from the installed one.
    let visits = search.visits.as_slice().iter();
    let reached = visits.map(|visit| (visit.node.bundle, visit.steps + 1));
    ReachableBundles {
        reached: reached.collect(),
        is_cut: search.is_cut,
    }
}

/// What the edits that pin one version resolve to from here, the highest version first; staying
/// where one is left out.
pub fn next_hops<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    bounds: &Bounds<'_, 's>,
) -> Vec<Choice<'s>> {
    let mut search = Search::new(Budget::FULL, offers, None, bounds);
    search.expand(origin, None);
    let visits = search.visits.as_slice().iter();
    visits.map(|visit| visit.node.bundle).collect()
}

fn way_within<'s>(
    budget: Budget,
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    goal: Option<Choice<'s>>,
    bounds: &Bounds<'_, 's>,
) -> PathFound<'s> {
    let mut search = Search::new(budget, offers, goal, bounds);
    search.run(origin);
    let end = search.found.or_else(|| search.highest_candidate());
    PathFound {
        way: end.map(|at| search.way_to(at)),
        is_cut: search.is_cut,
    }
}

/// A breadth-first search whose steps are edits: each is looked for when it is come to, and paid for.
///
/// Invariant: of what is as many hops away, what has the fewest prereleases on the way is expanded
/// first. So what is reached first is reached by the best way.
struct Search<'o, 's> {
    offers: &'o [Offer<'s>],
    bounds: &'o Bounds<'o, 's>,
    goal: Option<Choice<'s>>,
    visits: Visits<ReachedBundle<'s>, ()>,
    /// How many visits stand in the order in which they are expanded.
    ordered: usize,
    seen: HashSet<(usize, BundleIndex)>,
    /// If there is one offer: its seen bundles that share their version with no other bundle. Pinning one of
    /// them again finds nothing new.
    settled: Option<BundleSet>,
    /// The visit of the goal.
    found: Option<usize>,
    /// Whether there was more to expand when the budget was spent.
    is_cut: bool,
    budget: Budget,
}

/// What a search may still do.
#[derive(Clone, Copy)]
struct Budget {
    /// The bundles whose pins are looked for.
    expansions: usize,
    /// The pins found; those of the last expansion may exceed it.
    pins: usize,
    /// The comparators of guardrails that steps are compared with.
    comparisons: usize,
}

/// A bundle that was reached; the installed one is none.
struct ReachedBundle<'s> {
    offer: usize,
    bundle: Choice<'s>,
    /// How many prereleases there are on the way, this one included.
    prereleases: usize,
}

impl<'o, 's> Search<'o, 's> {
    fn new(
        budget: Budget,
        offers: &'o [Offer<'s>],
        goal: Option<Choice<'s>>,
        bounds: &'o Bounds<'o, 's>,
    ) -> Self {
        Self {
            offers,
            bounds,
            goal,
            visits: Visits::default(),
            ordered: 0,
            seen: HashSet::new(),
            settled: only(offers).map(|offer| offer.package.no_bundle()),
            found: None,
            is_cut: false,
            budget,
        }
    }

    /// Expands what is reached, in that order, until the goal is or nothing more is.
    fn run(&mut self, origin: &Origin<'_>) {
        let rules = self.bounds.rules;
        self.expand(origin, None);
        let mut next = 0;
        while let Some(bundle) = self.take_up(next) {
            if let Ok(version) = &bundle.version {
                self.expand(&Origin::of_bundle(&bundle.name, version, rules), Some(next));
            }
            next += 1;
        }
        let is_over = self.budget.comparisons > 0 && next >= self.visited();
        self.is_cut = self.found.is_none() && !is_over;
    }

    /// The bundle of this visit, unless the search is over before it.
    fn take_up(&mut self, next: usize) -> Option<&'s Bundle> {
        if self.found.is_some() || self.budget.is_spent() {
            return None;
        }
        if next == self.ordered {
            self.order();
        }
        let visit = self.visits.as_slice().get(next)?;
        self.pays(0).then(|| visit.node.bundle.bundle())
    }

    fn visited(&self) -> usize {
        self.visits.as_slice().len()
    }

    /// Pays for comparing this many bundles; false if the effort does not suffice.
    fn pays(&self, looks: usize) -> bool {
        let effort = self.bounds.effort;
        effort.is_none_or(|effort| effort.pay(looks))
    }

    /// Brings what is one hop further than all before into its order.
    fn order(&mut self) {
        let prereleases = |visit: &Visit<ReachedBundle<'_>, ()>| visit.node.prereleases;
        self.visits.sort_from_by_key(self.ordered, prereleases);
        self.ordered = self.visited();
    }

    /// Adds what the edits that pin one version resolve to from here, the highest version first.
    fn expand(&mut self, origin: &Origin<'_>, from: Option<usize>) {
        let Pins { pins, cost } = Pins::without_known(self.offers, origin, self.settled.as_ref());
        self.budget.spend(pins.len());
        // The expansion of the installed bundle is free: without it, advice could name no version at all. The results
        // of an expansion that exceeds the budget are kept, and the search stops before the next.
        if from.is_some() {
            self.pays(cost);
        }
        for group in pins.chunk_by(Pin::is_of_version) {
            if !self.budget.compares(self.bounds.weight()) {
                break;
            }
            self.visit(group, origin, from);
        }
    }

    /// Adds what the edit that pins the version of this group resolves to, if it resolves.
    fn visit(&mut self, group: &[Pin<'s>], origin: &Origin<'_>, from: Option<usize>) {
        let offers = self.offers;
        let candidates = group
            .iter()
            .filter_map(|pin| Some(offers.get(pin.offer)?.choice(pin.bundle)));
        let Ok(resolved) = choose_among(candidates) else {
            return;
        };
        let reached = resolved.choice;
        if !self.bounds.allow(origin, &reached) {
            return;
        }
        let from_offer = |offer: &Offer<'_>| reached.is_of(offer.catalog);
        let Some(offer) = offers.iter().position(from_offer) else {
            return;
        };
        if self.seen.insert((offer, reached.index)) && !origin.is_at(reached.bundle()) {
            if self.goal.is_some_and(|goal| reached == goal) {
                self.found = Some(self.visited());
            }
            if reached.package.is_alone_of_version(reached.index)
                && let Some(settled) = &mut self.settled
            {
                settled.insert(reached.index);
            }
            let before = from.and_then(|from| self.visits.as_slice().get(from));
            let before = before.map_or(0, |before| before.node.prereleases);
            let reached = ReachedBundle {
                offer,
                bundle: reached,
                prereleases: before + usize::from(is_prerelease(&reached)),
            };
            self.visits.push(reached, from.map(|from| (from, ())));
        }
    }

    fn way_to(&self, goal: usize) -> Path<'s> {
        let path = self.visits.path_to(goal).into_iter();
        Path {
            hops: path.map(|visit| visit.node.bundle).collect(),
        }
    }

    /// The visit of the highest version that the request itself would take.
    fn highest_candidate(&self) -> Option<usize> {
        let asked = |reached: &ReachedBundle<'_>| {
            let offer = self.offers.get(reached.offer);
            offer.is_some_and(|offer| offer.candidates.contains(reached.bundle.index))
        };
        let reached = self.visits.as_slice().iter().map(|visit| &visit.node);
        let candidates = reached.enumerate().filter(|(_, reached)| asked(reached));
        let version = |reached: &ReachedBundle<'s>| reached.bundle.bundle().version.as_ref().ok();
        let highest = candidates.reduce(|best, next| match (version(best.1), version(next.1)) {
            (Some(a), Some(b)) if b.cmp_precedence(a).is_gt() => next,
            _ => best,
        });
        highest.map(|(at, _)| at)
    }
}

impl Budget {
    /// Enough for ten catalogs that each have the 203 bundles of the largest package recorded so
    /// far, at 512 pins a bundle. A search that spends it takes longer than a suggestion is worth: it
    /// runs while an edit waits.
    const FULL: Self = Self {
        expansions: MOST_EXPANSIONS,
        pins: 1 << 20,
        comparisons: MOST_COMPARISONS,
    };

    fn is_spent(&self) -> bool {
        self.expansions == 0 || self.pins == 0 || self.comparisons == 0
    }

    fn spend(&mut self, pins: usize) {
        self.expansions = self.expansions.saturating_sub(1);
        self.pins = self.pins.saturating_sub(pins);
    }

    /// Takes what comparing one step with guardrails costs; false where that is too much.
    fn compares(&mut self, comparators: usize) -> bool {
        let is_enough = self.comparisons >= comparators;
        self.comparisons = self.comparisons.saturating_sub(comparators);
        is_enough
    }
}

fn only<T>(all: &[T]) -> Option<&T> {
    let [only] = all else {
        return None;
    };
    Some(only)
}

/// How many bundles a search looks on from.
pub const MOST_EXPANSIONS: usize = 1 << 11;

fn is_prerelease(choice: &Choice<'_>) -> bool {
    let version = choice.bundle().version.as_ref();
    version.is_ok_and(|read| read.version.is_prerelease())
}

#[cfg(test)]
mod tests;
