//! The upgrade edges of one package, stored by their start.
//!
//! A channel entry is a set of edges to the bundle that it names. They start at every name in its
//! `replaces` and `skips`, and at every version in its `skipRange`:
//!
//! ```text
//! v1.0.0 <-- replaces -- v1.1.0 <-- replaces -- v1.2.0
//!    ^------------------ skipRange ----------------'
//! ```
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/filter/successors.go`].
//! Names are compared as bytes. An edge can start at a name that no bundle has. An entry without
//! `replaces` replaces the empty name, which an installed bundle can have. A `skipRange` that does
//! not parse matches nothing; like OLM, the index ignores it silently.
//!
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/filter/successors.go

mod ranges;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::slice;

use smallvec::SmallVec;

use crate::bundle_set::BundleIndex;
use crate::edges::ranges::{AnswerRows, EndingRanges, RangeIndex, RankedEdges};
use crate::memory::{Heap, Loan, allocated, flat, heap_of};
use crate::version::{Membership, SkipRange, Version};

/// The position of a channel in its package.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ChannelIndex(pub(super) u32);

impl ChannelIndex {
    /// Returns the number: 0 for the first channel in byte order of the names.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// The end of an edge, and the channel that declares it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct IndexedEdge {
    pub(super) channel: ChannelIndex,
    pub(super) to: BundleIndex,
}

/// The field of an entry that declares an edge from a name. OLM v1 treats both fields the same.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum NameEdge {
    /// `replaces`
    Replaces,
    /// `skips`
    Skips,
}

/// An edge that starts at a name.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct NamedEdge {
    pub(super) edge: IndexedEdge,
    pub(super) kind: NameEdge,
}

/// The upgrade edges of one package.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    from_name: NameTable,
    from_range: Vec<RangeEdges>,
    /// Texts of `skipRange` fields that cannot be parsed.
    unread: Vec<(Box<str>, IndexedEdge)>,
    /// The ranges that `lookup` does not find.
    index: RangeIndex,
    lookup: RangeLookup,
}

/// Structure that finds the ranges that match a version, in addition to their index.
#[derive(Clone, Debug, Default)]
enum RangeLookup {
    /// No structure: the index has all ranges.
    #[default]
    Index,
    /// The answers for the versions of the package's own bundles. For other versions, the index has all ranges.
    Rows(AnswerRows),
    /// The edges of intervals, and all ranges by where their edges end. The index has the other ranges.
    Ranked(Box<RankedEdges>, EndingRanges),
}

/// The edges that start at the versions of one range.
#[derive(Clone, Debug)]
struct RangeEdges {
    range: SkipRange,
    /// Nearly always one edge, or one in each of two channels. These need no allocation.
    edges: SmallVec<[IndexedEdge; 2]>,
}

/// Collects the entries of a package's channels, whose texts it borrows.
#[derive(Debug, Default)]
pub(super) struct EdgesBuilder<'t> {
    from_name: Vec<(&'t str, NamedEdge)>,
    from_range: Vec<RangeEdges>,
    unread: Vec<(Box<str>, IndexedEdge)>,
    range_index_by_text: HashMap<&'t str, Option<usize>>,
    /// Memory for everything collected. After a refusal nothing more is collected, and the account
    /// reports the refusal.
    loan: Loan,
}

impl IndexedEdge {
    /// Makes an edge that starts at a name.
    pub(super) fn named(self, kind: NameEdge) -> NamedEdge {
        NamedEdge { edge: self, kind }
    }
}

impl Edges {
    /// The edges that start at the name of an installed bundle.
    pub(super) fn starting_at_name(&self, name: &str) -> impl Iterator<Item = IndexedEdge> {
        self.from_name.get(name).iter().map(|named| named.edge)
    }

    /// Whether answers for the versions of the package's bundles are precomputed.
    pub(super) fn has_rows(&self) -> bool {
        self.from_range.is_empty() || matches!(self.lookup, RangeLookup::Rows(_))
    }

    /// All names that edges start at, in byte order, with the edges.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &[NamedEdge])> {
        self.from_name.iter()
    }

    /// All `skipRange`s that can be read, with the edges from their versions.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (&SkipRange, &[IndexedEdge])> {
        let ranges = self.from_range.iter();
        ranges.map(|from| (&from.range, from.edges.as_slice()))
    }

    /// All `skipRange`s that cannot be read, each with the edge that its entry would declare.
    pub(super) fn unread_ranges(&self) -> impl Iterator<Item = (&str, IndexedEdge)> {
        self.unread.iter().map(|(text, edge)| (&**text, *edge))
    }

    /// Finds the edges whose `skipRange` matches an installed version, and the edges for which OLM
    /// crashes.
    ///
    /// If there are answer rows, the version of a bundle is looked up in them; `bundle` is the
    /// first bundle with that version. Any other version is compared with the ends of intervals,
    /// and with the other ranges whose bounds include it.
    pub(super) fn starting_at_version(
        &self,
        version: &Version,
        bundle: Option<BundleIndex>,
        mut found: impl FnMut(Membership, &[IndexedEdge]),
    ) {
        let row = match (&self.lookup, bundle) {
            (RangeLookup::Rows(rows), Some(BundleIndex(place))) => rows.get(place as usize),
            _ => None,
        };
        let Some(row) = row else {
            return self.compare(version, found);
        };
        for (range, answer) in row {
            if let Some(from) = self.from_range.get(usize::from(*range)) {
                found(*answer, &from.edges);
            }
        }
    }

    /// [`Self::starting_at_version`] without rows.
    fn compare(&self, version: &Version, mut found: impl FnMut(Membership, &[IndexedEdge])) {
        if let RangeLookup::Ranked(ranked, _) = &self.lookup {
            let edges = ranked.starting_at(version, &self.from_range);
            edges.for_each(|edge| found(Membership::Holds, slice::from_ref(edge)));
        }
        for range in self.index.candidates(&self.from_range, version) {
            let Some(from) = self.from_range.get(range as usize) else {
                continue;
            };
            let answer = from.range.takes(version);
            if answer != Membership::HoldsNot {
                found(answer, &from.edges);
            }
        }
    }

    /// [`Self::starting_at_version`] for callers that need only the edges to one bundle. It may
    /// compare only the ranges with an edge to that bundle; `found` also receives the other edges
    /// of those ranges.
    pub(super) fn starting_at_version_to(
        &self,
        to: BundleIndex,
        version: &Version,
        bundle: Option<BundleIndex>,
        mut found: impl FnMut(Membership, &[IndexedEdge]),
    ) {
        let ending = match &self.lookup {
            RangeLookup::Ranked(_, ending) => Some(ending.at(to)),
            RangeLookup::Index | RangeLookup::Rows(_) => None,
        };
        let Some(ending) = ending.filter(|ranges| ranges.len() <= MOST_ENDING) else {
            return self.starting_at_version(version, bundle, found);
        };
        for from in ending.filter_map(|range| self.from_range.get(range)) {
            let answer = from.range.takes(version);
            if answer != Membership::HoldsNot {
                found(answer, &from.edges);
            }
        }
    }
}

heap_of!(Edges: from_name, from_range, unread, index, lookup);

heap_of!(enum RangeLookup: Rows(rows), Ranked(ranked, ending); Index);

flat!(IndexedEdge, NamedEdge, NameEnds);

heap_of!(RangeEdges: range, edges);

impl<'t> EdgesBuilder<'t> {
    /// Collects as many edges as there is memory for.
    pub(super) fn within(loan: Loan) -> Self {
        Self {
            loan,
            ..Self::default()
        }
    }

    /// Charges memory that belongs to the edges. Returns whether there was enough.
    pub(super) fn makes_room(&mut self, bytes: usize) -> bool {
        self.loan.more(bytes).is_ok()
    }

    pub(super) fn name(&mut self, from: &'t str, edge: NamedEdge) {
        if self.makes_room(NAME) {
            self.from_name.push((from, edge));
        }
    }

    pub(super) fn range(&mut self, text: &'t str, edge: IndexedEdge) {
        if !self.makes_room(4 * size_of::<(Box<str>, IndexedEdge)>() + allocated(text.len())) {
            return;
        }
        let index = match self.range_index_by_text.get(text) {
            Some(known) => *known,
            None => self.new_range(text),
        };
        match index.and_then(|index| self.from_range.get_mut(index)) {
            Some(from) => from.edges.push(edge),
            None => self.unread.push((text.into(), edge)),
        }
    }

    fn new_range(&mut self, text: &'t str) -> Option<usize> {
        let parsing = text.len().saturating_mul(RANGE_PER_BYTE);
        if !self.makes_room(parsing + RANGE) {
            return None;
        }
        let range = SkipRange::parse(text).ok();
        let kept = range.as_ref().map_or(0, Heap::heap_bytes);
        self.loan.less(parsing.saturating_sub(kept));
        let index = range.map(|range| {
            self.from_range.push(RangeEdges {
                range,
                edges: SmallVec::new(),
            });
            self.from_range.len() - 1
        });
        self.range_index_by_text.insert(text, index);
        index
    }

    /// Builds the edges, and returns the loan of their memory with them. `versions` are the
    /// readable versions of the package's bundles, highest first.
    pub(super) fn build<'a>(self, versions: impl Iterator<Item = &'a Version>) -> (Edges, Loan) {
        self.build_within(MOST_ANSWERS, versions)
    }

    fn build_within<'a>(
        mut self,
        most_answers: usize,
        versions: impl Iterator<Item = &'a Version>,
    ) -> (Edges, Loan) {
        if !self.makes_room(NameTable::bytes(&self.from_name)) {
            self.from_name.clear();
        }
        for from in &mut self.from_range {
            from.edges.shrink_to_fit();
        }
        let mut from_range = Vec::with_capacity(self.from_range.len());
        from_range.append(&mut self.from_range);
        let versions: Vec<&Version> = versions.collect();
        let lookup = self.lookup(most_answers, &versions, &from_range);
        let is_ranked = matches!(lookup, RangeLookup::Ranked(..));
        let edges = Edges {
            from_name: NameTable::of(self.from_name),
            index: RangeIndex::of(&from_range, |range| {
                !is_ranked || range.interval().is_none()
            }),
            lookup,
            from_range,
            unread: self.unread,
        };
        (edges, self.loan)
    }

    /// Builds answer rows if there is room for all answers, otherwise a list of edges by the ends
    /// of their ranges.
    fn lookup(
        &mut self,
        most_answers: usize,
        versions: &[&Version],
        ranges: &[RangeEdges],
    ) -> RangeLookup {
        let answers = versions.len().saturating_mul(ranges.len());
        if !versions.is_empty()
            && answers <= most_answers
            && self.makes_room(AnswerRows::bytes(versions.len(), ranges.len()))
        {
            return RangeLookup::Rows(AnswerRows::of(versions, ranges));
        }
        let ranked = RankedEdges::bytes(ranges) + EndingRanges::bytes(count(ranges));
        if ranges.is_empty() || !self.makes_room(ranked) {
            return RangeLookup::Index;
        }
        RangeLookup::Ranked(RankedEdges::of(ranges).into(), EndingRanges::of(ranges))
    }
}

/// Names with the edges that start at them, in byte order. A hash map per package would take more
/// memory than the edges.
///
/// Invariant: `ends` has an item for each name. The text and the edges of a name are between the
/// ends of the previous name and its own ends.
#[derive(Clone, Debug, Default)]
struct NameTable {
    texts: Box<str>,
    edges: Box<[NamedEdge]>,
    ends: Box<[NameEnds]>,
}

/// Ends of the text of a name and of its edges.
#[derive(Clone, Copy, Debug, Default)]
struct NameEnds {
    text: usize,
    edges: usize,
}

impl NameTable {
    /// Memory for the table of these edges, if each has a different name.
    fn bytes(edges: &[(&str, NamedEdge)]) -> usize {
        let texts = edges.iter().map(|(name, _)| name.len()).sum();
        let (each, end) = (size_of::<NamedEdge>(), size_of::<NameEnds>());
        allocated(texts) + allocated(edges.len() * each) + allocated(edges.len() * end)
    }

    /// Builds the table of these edges, each with its name. Duplicate edges are removed.
    fn of(mut edges: Vec<(&str, NamedEdge)>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let names = || edges.chunk_by(|(one, _), (other, _)| one == other);
        let length = |named: &[(&str, NamedEdge)]| named.first().map_or(0, |(name, _)| name.len());
        let mut texts = String::with_capacity(names().map(length).sum());
        let mut ends = Vec::with_capacity(names().count());
        let mut own = Vec::with_capacity(edges.len());
        let mut end = NameEnds::default();
        for named in names() {
            texts.extend(named.first().map(|(name, _)| *name));
            end.text = texts.len();
            end.edges += named.len();
            ends.push(end);
            own.extend(named.iter().map(|(_, edge)| *edge));
        }
        Self {
            texts: texts.into(),
            edges: own.into(),
            ends: ends.into(),
        }
    }

    /// The edges that start at a name.
    fn get(&self, name: &str) -> &[NamedEdge] {
        let mut rest = 0..self.ends.len();
        while !rest.is_empty() {
            let middle = rest.start + rest.len() / 2;
            let Some((known, edges)) = self.row(middle) else {
                break;
            };
            match known.cmp(name) {
                Ordering::Less => rest.start = middle + 1,
                Ordering::Greater => rest.end = middle,
                Ordering::Equal => return edges,
            }
        }
        &[]
    }

    /// All names with their edges, in byte order.
    fn iter(&self) -> impl Iterator<Item = (&str, &[NamedEdge])> {
        (0..self.ends.len()).filter_map(|at| self.row(at))
    }

    fn row(&self, at: usize) -> Option<(&str, &[NamedEdge])> {
        let end = self.ends.get(at)?;
        let before = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or_default();
        let text = self.texts.get(start.text..end.text)?;
        Some((text, self.edges.get(start.edges..end.edges)?))
    }
}

heap_of!(NameTable: texts, edges, ends);

/// Maximum number of ranges that are compared one by one. If more ranges have an edge to one
/// bundle, all ranges are searched by their ends.
const MOST_ENDING: usize = 64;

/// Number of edges that start at ranges.
fn count(ranges: &[RangeEdges]) -> usize {
    ranges.iter().map(|from| from.edges.len()).sum()
}

/// Memory per edge from a name, in a list that exists twice while it grows.
const NAME: usize = 4 * size_of::<(&str, NamedEdge)>();

/// Memory per range: its place in the list, in the index and in the table by text, and the first
/// allocation of its edges.
const RANGE: usize = 4 * size_of::<RangeEdges>()
    + RangeIndex::BYTES
    + 4 * (size_of::<(&str, Option<usize>)>() + 1)
    + allocated(4 * size_of::<IndexedEdge>());

/// Memory to parse a range, per byte of its text: `1.x ` is two comparators of two ends each, in
/// lists that may be growing.
const RANGE_PER_BYTE: usize = 256;

/// Maximum number of answers that are computed when a package is indexed: those of 256 versions for
/// 256 ranges, half a megabyte at most. The largest package recorded so far has 203 of each.
/// Without a limit, ten thousand bundles with a range each would take a gigabyte.
const MOST_ANSWERS: usize = 1 << 16;

#[cfg(test)]
mod tests;
