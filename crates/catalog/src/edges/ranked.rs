//! The edges of the ranges that are intervals, found by comparing numbers.
//!
//! In a large package a range can include most bundles, so thousands of ranges match one version. The parts of a range
//! are in several places in memory. Here each match is next to the one before it.

use crate::edges::ends::{self, RangeEnd, Ranks, ranked_ends};
use crate::edges::{Edge, RangeEdges, count};
use crate::heap::{Heap, allocated};
use crate::version::Version;

/// The edges of a package that start at intervals of versions.
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
    edge: Edge,
}

impl RankedEdges {
    /// The memory for the edges of these ranges, with what sorting takes while the lists are built.
    pub(super) fn bytes(ranges: &[RangeEdges]) -> usize {
        let edges = count(ranges);
        allocated(size_of::<Self>())
            + ends::bytes(ranges.len())
            + 2 * allocated(edges * size_of::<RankedEdge>())
            + 2 * allocated(edges.div_ceil(BLOCK) * size_of::<u32>())
    }

    /// The edges of the ranges that are intervals.
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
    ) -> impl Iterator<Item = &'a Edge> + use<'a> {
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

impl Heap for RankedEdges {
    fn heap_bytes(&self) -> usize {
        let Self {
            ends,
            edges,
            of_blocks,
            of_groups,
        } = self;
        allocated(size_of_val(&**ends))
            + allocated(size_of_val(&**edges))
            + allocated(size_of_val(&**of_blocks))
            + allocated(size_of_val(&**of_groups))
    }
}

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

/// How many edges are skipped at once: a kibibyte of them.
const BLOCK: usize = 64;

/// How many blocks are skipped at once.
const BLOCKS: usize = 64;
