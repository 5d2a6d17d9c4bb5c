//! Which ranges can match a version, found without comparing all of them.

use crate::edges::RangeEdges;
use crate::heap::{Heap, allocated};
use crate::version::{Hull, Membership, SkipRange, Version};

/// Ranges of a package by where they begin, as a balanced tree.
///
/// Invariant: `by_lower` is sorted by the lower ends of the ranges. Repeated halving gives a tree of subslices;
/// the root of a subslice is its middle, and `highest` has at that index the range with the greatest upper end in
/// the subslice. A subslice whose greatest upper end is below the version is skipped.
#[derive(Clone, Debug, Default)]
pub(super) struct RangeIndex {
    by_lower: Box<[u32]>,
    highest: Box<[u32]>,
    /// The ranges over which OLM crashes if they do not match a version.
    crashing: Box<[u32]>,
}

impl RangeIndex {
    /// The memory for one range, with what sorting takes while the index is built.
    pub(super) const BYTES: usize = 4 * size_of::<(Hull<'static>, u32)>() + 4 * size_of::<u32>();

    /// Of the ranges that pass a test, and of all ranges over which OLM crashes.
    pub(super) fn of(ranges: &[RangeEdges], is_indexed: impl Fn(&SkipRange) -> bool) -> Self {
        let crashes = |from: &RangeEdges| from.range.otherwise() == Membership::Crashes;
        let numbered = || (0_u32..).zip(ranges);
        let crashing = numbered().filter(|(_, from)| crashes(from));
        let mut sound: Vec<_> = numbered()
            .filter(|(_, from)| !crashes(from) && is_indexed(&from.range))
            .filter_map(|(index, from)| Some((from.range.hull()?, index)))
            .collect();
        sound.sort_by_key(|(hull, index)| (hull.lower(), *index));
        let mut highest = vec![0; sound.len()];
        fill_highest(&sound, &mut highest);
        Self {
            by_lower: sound.iter().map(|(_, index)| *index).collect(),
            highest: highest.into(),
            crashing: crashing.map(|(index, _)| index).collect(),
        }
    }

    /// Every range that can match the version or crash over it.
    pub(super) fn candidates(&self, ranges: &[RangeEdges], version: &Version) -> Vec<u32> {
        let mut found = self.crashing.to_vec();
        find(&self.by_lower, &self.highest, ranges, version, &mut found);
        found
    }
}

impl Heap for RangeIndex {
    fn heap_bytes(&self) -> usize {
        let Self {
            by_lower,
            highest,
            crashing,
        } = self;
        let bytes = |indexes: &[u32]| allocated(size_of_val(indexes));
        bytes(by_lower) + bytes(highest) + bytes(crashing)
    }
}

/// Fills `highest` for a sorted subslice. Returns the range with the greatest upper end in it.
fn fill_highest<'h>(sorted: &[(Hull<'h>, u32)], highest: &mut [u32]) -> Option<(Hull<'h>, u32)> {
    let middle = sorted.len() / 2;
    let (left, rest) = sorted.split_at(middle);
    let (own, right) = rest.split_first()?;
    let (noted_left, noted_rest) = highest.split_at_mut(middle);
    let (noted, noted_right) = noted_rest.split_first_mut()?;
    let ends = [
        fill_highest(left, noted_left),
        Some(*own),
        fill_highest(right, noted_right),
    ];
    let ends = ends.into_iter().flatten();
    let last = ends.max_by_key(|(hull, _)| hull.upper())?;
    *noted = last.1;
    Some(last)
}

fn find(
    sorted: &[u32],
    highest: &[u32],
    ranges: &[RangeEdges],
    version: &Version,
    found: &mut Vec<u32>,
) {
    let hull = |index: u32| ranges.get(index as usize)?.range.hull();
    let middle = sorted.len() / 2;
    let (left, rest) = sorted.split_at(middle);
    let (highest_left, highest_rest) = highest.split_at(middle);
    let (Some((own, right)), Some((last, highest_right))) =
        (rest.split_first(), highest_rest.split_first())
    else {
        return;
    };
    if hull(*last).is_none_or(|last| last.is_below(version)) {
        return;
    }
    find(left, highest_left, ranges, version, found);
    // The ranges to the right start no lower.
    if hull(*own).is_some_and(|own| !own.is_above(version)) {
        found.push(*own);
        find(right, highest_right, ranges, version, found);
    }
}
