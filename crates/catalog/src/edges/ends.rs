//! The ends of the ranges that are intervals, in the version order.

use crate::edges::RangeEdges;
use crate::heap::allocated;
use crate::version::Version;
use crate::version::interval::VersionCut;

/// An end, and its place in the version order.
type PlacedEnd<'r> = (&'r VersionCut, RangeEnd);

/// An end of a range: twice the place of the range among the ranges of the package, plus one for an upper end.
/// Two thousand million ranges do not fit in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangeEnd(u32);

/// The first and the last rank of an interval. An empty interval has none: the first one is greater than the last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ranks {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl RangeEnd {
    fn lower(range: u32) -> Self {
        Self(2 * range)
    }

    fn upper(range: u32) -> Self {
        Self(2 * range + 1)
    }

    fn is_upper(self) -> bool {
        self.0 % 2 == 1
    }

    fn range(self) -> usize {
        self.0 as usize / 2
    }

    /// Whether a version is above it.
    pub(super) fn is_below(self, version: &Version, ranges: &[RangeEdges]) -> bool {
        let range = ranges.get(self.range());
        range
            .and_then(|from| from.range.hull())
            .is_some_and(|hull| {
                if self.is_upper() {
                    hull.is_below(version)
                } else {
                    !hull.is_above(version)
                }
            })
    }
}

/// The memory for [`ranked_ends`] of so many ranges, with what sorting takes.
pub(super) fn bytes(ranges: usize) -> usize {
    let ends = 2 * ranges;
    2 * allocated(ends * size_of::<PlacedEnd<'_>>())
        + 2 * allocated(ends * size_of::<RangeEnd>())
        + allocated(ranges * size_of::<Ranks>())
}

/// The ends of the intervals, sorted. Authors list versions in order, so this mostly merges two sorted lists.
fn sorted_ends(ranges: &[RangeEdges]) -> Vec<PlacedEnd<'_>> {
    let mut ends = Vec::with_capacity(2 * ranges.len());
    let mut upper = Vec::with_capacity(ranges.len());
    for (index, from) in (0..).zip(ranges) {
        if let Some(hull) = from.range.interval() {
            ends.extend(hull.lower().map(|cut| (cut, RangeEnd::lower(index))));
            upper.push((hull.upper(), RangeEnd::upper(index)));
        }
    }
    ends.append(&mut upper);
    ends.sort_by_key(|(cut, _)| *cut);
    ends
}

/// The different ends of the intervals, and the ranks of each range. Equal ends have one rank. The ranks of a range that
/// is not an interval mean nothing.
pub(super) fn ranked_ends(ranges: &[RangeEdges]) -> (Vec<RangeEnd>, Vec<Ranks>) {
    let ends = sorted_ends(ranges);
    let mut different = Vec::with_capacity(ends.len());
    let mut ranks = vec![Ranks::default(); ranges.len()];
    let equal = ends.chunk_by(|(one, _), (other, _)| one == other);
    for (rank, equal) in (0..).zip(equal) {
        different.extend(equal.first().map(|(_, end)| *end));
        for (_, end) in equal {
            match ranks.get_mut(end.range()) {
                Some(ranks) if end.is_upper() => ranks.last = rank,
                Some(ranks) => ranks.first = rank + 1,
                None => {}
            }
        }
    }
    (different, ranks)
}
