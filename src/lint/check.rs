//! The checks, family by family; each is a function from facts to findings.

mod bundles;
mod conversion;
mod deprecations;
mod edges;
mod limits;
mod load;
mod model;
mod offers;
mod ranges;
mod retired;
mod support;
mod targets;
mod ways;

use super::chain::{Chain, ChainFault};
use super::finding::Report;
use super::view::{PackageView, Steps, View};
use super::written::Spot;

/// What the checks of one package are about.
struct Facts<'v, 'w> {
    package: &'v PackageView<'w>,
    steps: Steps<'w>,
    /// The order of each channel, in the order of the channels; none for one without entries.
    chains: Vec<Option<Result<Chain<'v, 'w>, ChainFault<'w>>>>,
}

/// Runs every check on one of some catalogs.
pub(super) fn all<'w>(view: &View<'w>, all: &[View<'w>], report: &mut Report<'_>) {
    load::check(view, report);
    conversion::check(view, report);
    bundles::homes(view, report);
    deprecations::check(view, report);
    for package in view.packages.values() {
        let facts = Facts {
            package,
            steps: Steps::of(package),
            chains: package.channels.iter().map(Chain::of).collect(),
        };
        limits::check(&facts, report);
        bundles::check(view, package, report);
        model::check(&facts, report);
        ways::check(&facts, report);
        edges::check(&facts, report);
        ranges::check(&facts, report);
        targets::check(package, view, report);
        retired::check(&facts, report);
        support::check(package, report);
        offers::check(view, package, all, report);
    }
}

impl Facts<'_, '_> {
    fn name(&self, node: usize) -> &str {
        self.steps.names.get(node).copied().unwrap_or_default()
    }
}

/// Where a part stands, or what it is part of where it is absent.
fn or(spot: Spot, otherwise: Spot) -> Spot {
    if spot == Spot::default() {
        otherwise
    } else {
        spot
    }
}
