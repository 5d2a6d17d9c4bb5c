//! The list of one package in one catalog.

use std::collections::BTreeSet;

use crate::see::version_and_release;
use crate::versions::standing::Standings;
use crate::versions::{
    BundleVersions, CatalogVersions, ChannelVersions, Folded, Membership, NameVersions, OwnRange,
    Standing, Successor, text,
};
use olmguard_catalog::graph::{EdgeKind, Graph, GraphChannel, NodeIndex};
use olmguard_catalog::{BundleIndex, DependencyKind};
use olmguard_engine::explain::{Places, label};
use olmguard_engine::extension::Filter;
use olmguard_engine::resolve::{Choice, Offer};

/// Lists the package of the offer at index `at`.
pub(super) fn catalog<'s>(
    at: usize,
    offer: &Offer<'s>,
    filter: &Filter,
    standings: Option<&Standings<'_, 's>>,
) -> CatalogVersions {
    let graph = Graph::of("", offer.package);
    let edges = Incoming::of(&graph);
    let asks = filter.range().is_some() || !filter.channels.is_empty();
    let bundle = |node: NodeIndex| {
        let index = graph.bundle_index(node)?;
        let mut bundle = bundle(&graph, &edges, node, &offer.choice(index));
        bundle.candidate = asks.then(|| offer.candidates.contains(index));
        if let Some(standings) = standings {
            let (standing, hops) = standings.standing(at, offer, index);
            bundle.standing = Some(standing);
            bundle.hops = hops;
            bundle.is_suggested = standings.suggests(offer, index);
            bundle.guardrails = standings.forbidden(at, index);
            bundle.policies = standings.denied(at, offer, index);
            bundle.not_given = not_given(&bundle, (offer, index), standings);
        }
        Some(bundle)
    };
    let nameless = |node: &NodeIndex| graph.bundle(*node).is_none();
    CatalogVersions {
        catalog: offer.catalog.name.clone(),
        priority: offer.catalog.priority,
        default_channel: graph.default_channel().map(str::to_owned),
        deprecated: offer.package.deprecation().of_package().map(str::to_owned),
        channels: channels(&graph, filter),
        bundles: graph.nodes().filter_map(bundle).collect(),
        names: graph
            .nodes()
            .filter(nameless)
            .map(|node| name(&graph, &edges, node))
            .collect(),
    }
}

/// Returns why no edit installs a successor, unless another field already gives the reason.
fn not_given<'s>(
    bundle: &BundleVersions,
    (offer, index): (&Offer<'s>, BundleIndex),
    standings: &Standings<'_, 's>,
) -> Option<String> {
    let is_refused = bundle.standing == Some(Standing::Successor) && bundle.hops != Some(1);
    let is_told = bundle.requires.is_some() || bundle.error.is_some();
    if !is_refused || is_told {
        return None;
    }
    let why = standings.not_given(offer, index);
    let why = why.map(|why| text::not_given(&why, &offer.catalog.name));
    let is_uninstallable = || standings.is_uninstallable(offer, index);
    why.or_else(|| is_uninstallable().then(text::not_installed))
}

/// Edges of the graph, grouped by the node where they start.
struct Incoming {
    replaced_by: Vec<Vec<Successor>>,
    skipped_by: Vec<Vec<Successor>>,
    held_by: Vec<Option<NodeCount>>,
    heads: Vec<BTreeSet<NodeIndex>>,
}

/// Number of bundles whose range includes a node, with the best and the last of them.
#[derive(Clone, Copy)]
struct NodeCount {
    count: usize,
    best: NodeIndex,
    last: NodeIndex,
}

impl Incoming {
    fn of(graph: &Graph<'_>) -> Self {
        let len = graph.nodes().count();
        let mut edges = Self {
            replaced_by: vec![Vec::new(); len],
            skipped_by: vec![Vec::new(); len],
            held_by: vec![None; len],
            heads: graph
                .channels()
                .iter()
                .map(|channel| channel.heads().collect())
                .collect(),
        };
        for node in graph.nodes() {
            edges.add(graph, node);
        }
        edges
    }

    /// Adds the edges of all channels that end at one node.
    fn add(&mut self, graph: &Graph<'_>, to: NodeIndex) {
        let mut held = BTreeSet::new();
        for channel in graph.channels() {
            let entry = channel.entry(to);
            for edge in entry.into_iter().flat_map(|entry| entry.edges(graph)) {
                let list = match edge.kind {
                    EdgeKind::Replaces => &mut self.replaced_by,
                    EdgeKind::Skips => &mut self.skipped_by,
                    EdgeKind::SkipRange(_) => {
                        held.insert(edge.from);
                        continue;
                    }
                };
                if let Some(list) = place(list, edge.from) {
                    list.push(successor(graph, channel, to));
                }
            }
        }
        for from in held {
            if let Some(fold) = place(&mut self.held_by, from) {
                let known = fold.get_or_insert(NodeCount {
                    count: 0,
                    best: to,
                    last: to,
                });
                known.count += 1;
                known.last = to;
            }
        }
    }
}

fn place<T>(list: &mut [T], node: NodeIndex) -> Option<&mut T> {
    list.get_mut(node.get() as usize)
}

fn successor(graph: &Graph<'_>, channel: &GraphChannel<'_>, to: NodeIndex) -> Successor {
    Successor {
        channel: channel.name.to_owned(),
        bundle: graph.name_of(to).to_owned(),
        label: label_of(graph, to),
    }
}

fn bundle(
    graph: &Graph<'_>,
    edges: &Incoming,
    node: NodeIndex,
    choice: &Choice<'_>,
) -> BundleVersions {
    let bundle = choice.bundle();
    let at = node.get() as usize;
    let (version, release) = version_and_release(bundle);
    let error = bundle.version.as_ref().err().map(ToString::to_string);
    BundleVersions {
        bundle: bundle.name.to_string(),
        version,
        release,
        error,
        channels: memberships(graph, edges, node),
        deprecated: bundle.deprecated.as_deref().map(str::to_owned),
        requires: bundle.dependency.map(DependencyKind::as_str),
        replaced_by: edges.replaced_by.get(at).cloned().unwrap_or_default(),
        skipped_by: edges.skipped_by.get(at).cloned().unwrap_or_default(),
        held_by: edges
            .held_by
            .get(at)
            .copied()
            .flatten()
            .map(|held| fold(graph, held)),
        skip_ranges: own_ranges(graph, node),
        candidate: None,
        standing: None,
        hops: None,
        guardrails: Places::default(),
        policies: Vec::new(),
        not_given: None,
        label: label(bundle),
        maturity: choice.maturity(),
        is_suggested: true,
    }
}

fn fold(graph: &Graph<'_>, held: NodeCount) -> Folded {
    Folded {
        count: held.count,
        highest: graph.name_of(held.best).to_owned(),
        lowest: graph.name_of(held.last).to_owned(),
        labels: [label_of(graph, held.best), label_of(graph, held.last)],
    }
}

fn memberships(graph: &Graph<'_>, edges: &Incoming, node: NodeIndex) -> Vec<Membership> {
    let channels = graph.channels().iter().zip(&edges.heads);
    let having = channels.filter(|(channel, _)| channel.entry(node).is_some());
    having
        .map(|(channel, heads)| Membership {
            channel: channel.name.to_owned(),
            head: heads.contains(&node),
        })
        .collect()
}

fn own_ranges(graph: &Graph<'_>, node: NodeIndex) -> Vec<OwnRange> {
    let mut ranges = Vec::new();
    for channel in graph.channels() {
        let Some(entry) = channel.entry(node) else {
            continue;
        };
        let own = |range: &str, holds| OwnRange {
            channel: channel.name.to_owned(),
            range: range.to_owned(),
            holds,
        };
        for range in &entry.skip_ranges {
            let held = entry.edges(graph).filter(
                |edge| matches!(edge.kind, EdgeKind::SkipRange(held) if std::ptr::eq(held, *range)),
            );
            ranges.push(own(range.as_str(), Some(held.count())));
        }
        ranges.extend(entry.unread_ranges.iter().map(|text| own(text, None)));
    }
    ranges
}

fn channels(graph: &Graph<'_>, filter: &Filter) -> Vec<ChannelVersions> {
    let channels = graph.channels().iter();
    let report = |channel: &GraphChannel<'_>| {
        let heads: Vec<_> = channel.heads().collect();
        let is_named = filter.channels.iter().any(|name| name == channel.name);
        ChannelVersions {
            channel: channel.name.to_owned(),
            asked: filter.channels.is_empty() || is_named,
            entries: channel.entries.len(),
            heads: heads
                .iter()
                .map(|head| graph.name_of(*head).to_owned())
                .collect(),
            deprecated: channel.deprecated.map(str::to_owned),
            labels: heads.iter().map(|head| label_of(graph, *head)).collect(),
        }
    };
    channels.map(report).collect()
}

fn name(graph: &Graph<'_>, edges: &Incoming, node: NodeIndex) -> NameVersions {
    let at = node.get() as usize;
    NameVersions {
        name: graph.name_of(node).to_owned(),
        replaced_by: edges.replaced_by.get(at).cloned().unwrap_or_default(),
        skipped_by: edges.skipped_by.get(at).cloned().unwrap_or_default(),
    }
}

fn label_of(graph: &Graph<'_>, node: NodeIndex) -> String {
    graph.bundle(node).map(label).unwrap_or_default()
}
