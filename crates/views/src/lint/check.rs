//! The checks, family by family; each is a function from facts to findings.

mod bundles;
mod conversion;
mod deprecations;
mod edges;
mod guardrails;
mod keys;
mod limits;
mod load;
mod model;
mod offers;
mod ranges;
mod retired;
mod support;
mod targets;
mod ways;

use std::collections::HashSet;

use super::chain::{Chain, ChainFault};
use super::finding::Findings;
use super::view::{PackageView, Steps, View};
use super::written::Spot;

/// What the checks of one package are about.
struct PackageCheck<'v, 'w> {
    package: &'v PackageView<'w>,
    steps: Steps<'w>,
    /// The order of each channel, in the order of the channels; none for one without entries.
    chains: Vec<Option<Result<Chain<'v, 'w>, ChainFault<'w>>>>,
    /// What is deprecated: schema and name.
    deprecated: HashSet<(&'w str, &'w str)>,
}

/// Runs every check on one of some catalogs.
pub(super) fn all<'w>(view: &View<'w>, all: &[View<'w>], report: &mut Findings<'_>) {
    load::check(view, report);
    conversion::check(view, report);
    bundles::homes(view, report);
    deprecations::check(view, report);
    guardrails::blobs(view, report);
    keys::check(view.written, report);
    for package in view.packages.values() {
        let facts = PackageCheck {
            package,
            steps: Steps::of(package),
            chains: package.channels.iter().map(Chain::of).collect(),
            deprecated: deprecated(package),
        };
        limits::check(&facts, report);
        bundles::check(view, package, report);
        model::check(&facts, report);
        ways::check(&facts, report);
        edges::check(&facts, report);
        ranges::check(&facts, report);
        targets::check(&facts, view, report);
        retired::check(&facts, report);
        guardrails::check(&facts, report);
        support::check(package, report);
        offers::check(view, package, all, report);
    }
}

impl PackageCheck<'_, '_> {
    fn name(&self, node: usize) -> &str {
        self.steps.names.get(node).copied().unwrap_or_default()
    }

    /// Whether every edge is known: those of a blob that cannot be read are not.
    fn has_all_edges(&self) -> bool {
        let unread = &self.package.unread;
        self.steps.has_ranges && unread.channels.is_empty() && unread.bundles.is_empty()
    }
}

fn deprecated<'w>(package: &PackageView<'w>) -> HashSet<(&'w str, &'w str)> {
    let entries = package.deprecations.iter().flat_map(|all| &all.entries);
    entries
        .map(|entry| (&*entry.schema, &*entry.name))
        .collect()
}

/// Where a part stands, or what it is part of where it is absent.
fn or(spot: Spot, otherwise: Spot) -> Spot {
    if spot == Spot::default() {
        otherwise
    } else {
        spot
    }
}
