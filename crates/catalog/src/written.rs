//! The edges of a package as written, for callers that display them.

use crate::bundle_set::BundleIndex;
use crate::edges::{ChannelIndex, IndexedEdge, NameEdge};
use crate::version::SkipRange;
use crate::{Bundle, Channel, Package};

/// An edge as its entry declares it.
#[derive(Clone, Copy, Debug)]
pub enum WrittenEdge<'p> {
    /// An edge that starts at a name.
    Name {
        /// The name; empty for an entry without `replaces`.
        from: &'p str,
        /// The field that declares the edge.
        kind: NameEdge,
        /// The channel of the entry.
        channel: ChannelIndex,
        /// Bundle that the entry names.
        to: BundleIndex,
    },
    /// An edge that starts at the versions of a range.
    Range {
        /// The range.
        range: &'p SkipRange,
        /// The channel of the entry.
        channel: ChannelIndex,
        /// Bundle that the entry names.
        to: BundleIndex,
    },
    /// An entry whose `skipRange` cannot be read. OLM ignores it, so there is no edge.
    UnreadRange {
        /// The text of the field.
        text: &'p str,
        /// The channel of the entry.
        channel: ChannelIndex,
        /// Bundle that the entry names.
        to: BundleIndex,
    },
}

impl WrittenEdge<'_> {
    /// The channel of the entry.
    pub fn channel(&self) -> ChannelIndex {
        match self {
            Self::Name { channel, .. }
            | Self::Range { channel, .. }
            | Self::UnreadRange { channel, .. } => *channel,
        }
    }

    /// Bundle that the entry names.
    pub fn to(&self) -> BundleIndex {
        match self {
            Self::Name { to, .. } | Self::Range { to, .. } | Self::UnreadRange { to, .. } => *to,
        }
    }
}

impl Package {
    /// All edges as written: edges from names in byte order of the names, then edges from ranges,
    /// then unreadable ranges.
    pub fn written_edges(&self) -> impl Iterator<Item = WrittenEdge<'_>> {
        let names = self.edges.names().flat_map(|(from, edges)| {
            edges.iter().map(move |named| {
                let IndexedEdge { channel, to } = named.edge;
                let kind = named.kind;
                WrittenEdge::Name {
                    from,
                    kind,
                    channel,
                    to,
                }
            })
        });
        let ranges = self.edges.ranges().flat_map(|(range, edges)| {
            edges.iter().map(move |IndexedEdge { channel, to }| {
                let (channel, to) = (*channel, *to);
                WrittenEdge::Range { range, channel, to }
            })
        });
        let unread = self.edges.unread_ranges().map(|(text, edge)| {
            let IndexedEdge { channel, to } = edge;
            WrittenEdge::UnreadRange { text, channel, to }
        });
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

impl Channel {
    /// The bundles that the entries name, each once, best first.
    pub fn members(&self) -> impl Iterator<Item = BundleIndex> {
        self.members.iter().copied()
    }
}
