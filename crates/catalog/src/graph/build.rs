//! From the index of a package to its graph.

use std::collections::{BTreeMap, HashMap};

use crate::graph::{Channel, Entry, Graph, NodeIndex};
use crate::{NameEdge, Package, WrittenEdge};

pub(super) fn build<'p>(name: &'p str, package: &'p Package) -> Graph<'p> {
    let nodes = Nodes::of(package);
    let mut channels = channels(package);
    for written in package.written_edges() {
        let to = NodeIndex(written.to().get());
        let entry = channels.get_mut(written.channel().get() as usize);
        if let Some(entry) = entry.and_then(|entries| entries.get_mut(&to)) {
            add(entry, &written, &nodes);
        }
    }
    let channels = package.channels().iter().zip(channels);
    Graph {
        name,
        package,
        virtuals: nodes.virtuals,
        stated: Vec::new(),
        channels: channels
            .map(|(channel, entries)| Channel {
                name: &channel.name,
                deprecated: channel.deprecated.as_deref(),
                entries: entries.into_values().collect(),
            })
            .collect(),
    }
}

/// The nodes by name.
struct Nodes<'p> {
    by_name: HashMap<&'p str, Vec<NodeIndex>>,
    virtuals: Vec<&'p str>,
}

impl<'p> Nodes<'p> {
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

    /// Every node of this name; the empty one, which an entry without `replaces` replaces, is no node
    /// unless a bundle has it.
    fn named(&self, name: &str) -> &[NodeIndex] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The entries of each channel, without edges as yet.
fn channels<'p>(package: &'p Package) -> Vec<BTreeMap<NodeIndex, Entry<'p>>> {
    let entries = |channel: &'p crate::Channel| {
        let nodes = channel.members().map(|member| NodeIndex(member.get()));
        nodes.map(|node| (node, Entry::of(node))).collect()
    };
    package.channels().iter().map(entries).collect()
}

fn add<'p>(entry: &mut Entry<'p>, written: &WrittenEdge<'p>, nodes: &Nodes<'p>) {
    match written {
        WrittenEdge::Name { from, kind, .. } => {
            let list = match kind {
                NameEdge::Replaces => &mut entry.replaces,
                NameEdge::Skips => &mut entry.skips,
            };
            list.extend(nodes.named(from));
            list.sort_unstable();
            list.dedup();
        }
        WrittenEdge::Range { range, .. } => entry.skip_ranges.push(range),
        WrittenEdge::UnreadRange { text, .. } => entry.unread_ranges.push(text),
    }
}

impl Entry<'_> {
    fn of(node: NodeIndex) -> Self {
        Self {
            node,
            replaces: Vec::new(),
            skips: Vec::new(),
            skip_ranges: Vec::new(),
            unread_ranges: Vec::new(),
        }
    }
}
