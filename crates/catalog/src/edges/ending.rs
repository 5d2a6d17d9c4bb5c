//! The ranges of a package by the bundles that their edges end at.
//!
//! A request nearly always asks for one version, so one bundle is a candidate. In a large package thousands of edges can
//! start at the installed version, but few end at one bundle.

use crate::bundle_set::BundleIndex;
use crate::edges::{RangeEdges, count};
use crate::heap::{Heap, allocated};

/// A bundle, and the place of a range among the ranges of the package.
type EndingRange = (BundleIndex, u32);

/// For each bundle the ranges with an edge that ends at it.
///
/// Invariant: sorted, and nothing is in it twice.
#[derive(Clone, Debug)]
pub(super) struct EndingRanges(Box<[EndingRange]>);

impl EndingRanges {
    /// The memory for so many edges: the list, and its copy that is kept.
    pub(super) fn bytes(edges: usize) -> usize {
        2 * allocated(edges * size_of::<EndingRange>())
    }

    pub(super) fn of(ranges: &[RangeEdges]) -> Self {
        let mut all: Vec<EndingRange> = Vec::with_capacity(count(ranges));
        for (range, from) in (0..).zip(ranges) {
            all.extend(from.edges.iter().map(|edge| (edge.to, range)));
        }
        all.sort_unstable();
        all.dedup();
        Self(all.as_slice().into())
    }

    /// The places of the ranges with an edge that ends at a bundle.
    pub(super) fn at(&self, bundle: BundleIndex) -> impl ExactSizeIterator<Item = usize> {
        let from = self.0.partition_point(|(to, _)| *to < bundle);
        let rest = self.0.get(from..).unwrap_or_default();
        let end = rest.partition_point(|(to, _)| *to == bundle);
        let found = rest.get(..end).unwrap_or_default().iter();
        found.map(|(_, range)| *range as usize)
    }
}

impl Heap for EndingRanges {
    fn heap_bytes(&self) -> usize {
        allocated(size_of_val(&*self.0))
    }
}
