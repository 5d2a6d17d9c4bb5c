//! The edges of a package as written, for callers that display them.

use crate::bundle_set::BundleIndex;
use crate::edges::{ChannelIndex, IndexedEdge, NameEdge};
use crate::version::SkipRange;
use crate::{Bundle, Channel, Package};

/// An edge as its entry declares it.
#[derive(Clone, Copy, Debug)]
pub struct WrittenEdge<'p> {
    /// The channel of the entry.
    pub channel: ChannelIndex,
    /// Bundle that the entry names.
    pub to: BundleIndex,
    /// Start of the edge.
    pub from: EdgeStart<'p>,
}

/// Start of an edge.
#[derive(Clone, Copy, Debug)]
pub enum EdgeStart<'p> {
    /// A name, which is empty for an entry without `replaces`, and the field with the name.
    Name(&'p str, NameEdge),
    /// The versions of a range.
    Range(&'p SkipRange),
    /// The text of a `skipRange` that cannot be read. OLM ignores it, so there is no edge.
    UnreadRange(&'p str),
}

impl Package {
    /// All edges as written: edges from names in byte order of the names, then edges from ranges,
    /// then unreadable ranges.
    pub fn written_edges(&self) -> impl Iterator<Item = WrittenEdge<'_>> {
        let names = self.edges.names().flat_map(|(from, edges)| {
            let edges = edges.iter();
            edges.map(move |named| named.edge.written(EdgeStart::Name(from, named.kind)))
        });
        let ranges = self.edges.ranges().flat_map(|(range, edges)| {
            let edges = edges.iter();
            edges.map(move |edge| edge.written(EdgeStart::Range(range)))
        });
        let unread = self.edges.unread_ranges();
        let unread = unread.map(|(text, edge)| edge.written(EdgeStart::UnreadRange(text)));
        names.chain(ranges).chain(unread)
    }

    /// All names that edges start at, in byte order.
    pub fn names_of_edges(&self) -> Vec<&str> {
        self.edges.names().map(|(name, _)| name).collect()
    }

    /// Number of bundles.
    pub fn bundle_count(&self) -> usize {
        self.bundles.len()
    }

    /// The bundles with this name, best first. Blobs in different files can have the same bundle
    /// name.
    pub fn bundles_named<'p>(
        &'p self,
        name: &'p str,
    ) -> impl Iterator<Item = (BundleIndex, &'p Bundle)> + 'p {
        self.bundles()
            .filter(move |(_, bundle)| *bundle.name == *name)
    }
}

impl IndexedEdge {
    fn written(self, from: EdgeStart<'_>) -> WrittenEdge<'_> {
        let Self { channel, to } = self;
        WrittenEdge { channel, to, from }
    }
}

impl Channel {
    /// The bundles that the entries name, each once, best first.
    pub fn members(&self) -> impl Iterator<Item = BundleIndex> {
        self.members.iter().copied()
    }
}
