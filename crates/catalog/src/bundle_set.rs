//! Sets of the bundles of one package.
//!
//! A package numbers its bundles in order of preference, so the first member of a set is the best
//! bundle in it, and walking a set walks from best to worst.

use smallvec::{SmallVec, smallvec};

use crate::heap::Heap;

/// The place of a bundle in its package's order of preference; 0 is the best.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BundleIndex(pub(super) u32);

impl BundleIndex {
    pub(crate) fn new(index: u32) -> Self {
        Self(index)
    }

    /// The number: 0 for the best bundle.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// A set of bundles of one package.
///
/// Invariant: neither the first nor the last word is 0. So equal sets have equal words, and a set costs only what lies
/// between its best and its worst member, however many bundles the package has.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct BundleSet {
    /// How many words without a member come before; 0 if there is no member.
    start: usize,
    /// A bit for each bundle. Nothing is allocated up to 256 bundles.
    words: SmallVec<[u64; 4]>,
}

impl Heap for BundleSet {
    fn heap_bytes(&self) -> usize {
        self.words.heap_bytes()
    }
}

impl Clone for BundleSet {
    /// Word for word: a `SmallVec` clones one after the other.
    fn clone(&self) -> Self {
        Self {
            start: self.start,
            words: SmallVec::from_slice(&self.words),
        }
    }
}

impl BundleSet {
    /// Every bundle of a package of `len` bundles.
    pub(super) fn all(len: usize) -> Self {
        let mut set = Self {
            start: 0,
            words: smallvec![u64::MAX; len.div_ceil(BITS)],
        };
        if let Some(last) = set.words.last_mut() {
            *last = below(len - (len - 1) / BITS * BITS);
        }
        set
    }

    /// How many bundles one operation on a word covers.
    pub(super) const AT_ONCE: usize = BITS;

    /// Adds a bundle.
    pub fn insert(&mut self, bundle: BundleIndex) {
        let (at, bit) = place(bundle);
        self.cover(at, at + 1);
        if let Some(word) = self.words.get_mut(at - self.start) {
            *word |= bit;
        }
    }

    /// Whether a bundle is a member.
    pub fn contains(&self, bundle: BundleIndex) -> bool {
        let (at, bit) = place(bundle);
        self.word(at) & bit != 0
    }

    /// Adds the members of another set.
    pub fn unite(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.cover(other.start, other.end());
        let words = self.words.iter_mut().skip(other.start - self.start);
        for (word, more) in words.zip(&other.words) {
            *word |= more;
        }
    }

    /// Keeps only the members that another set has too.
    pub fn intersect(&mut self, other: &Self) {
        self.keep_words(other.start, other.end());
        for (at, word) in (self.start..).zip(&mut self.words) {
            *word &= other.word(at);
        }
        self.trim();
    }

    /// Keeps only the members that another set has not.
    pub fn subtract(&mut self, other: &Self) {
        for (at, word) in (self.start..).zip(&mut self.words) {
            *word &= !other.word(at);
        }
        self.trim();
    }

    /// Keeps only the members from one place to before another, in the order of preference.
    pub(super) fn keep_between(&mut self, from: usize, to: usize) {
        self.keep_words(from / BITS, to.div_ceil(BITS));
        for (at, word) in (self.start * BITS..).step_by(BITS).zip(&mut self.words) {
            *word &= below(to.saturating_sub(at)) & !below(from.saturating_sub(at));
        }
        self.trim();
    }

    /// Keeps only the members that pass a test.
    pub fn retain(&mut self, mut keep: impl FnMut(BundleIndex) -> bool) {
        for (at, word) in (self.start..).zip(&mut self.words) {
            for member in bits(at, *word).filter(|member| !keep(*member)) {
                *word &= !place(member).1;
            }
        }
        self.trim();
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The members, best first.
    pub fn iter(&self) -> impl Iterator<Item = BundleIndex> {
        (self.start..)
            .zip(&self.words)
            .flat_map(|(at, word)| bits(at, *word))
    }

    /// The best member.
    pub fn first(&self) -> Option<BundleIndex> {
        self.iter().next()
    }

    /// The best member that the other set has not.
    pub fn first_outside(&self, other: &Self) -> Option<BundleIndex> {
        (self.start..)
            .zip(&self.words)
            .find_map(|(at, word)| bits(at, word & !other.word(at)).next())
    }

    /// The word at a place, within this set's words or not.
    fn word(&self, at: usize) -> u64 {
        let word = at.checked_sub(self.start).and_then(|at| self.words.get(at));
        word.copied().unwrap_or_default()
    }

    /// The place after the last word.
    fn end(&self) -> usize {
        self.start + self.words.len()
    }

    /// Makes room for the words of these places. The caller gives the first and the last one a member.
    fn cover(&mut self, from: usize, to: usize) {
        if self.is_empty() {
            self.start = from;
        }
        let missing = self.start.saturating_sub(from);
        self.words.insert_many(0, std::iter::repeat_n(0, missing));
        self.start -= missing;
        let length = (to - self.start).max(self.words.len());
        self.words.resize(length, 0);
    }

    /// Keeps only the words of these places.
    fn keep_words(&mut self, from: usize, to: usize) {
        let length = to.saturating_sub(self.start);
        self.words.truncate(length);
        let gone = from.saturating_sub(self.start).min(self.words.len());
        self.words.drain(..gone);
        self.start += gone;
    }

    /// Establishes the invariant again.
    fn trim(&mut self) {
        let last = self.words.iter().rposition(|word| *word != 0);
        let first = self.words.iter().position(|word| *word != 0);
        let (first, last) = (first.unwrap_or_default(), last.map_or(0, |last| last + 1));
        self.keep_words(self.start + first, self.start + last);
        if self.is_empty() {
            self.start = 0;
        }
    }
}

/// The members of a word, best first.
fn bits(at: usize, word: u64) -> impl Iterator<Item = BundleIndex> {
    let first = u32::try_from(at * BITS).unwrap_or(u32::MAX);
    let mut rest = word;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros();
        (rest != 0).then(|| {
            rest &= rest - 1;
            BundleIndex(first.saturating_add(bit))
        })
    })
}

const BITS: usize = 64;

/// The first bits of a word.
fn below(count: usize) -> u64 {
    u32::try_from(count)
        .ok()
        .and_then(|count| 1_u64.checked_shl(count))
        .map_or(u64::MAX, |bit| bit - 1)
}

fn place(BundleIndex(index): BundleIndex) -> (usize, u64) {
    (index as usize / BITS, 1 << (index as usize % BITS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(members: &[u32]) -> BundleSet {
        let mut set = BundleSet::default();
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
        let some = of(&[151, 0, 64, 63]);
        assert_eq!(members(&some), [0, 63, 64, 151]);
        assert_eq!(some.first(), Some(BundleIndex(0)));
        assert_eq!(some.first_outside(&of(&[0, 63])), Some(BundleIndex(64)));
        assert_eq!(some.first_outside(&some), None);
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
        let mut some = of(&[1, 2, 70]);
        some.unite(&of(&[3]));
        assert_eq!(members(&some), [1, 2, 3, 70]);
        some.intersect(&of(&[2, 3, 70, 99]));
        assert_eq!(members(&some), [2, 3, 70]);
        some.subtract(&of(&[3]));
        some.retain(|index| index.0 != 70);
        assert_eq!(members(&some), [2]);
        assert!(some.contains(BundleIndex(2)) && !some.contains(BundleIndex(70)));
    }

    /// What can be done with a set.
    #[derive(Clone, Debug)]
    enum Operation {
        Insert(u32),
        Unite(Vec<u32>),
        Intersect(Vec<u32>),
        Subtract(Vec<u32>),
        KeepBetween(u32, u32),
        KeepMultiples(u32),
    }

    fn operations() -> impl Strategy<Value = Vec<Operation>> {
        let index = || 0..700_u32;
        let some = || prop::collection::vec(index(), 0..40);
        let one = prop_oneof![
            index().prop_map(Operation::Insert),
            some().prop_map(Operation::Unite),
            prop::collection::vec(index(), 200..600).prop_map(Operation::Intersect),
            some().prop_map(Operation::Subtract),
            (index(), index()).prop_map(|(from, to)| Operation::KeepBetween(from, to)),
            (1..4_u32).prop_map(Operation::KeepMultiples),
        ];
        prop::collection::vec(one, 1..30)
    }

    impl Operation {
        fn on_bits(&self, set: &mut BundleSet) {
            match self {
                Self::Insert(index) => set.insert(BundleIndex(*index)),
                Self::Unite(some) => set.unite(&of(some)),
                Self::Intersect(some) => set.intersect(&of(some)),
                Self::Subtract(some) => set.subtract(&of(some)),
                Self::KeepBetween(from, to) => set.keep_between(*from as usize, *to as usize),
                Self::KeepMultiples(of) => set.retain(|index| index.0.is_multiple_of(*of)),
            }
        }

        fn on_tree(&self, tree: &mut BTreeSet<u32>) {
            match self {
                Self::Insert(index) => tree.extend([index]),
                Self::Unite(some) => tree.extend(some),
                Self::Intersect(some) => tree.retain(|index| some.contains(index)),
                Self::Subtract(some) => tree.retain(|index| !some.contains(index)),
                Self::KeepBetween(from, to) => tree.retain(|index| (from..to).contains(&index)),
                Self::KeepMultiples(of) => tree.retain(|index| index.is_multiple_of(*of)),
            }
        }
    }

    proptest! {
        #[test]
        fn is_what_a_tree_of_the_same_members_is(operations in operations(), len in 0..700_u32) {
            let mut bits = BundleSet::all(len as usize);
            let mut tree: BTreeSet<u32> = (0..len).collect();
            for operation in operations {
                operation.on_bits(&mut bits);
                operation.on_tree(&mut tree);
                let listed: Vec<u32> = tree.iter().copied().collect();
                prop_assert_eq!(members(&bits), listed.clone());
                prop_assert_eq!(bits.len(), tree.len());
                prop_assert_eq!(bits.is_empty(), tree.is_empty());
                prop_assert_eq!(&bits, &of(&listed));
                let odd = of(&listed.iter().copied().filter(|index| index % 2 == 1).collect::<Vec<_>>());
                let first = listed.iter().find(|index| *index % 2 == 0).map(|index| BundleIndex(*index));
                prop_assert_eq!(bits.first_outside(&odd), first);
                prop_assert!((0..700).all(|index| bits.contains(BundleIndex(index)) == tree.contains(&index)));
            }
        }
    }
}
