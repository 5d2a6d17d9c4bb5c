//! What the successor rule accepts of one offer, whatever range and policy.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/filter/successors.go`]:
//! the bundles that an edge leads to, and the installed bundle itself.
//!
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/filter/successors.go

use crate::resolve::{Offer, Origin};
use olmguard_catalog::{BundleSet, Successors};

/// The bundles of one offer that the successor rule accepts, and where edges lead.
#[derive(Clone, Debug)]
pub struct AcceptedSuccessors {
    /// The bundles in the asked channels that an edge leads to or that count as the installed one.
    pub bundles: BundleSet,
    /// Where edges lead from the installed bundle.
    pub successors: Successors,
}

impl Offer<'_> {
    /// What the successor rule accepts from here.
    pub fn accepted(&self, origin: &Origin<'_>) -> AcceptedSuccessors {
        let place = origin.place_in(self.package);
        let successors = origin.successors_at(place, self.package, &self.asked);
        let mut bundles = origin.same_at(place, self.package);
        bundles.unite(&successors.edges);
        bundles.intersect(&self.members);
        AcceptedSuccessors {
            bundles,
            successors,
        }
    }
}
