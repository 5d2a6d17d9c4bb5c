//! How much work a search for advice may be, and what ends it early.
//!
//! A refusal is known before it is known what to do instead. The search for that is bounded twice: by
//! a number of bundles, so that every replica finds the same, and by a signal that whoever waits for
//! the answer gives when there is no more time.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends a search for advice from another thread. Nothing sets it where nobody waits.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Ends the search.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the search is to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is left of the work that one search for advice may be.
#[derive(Debug)]
pub struct Effort<'a> {
    bundles: Cell<usize>,
    is_cut: Cell<bool>,
    stop: &'a Stop,
}

impl<'a> Effort<'a> {
    /// Enough to look at so many bundles, until the signal is given.
    pub fn of(bundles: usize, stop: &'a Stop) -> Self {
        Self {
            bundles: Cell::new(bundles),
            is_cut: Cell::new(false),
            stop,
        }
    }

    /// Pays for one more look at so many bundles; false if there is not enough left for it, or the
    /// signal was given.
    pub fn pay(&self, bundles: usize) -> bool {
        let left = self.bundles.get().checked_sub(bundles);
        match left.filter(|_| !self.stop.is_set()) {
            Some(left) => self.bundles.set(left),
            None => self.is_cut.set(true),
        }
        !self.is_cut.get()
    }

    /// Whether there is enough left to look at so many bundles, for a search that nobody misses.
    pub fn affords(&self, bundles: usize) -> bool {
        bundles <= self.bundles.get() && !self.stop.is_set() && !self.is_cut.get()
    }

    /// Whether something was left out for want of effort or time.
    pub fn is_cut(&self) -> bool {
        self.is_cut.get()
    }
}

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
