//! Relation of each bundle to the installed one.

use std::collections::BTreeMap;

use serde::Serialize;

use olmguard_catalog::{BundleIndex, BundleSet};
use olmguard_engine::explain::{Places, PolicyReport, ReasonTable, Reasons};
use olmguard_engine::judge::affordable_steps;
use olmguard_engine::resolve::{
    Bounds, CatalogEdge, Choice, Edits, Guards, NotGiven, Offer, Origin, PathSearch,
    ReachableBundles,
};

/// Relation of a bundle to the installed one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The installed bundle, or one with the same version and release.
    Installed,
    /// A successor: there is an edge from the installed bundle.
    Successor,
    /// There is an edge, but guardrails or upgrade policies forbid the step. There can be another upgrade path.
    Forbidden,
    /// There is no edge, but an upgrade path of several steps.
    Reachable,
    /// The bundle is older, and no path to it was found.
    Older,
    /// There is no upgrade path.
    Unreachable,
    /// No path was found before the search reached its limit, or without the name of the installed bundle.
    NotFound,
}

/// Reasons why guardrails forbid an edge, by index of the offer and target of the edge.
type JudgedEdges = BTreeMap<(usize, BundleIndex), Places>;

/// Relations of all bundles of the offers to the installed one.
pub(super) struct Standings<'o, 's> {
    origin: Origin<'o>,
    offers: &'o [Offer<'s>],
    /// For each offer, the bundles with an edge from the installed one.
    edges: Vec<BundleSet>,
    /// For each offer, the bundles that count as the installed one.
    same: Vec<BundleSet>,
    reach: ReachableBundles<'s>,
    edits: Edits<'o, 's>,
    /// Reasons why guardrails forbid each edge that was checked. Empty for an edge that they allow.
    judged: JudgedEdges,
    pub(super) reasons: Reasons,
    bounds: Bounds<'o, 's>,
}

impl<'o, 's> Standings<'o, 's> {
    pub(super) fn of(offers: &'o [Offer<'s>], origin: Origin<'o>, bounds: Bounds<'o, 's>) -> Self {
        let edges = |offer: &Offer<'s>| {
            let mut edges = origin.successors(offer.package, &offer.asked).edges;
            edges.intersect(&offer.members);
            edges
        };
        let edges: Vec<_> = offers.iter().map(edges).collect();
        let same = offers.iter().map(|offer| origin.same(offer.package));
        let (judged, reasons) = judged(offers, &edges, &origin, bounds.guards);
        Self {
            same: same.collect(),
            reach: PathSearch::from(offers, &origin, &bounds).everywhere(),
            edits: Edits::of(offers, &origin),
            judged,
            reasons,
            bounds,
            edges,
            origin,
            offers,
        }
    }

    /// Whether the search for reachable bundles stopped at its limit.
    pub(super) fn is_cut(&self) -> bool {
        self.reach.is_cut
    }

    /// Returns how many edges guardrails were applied to, and the total, or `None` if to all.
    pub(super) fn unjudged(&self) -> Option<(usize, usize)> {
        let all = self.edges.iter().map(BundleSet::len).sum();
        let judged = self.judged.len();
        (judged < all).then_some((judged, all))
    }

    /// Whether all reachable bundles are known.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_cut() && self.unjudged().is_none()
    }

    /// Returns why no edit installs a bundle that has an edge.
    pub(super) fn not_given(&self, offer: &Offer<'s>, index: BundleIndex) -> Option<NotGiven<'s>> {
        self.edits.not_given(&offer.choice(index))
    }

    /// Whether OLM does not install a bundle.
    pub(super) fn is_uninstallable(&self, offer: &Offer<'s>, index: BundleIndex) -> bool {
        let Bounds { install, rules, .. } = self.bounds;
        install.is_some_and(|bound| bound.refuses(&offer.choice(index), rules))
    }

    /// Whether an upgrade to a bundle is suggested if the user names no version.
    pub(super) fn suggests(&self, offer: &Offer<'s>, index: BundleIndex) -> bool {
        self.origin.suggests(&offer.choice(index))
    }

    /// Returns the bundles between which OLM cannot choose, for the best version that has an edge.
    pub(super) fn tie(&self) -> Option<Vec<Choice<'s>>> {
        let edges = self.offers.iter().zip(&self.edges);
        let mut edges = edges.flat_map(|(offer, set)| set.iter().map(|to| offer.choice(to)));
        edges.find_map(|to| match self.edits.not_given(&to)? {
            NotGiven::Ambiguous(tied) => Some(tied),
            NotGiven::Another(_) | NotGiven::Refused(_) | NotGiven::NoPin => None,
        })
    }

    /// Returns the reasons why guardrails forbid the step to a bundle of the offer at index `at`, if it has an
    /// edge.
    pub(super) fn forbidden(&self, at: usize, index: BundleIndex) -> Places {
        let places = self.judged.get(&(at, index));
        places.cloned().unwrap_or_default()
    }

    /// Returns the upgrade policy rules that deny an edit to a bundle of the offer at index `at`, if it has an edge.
    pub(super) fn denied(
        &self,
        at: usize,
        offer: &Offer<'s>,
        index: BundleIndex,
    ) -> Vec<PolicyReport> {
        let policies = self.bounds.policies.filter(|_| has(&self.edges, at, index));
        let denials = policies.map(|policies| {
            let choice = offer.choice(index);
            policies.denials_of_pin(&self.origin, &choice)
        });
        let denials = denials.unwrap_or_default();
        denials
            .iter()
            .map(|found| PolicyReport::of(found, ""))
            .collect()
    }

    /// Returns the relation of a bundle of the offer at index `at`, and its number of steps.
    pub(super) fn standing(
        &self,
        at: usize,
        offer: &Offer<'s>,
        index: BundleIndex,
    ) -> (Standing, Option<usize>) {
        let steps = self.reach.steps_to(&offer.choice(index));
        let standing = if has(&self.same, at, index) {
            Standing::Installed
        } else if has(&self.edges, at, index) {
            self.of_edge((at, index), offer, steps)
        } else if steps.is_some() {
            Standing::Reachable
        } else if self.origin.is_newer_than(offer.package, index) {
            Standing::Older
        } else if self.reach.is_cut || self.origin.name().is_none() {
            Standing::NotFound
        } else {
            Standing::Unreachable
        };
        let steps = steps.filter(|_| standing != Standing::Installed);
        (standing, steps)
    }

    /// Returns the relation of a bundle that has an edge.
    ///
    /// The search takes no forbidden step. A bundle that it found one step away is therefore allowed, even if
    /// guardrails were not applied to its edge here.
    fn of_edge(
        &self,
        (at, index): (usize, BundleIndex),
        offer: &Offer<'s>,
        steps: Option<usize>,
    ) -> Standing {
        if !self.denied(at, offer, index).is_empty() {
            return Standing::Forbidden;
        }
        match (self.judged.get(&(at, index)), steps) {
            (Some(reasons), _) if !reasons.is_empty() => Standing::Forbidden,
            (Some(_), _) | (None, Some(1)) => Standing::Successor,
            (None, Some(_)) => Standing::Reachable,
            (None, None) => Standing::NotFound,
        }
    }
}

/// Applies guardrails to the edges from the installed bundle, in the order of the list.
fn judged<'s>(
    offers: &[Offer<'s>],
    edges: &[BundleSet],
    origin: &Origin<'_>,
    guards: &Guards<'s>,
) -> (JudgedEdges, Reasons) {
    let mut gathered = ReasonTable::default();
    let leading = offers.iter().zip(edges).enumerate();
    let leading = leading.flat_map(|(at, (offer, set))| set.iter().map(move |to| (at, offer, to)));
    let affordable = leading.take(affordable_steps(guards.weight()));
    let steps = affordable.map(|(at, offer, to)| {
        let violations = origin.version().map_or_else(Vec::new, |from| {
            guards.violations(&from.version, &offer.choice(to), CatalogEdge::Present)
        });
        ((at, to), gathered.places(&violations, &[]))
    });
    (steps.collect(), gathered.finish())
}

/// Whether a bundle is in the set of the offer at index `at`.
fn has(sets: &[BundleSet], at: usize, index: BundleIndex) -> bool {
    sets.get(at).is_some_and(|set| set.contains(index))
}
