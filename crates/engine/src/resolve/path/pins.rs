//! The edits that pin one version, and the bundle that each offer would give for them.
//!
//! Invariant: a version on which OLM crashes in one catalog is pinned in none. Every catalog is
//! walked before a choice is made, so the edit fails wherever else the version could be had.

use std::cmp::Ordering;

use crate::resolve::{Offer, Origin};
use olmguard_catalog::version::Version;
use olmguard_catalog::{BundleIndex, BundleSet};

/// The bundle that one offer would give for one pinned version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pin<'s> {
    pub(super) version: &'s Version,
    /// The place of the offer among the offers.
    pub(super) offer: usize,
    pub(super) bundle: BundleIndex,
}

/// The pins of an expansion, and what it cost to find them.
#[derive(Debug)]
pub(super) struct Pins<'s> {
    /// The highest version first, within a version in the order of the offers.
    pub(super) pins: Vec<Pin<'s>>,
    /// In compared bundles.
    pub(super) cost: usize,
}

impl<'s> Pins<'s> {
    /// The pins that some offer would accept from here.
    pub(super) fn of(offers: &[Offer<'s>], origin: &Origin<'_>) -> Self {
        Self::without_known(offers, origin, None)
    }

    /// The same, without the bundles of the first offer that are in `known`.
    pub(super) fn without_known(
        offers: &[Offer<'s>],
        origin: &Origin<'_>,
        known: Option<&BundleSet>,
    ) -> Self {
        let mut pins = Vec::new();
        let mut crashing = Vec::new();
        let mut cost = 0;
        for (at, offer) in offers.iter().enumerate() {
            let mut accepted = offer.accepted(origin);
            cost += offer.package.successors_cost(accepted.bundles.len());
            if let Some(known) = known.filter(|_| at == 0) {
                accepted.bundles.subtract(known);
            }
            let bundles = readable(at, offer, &accepted.bundles);
            pins.extend(best_of_versions(&bundles, offer));
            if !accepted.successors.crashes.is_empty() {
                crashing.extend(readable(at, offer, &accepted.successors.crashes));
            }
        }
        pins.sort_by(Pin::cmp_height);
        crashing.sort_by(Pin::cmp_height);
        cost += pins.len();
        Self {
            pins: without(pins, crashing),
            cost,
        }
    }
}

impl Pin<'_> {
    pub(super) fn is_of_version(&self, other: &Self) -> bool {
        self.version.cmp_precedence(other.version).is_eq()
    }

    fn cmp_height(&self, other: &Self) -> Ordering {
        let version = other.version.cmp_precedence(self.version);
        version.then(self.offer.cmp(&other.offer))
    }
}

/// The bundles of a set that a version can pin, best first.
fn readable<'s>(at: usize, offer: &Offer<'s>, bundles: &BundleSet) -> Vec<Pin<'s>> {
    let package = offer.package;
    let pin = |bundle: BundleIndex| {
        let read = package.bundle(bundle).version.as_ref().ok()?;
        Some(Pin {
            version: &read.version,
            offer: at,
            bundle,
        })
    };
    bundles.iter().filter_map(pin).collect()
}

/// Of one offer's bundles, best first, the one that it gives for each version.
fn best_of_versions<'s>(bundles: &[Pin<'s>], offer: &Offer<'s>) -> impl Iterator<Item = Pin<'s>> {
    let is_kept = |pin: &&Pin<'_>| !offer.package.is_deprecated(pin.bundle);
    let versions = bundles.chunk_by(Pin::is_of_version);
    let best = versions.filter_map(move |same| same.iter().find(is_kept).or(same.first()));
    best.copied()
}

/// The pins whose version is not among these; both with the highest version first.
fn without<'s>(mut pins: Vec<Pin<'s>>, crashing: Vec<Pin<'s>>) -> Vec<Pin<'s>> {
    if crashing.is_empty() {
        return pins;
    }
    let mut crashing = crashing.into_iter().peekable();
    pins.retain(|pin| {
        let is_higher = |crash: &Pin<'_>| crash.version.cmp_precedence(pin.version).is_gt();
        while crashing.next_if(is_higher).is_some() {}
        !crashing
            .peek()
            .is_some_and(|crash| crash.is_of_version(pin))
    });
    pins
}
