//! What the ranges of a package answer for the versions of its own bundles, worked out when it is indexed.

use std::ops::Range;

use crate::edges::RangeEdges;
use crate::heap::{Heap, allocated};
use crate::version::{Membership, SkipRange, Version};

/// A range, by its place among those of the package, and its answer.
///
/// Sixteen bits are enough: there are rows only if versions times ranges are at most 65,536.
pub(super) type RangeAnswer = (u16, Membership);

/// A row for each bundle whose version can be read, in the order of the package.
///
/// Invariant: the row of the first bundle of a version lists the ranges whose answer for that version is not "no". The
/// rows of other bundles of the same version are empty. In a package of so many versions and ranges that the rows could
/// outgrow the file it came from, there is no row.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerRows {
    answers: Box<[RangeAnswer]>,
    /// Where each row ends.
    ends: Box<[u32]>,
}

/// A range, and which of some versions are in it, if it is an interval.
struct PlacedRange<'r> {
    range: &'r SkipRange,
    places: Option<Range<usize>>,
}

impl AnswerRows {
    /// The memory for the rows of so many versions and ranges, while they are made.
    pub(super) fn bytes(versions: usize, ranges: usize) -> usize {
        let answers = 4 * size_of::<RangeAnswer>() * versions * ranges;
        let placed = size_of::<PlacedRange<'_>>() * ranges;
        allocated(answers + 2 * size_of::<u32>() * versions) + allocated(placed)
    }

    /// The rows of these versions, highest first.
    pub(super) fn of(versions: &[&Version], ranges: &[RangeEdges]) -> Self {
        if versions.is_empty() {
            return Self::default();
        }
        let (mut answers, mut ends) = (Vec::new(), Vec::with_capacity(versions.len()));
        let ranges = ranges.iter();
        let ranges = ranges.map(|from| PlacedRange::of(&from.range, versions));
        let ranges: Vec<_> = ranges.collect();
        let mut last: Option<&Version> = None;
        for (place, version) in versions.iter().enumerate() {
            if last.is_none_or(|last| last.cmp_precedence(version).is_ne()) {
                let all = ranges.iter().map(|range| range.answer(place, version));
                let all = (0..=u16::MAX).zip(all);
                answers.extend(all.filter(|(_, answer)| *answer != Membership::HoldsNot));
            }
            last = Some(version);
            ends.push(u32::try_from(answers.len()).unwrap_or(u32::MAX));
        }
        // Copies: a list that shrinks in its place leaves holes between those that stay.
        Self {
            answers: answers.as_slice().into(),
            ends: ends.into(),
        }
    }

    /// Whether there is no row.
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The row of a bundle, by its place in the package.
    pub(super) fn get(&self, bundle: usize) -> Option<&[RangeAnswer]> {
        let end = *self.ends.get(bundle)? as usize;
        let before = bundle.checked_sub(1).map(|before| self.ends.get(before));
        let start = before.flatten().copied().unwrap_or_default() as usize;
        self.answers.get(start..end)
    }
}

impl<'r> PlacedRange<'r> {
    fn of(range: &'r SkipRange, versions: &[&Version]) -> Self {
        let places = range.interval().map(|interval| {
            let from = versions.partition_point(|version| interval.is_below(version));
            from..versions.partition_point(|version| !interval.is_above(version))
        });
        Self { range, places }
    }

    /// The answer for the version in this place.
    fn answer(&self, place: usize, version: &Version) -> Membership {
        match &self.places {
            Some(places) if places.contains(&place) => Membership::Holds,
            Some(_) => Membership::HoldsNot,
            None => self.range.takes(version),
        }
    }
}

impl Heap for AnswerRows {
    fn heap_bytes(&self) -> usize {
        allocated(size_of_val(&*self.answers)) + allocated(size_of_val(&*self.ends))
    }
}
