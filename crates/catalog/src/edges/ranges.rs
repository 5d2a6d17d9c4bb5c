//! Edges that start at version ranges: finds the ranges of a package that match a version without
//! comparing all of them.
//!
//! | structure | answers for | in packages |
//! | --- | --- | --- |
//! | [`AnswerRows`] | the versions of the package's own bundles, computed in advance | with few versions and ranges |
//! | [`RankedEdges`] | any version, by the intervals | with many |
//! | [`EndingRanges`] | any version, and one bundle where the edge ends | with many |
//! | [`RangeIndex`] | any version, by all ranges, or by the ranges that `RankedEdges` does not have | all |

use std::ops::Range;

use crate::bundle_set::BundleIndex;
use crate::edges::{IndexedEdge, RangeEdges, count};
use crate::memory::{Heap, allocated, flat, heap_of};
use crate::version::comparator::VersionCut;
use crate::version::{Hull, Membership, SkipRange, Version};

/// The edges of a package that start at intervals of versions, found by comparing numbers.
///
/// In a large package a range can include most bundles, so thousands of ranges match one version. The parts of a range
/// are in several places in memory. Here each match is next to the one before it.
///
/// The rank of a version is the number of different ends of ranges below it. An interval includes the versions of
/// consecutive ranks.
///
/// Invariant: `ends` is sorted, and no two of its ends are equal. `edges` is sorted by the first ranks. `of_blocks` and
/// `of_groups` have the greatest last rank of each block of `edges` and of each group of blocks. If it is below the
/// rank of a version, the block or the group is skipped.
#[derive(Clone, Debug, Default)]
pub(super) struct RankedEdges {
    ends: Box<[RangeEnd]>,
    edges: Box<[RankedEdge]>,
    of_blocks: Box<[u32]>,
    of_groups: Box<[u32]>,
}

/// An edge, and the ranks of the versions where it starts.
#[derive(Clone, Copy, Debug)]
struct RankedEdge {
    ranks: Ranks,
    edge: IndexedEdge,
}

impl RankedEdges {
    /// Memory for the edges of these ranges, including what sorting uses while the lists are built.
    pub(super) fn bytes(ranges: &[RangeEdges]) -> usize {
        let edges = count(ranges);
        allocated(size_of::<Self>())
            + ends_bytes(ranges.len())
            + 2 * allocated(edges * size_of::<RankedEdge>())
            + 2 * allocated(edges.div_ceil(BLOCK) * size_of::<u32>())
    }

    /// Builds the list from the ranges that are intervals.
    pub(super) fn of(ranges: &[RangeEdges]) -> Self {
        let (ends, ranks) = ranked_ends(ranges);
        let edges = ranked_edges(ranges, &ranks);
        let last = |part: &[RankedEdge]| part.iter().map(|edge| edge.ranks.last).max();
        let of = |size| {
            edges
                .chunks(size)
                .map(|part| last(part).unwrap_or_default())
        };
        Self {
            ends: ends.into(),
            of_blocks: of(BLOCK).collect(),
            of_groups: of(BLOCK * BLOCKS).collect(),
            edges: edges.into(),
        }
    }

    /// The edges that start at a version.
    pub(super) fn starting_at<'a>(
        &'a self,
        version: &Version,
        ranges: &[RangeEdges],
    ) -> impl Iterator<Item = &'a IndexedEdge> + use<'a> {
        let is_below = |end: &RangeEnd| end.is_below(version, ranges);
        let rank = self.ends.partition_point(is_below);
        let is_reached = move |last: u32| last as usize >= rank;
        let has_begun = |ranked: &RankedEdge| ranked.ranks.first as usize <= rank;
        let begun = self.edges.partition_point(has_begun);
        let begun = self.edges.get(..begun).unwrap_or_default();
        let groups = begun.chunks(BLOCK * BLOCKS).zip(&self.of_groups);
        groups
            .zip(self.of_blocks.chunks(BLOCKS))
            .filter(move |((_, last), _)| is_reached(**last))
            .flat_map(|((edges, _), lasts)| edges.chunks(BLOCK).zip(lasts))
            .filter(move |(_, last)| is_reached(**last))
            .flat_map(|(block, _)| block)
            .filter(move |ranked| is_reached(ranked.ranks.last))
            .map(|ranked| &ranked.edge)
    }
}

flat!(RangeEnd, RankedEdge);
heap_of!(RankedEdges: ends, edges, of_blocks, of_groups);

/// The edges from intervals that are not empty, sorted.
fn ranked_edges(ranges: &[RangeEdges], ranks: &[Ranks]) -> Vec<RankedEdge> {
    let mut ranked = Vec::with_capacity(count(ranges));
    let all = ranges.iter().zip(ranks);
    let some =
        all.filter(|(from, ranks)| from.range.interval().is_some() && ranks.first <= ranks.last);
    for (from, ranks) in some {
        ranked.extend(from.edges.iter().map(|edge| RankedEdge {
            ranks: *ranks,
            edge: *edge,
        }));
    }
    ranked.sort_by_key(|ranked: &RankedEdge| (ranked.ranks.first, ranked.ranks.last));
    ranked
}

/// Number of edges that are skipped together: a kibibyte of them.
const BLOCK: usize = 64;

/// Number of blocks that are skipped together.
const BLOCKS: usize = 64;

/// An end, and its position in the version order.
type PlacedEnd<'r> = (&'r VersionCut, RangeEnd);

/// An end of a range: twice the place of the range among the ranges of the package, plus one for an upper end.
/// Two thousand million ranges do not fit in memory.
#[derive(Clone, Copy, Debug)]
struct RangeEnd(u32);

/// The first and the last rank of an interval. An empty interval has none: the first one is greater than the last.
#[derive(Clone, Copy, Debug, Default)]
struct Ranks {
    first: u32,
    last: u32,
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

    /// Whether the version is above this end.
    fn is_below(self, version: &Version, ranges: &[RangeEdges]) -> bool {
        let range = ranges.get(self.range());
        range
            .and_then(|from| from.range.hull())
            .is_some_and(|hull| {
                if self.is_upper() {
                    hull.is_below(version.point())
                } else {
                    !hull.is_above(version.point())
                }
            })
    }
}

/// Memory for [`ranked_ends`] of this many ranges, including what sorting uses.
fn ends_bytes(ranges: usize) -> usize {
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

/// The distinct ends of the intervals, and the ranks of each range. Equal ends have one rank. The
/// ranks of a range that is not an interval are meaningless.
fn ranked_ends(ranges: &[RangeEdges]) -> (Vec<RangeEnd>, Vec<Ranks>) {
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

/// A bundle, and the position of a range among the ranges of the package.
type EndingRange = (BundleIndex, u32);

/// The ranges with an edge to a bundle, for each bundle.
///
/// A request nearly always selects one version, so one bundle is a candidate. In a large package
/// thousands of edges can start at the installed version, but few end at one bundle.
///
/// Invariant: sorted, without duplicates.
#[derive(Clone, Debug)]
pub(super) struct EndingRanges(Box<[EndingRange]>);

impl EndingRanges {
    /// Memory for this many edges: the list, and its copy that is kept.
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

    /// The positions of the ranges with an edge to a bundle.
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
        self.0.heap_bytes()
    }
}

/// Ranges of a package by their lower ends, as a balanced tree.
///
/// Invariant: `by_lower` is sorted by the lower ends of the ranges. Repeated halving gives a tree of subslices;
/// the root of a subslice is its middle, and `highest` has at that index the range with the greatest upper end in
/// the subslice. A subslice whose greatest upper end is below the version is skipped.
#[derive(Clone, Debug, Default)]
pub(super) struct RangeIndex {
    by_lower: Box<[u32]>,
    highest: Box<[u32]>,
    /// The ranges for which OLM crashes if they do not match a version.
    crashing: Box<[u32]>,
}

impl RangeIndex {
    /// Memory per range, including what sorting uses while the index is built.
    pub(super) const BYTES: usize = 4 * size_of::<(Hull<'static>, u32)>() + 4 * size_of::<u32>();

    /// Indexes the ranges that pass a test, and all ranges for which OLM can crash.
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

    /// All ranges that may match the version or make OLM crash.
    pub(super) fn candidates(&self, ranges: &[RangeEdges], version: &Version) -> Vec<u32> {
        let mut found = self.crashing.to_vec();
        find(&self.by_lower, &self.highest, ranges, version, &mut found);
        found
    }
}

heap_of!(RangeIndex: by_lower, highest, crashing);

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
    if hull(*last).is_none_or(|last| last.is_below(version.point())) {
        return;
    }
    find(left, highest_left, ranges, version, found);
    // The ranges to the right start no lower.
    if hull(*own).is_some_and(|own| !own.is_above(version.point())) {
        found.push(*own);
        find(right, highest_right, ranges, version, found);
    }
}

/// A range, by its position among the ranges of the package, and its answer.
///
/// Sixteen bits are enough: there are rows only if versions times ranges are at most 65,536.
pub(super) type RangeAnswer = (u16, Membership);

/// The answers of all ranges for the versions of the package's own bundles: a row for each bundle whose version can be
/// read, in the order of the package.
///
/// Invariant: the row of the first bundle of a version lists the ranges whose answer for that version is not "no". The
/// rows of other bundles of the same version are empty.
#[derive(Clone, Debug)]
pub(super) struct AnswerRows {
    answers: Box<[RangeAnswer]>,
    /// The end of each row.
    ends: Box<[u32]>,
}

/// A range, and the positions of the versions in it, if it is an interval.
struct PlacedRange<'r> {
    range: &'r SkipRange,
    places: Option<Range<usize>>,
}

impl AnswerRows {
    /// Memory for the rows of this many versions and ranges, while they are built.
    pub(super) fn bytes(versions: usize, ranges: usize) -> usize {
        let answers = 4 * size_of::<RangeAnswer>() * versions * ranges;
        let placed = size_of::<PlacedRange<'_>>() * ranges;
        allocated(answers + 2 * size_of::<u32>() * versions) + allocated(placed)
    }

    /// Builds the rows of these versions, which are sorted from highest to lowest.
    pub(super) fn of(versions: &[&Version], ranges: &[RangeEdges]) -> Self {
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
        // Copies, because shrinking a list in place leaves holes between allocations that stay.
        Self {
            answers: answers.as_slice().into(),
            ends: ends.into(),
        }
    }

    /// Returns the row of a bundle, by its position in the package.
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
            let from = versions.partition_point(|version| interval.is_below(version.point()));
            from..versions.partition_point(|version| !interval.is_above(version.point()))
        });
        Self { range, places }
    }

    /// The answer for the version at this position.
    fn answer(&self, place: usize, version: &Version) -> Membership {
        match &self.places {
            Some(places) if places.contains(&place) => Membership::Holds,
            Some(_) => Membership::HoldsNot,
            None => self.range.takes(version),
        }
    }
}

heap_of!(AnswerRows: answers, ends);
