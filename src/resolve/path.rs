//! The shortest way from an installed bundle to another, one admitted edit a hop.
//!
//! A hop is an edit that pins one version, with the channels and the selector of the request. What
//! it resolves to, recorded as the controller records it, is where the next hop starts. So a hop is
//! no edge: it is a choice between catalogs too, and can be refused where an edge exists.

mod pins;

use std::collections::HashSet;

use crate::catalog::BundleIndex;
use crate::olm::Rules;
use crate::resolve::olmv1::{Choice, choose_among};
use crate::resolve::{Offer, Origin};
use pins::{Pin, pins};

/// A way through the upgrade graph: what each hop's pin resolves to, the goal last.
#[derive(Clone, Debug)]
pub struct Way<'s> {
    /// The bundles on the way, the installed one left out; never empty.
    pub hops: Vec<Choice<'s>>,
}

/// The shortest way to a goal bundle; failing that, to the highest candidate that can be reached.
///
/// Among ways of one length that of the higher first hops is taken.
pub fn shortest_way<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    goal: Option<Choice<'s>>,
    rules: &Rules,
) -> Option<Way<'s>> {
    let mut search = Search::from(offers, origin);
    let mut next = 0;
    while let Some(visit) = search.visits.get(next) {
        let reached = visit.reached;
        if goal.is_some_and(|goal| is_same(&reached, &goal)) {
            return Some(search.way_to(next));
        }
        let bundle = reached.bundle();
        if let Ok(version) = &bundle.version {
            search.expand(&Origin::of_bundle(&bundle.name, version, rules), Some(next));
        }
        next += 1;
    }
    search.highest_candidate().map(|at| search.way_to(at))
}

/// What the edits that pin one version resolve to from here, the highest version first; staying
/// where one is left out.
pub fn next_hops<'s>(offers: &[Offer<'s>], origin: &Origin<'_>) -> Vec<Choice<'s>> {
    let search = Search::from(offers, origin);
    search
        .visits
        .into_iter()
        .map(|visit| visit.reached)
        .collect()
}

/// A breadth-first search. `visits` is its queue and its memory: what was reached, in that order.
struct Search<'o, 's> {
    offers: &'o [Offer<'s>],
    visits: Vec<Visit<'s>>,
    seen: HashSet<(usize, BundleIndex)>,
}

/// A bundle that was reached, and from which visit; the installed one is no visit.
struct Visit<'s> {
    offer: usize,
    reached: Choice<'s>,
    from: Option<usize>,
}

impl<'o, 's> Search<'o, 's> {
    fn from(offers: &'o [Offer<'s>], origin: &Origin<'_>) -> Self {
        let mut search = Self {
            offers,
            visits: Vec::new(),
            seen: HashSet::new(),
        };
        search.expand(origin, None);
        search
    }

    /// Adds what the edits that pin one version resolve to from here, the highest version first.
    fn expand(&mut self, origin: &Origin<'_>, from: Option<usize>) {
        let pins = pins(self.offers, origin);
        for group in pins.chunk_by(Pin::is_of_version) {
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
        let from_offer = |offer: &Offer<'_>| std::ptr::eq(offer.catalog, reached.catalog);
        let Some(offer) = offers.iter().position(from_offer) else {
            return;
        };
        if self.seen.insert((offer, reached.index)) && !origin.is_at(reached.bundle()) {
            self.visits.push(Visit {
                offer,
                reached,
                from,
            });
        }
    }

    fn way_to(&self, goal: usize) -> Way<'s> {
        let mut hops = Vec::new();
        let mut at = Some(goal);
        while let Some(visit) = at.and_then(|at| self.visits.get(at)) {
            hops.push(visit.reached);
            at = visit.from;
        }
        hops.reverse();
        Way { hops }
    }

    /// The visit of the highest version that the request itself would take.
    fn highest_candidate(&self) -> Option<usize> {
        let asked = |visit: &Visit<'_>| {
            let offer = self.offers.get(visit.offer);
            offer.is_some_and(|offer| offer.candidates.contains(visit.reached.index))
        };
        let candidates = self
            .visits
            .iter()
            .enumerate()
            .filter(|(_, visit)| asked(visit));
        let version = |visit: &Visit<'s>| visit.reached.bundle().version.as_ref().ok();
        let highest = candidates.reduce(|best, next| match (version(best.1), version(next.1)) {
            (Some(a), Some(b)) if b.cmp_precedence(a).is_gt() => next,
            _ => best,
        });
        highest.map(|(at, _)| at)
    }
}

fn is_same(a: &Choice<'_>, b: &Choice<'_>) -> bool {
    std::ptr::eq(a.catalog, b.catalog) && a.index == b.index
}

#[cfg(test)]
mod tests;
