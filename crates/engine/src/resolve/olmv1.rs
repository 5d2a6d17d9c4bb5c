//! The choice of one bundle from the catalogs that offer the package: the successors in each catalog, then the best of
//! all.
//!
//! Upstream: operator-controller, [`internal/operator-controller/resolve/catalog.go`]. Within a catalog, bundles that
//! are not deprecated come before deprecated ones, then the highest version and release wins. Between catalogs,
//! deprecation counts before priority, and two catalogs at the highest priority are ambiguous. Successors are the
//! bundles at the end of an edge, and the installed bundle itself:
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`].
//!
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/filter/successors.go
//! [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

use crate::resolve::{Offer, Origin};
use crate::snapshot::CatalogState;
use olmguard_catalog::version::{Membership, Version, VersionRelease};
use olmguard_catalog::{
    AskedChannels, Bundle, BundleIndex, BundleSet, BundleVersionError, DependencyKind, Package,
    Successors,
};

/// The candidates of one offer that upgrade edges allow.
#[derive(Debug)]
pub struct Match<'o, 's> {
    /// The offer.
    pub offer: &'o Offer<'s>,
    /// The candidates that remain.
    pub matched: BundleSet,
    /// The best candidate on which OLM crashes before it finds an edge.
    pub crashing: Option<BundleIndex>,
}

/// One bundle of one catalog.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'s> {
    /// The catalog.
    pub catalog: &'s CatalogState,
    /// The package in it.
    pub package: &'s Package,
    /// The bundle.
    pub index: BundleIndex,
}

/// The bundle that resolution returns, with the catalog that resolution also returns.
#[derive(Clone, Copy, Debug)]
pub struct Resolution<'s> {
    /// The bundle.
    pub choice: Choice<'s>,
    /// The catalog whose deprecations are returned: the catalog of the last candidate, not of the chosen one.
    pub deprecations_of: Option<&'s CatalogState>,
}

/// Why no bundle is returned.
#[derive(Debug)]
pub enum ChoiceError<'s> {
    /// No candidate is left.
    Nothing,
    /// Several catalogs tie at the highest priority: all remaining candidates.
    Ambiguous(Vec<Choice<'s>>),
    /// The version of the chosen bundle cannot be read.
    BundleVersion(Choice<'s>, &'s BundleVersionError),
    /// The chosen bundle declares a dependency; there is no second choice.
    Dependency(Choice<'s>, DependencyKind),
}

/// Two choices are equal if they are the same bundle of the same catalog. Both belong to one snapshot, so catalogs are
/// compared by address.
impl PartialEq for Choice<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is_of(other.catalog) && self.index == other.index
    }
}

impl Eq for Choice<'_> {}

impl<'s> Choice<'s> {
    /// Whether the bundle belongs to this catalog, which must be of the same snapshot.
    pub fn is_of(&self, catalog: &CatalogState) -> bool {
        std::ptr::eq(self.catalog, catalog)
    }

    /// The bundle itself.
    pub fn bundle(&self) -> &'s Bundle {
        self.package.bundle(self.index)
    }

    /// The version and release of the bundle, if they can be read.
    pub fn version_release(&self) -> Option<&'s VersionRelease> {
        self.bundle().version.as_ref().ok()
    }

    /// The version of the bundle, if it can be read.
    pub fn version(&self) -> Option<&'s Version> {
        self.version_release().map(|read| &read.version)
    }

    /// Whether the deprecations of the catalog include the bundle.
    pub fn is_deprecated(&self) -> bool {
        self.bundle().deprecated.is_some()
    }
}

/// Why OLM v1 refuses a bundle that it has chosen.
#[derive(Clone, Copy, Debug)]
pub enum Refusal<'s> {
    /// The version of the bundle cannot be read.
    Version(&'s BundleVersionError),
    /// The bundle declares a dependency.
    Dependency(DependencyKind),
}

impl<'s> Refusal<'s> {
    /// The refusal of this bundle; `None` if OLM would install it.
    pub fn of(bundle: &'s Bundle) -> Option<Self> {
        match (&bundle.version, bundle.dependency) {
            (Err(error), _) => Some(Self::Version(error)),
            (Ok(_), Some(kind)) => Some(Self::Dependency(kind)),
            (Ok(_), None) => None,
        }
    }
}

impl<'o, 's> Match<'o, 's> {
    /// All candidates of an offer.
    pub fn without_edges(offer: &'o Offer<'s>) -> Self {
        Self {
            offer,
            matched: offer.candidates.clone(),
            crashing: None,
        }
    }
}

/// Removes the candidates of every offer that no upgrade edge allows. Without an origin, all candidates remain.
pub fn weigh<'o, 's>(offers: &'o [Offer<'s>], origin: Option<&Origin<'_>>) -> Vec<Match<'o, 's>> {
    offers
        .iter()
        .map(|offer| weigh_one(offer, origin))
        .collect()
}

/// The bundle that resolution returns for these matches.
pub fn choose<'s>(matches: &[Match<'_, 's>]) -> Result<Resolution<'s>, ChoiceError<'s>> {
    choose_among(matches.iter().filter_map(|found| {
        found
            .offer
            .package
            .preferred(&found.matched)
            .map(|index| found.offer.choice(index))
    }))
}

/// The bundle that resolution returns for one candidate per catalog, in the order of the catalogs.
pub(super) fn choose_among<'s>(
    candidates: impl Iterator<Item = Choice<'s>>,
) -> Result<Resolution<'s>, ChoiceError<'s>> {
    let mut last: Option<Choice<'s>> = None;
    let mut before = Vec::new();
    for candidate in candidates {
        match last.map(|last| (last.is_deprecated(), last)) {
            Some((false, _)) if candidate.is_deprecated() => continue,
            Some((true, _)) if !candidate.is_deprecated() => before.clear(),
            Some((_, last)) => before.push(last),
            None => {}
        }
        last = Some(candidate);
    }
    let last = last.ok_or(ChoiceError::Nothing)?;
    let deprecations_of = last.package.has_deprecations().then_some(last.catalog);
    let choice = prior(before, last)?;
    check(choice)?;
    Ok(Resolution {
        choice,
        deprecations_of,
    })
}

fn weigh_one<'o, 's>(offer: &'o Offer<'s>, origin: Option<&Origin<'_>>) -> Match<'o, 's> {
    let Some(origin) = origin else {
        return Match::without_edges(offer);
    };
    let LeftCandidates { bundles, crashing } = offer.left(origin);
    Match {
        offer,
        matched: bundles,
        crashing,
    }
}

/// The only candidate at the highest priority, among `before` and `last`.
fn prior<'s>(before: Vec<Choice<'s>>, last: Choice<'s>) -> Result<Choice<'s>, ChoiceError<'s>> {
    let mut left = before;
    if left.is_empty() {
        return Ok(last);
    }
    left.push(last);
    left.sort_by_key(|choice| std::cmp::Reverse(choice.catalog.priority));
    match left.as_slice() {
        [first, second, ..] if first.catalog.priority != second.catalog.priority => Ok(*first),
        _ => Err(ChoiceError::Ambiguous(left)),
    }
}

fn check(choice: Choice<'_>) -> Result<(), ChoiceError<'_>> {
    match Refusal::of(choice.bundle()) {
        Some(Refusal::Version(error)) => Err(ChoiceError::BundleVersion(choice, error)),
        Some(Refusal::Dependency(kind)) => Err(ChoiceError::Dependency(choice, kind)),
        None => Ok(()),
    }
}

// === The successor rule on one offer, regardless of the range and the policy ===

/// The bundles of one offer that the successor rule accepts.
#[derive(Clone, Debug)]
pub struct AcceptedSuccessors {
    /// The bundles in the requested channels that an edge ends at, or that count as the installed one.
    pub bundles: BundleSet,
    /// The bundles on which OLM crashes before it finds an edge of the requested channels.
    pub crashes: BundleSet,
}

/// The candidates of one offer that the successor rule accepts.
#[derive(Debug)]
pub(super) struct LeftCandidates {
    /// The accepted candidates.
    pub(super) bundles: BundleSet,
    /// The best candidate on which OLM crashes.
    pub(super) crashing: Option<BundleIndex>,
}

impl Offer<'_> {
    /// The candidates that the successor rule accepts. If there is only one candidate, only its own edges are compared.
    pub(super) fn left(&self, origin: &Origin<'_>) -> LeftCandidates {
        let Some(only) = self.candidates.only() else {
            return self.left_of_many(origin);
        };
        let edge = self.edge_to(only, origin);
        let is_left = edge == Membership::Holds || origin.is_same(only, self.package);
        LeftCandidates {
            bundles: if is_left {
                self.candidates.clone()
            } else {
                self.package.no_bundle()
            },
            crashing: (edge == Membership::Crashes).then_some(only),
        }
    }

    fn left_of_many(&self, origin: &Origin<'_>) -> LeftCandidates {
        if self.candidates.is_empty() {
            return LeftCandidates {
                bundles: self.package.no_bundle(),
                crashing: None,
            };
        }
        let AcceptedSuccessors {
            mut bundles,
            mut crashes,
        } = self.accepted(origin);
        bundles.intersect(&self.candidates);
        crashes.intersect(&self.candidates);
        LeftCandidates {
            bundles,
            crashing: crashes.first(),
        }
    }

    /// Whether the successor rule accepts this candidate.
    pub fn accepts(&self, candidate: BundleIndex, origin: &Origin<'_>) -> bool {
        debug_assert!(self.candidates.contains(candidate), "another bundle");
        let is_edge = self.edge_to(candidate, origin) == Membership::Holds;
        is_edge || origin.is_same(candidate, self.package)
    }

    fn edge_to(&self, bundle: BundleIndex, origin: &Origin<'_>) -> Membership {
        origin.edge_to(bundle, self.package, &self.asked)
    }

    /// The bundles that the successor rule accepts from this origin.
    pub fn accepted(&self, origin: &Origin<'_>) -> AcceptedSuccessors {
        let place = origin.place_in(self.package);
        let Successors {
            edges: mut bundles,
            crashes,
        } = origin.successors_at(place, self.package, &self.asked);
        origin.add_same_at(place, self.package, &mut bundles);
        bundles.intersect(&self.members);
        AcceptedSuccessors { bundles, crashes }
    }
}

// === A request without a version, for callers that have only one package ===

/// A request for any version in some channels of a package.
#[derive(Clone, Debug)]
pub struct Unpinned<'p> {
    package: &'p Package,
    channels: AskedChannels,
    /// The bundles that can be chosen.
    members: BundleSet,
    /// The bundles that OLM does not install if it chooses them.
    refused: BundleSet,
}

impl<'p> Unpinned<'p> {
    /// The request for any version in these channels.
    pub fn of(package: &'p Package, channels: AskedChannels) -> Self {
        let mut refused = package.every_bundle();
        refused.retain(|index| {
            let bundle = package.bundle(index);
            bundle.image_fault.is_some() || Refusal::of(bundle).is_some()
        });
        Self {
            members: package.members(&channels),
            package,
            channels,
            refused,
        }
    }

    /// The same request, with further bundles that OLM does not install.
    pub fn refusing(mut self, is_refused: impl Fn(&Bundle) -> bool) -> Self {
        let mut refused = self.package.every_bundle();
        refused.retain(|index| is_refused(self.package.bundle(index)));
        self.refused.unite(&refused);
        self
    }

    /// Whether a bundle can be chosen.
    pub fn may_choose(&self, bundle: BundleIndex) -> bool {
        self.members.contains(bundle)
    }

    /// The successors of the installed bundle that an edit can install, without the installed bundle itself. In ranges,
    /// an unknown version counts as 0.0.0.
    pub fn successors(&self, name: &str, version: Option<&VersionRelease>) -> BundleSet {
        let mut successors = self.accepted(name, version).edges;
        successors.retain(|index| !self.refused.contains(index));
        successors
    }

    /// The bundle that OLM installs next: the best of the successors and of the bundles with the installed version.
    /// `None` if this is the installed bundle, or if OLM refuses it or crashes before it has chosen.
    pub fn next(&self, name: &str, version: Option<&VersionRelease>) -> Option<BundleIndex> {
        let best = self.best(name, version);
        best.filter(|index| !self.refused.contains(*index))
    }

    /// The bundle that OLM chooses next but does not install.
    pub fn refused(&self, name: &str, version: Option<&VersionRelease>) -> Option<BundleIndex> {
        let best = self.best(name, version);
        best.filter(|index| self.refused.contains(*index))
    }

    /// Whether OLM crashes on a skipRange before it has chosen.
    pub fn crashes(&self, name: &str, version: Option<&VersionRelease>) -> bool {
        self.accepted(name, version).crashes.first().is_some()
    }

    fn best(&self, name: &str, version: Option<&VersionRelease>) -> Option<BundleIndex> {
        let Successors {
            edges: mut candidates,
            crashes,
        } = self.accepted(name, version);
        if crashes.first().is_some() {
            return None;
        }
        if let Some(version) = version {
            candidates.unite(&self.package.same_version(version));
            candidates.intersect(&self.members);
        }
        let best = self.package.preferred(&candidates)?;
        (*self.package.bundle(best).name != *name).then_some(best)
    }

    /// The successors with another name among the bundles that can be chosen, and those on which OLM crashes.
    fn accepted(&self, name: &str, version: Option<&VersionRelease>) -> Successors {
        let zero = Version::zero();
        let at = version.map_or(&zero, |read| &read.version);
        let mut found = self.package.successors(Some(name), at, &self.channels);
        let is_other = |index| *self.package.bundle(index).name != *name;
        found.edges.retain(is_other);
        found.edges.intersect(&self.members);
        found.crashes.intersect(&self.members);
        found
    }
}
