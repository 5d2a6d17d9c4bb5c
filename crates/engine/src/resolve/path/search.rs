//! A search for upgrade paths that several queries share.

use std::cmp::Ordering;

use crate::resolve::olmv1::{Choice, choose_among};
use crate::resolve::path::{Pin, Pins};
use crate::resolve::{Bounds, Offer, Origin, PathFound, ReachableBundles, SearchBudget};
use olmguard_catalog::BundleSet;
use olmguard_catalog::graph::{SearchVisit, Visits};

/// The search for paths from an installed bundle. Each query continues where the previous one ended, so several queries
/// cost only as much as the longest one.
///
/// The search is breadth-first, and its steps are edits. Of several shortest paths, it keeps the path with the fewest
/// prereleases, then the path with the higher first steps. Prereleases count because a range that is meant for releases
/// includes them too. The search ends after [`MOST_EXPANSIONS`](crate::resolve::MOST_EXPANSIONS) bundles, which is
/// beyond every published package.
///
/// Invariant: bundles that are fewer steps away are expanded first, and among them the bundles with the fewest
/// prereleases on their path. So each bundle is first reached by its best path, regardless of the query.
#[derive(Debug)]
pub struct PathSearch<'o, 's> {
    offers: &'o [Offer<'s>],
    bounds: &'o Bounds<'o, 's>,
    visits: Visits<ReachedBundle<'s>, ()>,
    /// The number of visits that are already sorted in the order of expansion.
    ordered: usize,
    /// The number of visits that are expanded.
    expanded: usize,
    /// For each offer, the bundles that were reached or that count as the installed one.
    seen: Vec<BundleSet>,
    /// The seen bundles that share their version with no other bundle, if there is only one offer. Pinning such a
    /// bundle again finds nothing new.
    settled: Option<BundleSet>,
    budget: SearchBudget,
}

/// A bundle that was reached; never the installed one.
#[derive(Debug)]
struct ReachedBundle<'s> {
    offer: usize,
    bundle: Choice<'s>,
    /// The number of prereleases on the path, including this bundle.
    prereleases: usize,
}

impl<'o, 's> PathSearch<'o, 's> {
    /// Starts the search at this origin, and finds the first steps.
    pub fn from(offers: &'o [Offer<'s>], origin: &Origin<'_>, bounds: &'o Bounds<'o, 's>) -> Self {
        Self::within(SearchBudget::FULL, offers, origin, bounds)
    }

    pub(super) fn within(
        budget: SearchBudget,
        offers: &'o [Offer<'s>],
        origin: &Origin<'_>,
        bounds: &'o Bounds<'o, 's>,
    ) -> Self {
        let mut search = Self {
            offers,
            bounds,
            visits: Visits::default(),
            ordered: 0,
            expanded: 0,
            seen: offers
                .iter()
                .map(|offer| offer.package.no_bundle())
                .collect(),
            settled: match offers {
                [only] => Some(only.package.no_bundle()),
                _ => None,
            },
            budget,
        };
        search.expand(origin, None);
        search
    }

    /// The bundles that can be reached with one edit, in the order for users: releases of the default channel first,
    /// prereleases last, each group from the highest version down. Does not include the installed bundle.
    pub fn next_steps(&self) -> Vec<Choice<'s>> {
        let visits = self.visits.as_slice().iter();
        let first = visits.take_while(|visit| visit.steps == 0);
        let mut steps: Vec<_> = first.map(|visit| visit.node.bundle).collect();
        steps.sort_by(|one, other| {
            if std::ptr::eq(one.package, other.package) {
                return one.index.cmp(&other.index);
            }
            match (one.version(), other.version()) {
                (Some(one), Some(other)) => other.cmp_precedence(one),
                _ => Ordering::Equal,
            }
        });
        steps.sort_by_cached_key(Choice::maturity);
        steps
    }

    /// The shortest path to a goal bundle, otherwise the path to the highest reachable candidate of these offers. The
    /// offers must be those of the search, but may have another range.
    pub fn path_to(&mut self, goal: Option<Choice<'s>>, asked: &[Offer<'s>]) -> PathFound<'s> {
        let found = self.find(goal);
        let end = found.or_else(|| self.highest_candidate(asked));
        PathFound {
            steps: end.map(|at| self.path_of(at)),
            is_cut: found.is_none() && !self.is_over(),
        }
    }

    /// Finds everything that can be reached.
    pub fn everywhere(mut self) -> ReachableBundles<'s> {
        while self.expand_next() {}
        // Visits count the steps after the first one.
        let visits = self.visits.as_slice().iter();
        let reached = visits.map(|visit| (visit.node.bundle, visit.steps + 1));
        ReachableBundles {
            reached: reached.collect(),
            is_cut: !self.is_over(),
        }
    }

    /// The visit of the goal. Continues the search until it reaches the goal or is over.
    fn find(&mut self, goal: Option<Choice<'s>>) -> Option<usize> {
        let mut known = 0;
        loop {
            let mut new = self.visits.as_slice().iter().skip(known);
            let is_goal =
                |visit: &SearchVisit<ReachedBundle<'s>, ()>| Some(visit.node.bundle) == goal;
            if let Some(at) = new.position(is_goal) {
                return Some(known + at);
            }
            known = self.visited();
            if !self.expand_next() {
                return None;
            }
        }
    }

    /// Expands the next bundle. Returns false if the search is over.
    fn expand_next(&mut self) -> bool {
        let Some(bundle) = self.take_up() else {
            return false;
        };
        let at = self.expanded;
        self.expanded += 1;
        if let Some(origin) = Origin::of_choice(bundle, self.bounds.rules) {
            self.expand(&origin, Some(at));
        }
        true
    }

    /// The bundle to expand next; `None` if the search is over.
    fn take_up(&mut self) -> Option<Choice<'s>> {
        if self.budget.is_spent() {
            return None;
        }
        if self.expanded == self.ordered {
            self.order();
        }
        let visit = self.visits.as_slice().get(self.expanded)?;
        self.pays(0).then_some(visit.node.bundle)
    }

    /// Whether all reachable bundles were reached.
    fn is_over(&self) -> bool {
        self.budget.comparisons > 0 && self.expanded >= self.visited()
    }

    fn visited(&self) -> usize {
        self.visits.as_slice().len()
    }

    /// Pays for comparing this number of bundles. Returns false if the effort is used up.
    fn pays(&self, looks: usize) -> bool {
        let effort = self.bounds.effort;
        effort.is_none_or(|effort| effort.pay(looks))
    }

    /// Sorts the visits that are one step further away than all earlier ones.
    fn order(&mut self) {
        let prereleases = |visit: &SearchVisit<ReachedBundle<'_>, ()>| visit.node.prereleases;
        self.visits.sort_from_by_key(self.ordered, prereleases);
        self.ordered = self.visited();
    }

    /// Adds the bundles that can be reached with one edit from this origin, the highest version first.
    fn expand(&mut self, origin: &Origin<'_>, from: Option<usize>) {
        let Pins { pins, cost } = Pins::without_known(self.offers, origin, self.settled.as_ref());
        self.budget.spend(pins.len());
        // The expansion of the installed bundle is free, because advice could otherwise name no version at all. The
        // results of an expansion that exceeds the budget are kept, and the search stops before the next one.
        if from.is_some() {
            self.pays(cost);
        }
        for group in pins.chunk_by(Pin::is_of_one_edit) {
            if !self.budget.compares(self.bounds.weight()) {
                break;
            }
            self.visit(group, origin, from);
        }
    }

    /// Adds the bundle that the edit pinning the version of this group resolves to, if it resolves.
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
        let seen = self.offers.iter().zip(&mut self.seen).enumerate();
        let mut of_it = seen.filter(|(_, (offer, _))| reached.is_of(offer.catalog));
        let Some((offer, (_, seen))) = of_it.next() else {
            return;
        };
        let stays = origin.is_at(reached.bundle());
        if seen.contains(reached.index) || (stays && from.is_some()) {
            // If the step stays at the bundle but in another catalog, other bundles can still have a path to that
            // bundle.
            return;
        }
        seen.insert(reached.index);
        if !stays {
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
                prereleases: before + usize::from(reached.is_prerelease()),
            };
            self.visits.push(reached, from.map(|from| (from, ())));
        }
    }

    fn path_of(&self, goal: usize) -> Vec<Choice<'s>> {
        let path = self.visits.path_to(goal).into_iter();
        path.map(|visit| visit.node.bundle).collect()
    }

    /// The visit of the highest version among the candidates of these offers.
    fn highest_candidate(&self, asked: &[Offer<'s>]) -> Option<usize> {
        let is_asked = |reached: &ReachedBundle<'_>| {
            let offer = asked.get(reached.offer);
            offer.is_some_and(|offer| offer.candidates.contains(reached.bundle.index))
        };
        let reached = self.visits.as_slice().iter().map(|visit| &visit.node);
        let candidates = reached.enumerate().filter(|(_, reached)| is_asked(reached));
        let version = |reached: &ReachedBundle<'s>| reached.bundle.version_release();
        let highest = candidates.reduce(|best, next| match (version(best.1), version(next.1)) {
            (Some(a), Some(b)) if b.cmp_precedence(a).is_gt() => next,
            _ => best,
        });
        highest.map(|(at, _)| at)
    }
}
