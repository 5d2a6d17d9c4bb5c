//! Which ranges can hold a version, without trying them all.

use crate::edges::RangeEdges;
use crate::heap::{Heap, allocated};
use crate::version::{Hull, Membership, Version};

/// The ranges of a package by where they begin, as a balanced tree.
///
/// Invariant: `by_lower` stands in the order of the ranges' lower ends. Each stretch of it that halving
/// comes to has its own place, the middle; there `highest` has the range that ends highest in the
/// stretch. So what ends too low is passed over as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct RangeIndex {
    by_lower: Box<[u32]>,
    highest: Box<[u32]>,
    /// The ranges over which OLM crashes wherever they do not hold a version.
    crashing: Box<[u32]>,
}

impl RangeIndex {
    /// What the index of one range takes at most.
    pub(super) const BYTES: usize = 4 * size_of::<u32>();

    pub(super) fn of(ranges: &[RangeEdges]) -> Self {
        let crashes = |from: &RangeEdges| from.range.otherwise() == Membership::Crashes;
        let numbered = || (0_u32..).zip(ranges);
        let crashing = numbered().filter(|(_, from)| crashes(from));
        let mut sound: Vec<_> = numbered()
            .filter(|(_, from)| !crashes(from))
            .filter_map(|(index, from)| Some((from.range.hull()?, index)))
            .collect();
        sound.sort_by_key(|(hull, index)| (hull.lower(), *index));
        let mut highest = vec![0; sound.len()];
        note_highest(&sound, &mut highest);
        Self {
            by_lower: sound.iter().map(|(_, index)| *index).collect(),
            highest: highest.into(),
            crashing: crashing.map(|(index, _)| index).collect(),
        }
    }

    /// Every range that may hold the version or crash over it.
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

/// Notes for each stretch which of its ranges ends highest; that of the whole is returned.
fn note_highest<'h>(stretch: &[(Hull<'h>, u32)], highest: &mut [u32]) -> Option<(Hull<'h>, u32)> {
    let middle = stretch.len() / 2;
    let (left, rest) = stretch.split_at(middle);
    let (own, right) = rest.split_first()?;
    let (noted_left, noted_rest) = highest.split_at_mut(middle);
    let (noted, noted_right) = noted_rest.split_first_mut()?;
    let ends = [
        note_highest(left, noted_left),
        Some(*own),
        note_highest(right, noted_right),
    ];
    let ends = ends.into_iter().flatten();
    let last = ends.max_by_key(|(hull, _)| hull.upper())?;
    *noted = last.1;
    Some(last)
}

fn find(
    stretch: &[u32],
    highest: &[u32],
    ranges: &[RangeEdges],
    version: &Version,
    found: &mut Vec<u32>,
) {
    let hull = |index: u32| ranges.get(index as usize)?.range.hull();
    let middle = stretch.len() / 2;
    let (left, rest) = stretch.split_at(middle);
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
    // Whatever stands to the right begins no lower.
    if hull(*own).is_some_and(|own| !own.is_above(version)) {
        found.push(*own);
        find(right, highest_right, ranges, version, found);
    }
}
