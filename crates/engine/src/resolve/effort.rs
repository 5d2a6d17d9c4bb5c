//! The bounds on the work of a search, and the signal that ends it early.
//!
//! A refusal is known before it is known what to do instead. The search for advice is bounded twice: by a number of
//! bundles, so that every replica finds the same, and by a signal that the server gives when there is no more time for
//! the answer.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// A signal from another thread that ends a search for advice. Commands never set it.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Ends the search.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the search must end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The work that is left for one search for advice.
#[derive(Debug)]
pub struct Effort<'a> {
    bundles: Cell<usize>,
    is_cut: Cell<bool>,
    stop: &'a Stop,
}

impl<'a> Effort<'a> {
    /// An effort for so many compared bundles, until the signal is given.
    pub fn of(bundles: usize, stop: &'a Stop) -> Self {
        Self {
            bundles: Cell::new(bundles),
            is_cut: Cell::new(false),
            stop,
        }
    }

    /// Pays for comparing so many bundles; false if not enough is left, or the signal was given.
    pub fn pay(&self, bundles: usize) -> bool {
        let left = self.bundles.get().checked_sub(bundles);
        match left.filter(|_| !self.stop.is_set()) {
            Some(left) => self.bundles.set(left),
            None => self.is_cut.set(true),
        }
        !self.is_cut.get()
    }

    /// Whether enough is left to compare so many bundles. For a search that can be omitted: nothing counts as cut.
    pub fn affords(&self, bundles: usize) -> bool {
        bundles <= self.bundles.get() && !self.stop.is_set() && !self.is_cut.get()
    }

    /// Whether something was omitted because effort or time ended.
    pub fn is_cut(&self) -> bool {
        self.is_cut.get()
    }
}

// === The limits of one search for paths ===

/// The work that is left for a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchBudget {
    /// The bundles whose pins are looked for.
    pub(super) expansions: usize,
    /// The pins found; the pins of the last expansion can exceed it.
    pub(super) pins: usize,
    /// The comparators of guardrails that steps are compared with.
    pub(super) comparisons: usize,
}

impl SearchBudget {
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

    /// Pays for comparing one step with guardrails; false if that is too much.
    pub(super) fn compares(&mut self, comparators: usize) -> bool {
        let is_enough = self.comparisons >= comparators;
        self.comparisons = self.comparisons.saturating_sub(comparators);
        is_enough
    }
}

/// How many comparators of guardrails, and steps of the rules of policies, the steps of one question are compared
/// with: an edit may be waiting for the answer.
pub const MOST_COMPARISONS: usize = 1 << 24;

/// How many bundles a search expands.
pub const MOST_EXPANSIONS: usize = 1 << 11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_paid_for_is_gone() {
        let stop = Stop::default();
        let effort = Effort::of(10, &stop);
        assert!(effort.pay(4) && effort.pay(6) && effort.pay(0));
        assert!(!effort.is_cut());
        assert!(!effort.pay(1));
        assert!(effort.is_cut() && !effort.pay(0));
    }

    #[test]
    fn a_stop_ends_it_whatever_is_left() {
        let stop = Stop::default();
        let effort = Effort::of(10, &stop);
        assert!(effort.pay(1));
        stop.set();
        assert!(!effort.pay(1) && effort.is_cut());
    }
}
