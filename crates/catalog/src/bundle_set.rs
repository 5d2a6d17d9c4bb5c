//! Sets of the bundles of one package.
//!
//! A package numbers its bundles in order of preference. So the first member of a set is the best
//! bundle in it, and iteration goes from best to worst.

use crate::memory::{Heap, allocated, flat};

/// The position of a bundle in its package's order of preference; 0 is the best.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BundleIndex(pub(super) u32);

impl BundleIndex {
    pub(crate) fn new(index: u32) -> Self {
        Self(index)
    }

    /// Returns the number: 0 for the best bundle.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// A set of bundles of one package: a bit for each bundle.
///
/// Invariant: sets that are combined belong to the same package, so they have the same number of words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BundleSet(SetWords);

/// The bits. The largest package recorded has 222 bundles, so nearly every set takes no allocation.
#[derive(Clone, Debug, Eq, PartialEq)]
enum SetWords {
    Few([u64; FEW]),
    Many(Box<[u64]>),
}

flat!(BundleIndex);

impl Heap for BundleSet {
    fn heap_bytes(&self) -> usize {
        match &self.0 {
            SetWords::Few(_) => 0,
            SetWords::Many(words) => allocated(size_of_val(&**words)),
        }
    }
}

impl Default for BundleSet {
    fn default() -> Self {
        Self(SetWords::Few([0; FEW]))
    }
}

impl BundleSet {
    /// Creates an empty set for a package of `len` bundles.
    pub(super) fn none(len: usize) -> Self {
        Self(match len.div_ceil(BITS) {
            0..=FEW => SetWords::Few([0; FEW]),
            count => SetWords::Many(vec![0; count].into()),
        })
    }

    /// Creates the set of all bundles of a package of `len` bundles.
    pub(super) fn all(len: usize) -> Self {
        let mut set = Self::none(len);
        set.words_mut().fill(u64::MAX);
        set.keep_between(0, len);
        set
    }

    fn words(&self) -> &[u64] {
        match &self.0 {
            SetWords::Few(words) => words,
            SetWords::Many(words) => words,
        }
    }

    fn words_mut(&mut self) -> &mut [u64] {
        match &mut self.0 {
            SetWords::Few(words) => words,
            SetWords::Many(words) => words,
        }
    }

    /// Number of bundles that one operation on a word covers.
    pub(super) const AT_ONCE: usize = BITS;

    /// Adds a bundle.
    pub fn insert(&mut self, bundle: BundleIndex) {
        let (word, bit) = place(bundle);
        if let Some(word) = self.words_mut().get_mut(word) {
            *word |= bit;
        }
    }

    /// Whether a bundle is a member.
    pub fn contains(&self, bundle: BundleIndex) -> bool {
        let (word, bit) = place(bundle);
        self.words().get(word).is_some_and(|word| word & bit != 0)
    }

    /// Adds the members of another set.
    pub fn unite(&mut self, other: &Self) {
        for (word, more) in self.words_mut().iter_mut().zip(other.words()) {
            *word |= more;
        }
    }

    /// Keeps only the members that are also in another set.
    pub fn intersect(&mut self, other: &Self) {
        for (word, kept) in self.words_mut().iter_mut().zip(other.words()) {
            *word &= kept;
        }
    }

    /// Keeps only the members that are not in another set.
    pub fn subtract(&mut self, other: &Self) {
        for (word, gone) in self.words_mut().iter_mut().zip(other.words()) {
            *word &= !gone;
        }
    }

    /// Keeps only the members from one position up to, but not including, another.
    pub(super) fn keep_between(&mut self, from: usize, to: usize) {
        let (first, last) = (from / BITS, to / BITS);
        let words = self.words_mut();
        let (before, rest) = words.split_at_mut(first.min(words.len()));
        before.fill(0);
        if let Some(word) = rest.first_mut() {
            *word &= !below(from % BITS);
        }
        let (_, rest) = words.split_at_mut(last.min(words.len()));
        if let Some((word, after)) = rest.split_first_mut() {
            *word &= below(to % BITS);
            after.fill(0);
        }
    }

    /// Keeps only the members that pass a test.
    pub fn retain(&mut self, mut keep: impl FnMut(BundleIndex) -> bool) {
        for (at, word) in (0_u32..).step_by(BITS).zip(self.words_mut()) {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !keep(BundleIndex(at + bit)) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Whether the set has no members.
    pub fn is_empty(&self) -> bool {
        self.words().iter().all(|word| *word == 0)
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.words()
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The members, best first.
    pub fn iter(&self) -> impl Iterator<Item = BundleIndex> {
        (0_u32..)
            .step_by(BITS)
            .zip(self.words())
            .flat_map(|(at, word)| {
                let mut rest = *word;
                std::iter::from_fn(move || {
                    let bit = rest.trailing_zeros();
                    (rest != 0).then(|| {
                        rest &= rest - 1;
                        BundleIndex(at + bit)
                    })
                })
            })
    }

    /// The best member.
    pub fn first(&self) -> Option<BundleIndex> {
        self.iter().next()
    }

    /// The member, if there is exactly one.
    pub fn only(&self) -> Option<BundleIndex> {
        let mut members = self.iter();
        let first = members.next()?;
        members.next().is_none().then_some(first)
    }

    /// The best member that is not in the other set.
    pub fn first_outside(&self, other: &Self) -> Option<BundleIndex> {
        let words = self
            .words()
            .iter()
            .zip(other.words())
            .map(|(word, gone)| word & !gone);
        (0_u32..)
            .step_by(BITS)
            .zip(words)
            .find_map(|(at, rest)| (rest != 0).then(|| BundleIndex(at + rest.trailing_zeros())))
    }
}

const BITS: usize = 64;

/// Number of words that a set stores without an allocation.
const FEW: usize = 4;

/// A mask of the lowest bits of a word; `count` must be less than [`BITS`].
fn below(count: usize) -> u64 {
    (1 << count) - 1
}

fn place(BundleIndex(index): BundleIndex) -> (usize, u64) {
    (index as usize / BITS, 1 << (index as usize % BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(len: usize, members: &[u32]) -> BundleSet {
        let mut set = BundleSet::none(len);
        for index in members {
            set.insert(BundleIndex(*index));
        }
        set
    }

    fn members(set: &BundleSet) -> Vec<u32> {
        set.iter().map(|index| index.0).collect()
    }

    #[test]
    fn all_holds_every_bundle_and_none_beyond() {
        for len in [0, 1, 63, 64, 65, 152] {
            let all = BundleSet::all(len);
            assert_eq!(all.len(), len);
            assert_eq!(members(&all).len(), len);
            assert_eq!(all.is_empty(), len == 0);
        }
    }

    #[test]
    fn walks_from_best_to_worst() {
        let some = set(152, &[151, 0, 64, 63]);
        assert_eq!(members(&some), [0, 63, 64, 151]);
        assert_eq!(some.first(), Some(BundleIndex(0)));
        assert_eq!(
            some.first_outside(&set(152, &[0, 63])),
            Some(BundleIndex(64))
        );
        assert_eq!(some.first_outside(&some), None);
        assert_eq!(some.only(), None);
        assert_eq!(set(152, &[151]).only(), Some(BundleIndex(151)));
        assert_eq!(set(152, &[]).only(), None);
    }

    #[test]
    fn keeps_what_lies_between() {
        for len in [0, 1, 63, 64, 65, 152] {
            for (from, to) in [
                (0, 0),
                (0, 64),
                (1, 63),
                (63, 65),
                (64, 128),
                (70, 60),
                (0, 999),
            ] {
                let mut set = BundleSet::all(len);
                set.keep_between(from, to);
                let kept = (0..)
                    .take(len)
                    .filter(|at| (from..to).contains(&(*at as usize)));
                assert_eq!(
                    members(&set),
                    kept.collect::<Vec<u32>>(),
                    "{len} {from} {to}"
                );
            }
        }
    }

    #[test]
    fn combines() {
        let mut some = set(100, &[1, 2, 70]);
        some.unite(&set(100, &[3]));
        assert_eq!(members(&some), [1, 2, 3, 70]);
        some.intersect(&set(100, &[2, 3, 70, 99]));
        assert_eq!(members(&some), [2, 3, 70]);
        some.subtract(&set(100, &[3]));
        some.retain(|index| index.0 != 70);
        assert_eq!(members(&some), [2]);
        assert!(some.contains(BundleIndex(2)) && !some.contains(BundleIndex(70)));
    }
}
