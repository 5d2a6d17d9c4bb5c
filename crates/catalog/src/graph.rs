//! The upgrade graph of one package of one catalog, as its author wrote it, and the search for
//! reachable nodes.
//!
//! Resolution only needs the edges that start at an installed bundle. People ask what the author
//! wrote: which entry replaces, which skips, which names edges mention without a bundle. The graph
//! is that view of the same index.
//!
//! ```text
//! channel "stable"    lantern.v1.0.0 <-- replaces -- lantern.v1.2.0 (head)
//!                     lantern.v1.1.0 <---- skips ----------'     lantern.v1.1.0 has no bundle: virtual
//! ```
//!
//! Upstream: operator-registry, [`alpha/declcfg/declcfg.go`] (the fields of an entry). The graph
//! has no entries without a bundle: OLM v0 rejects such a catalog, and OLM v1 ignores them.
//!
//! Invariants: the first nodes are the package's bundles in order of preference, so the node of a
//! [`BundleIndex`] has the same number. The names without a bundle follow in byte order, and then
//! the names that [`Graph::state`] added. Entries of a channel are in the order of their nodes, so
//! the best comes first.
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use crate::version::{Membership, SkipRange, Version};
use crate::{Bundle, BundleIndex, Deprecation, EdgeStart, NameEdge, Package};

/// The graph of one package.
#[derive(Clone, Debug)]
pub struct Graph<'p> {
    name: &'p str,
    package: &'p Package,
    /// Names that edges start at and that no bundle has, then the names that [`Graph::state`]
    /// added.
    virtuals: Vec<&'p str>,
    /// Versions that were stated for names without a bundle.
    stated: Vec<(NodeIndex, &'p Version)>,
    channels: Vec<GraphChannel<'p>>,
}

/// The position of a node in its graph.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeIndex(u32);

impl NodeIndex {
    /// Returns the number. For a bundle, it is the position in the package.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<'p> Graph<'p> {
    /// Builds the graph of a package.
    pub fn of(name: &'p str, package: &'p Package) -> Self {
        let nodes = GraphNodes::of(package);
        let mut channels = channels(package);
        for written in package.written_edges() {
            let to = NodeIndex(written.to.get());
            let entry = channels.get_mut(written.channel.get() as usize);
            if let Some(entry) = entry.and_then(|entries| entries.get_mut(&to)) {
                entry.add(written.from, &nodes);
            }
        }
        let channels = package.channels().iter().zip(channels);
        Self {
            name,
            package,
            virtuals: nodes.virtuals,
            stated: Vec::new(),
            channels: channels
                .map(|(channel, entries)| GraphChannel {
                    name: &channel.name,
                    deprecated: channel.deprecated.as_deref(),
                    entries: entries.into_values().collect(),
                })
                .collect(),
        }
    }

    /// States the version of a name that no bundle of the package has, but that may be installed
    /// somewhere. The name can be one that edges start at, or any other. Ranges that match the
    /// version then add edges from it.
    pub fn state(&mut self, name: &'p str, version: &'p Version) {
        let node = self.find(name).unwrap_or_else(|| {
            self.virtuals.push(name);
            NodeIndex(self.len().saturating_sub(1))
        });
        if self.bundle(node).is_none() {
            self.stated.push((node, version));
        }
    }

    /// The version of a node, if it can be read or was stated.
    pub fn version_of(&self, node: NodeIndex) -> Option<&'p Version> {
        if let Some(bundle) = self.bundle(node) {
            return bundle.version.as_ref().ok().map(|read| &read.version);
        }
        let mut stated = self.stated.iter();
        stated
            .find(|(of, _)| *of == node)
            .map(|(_, version)| *version)
    }

    /// [`Self::version_of`], or the version in the name if no bundle has the name and no version
    /// was stated.
    pub fn likely_version(&self, node: NodeIndex) -> Option<Cow<'p, Version>> {
        let known = self.version_of(node).map(Cow::Borrowed);
        let of_name = || version_in_name(self.name_of(node)).map(Cow::Owned);
        known.or_else(|| self.bundle(node).is_none().then(of_name).flatten())
    }

    /// The package's name.
    pub fn name(&self) -> &'p str {
        self.name
    }

    /// The package that the graph was built from.
    pub fn package(&self) -> &'p Package {
        self.package
    }

    /// All nodes: bundles, best first, then names without a bundle.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + use<'p> {
        (0..self.len()).map(NodeIndex)
    }

    /// Number of nodes.
    pub fn len(&self) -> u32 {
        let count = self.bundle_count() + self.virtuals.len();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a node.
    pub fn name_of(&self, node: NodeIndex) -> &'p str {
        match self.bundle(node) {
            Some(bundle) => &bundle.name,
            None => self.virtual_name(node).unwrap_or_default(),
        }
    }

    /// The bundle of a node; `None` for a name that no bundle has.
    pub fn bundle(&self, NodeIndex(node): NodeIndex) -> Option<&'p Bundle> {
        let index = BundleIndex::new(node);
        ((node as usize) < self.bundle_count()).then(|| self.package.bundle(index))
    }

    /// The position of a node's bundle in the package.
    pub fn bundle_index(&self, NodeIndex(node): NodeIndex) -> Option<BundleIndex> {
        ((node as usize) < self.bundle_count()).then(|| BundleIndex::new(node))
    }

    /// The node of a bundle of the package.
    pub fn node_of(&self, bundle: BundleIndex) -> NodeIndex {
        NodeIndex(bundle.get())
    }

    /// The node with this name, or the best of several.
    pub fn find(&self, name: &str) -> Option<NodeIndex> {
        self.nodes().find(|node| self.name_of(*node) == name)
    }

    /// The channels, in byte order of their names.
    pub fn channels(&self) -> &[GraphChannel<'p>] {
        &self.channels
    }

    /// The channel with this name, or the first of several.
    pub fn channel(&self, name: &str) -> Option<&GraphChannel<'p>> {
        self.channels.iter().find(|channel| channel.name == name)
    }

    /// The `defaultChannel` of the package; `None` if it is not set.
    pub fn default_channel(&self) -> Option<&'p str> {
        Some(self.package.default_channel()).filter(|name| !name.is_empty())
    }

    /// Whether the package itself is deprecated.
    pub fn is_deprecated(&self) -> bool {
        matches!(self.package.deprecation(), Deprecation::OfPackage(_))
    }

    fn bundle_count(&self) -> usize {
        self.package.bundle_count()
    }

    fn virtual_name(&self, NodeIndex(node): NodeIndex) -> Option<&'p str> {
        let at = (node as usize).checked_sub(self.bundle_count())?;
        self.virtuals.get(at).copied()
    }
}

/// A channel, as an `olm.channel` blob describes it.
#[derive(Clone, Debug)]
pub struct GraphChannel<'p> {
    /// Name; empty if the blob has none.
    pub name: &'p str,
    /// The message of the channel's deprecation; may be empty.
    pub deprecated: Option<&'p str>,
    /// Entries, best first.
    pub entries: Vec<GraphEntry<'p>>,
}

/// A channel's entry for one bundle. Several entries with one name are merged, as OLM v1 does.
#[derive(Clone, Debug)]
pub struct GraphEntry<'p> {
    /// The bundle that the edges end at.
    pub node: NodeIndex,
    /// Names that the entry replaces: one, unless the channel has several entries with its name.
    pub replaces: Vec<NodeIndex>,
    /// Names that the entry skips, in the order of the nodes.
    pub skips: Vec<NodeIndex>,
    /// Version ranges that the entry skips: one, unless the channel has several entries with its
    /// name.
    pub skip_ranges: Vec<&'p SkipRange>,
    /// Texts of `skipRange` fields that cannot be parsed. OLM ignores them.
    pub unread_ranges: Vec<&'p str>,
}

/// A step that a channel allows.
#[derive(Clone, Copy, Debug)]
pub struct GraphEdge<'p> {
    /// Start of the step.
    pub from: NodeIndex,
    /// End of the step.
    pub to: NodeIndex,
    /// Field that allows the step.
    pub kind: EdgeKind<'p>,
}

/// Field of an entry that allows a step.
#[derive(Clone, Copy, Debug)]
pub enum EdgeKind<'p> {
    /// The entry replaces the name.
    Replaces,
    /// The entry skips the name.
    Skips,
    /// The entry's `skipRange` matches the version.
    SkipRange(&'p SkipRange),
}

impl EdgeKind<'_> {
    /// The name of the field.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::Skips => "skips",
            Self::SkipRange(_) => "skipRange",
        }
    }
}

impl<'p> GraphChannel<'p> {
    /// Returns the entry of a node.
    pub fn entry(&self, node: NodeIndex) -> Option<&GraphEntry<'p>> {
        let at = self.entries.binary_search_by_key(&node, |entry| entry.node);
        at.ok().and_then(|at| self.entries.get(at))
    }

    /// The channel heads, best first: the entries that no entry replaces or skips, not even the
    /// entry itself. There is one, unless `opm validate` rejects the channel.
    pub fn heads(&self) -> impl Iterator<Item = NodeIndex> {
        let mut left: BTreeSet<NodeIndex> = BTreeSet::new();
        for entry in &self.entries {
            let named = entry.replaces.iter().chain(&entry.skips);
            left.extend(named);
        }
        let nodes = self.entries.iter().map(|entry| entry.node);
        nodes.filter(move |node| !left.contains(node))
    }

    /// All edges between two nodes of the graph, in the order of the entries. For each entry,
    /// `replaces` comes first, then `skips`, then `skipRange`. A range gives an edge from every
    /// node whose version it matches, except the entry's own node.
    pub fn edges<'a>(&'a self, graph: &'a Graph<'p>) -> impl Iterator<Item = GraphEdge<'p>> + 'a {
        self.entries.iter().flat_map(|entry| entry.edges(graph))
    }
}

impl<'p> GraphEntry<'p> {
    /// The edges of this entry, in the order of [`GraphChannel::edges`].
    pub fn edges<'a>(&'a self, graph: &'a Graph<'p>) -> impl Iterator<Item = GraphEdge<'p>> + 'a {
        let to = self.node;
        let edge = move |kind| {
            move |from: &NodeIndex| GraphEdge {
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

    /// The nodes whose version is in `range`, a range of this entry, except the entry's own node. Nodes
    /// are bundles of the package and names with a stated version.
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

/// Whether a range matches the version of a node. A range that makes OLM crash does not match.
fn holds(graph: &Graph<'_>, range: &SkipRange, node: NodeIndex) -> bool {
    let version = graph.version_of(node);
    version.is_some_and(|version| range.takes(version) == Membership::Holds)
}

/// The nodes by name.
struct GraphNodes<'p> {
    by_name: HashMap<&'p str, Vec<NodeIndex>>,
    virtuals: Vec<&'p str>,
}

impl<'p> GraphNodes<'p> {
    fn of(package: &'p Package) -> Self {
        let mut by_name: HashMap<&str, Vec<NodeIndex>> = HashMap::new();
        for (index, bundle) in package.bundles() {
            let node = NodeIndex(index.get());
            by_name.entry(&bundle.name).or_default().push(node);
        }
        let named = package.names_of_edges().into_iter();
        let virtuals: Vec<_> = named
            .filter(|name| !name.is_empty() && !by_name.contains_key(name))
            .collect();
        for (at, name) in (package.bundle_count()..).zip(&virtuals) {
            let node = NodeIndex(u32::try_from(at).unwrap_or(u32::MAX));
            by_name.insert(name, vec![node]);
        }
        Self { by_name, virtuals }
    }

    /// All nodes with this name. An entry without `replaces` replaces the empty name, which has no
    /// node unless a bundle has that name.
    fn named(&self, name: &str) -> &[NodeIndex] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The entries of each channel, still without edges.
fn channels<'p>(package: &'p Package) -> Vec<BTreeMap<NodeIndex, GraphEntry<'p>>> {
    let entries = |channel: &'p crate::Channel| {
        let nodes = channel.members().map(|member| NodeIndex(member.get()));
        nodes.map(|node| (node, GraphEntry::of(node))).collect()
    };
    package.channels().iter().map(entries).collect()
}

impl<'p> GraphEntry<'p> {
    fn of(node: NodeIndex) -> Self {
        Self {
            node,
            replaces: Vec::new(),
            skips: Vec::new(),
            skip_ranges: Vec::new(),
            unread_ranges: Vec::new(),
        }
    }

    fn add(&mut self, from: EdgeStart<'p>, nodes: &GraphNodes<'p>) {
        match from {
            EdgeStart::Name(from, kind) => {
                let list = match kind {
                    NameEdge::Replaces => &mut self.replaces,
                    NameEdge::Skips => &mut self.skips,
                };
                list.extend(nodes.named(from));
                list.sort_unstable();
                list.dedup();
            }
            EdgeStart::Range(range) => self.skip_ranges.push(range),
            EdgeStart::UnreadRange(text) => self.unread_ranges.push(text),
        }
    }
}

/// The version that a bundle's name suggests, by the convention `PACKAGE.vX.Y.Z`.
///
/// OLM never does this, because a name is opaque to it. The result serves to sort names without a
/// bundle among names with one, and to generate graphs. Upstream's own tools read names in the same
/// way.
pub fn version_in_name(name: &str) -> Option<Version> {
    let after_break = name
        .match_indices(['.', '-'])
        .map(|(at, mark)| at + mark.len());
    let starts = std::iter::once(0).chain(after_break);
    starts
        .filter_map(|at| name.get(at..))
        .find_map(|rest| Version::parse(rest.strip_prefix('v').unwrap_or(rest)).ok())
}

#[cfg(test)]
mod tests;

// === Breadth-first search: which nodes can be reached, and by which shortest path ===
//
// The caller defines a step: an edge of a catalog, a row of a picture, or an edit. With reversed
// steps, the search finds the nodes from which a goal can be reached.
//
// Invariant: nodes that are fewer steps away are visited first. So the first visit of a node is by
// a shortest path. Among the shortest paths, the steps that were given first win.

/// The nodes that a search has visited, in order.
#[derive(Clone, Debug)]
pub struct Visits<N, S>(Vec<SearchVisit<N, S>>);

/// A node that a search has visited.
#[derive(Clone, Debug)]
pub struct SearchVisit<N, S> {
    /// The node.
    pub node: N,
    /// Number of steps from a start.
    pub steps: usize,
    /// The position of the visit before this one, and the step from there; `None` for a start.
    pub by: Option<(usize, S)>,
}

/// Searches from the start nodes until the goal is reached or no nodes are left.
pub fn search<N, S, I>(
    starts: impl IntoIterator<Item = N>,
    goal: Option<N>,
    mut steps_from: impl FnMut(N) -> I,
) -> Visits<N, S>
where
    N: Copy + Eq + Hash,
    I: IntoIterator<Item = (S, N)>,
{
    let mut visits = Visits::default();
    let mut seen = HashSet::new();
    for start in starts {
        if seen.insert(start) {
            visits.push(start, None);
        }
    }
    let mut next = 0;
    while let Some(at) = visits.0.get(next).map(|visit| visit.node) {
        if goal.is_some_and(|goal| seen.contains(&goal)) {
            break;
        }
        for (step, to) in steps_from(at) {
            if seen.insert(to) {
                visits.push(to, Some((next, step)));
            }
        }
        next += 1;
    }
    visits
}

impl<N, S> Default for Visits<N, S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N, S> Visits<N, S> {
    /// Appends a visit.
    pub fn push(&mut self, node: N, by: Option<(usize, S)>) {
        let before = by.as_ref().and_then(|(from, _)| self.0.get(*from));
        let steps = before.map_or(0, |before| before.steps + 1);
        self.0.push(SearchVisit { node, steps, by });
    }

    /// The visits, in order.
    pub fn as_slice(&self) -> &[SearchVisit<N, S>] {
        &self.0
    }

    /// Sorts the visits from a position onwards. No other node may have been reached from them yet.
    pub fn sort_from_by_key<K: Ord>(
        &mut self,
        place: usize,
        key: impl FnMut(&SearchVisit<N, S>) -> K,
    ) {
        if let Some(visits) = self.0.get_mut(place..) {
            visits.sort_by_key(key);
        }
    }

    /// The path to the visit at a position, including that visit.
    pub fn path_to(&self, place: usize) -> Vec<&SearchVisit<N, S>> {
        let mut path = Vec::new();
        let mut at = self.0.get(place);
        while let Some(visit) = at {
            path.push(visit);
            at = visit.by.as_ref().and_then(|(from, _)| self.0.get(*from));
        }
        path.reverse();
        path
    }
}

impl<N: Copy + Eq, S> Visits<N, S> {
    /// The shortest path to a node, including that node; `None` if it was not reached.
    pub fn shortest_path(&self, to: N) -> Option<Vec<&SearchVisit<N, S>>> {
        let place = self.0.iter().position(|visit| visit.node == to)?;
        Some(self.path_to(place))
    }
}
