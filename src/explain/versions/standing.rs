//! What a bundle is to the installed one.

use serde::Serialize;

use crate::catalog::BundleSet;
use crate::resolve::{Bounds, Edits, NotGiven, Offer, Origin, Reach, reach};

/// What a bundle is to the installed one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "program", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is that bundle, or counts as it: the same version and release.
    Installed,
    /// An edge leads there.
    Successor,
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
}

impl<'o, 's> Standings<'o, 's> {
    pub(super) fn of(offers: &'o [Offer<'s>], origin: Origin<'o>, bounds: &Bounds<'_, 's>) -> Self {
        let sets = |offer: &Offer<'s>| {
            let mut edges = origin.successors(offer.package, &offer.asked).edges;
            edges.intersect(&offer.members);
            [edges, origin.same(offer.package)]
        };
        Self {
            sets: offers.iter().map(sets).collect(),
            reach: reach(offers, &origin, bounds),
            edits: Edits::of(offers, &origin),
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

    /// What a bundle of the offer at this place is, and how many hops it is away.
    pub(super) fn standing(
        &self,
        at: usize,
        offer: &Offer<'s>,
        index: crate::catalog::BundleIndex,
    ) -> (Standing, Option<usize>) {
        let has = |which: usize| {
            let set = self.sets.get(at).and_then(|sets| sets.get(which));
            set.is_some_and(|set| set.contains(index))
        };
        let hops = self.reach.hops_to(&offer.choice(index));
        let standing = if has(1) {
            Standing::Installed
        } else if has(0) {
            Standing::Successor
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
