//! What the ranges of a package answer for the versions of its own bundles, worked out when it is indexed.

use crate::edges::RangeEdges;
use crate::heap::{Heap, allocated};
use crate::version::{Membership, Version};

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

impl AnswerRows {
    /// The memory for the rows of so many versions and ranges, while they are made.
    pub(super) fn bytes(versions: usize, ranges: usize) -> usize {
        let answers = 4 * size_of::<RangeAnswer>() * versions * ranges;
        allocated(answers + 4 * size_of::<u32>() * versions)
    }

    /// The rows of these versions, highest first.
    pub(super) fn of<'v>(
        versions: impl Iterator<Item = &'v Version>,
        ranges: &[RangeEdges],
    ) -> Self {
        let (mut answers, mut ends) = (Vec::new(), Vec::new());
        let mut last: Option<&Version> = None;
        for version in versions {
            if last.is_none_or(|last| last.cmp_precedence(version).is_ne()) {
                let all = ranges.iter().map(|from| from.range.takes(version));
                let all = (0..=u16::MAX).zip(all);
                answers.extend(all.filter(|(_, answer)| *answer != Membership::HoldsNot));
            }
            last = Some(version);
            ends.push(u32::try_from(answers.len()).unwrap_or(u32::MAX));
        }
        Self {
            answers: answers.into(),
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

impl Heap for AnswerRows {
    fn heap_bytes(&self) -> usize {
        allocated(size_of_val(&*self.answers)) + allocated(size_of_val(&*self.ends))
    }
}
