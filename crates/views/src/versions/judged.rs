//! What guardrails say of the edges to the bundles of a list.

use std::collections::BTreeMap;

use olmguard_catalog::{BundleIndex, BundleSet};
use olmguard_engine::explain::{Places, ReasonTable, Reasons};
use olmguard_engine::judge::affordable_steps;
use olmguard_engine::resolve::{CatalogEdge, Guards, Offer, Origin};

/// Which steps from the installed bundle guardrails forbid, and why.
pub(super) struct GuardedVersions {
    reasons: Reasons,
    /// The places of the reasons of each edge that there was time for, by the place of the offer.
    steps: BTreeMap<(usize, BundleIndex), Places>,
    /// How many edges there are.
    pub(super) edges: usize,
}

impl GuardedVersions {
    /// Puts guardrails to the edges that lead to the offers, in the order of the list.
    pub(super) fn of<'s>(
        offers: &[Offer<'s>],
        edges: &[BundleSet],
        origin: &Origin<'_>,
        guards: &Guards<'s>,
    ) -> Self {
        let mut gathered = ReasonTable::default();
        let leading = offers.iter().zip(edges).enumerate();
        let leading =
            leading.flat_map(|(at, (offer, set))| set.iter().map(move |to| (at, offer, to)));
        let affordable = leading.take(affordable_steps(guards.weight()));
        let steps = affordable.map(|(at, offer, to)| {
            let violations = origin.version().map_or_else(Vec::new, |from| {
                guards.violations(&from.version, &offer.choice(to), CatalogEdge::Present)
            });
            ((at, to), gathered.places(&violations, &[]))
        });
        let steps = steps.collect();
        Self {
            reasons: gathered.finish(),
            steps,
            edges: edges.iter().map(BundleSet::len).sum(),
        }
    }

    /// How many edges there was time for.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The places of the reasons why an edge is forbidden, none where it is free; absent where there
    /// is no such edge, or was no time for it.
    pub(super) fn reasons_of(&self, at: usize, to: BundleIndex) -> Option<&Places> {
        self.steps.get(&(at, to))
    }

    /// Every reason.
    pub(super) fn into_reasons(self) -> Reasons {
        self.reasons
    }
}
