//! The edits that pin one version, and the bundle that each offer gives for them.
//!
//! Invariant: a version on which OLM crashes in one catalog is pinned in none. OLM reads every catalog before it
//! chooses, so the edit fails even if another catalog has the version.

use std::cmp::Ordering;

use crate::resolve::{Offer, Origin};
use olmguard_catalog::version::Version;
use olmguard_catalog::{BundleIndex, BundleSet};

/// The bundle that one offer gives for one pinned version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pin<'s> {
    pub(super) version: &'s Version,
    /// The place of the offer among the offers.
    pub(super) offer: usize,
    pub(super) bundle: BundleIndex,
}

/// The pins of an expansion, and the cost of finding them.
#[derive(Debug)]
pub(super) struct Pins<'s> {
    /// The highest version first, within a version in the order of the offers.
    pub(super) pins: Vec<Pin<'s>>,
    /// The cost, in compared bundles.
    pub(super) cost: usize,
}

impl<'s> Pins<'s> {
    /// The pins that some offer accepts from here.
    pub(super) fn of(offers: &[Offer<'s>], origin: &Origin<'_>) -> Self {
        Self::without_known(offers, origin, None)
    }

    /// The same pins, without the bundles of the first offer that are in `known`.
    pub(super) fn without_known(
        offers: &[Offer<'s>],
        origin: &Origin<'_>,
        known: Option<&BundleSet>,
    ) -> Self {
        let mut found = Self {
            pins: Vec::new(),
            cost: 0,
        };
        let mut crashing = Vec::new();
        for (at, offer) in offers.iter().enumerate() {
            let mut accepted = offer.accepted(origin);
            found.cost += offer.package.successors_cost(accepted.bundles.len());
            if let Some(known) = known.filter(|_| at == 0) {
                accepted.bundles.subtract(known);
            }
            found.add_best_of_versions(readable(at, offer, &accepted.bundles), offer);
            crashing.extend(readable(at, offer, &accepted.crashes));
        }
        if offers.len() > 1 {
            found.pins.sort_by(Pin::cmp_height);
            crashing.sort_by(Pin::cmp_height);
        }
        found.cost += found.pins.len();
        found.remove(crashing);
        found
    }

    /// Adds the bundle that one offer gives for each version, out of its bundles with the best first.
    fn add_best_of_versions(&mut self, bundles: impl Iterator<Item = Pin<'s>>, offer: &Offer<'s>) {
        let is_deprecated = |pin: &Pin<'_>| offer.package.is_deprecated(pin.bundle);
        for pin in bundles {
            let is_alone = offer.package.is_alone_of_version(pin.bundle);
            let last = self.pins.last_mut().filter(|_| !is_alone);
            match last.filter(|last| last.offer == pin.offer && last.is_of_version(&pin)) {
                Some(last) if is_deprecated(last) && !is_deprecated(&pin) => *last = pin,
                Some(_) => {}
                None => self.pins.push(pin),
            }
        }
    }

    /// Removes the pins whose version is among these; both with the highest version first.
    fn remove(&mut self, crashing: Vec<Pin<'s>>) {
        let mut crashing = crashing.into_iter().peekable();
        self.pins.retain(|pin| {
            let is_higher = |crash: &Pin<'_>| crash.version.cmp_precedence(pin.version).is_gt();
            while crashing.next_if(is_higher).is_some() {}
            !crashing
                .peek()
                .is_some_and(|crash| crash.is_of_version(pin))
        });
    }
}

impl Pin<'_> {
    /// Whether one edit pins both. An offer has one pin for each version.
    pub(super) fn is_of_one_edit(&self, other: &Self) -> bool {
        self.offer != other.offer && self.is_of_version(other)
    }

    fn is_of_version(&self, other: &Self) -> bool {
        self.version.cmp_precedence(other.version).is_eq()
    }

    fn cmp_height(&self, other: &Self) -> Ordering {
        let version = other.version.cmp_precedence(self.version);
        version.then(self.offer.cmp(&other.offer))
    }
}

/// The bundles of a set that a version can pin, best first.
fn readable<'s>(
    at: usize,
    offer: &Offer<'s>,
    bundles: &BundleSet,
) -> impl Iterator<Item = Pin<'s>> {
    let package = offer.package;
    let pin = move |bundle: BundleIndex| {
        let read = package.bundle(bundle).version.as_ref().ok()?;
        Some(Pin {
            version: &read.version,
            offer: at,
            bundle,
        })
    };
    bundles.iter().filter_map(pin)
}
