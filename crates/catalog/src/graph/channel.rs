//! One channel of a graph: its entries and the edges they write.

use std::collections::BTreeSet;

use crate::graph::{Graph, NodeIndex};
use crate::version::{Membership, SkipRange};

/// A channel, as an `olm.channel` blob describes it.
#[derive(Clone, Debug)]
pub struct Channel<'p> {
    /// Its name; empty where the blob has none.
    pub name: &'p str,
    /// The message of its deprecation, perhaps empty.
    pub deprecated: Option<&'p str>,
    /// Its entries, the best first.
    pub entries: Vec<Entry<'p>>,
}

/// What a channel says of one bundle. Entries of one name are one here, as to OLM v1.
#[derive(Clone, Debug)]
pub struct Entry<'p> {
    /// The bundle that its edges lead to.
    pub node: NodeIndex,
    /// What it replaces: one name, unless the channel has several entries of its name.
    pub replaces: Vec<NodeIndex>,
    /// What it skips, in the order of the nodes.
    pub skips: Vec<NodeIndex>,
    /// The ranges of versions it skips: one, unless the channel has several entries of its name.
    pub skip_ranges: Vec<&'p SkipRange>,
    /// What is written as a `skipRange` and cannot be read, so that OLM ignores it.
    pub unread_ranges: Vec<&'p str>,
}

/// A step that a channel allows.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'p> {
    /// Where it starts.
    pub from: NodeIndex,
    /// Where it leads.
    pub to: NodeIndex,
    /// What allows it.
    pub kind: EdgeKind<'p>,
}

/// What allows a step.
#[derive(Clone, Copy, Debug)]
pub enum EdgeKind<'p> {
    /// The entry replaces the name.
    Replaces,
    /// The entry skips the name.
    Skips,
    /// The entry's `skipRange` holds the version.
    SkipRange(&'p SkipRange),
}

impl EdgeKind<'_> {
    /// The field of the entry.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::Skips => "skips",
            Self::SkipRange(_) => "skipRange",
        }
    }
}

impl<'p> Channel<'p> {
    /// The entry of a node.
    pub fn entry(&self, node: NodeIndex) -> Option<&Entry<'p>> {
        let at = self.entries.binary_search_by_key(&node, |entry| entry.node);
        at.ok().and_then(|at| self.entries.get(at))
    }

    /// Its heads: what no entry of it, not even itself, replaces or skips, the best first. One, unless the
    /// channel is not as `opm validate` wants it.
    pub fn heads(&self) -> impl Iterator<Item = NodeIndex> {
        let mut left: BTreeSet<NodeIndex> = BTreeSet::new();
        for entry in &self.entries {
            let named = entry.replaces.iter().chain(&entry.skips);
            left.extend(named);
        }
        let nodes = self.entries.iter().map(|entry| entry.node);
        nodes.filter(move |node| !left.contains(node))
    }

    /// Every edge between two nodes of the graph: by entry, and in each `replaces` before `skips`
    /// before `skipRange`. A range is an edge from every bundle of the package whose version it holds,
    /// but for the entry's own.
    pub fn edges<'a>(&'a self, graph: &'a Graph<'p>) -> impl Iterator<Item = Edge<'p>> + 'a {
        self.entries.iter().flat_map(|entry| entry.edges(graph))
    }
}

impl<'p> Entry<'p> {
    /// The edges that it writes, as [`Channel::edges`] gives them.
    pub fn edges<'a>(&'a self, graph: &'a Graph<'p>) -> impl Iterator<Item = Edge<'p>> + 'a {
        let to = self.node;
        let edge = move |kind| {
            move |from: &NodeIndex| Edge {
                from: *from,
                to,
                kind,
            }
        };
        let replaces = self.replaces.iter().map(edge(EdgeKind::Replaces));
        let skips = self.skips.iter().map(edge(EdgeKind::Skips));
        let ranges = self.skip_ranges.iter().flat_map(move |range| {
            let held = self.held(graph, range);
            held.map(move |from| edge(EdgeKind::SkipRange(range))(&from))
        });
        replaces.chain(skips).chain(ranges)
    }

    /// The bundles of the package, and what was stated beside them, whose version a range of this entry
    /// holds, but for its own.
    pub fn held<'a>(
        &self,
        graph: &'a Graph<'p>,
        range: &'a SkipRange,
    ) -> impl Iterator<Item = NodeIndex> + use<'a, 'p> {
        let to = self.node;
        let held = graph.nodes().filter(move |from| holds(graph, range, *from));
        held.filter(move |from| *from != to)
    }
}

/// Whether a range holds the version of a node; on a range that OLM crashes over nothing is told.
fn holds(graph: &Graph<'_>, range: &SkipRange, node: NodeIndex) -> bool {
    let version = graph.version_of(node);
    version.is_some_and(|version| range.takes(version) == Membership::Holds)
}
