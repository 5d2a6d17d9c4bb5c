//! A single lane: the entries of a channel and their edges, or the steps that the semver rules allow.

use std::collections::{BTreeMap, BTreeSet};

use crate::picture::sketch::{
    DrawnChange, EdgeFate, Fan, FanKind, InstallRefusal, Lane, LaneCell, LaneKind, ReplacesStep,
    VersionRow,
};
use crate::picture::{Generation, Marks, VersionMark, View};
use olmguard_catalog::graph::{Graph, GraphChannel, GraphEntry, NodeIndex};
use olmguard_catalog::olm::{EdgeSource, PreflightMode};
use olmguard_catalog::version::Version;
use olmguard_engine::resolve::classic::{Outlook, SubscribedChannel, SubscriptionOrder};
use olmguard_engine::resolve::{Refusal, is_unsupported, semver};

/// Rows by node.
pub(super) type RowOf = BTreeMap<NodeIndex, VersionRow>;

/// Builds the lane of a channel.
pub(super) fn channel_lane<'p>(
    graph: &Graph<'p>,
    channel: &GraphChannel<'p>,
    row_of: &RowOf,
    view: &View<'_>,
) -> Lane<'p> {
    let line = SubscriptionOrder::of(graph, SubscribedChannel::To(channel.name));
    let writer = Writer {
        graph,
        row_of,
        view,
        offered: offered(graph, channel, line.as_ref().ok(), view),
    };
    let entries = channel.entries.iter();
    Lane {
        name: channel.name,
        kind: LaneKind::Channel,
        is_default: graph.default_channel() == Some(channel.name),
        deprecated: channel.deprecated,
        entries: channel.entries.len(),
        refused_by_v0: line.as_ref().err().map(ToString::to_string),
        cells: cells(graph, channel, row_of, line.ok().as_ref()),
        steps: entries
            .clone()
            .flat_map(|entry| writer.steps(entry))
            .collect(),
        fans: entries
            .clone()
            .flat_map(|entry| writer.fans(entry))
            .collect(),
        unread: entries.flat_map(|entry| writer.unread(entry)).collect(),
        change: DrawnChange::Kept,
    }
}

/// Builds the lane of the semver rules: every valid version, and the versions that can be upgraded to it.
pub(super) fn semver_lane<'p>(graph: &Graph<'p>, row_of: &RowOf, view: &View<'_>) -> Lane<'p> {
    let placed = |node| Some((*row_of.get(&node)?, graph.version_of(node)?, node));
    let nodes: Vec<_> = graph.nodes().filter_map(placed).collect();
    let fans = nodes
        .iter()
        .map(|node| semver_fan(graph, &nodes, node, view))
        .filter(|fan| !fan.from.is_empty());
    let fans: Vec<_> = fans.collect();
    let left: BTreeSet<_> = fans.iter().flat_map(|fan| &fan.from).collect();
    let cell = |(row, _, node): &(VersionRow, &Version, NodeIndex)| LaneCell {
        row: *row,
        marks: common(graph, *node).with(VersionMark::Head, !left.contains(row)),
    };
    let mut cells: Vec<_> = nodes.iter().map(cell).collect();
    cells.sort_unstable_by_key(|cell| cell.row);
    Lane {
        kind: LaneKind::Semver,
        entries: cells.len(),
        cells,
        fans,
        ..Lane::default()
    }
}

/// Builds the fan of all versions that the semver rules allow to upgrade to this one.
fn semver_fan<'p>(
    graph: &Graph<'p>,
    nodes: &[(VersionRow, &Version, NodeIndex)],
    (to, wanted, node): &(VersionRow, &Version, NodeIndex),
    view: &View<'_>,
) -> Fan<'p> {
    let leads = |from: &Version| semver::step(from, wanted).is_ok();
    let from = nodes.iter().filter(|(_, from, _)| leads(from));
    let mut from: Vec<_> = from.map(|(row, _, _)| *row).collect();
    from.sort_unstable();
    Fan {
        kind: FanKind::Semver,
        to: *to,
        whole: from.len(),
        from,
        continues: false,
        fate: fate(view.refusal(graph, *node).is_none()),
        change: DrawnChange::Kept,
    }
}

/// Returns the entries that OLM installs: OLM v0 never installs skipped ones, OLM v1 refuses some bundles.
fn offered(
    graph: &Graph<'_>,
    channel: &GraphChannel<'_>,
    line: Option<&SubscriptionOrder<'_, '_>>,
    view: &View<'_>,
) -> BTreeSet<NodeIndex> {
    let nodes = channel.entries.iter().map(|entry| entry.node);
    match view.olm {
        Generation::V0 => line
            .into_iter()
            .flat_map(SubscriptionOrder::order)
            .collect(),
        Generation::V1 => nodes
            .filter(|node| view.refusal(graph, *node).is_none())
            .collect(),
    }
}

fn cells(
    graph: &Graph<'_>,
    channel: &GraphChannel<'_>,
    row_of: &RowOf,
    line: Option<&SubscriptionOrder<'_, '_>>,
) -> Vec<LaneCell> {
    let heads: BTreeSet<_> = channel.heads().collect();
    let entries = channel.entries.iter();
    let skipped: BTreeSet<_> = entries.clone().flat_map(|entry| &entry.skips).collect();
    let nodes: BTreeSet<_> = entries.flat_map(names).collect();
    let cell = |node: &NodeIndex| {
        let outlook = line.map(|line| line.outlook_at(*node));
        let marks = common(graph, *node)
            .with(VersionMark::Head, heads.contains(node))
            .with(VersionMark::Skipped, skipped.contains(node))
            .with(VersionMark::StrandedV0, outlook == Some(Outlook::Stranded))
            .with(VersionMark::Elsewhere, channel.entry(*node).is_none());
        let row = *row_of.get(node)?;
        Some(LaneCell { row, marks })
    };
    let mut cells: Vec<_> = nodes.into_iter().filter_map(cell).collect();
    cells.sort_unstable_by_key(|cell| cell.row);
    cells
}

/// Returns the names in an entry, including its own.
fn names<'e>(entry: &'e GraphEntry<'_>) -> impl Iterator<Item = &'e NodeIndex> {
    let others = entry.replaces.iter().chain(&entry.skips);
    others.chain([&entry.node])
}

/// Converts the edges of entries to rows.
struct Writer<'a, 'p> {
    graph: &'a Graph<'p>,
    row_of: &'a RowOf,
    view: &'a View<'a>,
    /// Entries that OLM installs.
    offered: BTreeSet<NodeIndex>,
}

impl<'p> Writer<'_, 'p> {
    fn steps(&self, entry: &GraphEntry<'_>) -> Vec<ReplacesStep> {
        let step = |from: &NodeIndex| {
            Some(ReplacesStep {
                from: *self.row_of.get(from)?,
                to: *self.row_of.get(&entry.node)?,
                fate: fate(
                    self.offered.contains(&entry.node) && self.is_allowed(*from, entry.node),
                ),
                change: DrawnChange::Kept,
            })
        };
        entry.replaces.iter().filter_map(step).collect()
    }

    fn fans(&self, entry: &GraphEntry<'p>) -> Vec<Fan<'p>> {
        let skips = self.fans_of(FanKind::Skips, entry.node, entry.skips.iter().copied());
        let ranges = entry.skip_ranges.iter().flat_map(|range| {
            let kind = FanKind::SkipRange(range.as_str());
            let held = entry.held(self.graph, range);
            let fans = self.fans_of(kind, entry.node, held);
            // A range that includes no version of the package still gets a fan.
            if fans.is_empty() {
                let fate = fate(self.offered.contains(&entry.node));
                self.fan(kind, entry.node, Vec::new(), fate)
                    .into_iter()
                    .collect()
            } else {
                fans
            }
        });
        skips.into_iter().chain(ranges).collect()
    }

    /// Returns the fans of one field: one of the edges that are taken, and one of the others.
    fn fans_of(
        &self,
        kind: FanKind<'p>,
        to: NodeIndex,
        from: impl Iterator<Item = NodeIndex>,
    ) -> Vec<Fan<'p>> {
        let is_used = |from: &NodeIndex| self.offered.contains(&to) && self.is_allowed(*from, to);
        let (used, unused): (Vec<_>, Vec<_>) = from.partition(is_used);
        let parts = [(used, EdgeFate::Taken), (unused, EdgeFate::NotTaken)].into_iter();
        let parts = parts.filter(|(from, _)| !from.is_empty());
        let parts = parts.filter_map(|(from, fate)| self.fan(kind, to, from, fate));
        in_parts(parts.collect())
    }

    fn fan(
        &self,
        kind: FanKind<'p>,
        to: NodeIndex,
        from: Vec<NodeIndex>,
        fate: EdgeFate,
    ) -> Option<Fan<'p>> {
        let placed = from
            .into_iter()
            .filter_map(|node| self.row_of.get(&node).copied());
        let mut from: Vec<_> = placed.collect();
        from.sort_unstable();
        let fan = |to| Fan {
            kind,
            to,
            whole: from.len(),
            from,
            continues: false,
            fate,
            change: DrawnChange::Kept,
        };
        self.row_of.get(&to).copied().map(fan)
    }

    fn unread(&self, entry: &GraphEntry<'p>) -> Vec<(VersionRow, &'p str)> {
        let row = self.row_of.get(&entry.node).into_iter();
        row.flat_map(|row| entry.unread_ranges.iter().map(move |text| (*row, *text)))
            .collect()
    }

    /// Whether the semver rules, if they apply as well, allow the step. They need two valid versions.
    fn is_allowed(&self, from: NodeIndex, to: NodeIndex) -> bool {
        if self.view.edges != EdgeSource::Both {
            return true;
        }
        let [from, to] = [from, to].map(|node| self.graph.version_of(node));
        from.zip(to)
            .is_some_and(|(from, to)| semver::step(from, to).is_ok())
    }
}

/// Marks fans as the parts of one field.
fn in_parts(mut fans: Vec<Fan<'_>>) -> Vec<Fan<'_>> {
    let whole = fans.iter().map(|fan| fan.from.len()).sum();
    for (at, fan) in fans.iter_mut().enumerate() {
        (fan.whole, fan.continues) = (whole, at > 0);
    }
    fans
}

/// Returns the fate of an edge that OLM takes, or does not take.
fn fate(is_taken: bool) -> EdgeFate {
    if is_taken {
        EdgeFate::Taken
    } else {
        EdgeFate::NotTaken
    }
}

/// Returns the marks of a node that do not depend on the channel and the view.
pub(super) fn common(graph: &Graph<'_>, node: NodeIndex) -> Marks {
    let bundle = graph.bundle(node);
    let is_deprecated = bundle.is_some_and(|bundle| bundle.deprecated.is_some());
    Marks::default()
        .with(VersionMark::Virtual, bundle.is_none())
        .with(VersionMark::Deprecated, is_deprecated)
}

impl View<'_> {
    /// Returns why OLM v1 does not install the bundle of a node. A name without a bundle is never selected.
    pub(super) fn refusal<'p>(
        &self,
        graph: &Graph<'p>,
        node: NodeIndex,
    ) -> Option<InstallRefusal<'p>> {
        let bundle = graph.bundle(node).filter(|_| self.olm == Generation::V1)?;
        let resolved = Refusal::of(bundle).map(InstallRefusal::Resolved);
        let rules = self.guarded.map(|guarded| guarded.rules);
        let rules = rules.filter(|rules| rules.preflight != PreflightMode::Off);
        resolved.or_else(|| match &bundle.image_fault {
            Some(fault) if rules.is_some() => Some(InstallRefusal::Image(fault)),
            _ => is_unsupported(bundle, rules?).then_some(InstallRefusal::Unsupported),
        })
    }
}
