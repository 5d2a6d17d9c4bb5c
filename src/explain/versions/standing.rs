//! What a bundle is to the installed one.

use serde::Serialize;

use crate::catalog::BundleSet;
use crate::explain::GuardrailReport;
use crate::resolve::{Bounds, CatalogEdge, Edits, Guards, NotGiven, Offer, Origin, Reach, reach};

/// What a bundle is to the installed one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "program", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is that bundle, or counts as it: the same version and release.
    Installed,
    /// An edge leads there.
    Successor,
    /// An edge leads there, and guardrails forbid the step; other steps may lead there.
    Forbidden,
    /// No edge leads there, but several edits do, one after another.
    Reachable,
    /// It is older, and no edits were found that lead there.
    Older,
    /// No edits lead there.
    Unreachable,
    /// None were found before the search ended at its bound.
    NotFound,
}

/// What every bundle of the offers is.
pub(super) struct Standings<'o, 's> {
    origin: Origin<'o>,
    /// For each offer what edges lead to, and what counts as the installed bundle.
    sets: Vec<[BundleSet; 2]>,
    reach: Reach<'s>,
    edits: Edits<'o, 's>,
    guards: &'o Guards<'s>,
}

impl<'o, 's> Standings<'o, 's> {
    pub(super) fn of(offers: &'o [Offer<'s>], origin: Origin<'o>, bounds: &Bounds<'o, 's>) -> Self {
        let sets = |offer: &Offer<'s>| {
            let mut edges = origin.successors(offer.package, &offer.asked).edges;
            edges.intersect(&offer.members);
            [edges, origin.same(offer.package)]
        };
        Self {
            sets: offers.iter().map(sets).collect(),
            reach: reach(offers, &origin, bounds),
            edits: Edits::of(offers, &origin),
            guards: bounds.guards,
            origin,
        }
    }

    /// Whether the search for what can be reached ended at its bound.
    pub(super) fn is_cut(&self) -> bool {
        self.reach.is_cut
    }

    /// Why no edit gives a bundle that an edge leads to.
    pub(super) fn not_given(
        &self,
        offer: &Offer<'s>,
        index: crate::catalog::BundleIndex,
    ) -> Option<NotGiven<'s>> {
        self.edits.not_given(&offer.choice(index))
    }

    /// Why guardrails forbid the step to a bundle of the offer at this place, where an edge leads there.
    pub(super) fn guardrails(
        &self,
        at: usize,
        offer: &Offer<'s>,
        index: crate::catalog::BundleIndex,
    ) -> Vec<GuardrailReport> {
        let from = self.origin.version();
        let Some(from) = from.filter(|_| self.has(at, EDGES, index)) else {
            return Vec::new();
        };
        let to = offer.choice(index);
        let violations = self
            .guards
            .violations(&from.version, &to, CatalogEdge::Present);
        violations.iter().map(GuardrailReport::of).collect()
    }

    fn has(&self, at: usize, which: usize, index: crate::catalog::BundleIndex) -> bool {
        let set = self.sets.get(at).and_then(|sets| sets.get(which));
        set.is_some_and(|set| set.contains(index))
    }

    /// What a bundle of the offer at this place is, and how many hops it is away.
    pub(super) fn standing(
        &self,
        at: usize,
        offer: &Offer<'s>,
        index: crate::catalog::BundleIndex,
    ) -> (Standing, Option<usize>) {
        let hops = self.reach.hops_to(&offer.choice(index));
        let here = self.origin.version().map(|read| &read.version);
        let standing = if self.has(at, SAME, index) {
            Standing::Installed
        } else if self.has(at, EDGES, index) {
            if self.guards.allow(here, &offer.choice(index)) {
                Standing::Successor
            } else {
                Standing::Forbidden
            }
        } else if hops.is_some() {
            Standing::Reachable
        } else if self.origin.is_newer_than(offer.package, index) {
            Standing::Older
        } else if self.reach.is_cut {
            Standing::NotFound
        } else {
            Standing::Unreachable
        };
        let hops = hops.filter(|_| standing != Standing::Installed);
        (standing, hops)
    }
}

/// The place of what edges lead to among the sets of an offer.
const EDGES: usize = 0;
/// The place of what counts as the installed bundle.
const SAME: usize = 1;
