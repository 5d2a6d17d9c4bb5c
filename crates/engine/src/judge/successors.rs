//! The bundles that the successor rule accepts, whatever the range and the policy.
//!
//! In a large package these can be thousands, and no row needs them. So only a report that lists them asks for them.

use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::{Basis, Request, Ruling};
use crate::snapshot::CatalogState;
use olmguard_catalog::{BundleSet, Package};

/// The bundles of one catalog that the successor rule accepts.
#[derive(Clone, Debug)]
pub struct AcceptedBundles<'s> {
    /// The catalog.
    pub catalog: &'s CatalogState,
    /// The package in it.
    pub package: &'s Package,
    /// The bundles.
    pub bundles: BundleSet,
}

/// For each catalog that has the package, the bundles of the requested channels that the successor rule accepts.
///
/// `None` if nothing readable is installed, and if one of rows 1 to 7 or 10a answered.
pub fn successors<'s>(
    basis: Basis<'s>,
    request: &Request<'_>,
    ruling: &Ruling<'_>,
) -> Option<Vec<AcceptedBundles<'s>>> {
    if !lists_successors(ruling) {
        return None;
    }
    let question = FilterQuestion::of(basis, request.filter).ok()?;
    let installed = ReadInstalled::of(request.installed, basis.snapshot.rules());
    let origin = installed.origin()?;
    let accepted = question.offers().iter().map(|offer| AcceptedBundles {
        catalog: offer.catalog,
        package: offer.package,
        bundles: offer.accepted(origin).bundles,
    });
    Some(accepted.collect())
}

/// Whether none of rows 1 to 7 and 10a answered.
fn lists_successors(ruling: &Ruling<'_>) -> bool {
    match ruling {
        Ruling::ChannelNotFound { .. }
        | Ruling::NotInChannel { .. }
        | Ruling::VersionNotFound { .. }
        | Ruling::Downgrade(..)
        | Ruling::NotASuccessor(..)
        | Ruling::AmbiguousCatalogs(_)
        | Ruling::BundleVersionInvalid(..)
        | Ruling::UnsupportedDependency(..)
        | Ruling::Guardrail(_)
        | Ruling::Preflight(_)
        | Ruling::Policy(_)
        | Ruling::PoliciesUnknown(_)
        | Ruling::Allowed(..) => true,
        Ruling::NotJudged(_)
        | Ruling::Unanswered(_)
        | Ruling::InvalidSpec(_)
        | Ruling::InvalidSelector(_)
        | Ruling::InvalidVersionRange(_)
        | Ruling::NoCatalogs(_)
        | Ruling::InstalledUnknown(_)
        | Ruling::CatalogNotLoaded(_)
        | Ruling::CatalogOutdated(_)
        | Ruling::PackageNotFound { .. }
        | Ruling::InstalledVersionInvalid(_)
        | Ruling::BrokenSkipRange(_) => false,
    }
}
