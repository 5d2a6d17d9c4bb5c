//! The resolution of operator-controller, step by step, with the evidence kept.
//!
//! ```text
//! Filter --compile--> Query --survey--> Offers --weigh(Origin)--> Matches --choose--> Choice
//! ```
//!
//! Each step can fail; [`crate::judge`] knows which row of the decision table that is. The steps are public to it so
//! that a suggestion costs only the steps that it changes. What all of them share stands here: which versions are
//! suggested, and how much work a search may do.
//!
//! Upstream: operator-controller, [`internal/operator-controller/resolve/catalog.go`].
//!
//! [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

pub mod classic;
mod guards;
mod install;
mod olmv1;
mod origin;
mod path;
mod policies;
mod query;
pub mod semver;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use olmguard_catalog::version::VersionRelease;

pub use guards::{Alone, CatalogEdge, GuardedBy, Guards, ViolatedRule, Violation};
pub use install::{
    CrdRefusal, InstallBound, InstallContext, InstallFault, InstallFaults, NameTooLong, Occasion,
    is_unsupported,
};
pub use olmv1::{
    AcceptedSuccessors, Choice, ChoiceError, Match, Refusal, Resolution, Unpinned, choose, weigh,
};
pub use origin::{InstalledError, Origin};
pub use path::{
    Bounds, Edits, NotGiven, PathFound, PathSearch, ReachableBundles, reach, shortest_path,
};
pub use policies::{
    EditContext, MatchingPolicies, PolicyFinding, PolicyStep, Requester, StepStart,
    UpgradePolicies, UserInfo,
};
pub use query::{InPlay, NotLoaded, NotLoadedCause, Offer, OfferEdge, Query, QueryError, loaded};

pub(crate) use install::{ImageFacts, KnownRefusals};

// === The versions that are suggested to users among those that can be installed, and their order ===
//
// OLM has no such order: it prefers the highest version, and a prerelease is a version like any other.

/// How far a version is meant for all users, in the order of lists.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Maturity {
    /// A release in the default channel of its package.
    DefaultChannel,
    /// Another release.
    Release,
    /// A prerelease, such as a nightly build.
    Prerelease,
}

impl Choice<'_> {
    /// Whether its version is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        self.bundle().is_prerelease()
    }

    /// How far it is meant for all users.
    pub fn maturity(&self) -> Maturity {
        if self.is_prerelease() {
            Maturity::Prerelease
        } else if self.package.is_in_default_channel(self.index) {
            Maturity::DefaultChannel
        } else {
            Maturity::Release
        }
    }
}

impl Origin<'_> {
    /// Whether a user who names no version is shown the upgrade to a bundle: a prerelease only if one is installed.
    pub fn suggests(&self, to: &Choice<'_>) -> bool {
        self.is_prerelease() || !to.is_prerelease()
    }

    /// Whether a prerelease is installed, or a version that cannot be read.
    fn is_prerelease(&self) -> bool {
        let is_prerelease = |read: &VersionRelease| read.version.is_prerelease();
        self.version().is_none_or(is_prerelease)
    }

    /// The first of these steps that installs a prerelease, if a release is installed.
    pub fn first_prerelease<'s>(&self, steps: &[Choice<'s>]) -> Option<Choice<'s>> {
        steps.iter().copied().find(|step| !self.suggests(step))
    }

    /// Keeps the candidates that are suggested.
    pub fn keep_suggested(&self, offers: &mut [Offer<'_>]) {
        for offer in offers {
            offer.keep(|choice| self.suggests(choice));
        }
    }
}

impl<'s> Offer<'s> {
    /// Keeps some of the candidates.
    pub fn keep(&mut self, is_kept: impl Fn(&Choice<'s>) -> bool) {
        let (catalog, package) = (self.catalog, self.package);
        self.candidates.retain(|index| {
            is_kept(&Choice {
                catalog,
                package,
                index,
            })
        });
    }
}

// === The bounds on the work of a search, and the signal that ends it early ===
//
// A refusal is known before it is known what to do instead. The search for advice is bounded twice: by a number of
// bundles, so that every replica finds the same, and by a signal that the server gives when there is no more time for
// the answer.

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
struct SearchBudget {
    /// The bundles whose pins are looked for.
    expansions: usize,
    /// The pins found; the pins of the last expansion can exceed it.
    pins: usize,
    /// The comparators of guardrails that steps are compared with.
    comparisons: usize,
}

impl SearchBudget {
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

    /// Pays for comparing one step with guardrails; false if that is too much.
    fn compares(&mut self, comparators: usize) -> bool {
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
