//! The shortest path from an installed bundle to another one. Each step is an edit that is allowed.
//!
//! A step is an edit that pins one version, with the channels and the selector of the request. The next step starts at
//! the bundle that the pin resolves to, as operator-controller records it. So a step is more than an edge: it also
//! chooses between catalogs, and it can be refused although an edge exists.

mod search;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::resolve::olmv1::{Choice, ChoiceError, choose_among};
use crate::resolve::{Effort, Guards, InstallBound, MatchingPolicies, Offer, Origin};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::Version;
use olmguard_catalog::{BundleIndex, BundleSet};

pub use crate::resolve::path::search::PathSearch;

/// The bounds of a path, in addition to edges.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a, 's> {
    /// The rules of this release of OLM.
    pub rules: &'a Rules,
    /// The guardrails.
    pub guards: &'a Guards<'s>,
    /// The upgrade policies that match the extension; absent if they are not applied.
    pub policies: Option<&'a MatchingPolicies<'a, 's>>,
    /// The installation settings, if a bundle that cannot be installed is refused.
    pub install: Option<InstallBound<'a>>,
    /// The effort that the search draws on; `None` for a search without this bound.
    pub effort: Option<&'a Effort<'a>>,
}

impl<'s> Bounds<'_, 's> {
    /// Whether guardrails, policies and the installation check all allow an edit that pins this bundle.
    fn allow(&self, from: &Origin<'_>, to: &Choice<'s>) -> bool {
        let here = from.version().map(|here| &here.version);
        let policies = self.policies;
        self.guards.allow(here, to)
            && policies.is_none_or(|policies| policies.allow_pin(from, to))
            && self.installs(to)
    }

    fn installs(&self, to: &Choice<'_>) -> bool {
        self.install
            .is_none_or(|install| !install.refuses(to, self.rules))
    }

    /// Whether neither guardrails nor policies apply to paths. [`PathSearch`] then decides as the rows do.
    pub fn are_edges_alone(&self) -> bool {
        self.guards.is_empty() && self.policies.is_none_or(MatchingPolicies::is_empty)
    }

    /// The most values that one step is compared with.
    fn weight(&self) -> usize {
        let install = usize::from(self.install.is_some()) * self.rules.installs.len();
        self.guards.weight() + self.policies.map_or(0, MatchingPolicies::weight) + install
    }
}

/// The result of a search for a path.
#[derive(Clone, Debug)]
pub struct PathFound<'s> {
    /// The shortest path to the goal, otherwise to the highest candidate that was reached. Each step is the bundle that
    /// its pin resolves to, and the end of the path is last. Never empty.
    pub steps: Option<Vec<Choice<'s>>>,
    /// Whether the search reached its limit, so a bundle that it did not reach may still be reachable.
    pub is_cut: bool,
}

/// The bundles that can be reached from an installed one, each with its number of steps.
#[derive(Clone, Debug)]
pub struct ReachableBundles<'s> {
    reached: Vec<(Choice<'s>, usize)>,
    /// Whether the search reached its limit, so more bundles may be reachable.
    pub is_cut: bool,
}

impl ReachableBundles<'_> {
    /// The number of steps to a bundle; `None` for the installed bundle and for a bundle that cannot be reached.
    pub fn steps_to(&self, bundle: &Choice<'_>) -> Option<usize> {
        let reached = self.reached.iter();
        let mut same = reached.filter(|(reached, _)| reached == bundle);
        same.next().map(|(_, steps)| *steps)
    }
}

// === Why an edit that pins the version of a bundle does not install that bundle ===

/// The edits that each pin one version, from an installed bundle.
#[derive(Debug)]
pub struct Edits<'o, 's> {
    offers: &'o [Offer<'s>],
    /// The pins, the highest version first.
    pins: Vec<Pin<'s>>,
}

/// Why an edit does not install a bundle.
#[derive(Clone, Debug)]
pub enum NotGiven<'s> {
    /// Several catalogs of the same priority have the version.
    Ambiguous(Vec<Choice<'s>>),
    /// The edit installs this bundle instead, from another catalog or of the same version.
    Another(Choice<'s>),
    /// The edit resolves to this bundle, which OLM then refuses.
    Refused(Choice<'s>),
    /// No edit pins the version, because OLM crashes on a `skipRange` or because no edge ends there.
    NoPin,
}

impl<'o, 's> Edits<'o, 's> {
    /// The edits that some offer accepts from this origin.
    pub fn of(offers: &'o [Offer<'s>], origin: &Origin<'_>) -> Self {
        Self {
            offers,
            pins: Pins::of(offers, origin).pins,
        }
    }

    /// Why the edit that pins the version of a bundle does not install it. `None` if the edit does, and for a bundle
    /// whose version cannot be read.
    pub fn not_given(&self, bundle: &Choice<'s>) -> Option<NotGiven<'s>> {
        let version = bundle.version()?;
        let pinned = self.pinning(version).iter();
        let candidates =
            pinned.filter_map(|pin| Some(self.offers.get(pin.offer)?.choice(pin.bundle)));
        match choose_among(candidates) {
            Ok(resolved) if resolved.choice == *bundle => None,
            Ok(resolved) => Some(NotGiven::Another(resolved.choice)),
            Err(ChoiceError::Nothing) => Some(NotGiven::NoPin),
            Err(ChoiceError::Ambiguous(left)) => Some(NotGiven::Ambiguous(left)),
            Err(ChoiceError::BundleVersion(choice, _) | ChoiceError::Dependency(choice, _)) => {
                Some(NotGiven::Refused(choice))
            }
        }
    }

    /// The pins of a version, at most one per offer.
    fn pinning(&self, version: &Version) -> &[Pin<'s>] {
        let is_above = |pin: &Pin<'_>| pin.version.cmp_precedence(version).is_gt();
        let begin = self.pins.partition_point(is_above);
        let rest = self.pins.get(begin..).unwrap_or_default();
        let is_same = |pin: &Pin<'_>| pin.version.cmp_precedence(version).is_eq();
        let end = rest.partition_point(is_same);
        rest.get(..end).unwrap_or_default()
    }
}

// === The edits that pin one version, and the bundle that each offer has for them ===
//
// Invariant: a version on which OLM crashes in one catalog is pinned in none. OLM reads every catalog before it
// chooses, so the edit fails even if another catalog has the version.

/// The bundle that one offer has for one pinned version.
#[derive(Clone, Copy, Debug)]
struct Pin<'s> {
    version: &'s Version,
    /// The index of the offer.
    offer: usize,
    bundle: BundleIndex,
}

/// The pins of an expansion, and the cost of finding them.
#[derive(Debug)]
struct Pins<'s> {
    /// The pins, the highest version first, and within a version in the order of the offers.
    pins: Vec<Pin<'s>>,
    /// The cost, in compared bundles.
    cost: usize,
}

impl<'s> Pins<'s> {
    /// The pins that some offer accepts from this origin.
    fn of(offers: &[Offer<'s>], origin: &Origin<'_>) -> Self {
        Self::without_known(offers, origin, None)
    }

    /// The same pins, without the bundles of the first offer that are in `known`.
    fn without_known(offers: &[Offer<'s>], origin: &Origin<'_>, known: Option<&BundleSet>) -> Self {
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

    /// Adds the bundle that one offer has for each version. Its bundles are given best first.
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

    /// Removes the pins with the version of a crash. Both lists have the highest version first.
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
    /// Whether the same edit makes both pins. An offer has at most one pin per version.
    fn is_of_one_edit(&self, other: &Self) -> bool {
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

/// The bundles of a set whose version can be pinned, best first.
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
