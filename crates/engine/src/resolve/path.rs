//! The shortest path from an installed bundle to another: each step is an admitted edit.
//!
//! A step is an edit that pins one version, with the channels and the selector of the request. The next step starts at
//! the bundle that it resolves to, as the controller records it. So a step is more than an edge: it also chooses
//! between catalogs, and can be refused although an edge exists.

mod pins;
mod search;
#[cfg(test)]
mod tests;

use crate::resolve::olmv1::{Choice, ChoiceError, choose_among};
use crate::resolve::path::pins::{Pin, Pins};
use crate::resolve::{Effort, Guards, InstallBound, MatchingPolicies, Offer, Origin};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::Version;

pub use crate::resolve::path::search::PathSearch;

/// The bounds of a path apart from edges.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a, 's> {
    /// The rules of the OLM.
    pub rules: &'a Rules,
    /// The guardrails.
    pub guards: &'a Guards<'s>,
    /// The upgrade policies that match the extension; absent if they are not applied.
    pub policies: Option<&'a MatchingPolicies<'a, 's>>,
    /// How a bundle is to be installed, if one that cannot be is refused.
    pub install: Option<InstallBound<'a>>,
    /// The effort that the search is paid from; `None` for a search without that bound.
    pub effort: Option<&'a Effort<'a>>,
}

impl<'s> Bounds<'_, 's> {
    /// Whether an edit that pins this bundle is denied neither for its installation nor by guardrails and policies.
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

    /// Whether neither guardrails nor policies bind paths. Then [`PathSearch`] decides as the rows do.
    pub fn are_edges_alone(&self) -> bool {
        self.guards.is_empty() && self.policies.is_none_or(MatchingPolicies::is_empty)
    }

    /// How many values one step is compared with at most.
    fn weight(&self) -> usize {
        let install = usize::from(self.install.is_some()) * self.rules.installs.len();
        self.guards.weight() + self.policies.map_or(0, MatchingPolicies::weight) + install
    }
}

/// The result of a search for a path.
#[derive(Clone, Debug)]
pub struct PathFound<'s> {
    /// The shortest path to the goal, otherwise to the highest candidate that was reached: the bundle that the pin of each
    /// step resolves to, the last one last. Never empty.
    pub steps: Option<Vec<Choice<'s>>>,
    /// Whether the search ended at its bound: a bundle that it did not reach can still be reachable.
    pub is_cut: bool,
}

/// The shortest path to a goal bundle, otherwise to the highest candidate of the offers that can be reached.
/// [`PathSearch`] answers several queries.
pub fn shortest_path<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    goal: Option<Choice<'s>>,
    bounds: &Bounds<'_, 's>,
) -> PathFound<'s> {
    PathSearch::from(offers, origin, bounds).path_to(goal, offers)
}

/// The bundles that can be reached from an installed one, each with its number of steps.
#[derive(Clone, Debug)]
pub struct ReachableBundles<'s> {
    reached: Vec<(Choice<'s>, usize)>,
    /// Whether the search ended at its bound: more bundles can be reachable.
    pub is_cut: bool,
}

impl ReachableBundles<'_> {
    /// How many steps away a bundle is; `None` if it cannot be reached, and for the installed one.
    pub fn steps_to(&self, bundle: &Choice<'_>) -> Option<usize> {
        let reached = self.reached.iter();
        let mut same = reached.filter(|(reached, _)| reached == bundle);
        same.next().map(|(_, steps)| *steps)
    }
}

/// Everything that can be reached, within the bounds of [`PathSearch`].
pub fn reach<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    bounds: &Bounds<'_, 's>,
) -> ReachableBundles<'s> {
    PathSearch::from(offers, origin, bounds).everywhere()
}

// === Why an edit that pins the version of a bundle does not give that bundle ===

/// The edits that pin one version each, from what is installed.
#[derive(Debug)]
pub struct Edits<'o, 's> {
    offers: &'o [Offer<'s>],
    /// The highest version first.
    pins: Vec<Pin<'s>>,
}

/// Why an edit does not give a bundle.
#[derive(Clone, Debug)]
pub enum NotGiven<'s> {
    /// These catalogs of one priority have the version.
    Ambiguous(Vec<Choice<'s>>),
    /// The edit gives this bundle: of another catalog, or of the same version.
    Another(Choice<'s>),
    /// The edit chooses this bundle, and then OLM refuses it.
    Refused(Choice<'s>),
    /// No edit pins the version: a `skipRange` crashes OLM over it, or no edge leads to it.
    NoPin,
}

impl<'o, 's> Edits<'o, 's> {
    /// The edits that some offer accepts from here.
    pub fn of(offers: &'o [Offer<'s>], origin: &Origin<'_>) -> Self {
        Self {
            offers,
            pins: Pins::of(offers, origin).pins,
        }
    }

    /// Why the edit that pins a bundle's version does not give it; `None` if it does, and for a bundle whose version
    /// cannot be read.
    pub fn not_given(&self, bundle: &Choice<'s>) -> Option<NotGiven<'s>> {
        let version = &bundle.bundle().version.as_ref().ok()?.version;
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

    /// The pins of a version, one bundle of each offer.
    fn pinning(&self, version: &Version) -> &[Pin<'s>] {
        let is_above = |pin: &Pin<'_>| pin.version.cmp_precedence(version).is_gt();
        let begin = self.pins.partition_point(is_above);
        let rest = self.pins.get(begin..).unwrap_or_default();
        let is_same = |pin: &Pin<'_>| pin.version.cmp_precedence(version).is_eq();
        let end = rest.partition_point(is_same);
        rest.get(..end).unwrap_or_default()
    }
}
