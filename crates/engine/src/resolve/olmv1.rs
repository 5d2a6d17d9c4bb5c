//! The choice of one bundle out of the catalogs that offer the package.
//!
//! Upstream: operator-controller, [`internal/operator-controller/resolve/catalog.go`]. In each catalog:
//! not deprecated before deprecated, then the highest version and release. Between catalogs:
//! deprecation is weighed before priority; two at the highest priority are ambiguous.
//!
//! [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

use crate::resolve::accepted::LeftCandidates;
use crate::resolve::{Offer, Origin};
use crate::snapshot::CatalogState;
use olmguard_catalog::{
    Bundle, BundleIndex, BundleSet, BundleVersionError, DependencyKind, Package,
};

/// What is left of one offer once upgrade edges have been asked.
#[derive(Debug)]
pub struct Match<'o, 's> {
    /// The offer.
    pub offer: &'o Offer<'s>,
    /// The candidates that remain.
    pub matched: BundleSet,
    /// The best candidate on which OLM crashes before it finds an edge.
    pub crashing: Option<BundleIndex>,
}

/// The bundle that one catalog would give.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'s> {
    /// The catalog.
    pub catalog: &'s CatalogState,
    /// The package in it.
    pub package: &'s Package,
    /// The bundle.
    pub index: BundleIndex,
}

/// The bundle that resolution returns, and what it returns beside it.
#[derive(Clone, Copy, Debug)]
pub struct Resolution<'s> {
    /// The bundle.
    pub choice: Choice<'s>,
    /// The catalog whose deprecations are returned: that of the last candidate, not of the winner.
    pub deprecations_of: Option<&'s CatalogState>,
}

/// Why no bundle is returned.
#[derive(Debug)]
pub enum ChoiceError<'s> {
    /// Nothing is left.
    Nothing,
    /// Several catalogs tie at the highest priority; all that are left are named.
    Ambiguous(Vec<Choice<'s>>),
    /// The version of the bundle chosen cannot be read.
    BundleVersion(Choice<'s>, &'s BundleVersionError),
    /// The bundle chosen declares a dependency; there is no second choice.
    Dependency(Choice<'s>, DependencyKind),
}

/// Two are the same if they are one bundle of one catalog. Both are of one snapshot: a catalog is known by where
/// it lies.
impl PartialEq for Choice<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is_of(other.catalog) && self.index == other.index
    }
}

impl Eq for Choice<'_> {}

impl<'s> Choice<'s> {
    /// Whether it is a bundle of this catalog, which is of the same snapshot.
    pub fn is_of(&self, catalog: &CatalogState) -> bool {
        std::ptr::eq(self.catalog, catalog)
    }

    /// The bundle itself.
    pub fn bundle(&self) -> &'s Bundle {
        self.package.bundle(self.index)
    }

    /// Whether its catalog's deprecations name it.
    pub fn is_deprecated(&self) -> bool {
        self.bundle().deprecated.is_some()
    }
}

/// Why OLM v1 refuses a bundle that it has chosen.
#[derive(Clone, Copy, Debug)]
pub enum Refusal<'s> {
    /// Its version cannot be read.
    Version(&'s BundleVersionError),
    /// It declares a dependency.
    Dependency(DependencyKind),
}

impl<'s> Refusal<'s> {
    /// Of this bundle; none where it is installed.
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

/// Asks upgrade edges of every offer; without an origin all candidates remain.
pub fn weigh<'o, 's>(offers: &'o [Offer<'s>], origin: Option<&Origin<'_>>) -> Vec<Match<'o, 's>> {
    offers
        .iter()
        .map(|offer| weigh_one(offer, origin))
        .collect()
}

/// The bundle that resolution returns for what is left.
pub fn choose<'s>(matches: &[Match<'_, 's>]) -> Result<Resolution<'s>, ChoiceError<'s>> {
    choose_among(matches.iter().filter_map(|found| {
        found
            .offer
            .package
            .preferred(&found.matched)
            .map(|index| found.offer.choice(index))
    }))
}

/// The same for one candidate a catalog, in the order of the catalogs.
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

/// The single candidate of the highest priority, of the last one and those before it.
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
