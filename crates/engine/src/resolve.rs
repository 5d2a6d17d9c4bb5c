//! The resolution of operator-controller, step by step, with its evidence.
//!
//! ```text
//! Filter --compile--> Query --survey--> Offers --weigh(Origin)--> Matches --choose--> Choice
//! ```
//!
//! Each step can fail; [`crate::judge`] maps each failure to a row of the decision table. The steps are public to it,
//! so a suggestion costs only the steps that it changes. This file has what the steps share: which versions are
//! suggested to users, and how much work a search may do.
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
pub use path::{Bounds, Edits, NotGiven, PathFound, PathSearch, ReachableBundles};
pub use policies::{
    EditContext, MatchingPolicies, PolicyFinding, PolicyStep, Requester, UpgradePolicies,
};
pub use query::{InPlay, NotLoaded, NotLoadedCause, Offer, OfferEdge, Query, QueryError, loaded};

pub(crate) use install::{ImageFacts, KnownRefusals};

// === The versions that are suggested to users, and their order ===
//
// OLM has no such order. It prefers the highest version, and treats a prerelease like any other version.

/// How suitable a version is for all users. The order of the variants is the order of lists.
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
    /// Whether the version is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        self.bundle().is_prerelease()
    }

    /// How suitable the bundle is for all users.
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
    /// Whether the upgrade to a bundle is shown to users who name no version. Prereleases are shown only if one is
    /// installed.
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
// A refusal is known before the advice about it. The search for advice has two bounds. The number of compared bundles
// is limited, so every replica finds the same advice. And the server sets a signal when no time is left for the answer.

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
    /// An effort for this number of compared bundles, which also ends at the signal.
    pub fn of(bundles: usize, stop: &'a Stop) -> Self {
        Self {
            bundles: Cell::new(bundles),
            is_cut: Cell::new(false),
            stop,
        }
    }

    /// Pays for comparing this number of bundles. Returns false if too little is left or the signal was set.
    pub fn pay(&self, bundles: usize) -> bool {
        let left = self.bundles.get().checked_sub(bundles);
        match left.filter(|_| !self.stop.is_set()) {
            Some(left) => self.bundles.set(left),
            None => self.is_cut.set(true),
        }
        !self.is_cut.get()
    }

    /// Whether enough is left to compare this number of bundles. For a search that may be omitted, because a negative
    /// answer does not count as cut.
    pub fn affords(&self, bundles: usize) -> bool {
        bundles <= self.bundles.get() && !self.stop.is_set() && !self.is_cut.get()
    }

    /// Whether something was omitted because the effort or the time was used up.
    pub fn is_cut(&self) -> bool {
        self.is_cut.get()
    }
}

// === The limits of one search for paths ===

/// The work that is left for one search for paths.
#[derive(Clone, Copy, Debug)]
struct SearchBudget {
    /// The bundles that can still be expanded.
    expansions: usize,
    /// The pins that can still be found. The last expansion may exceed the limit.
    pins: usize,
    /// The guardrail comparators that steps can still be compared with.
    comparisons: usize,
}

impl SearchBudget {
    /// Enough for ten catalogs that each have the 203 bundles of the largest recorded package, with 512 pins per
    /// bundle. A search beyond this takes longer than a suggestion is worth, because an edit waits for it.
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

    /// Pays for comparing one step with guardrails. Returns false if too little is left.
    fn compares(&mut self, comparators: usize) -> bool {
        let is_enough = self.comparisons >= comparators;
        self.comparisons = self.comparisons.saturating_sub(comparators);
        is_enough
    }
}

/// The most comparisons for one question: guardrail comparators and evaluation steps of policy rules. An edit may be
/// waiting for the answer.
pub const MOST_COMPARISONS: usize = 1 << 24;

/// The most bundles that a search expands.
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
