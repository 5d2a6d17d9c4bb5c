//! The limits of a search for paths.

use crate::resolve::MOST_COMPARISONS;

/// What a search may still do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// The bundles whose pins are looked for.
    pub(super) expansions: usize,
    /// The pins found; those of the last expansion may exceed it.
    pub(super) pins: usize,
    /// The comparators of guardrails that steps are compared with.
    pub(super) comparisons: usize,
}

impl Budget {
    /// Enough for ten catalogs that each have the 203 bundles of the largest package recorded so
    /// far, at 512 pins a bundle. A search that spends it takes longer than a suggestion is worth: it
    /// runs while an edit waits.
    pub(super) const FULL: Self = Self {
        expansions: MOST_EXPANSIONS,
        pins: 1 << 20,
        comparisons: MOST_COMPARISONS,
    };

    pub(super) fn is_spent(&self) -> bool {
        self.expansions == 0 || self.pins == 0 || self.comparisons == 0
    }

    pub(super) fn spend(&mut self, pins: usize) {
        self.expansions = self.expansions.saturating_sub(1);
        self.pins = self.pins.saturating_sub(pins);
    }

    /// Takes what comparing one step with guardrails costs; false where that is too much.
    pub(super) fn compares(&mut self, comparators: usize) -> bool {
        let is_enough = self.comparisons >= comparators;
        self.comparisons = self.comparisons.saturating_sub(comparators);
        is_enough
    }
}

/// How many bundles a search looks on from.
pub const MOST_EXPANSIONS: usize = 1 << 11;
