//! What the successor rule accepts of one offer, whatever range and policy, and what it leaves of the candidates.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/filter/successors.go`]:
//! the bundles that an edge ends at, and the installed bundle itself.
//!
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/filter/successors.go

use crate::resolve::{Offer, Origin};
use olmguard_catalog::version::Membership;
use olmguard_catalog::{BundleIndex, BundleSet, Successors};

/// The bundles of one offer that the successor rule accepts.
#[derive(Clone, Debug)]
pub struct AcceptedSuccessors {
    /// The bundles in the asked channels that an edge ends at or that count as the installed one.
    pub bundles: BundleSet,
    /// The bundles on which OLM crashes before it finds an edge of the asked channels.
    pub crashes: BundleSet,
}

/// The candidates of one offer that the successor rule leaves.
#[derive(Debug)]
pub(super) struct LeftCandidates {
    /// The candidates that it accepts.
    pub(super) bundles: BundleSet,
    /// The best candidate on which OLM crashes.
    pub(super) crashing: Option<BundleIndex>,
}

impl Offer<'_> {
    /// What the successor rule leaves of the candidates. If there is only one, only its own edges are compared.
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

    /// Whether the successor rule accepts one of the candidates.
    pub fn accepts(&self, candidate: BundleIndex, origin: &Origin<'_>) -> bool {
        debug_assert!(self.candidates.contains(candidate), "another bundle");
        let is_edge = self.edge_to(candidate, origin) == Membership::Holds;
        is_edge || origin.is_same(candidate, self.package)
    }

    fn edge_to(&self, bundle: BundleIndex, origin: &Origin<'_>) -> Membership {
        origin.edge_to(bundle, self.package, &self.asked)
    }

    /// What the successor rule accepts from here.
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
