//! A search for upgrade paths that several queries share.

use std::cmp::Ordering;

use crate::resolve::olmv1::{Choice, choose_among};
use crate::resolve::path::{Pin, Pins};
use crate::resolve::{Bounds, Offer, Origin, PathFound, ReachableBundles, SearchBudget};
use olmguard_catalog::BundleSet;
use olmguard_catalog::graph::{SearchVisit, Visits};

/// The search for paths from an installed bundle. Each query continues where the query before it ended, so several
/// queries cost what the longest of them costs.
///
/// It is a breadth-first search whose steps are edits. Several paths can be the shortest ones: the search keeps the path
/// with the fewest prereleases, then the path with the higher first steps. A range that is meant for releases includes
/// prereleases, too. The search is bounded at [`MOST_EXPANSIONS`](crate::resolve::MOST_EXPANSIONS) bundles, which is
/// beyond every published package.
///
/// Invariant: bundles that are fewer steps away are expanded first, and among them the bundles with the fewest
/// prereleases on the path. So each bundle is reached first by its best path, whatever the query is.
#[derive(Debug)]
pub struct PathSearch<'o, 's> {
    offers: &'o [Offer<'s>],
    bounds: &'o Bounds<'o, 's>,
    visits: Visits<ReachedBundle<'s>, ()>,
    /// How many visits stand in the order in which they are expanded.
    ordered: usize,
    /// How many of them are expanded.
    expanded: usize,
    /// For each offer what was reached, or counts as the installed bundle.
    seen: Vec<BundleSet>,
    /// If there is one offer: its seen bundles that share their version with no other bundle. Pinning one of
    /// them again finds nothing new.
    settled: Option<BundleSet>,
    budget: SearchBudget,
}

/// A bundle that was reached, never the installed one.
#[derive(Debug)]
struct ReachedBundle<'s> {
    offer: usize,
    bundle: Choice<'s>,
    /// How many prereleases the path has, this one included.
    prereleases: usize,
}

impl<'o, 's> PathSearch<'o, 's> {
    /// Starts at this bundle, and finds the first steps.
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
            settled: only(offers).map(|offer| offer.package.no_bundle()),
            budget,
        };
        search.expand(origin, None);
        search
    }

    /// The bundles that the edits that pin one version resolve to from here, in the order for users: the releases of
    /// the default channel first, prereleases last, and among them the highest version first. The installed bundle is
    /// not among them.
    pub fn next_steps(&self) -> Vec<Choice<'s>> {
        let visits = self.visits.as_slice().iter();
        let first = visits.take_while(|visit| visit.steps == 0);
        let mut steps: Vec<_> = first.map(|visit| visit.node.bundle).collect();
        steps.sort_by(|one, other| {
            if std::ptr::eq(one.package, other.package) {
                return one.index.cmp(&other.index);
            }
            match (&one.bundle().version, &other.bundle().version) {
                (Ok(one), Ok(other)) => other.version.cmp_precedence(&one.version),
                _ => Ordering::Equal,
            }
        });
        steps.sort_by_cached_key(Choice::maturity);
        steps
    }

    /// The shortest path to a goal bundle. If there is none, the path to the highest candidate of these offers that can
    /// be reached. They are the offers of the search, perhaps with another range.
    pub fn path_to(&mut self, goal: Option<Choice<'s>>, asked: &[Offer<'s>]) -> PathFound<'s> {
        let found = self.find(goal);
        let end = found.or_else(|| self.highest_candidate(asked));
        PathFound {
            steps: end.map(|at| self.path_of(at)),
            is_cut: found.is_none() && !self.is_over(),
        }
    }

    /// Everything that can be reached.
    pub(super) fn everywhere(mut self) -> ReachableBundles<'s> {
        while self.expand_next() {}
        // Visits count the steps after the first one.
        let visits = self.visits.as_slice().iter();
        let reached = visits.map(|visit| (visit.node.bundle, visit.steps + 1));
        ReachableBundles {
            reached: reached.collect(),
            is_cut: !self.is_over(),
        }
    }

    /// The visit of the goal. The search continues until it reaches the goal, or nothing more.
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

    /// Expands the next bundle; false if the search is over before it.
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

    /// The bundle that is expanded next, unless the search is over.
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

    /// Pays for comparing this many bundles; false if the effort does not suffice.
    fn pays(&self, looks: usize) -> bool {
        let effort = self.bounds.effort;
        effort.is_none_or(|effort| effort.pay(looks))
    }

    /// Sorts the bundles that are one step further than all before.
    fn order(&mut self) {
        let prereleases = |visit: &SearchVisit<ReachedBundle<'_>, ()>| visit.node.prereleases;
        self.visits.sort_from_by_key(self.ordered, prereleases);
        self.ordered = self.visited();
    }

    /// Adds the bundles that the edits that pin one version resolve to from here, the highest version first.
    fn expand(&mut self, origin: &Origin<'_>, from: Option<usize>) {
        let Pins { pins, cost } = Pins::without_known(self.offers, origin, self.settled.as_ref());
        self.budget.spend(pins.len());
        // The expansion of the installed bundle is free: without it, advice could name no version at all. The results
        // of an expansion that exceeds the budget are kept, and the search stops before the next.
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

    /// Adds the bundle that the edit that pins the version of this group resolves to, if it resolves.
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
            // If it stays, but in another catalog, other bundles can still have a path to that bundle.
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

    /// The visit of the highest version that is a candidate of these offers.
    fn highest_candidate(&self, asked: &[Offer<'s>]) -> Option<usize> {
        let is_asked = |reached: &ReachedBundle<'_>| {
            let offer = asked.get(reached.offer);
            offer.is_some_and(|offer| offer.candidates.contains(reached.bundle.index))
        };
        let reached = self.visits.as_slice().iter().map(|visit| &visit.node);
        let candidates = reached.enumerate().filter(|(_, reached)| is_asked(reached));
        let version = |reached: &ReachedBundle<'s>| reached.bundle.bundle().version.as_ref().ok();
        let highest = candidates.reduce(|best, next| match (version(best.1), version(next.1)) {
            (Some(a), Some(b)) if b.cmp_precedence(a).is_gt() => next,
            _ => best,
        });
        highest.map(|(at, _)| at)
    }
}

fn only<T>(all: &[T]) -> Option<&T> {
    let [only] = all else {
        return None;
    };
    Some(only)
}
