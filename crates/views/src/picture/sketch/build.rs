//! Builds the sketch of a graph.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use olmguard_catalog::Bundle;
use olmguard_catalog::graph::{Graph, GraphChannel, NodeIndex, version_in_name};
use olmguard_catalog::olm::EdgeSource;
use olmguard_catalog::version::{Version, go};
use olmguard_engine::resolve::classic::SubscriptionOrder;

use crate::path::subscribed;
use crate::picture::sketch::barred::bar;
use crate::picture::sketch::lane::{RowOf, channel_lane, common, semver_lane};
use crate::picture::sketch::{EdgeFate, Lane, LaneKind, RowFacts, Sketch, VersionRow};
use crate::picture::walk::{ReachedRows, RowStep, StepField, StepsByRow};
use crate::picture::{Generation, GraphTooLarge, VersionMark, View};

/// Maximum number of versions. No screen shows more; the largest recorded package has 203 bundles.
const MOST_VERSIONS: usize = 2_000;
/// Maximum number of edges of all lanes. Each version in a range counts.
const MOST_EDGES: usize = 1_000_000;

pub(super) fn build<'g, 'p>(
    graph: &'g Graph<'p>,
    view: View<'g>,
) -> Result<Sketch<'g, 'p>, GraphTooLarge> {
    let channels: Vec<_> = graph
        .channels()
        .iter()
        .filter(|channel| view.shows(channel.name))
        .collect();
    let nodes = drawn(graph, &channels, &view);
    if nodes.len() > MOST_VERSIONS {
        return Err(GraphTooLarge::Versions {
            found: nodes.len(),
            most: MOST_VERSIONS,
        });
    }
    let (nodes, row_of) = order(graph, nodes);
    let mut lanes = lanes(graph, &channels, &row_of, &view)?;
    let barred = bar(graph, &view, &nodes, &mut lanes)?;
    // With `EdgeSource::Both`, the edges that the semver rules do not allow are already marked as not taken.
    let counts =
        |lane: &Lane<'_>| lane.kind == LaneKind::Channel || view.edges == EdgeSource::CaretRange;
    let counted = (0..).zip(&lanes).filter(|(_, lane)| counts(lane));
    let walk = StepsByRow::of(counted.flat_map(|(at, lane)| hops(at, lane, view.olm)));
    let rows = facts(graph, &nodes, &view);
    let mut sketch = Sketch {
        graph,
        view,
        rows,
        lanes,
        barred,
        walk,
        reach: None,
        comparison: None,
    };
    strand(&mut sketch);
    sketch.reach = reach(&sketch, &row_of);
    Ok(sketch)
}

/// Returns all nodes, or the nodes that the requested channels mention and those that the view names.
fn drawn(graph: &Graph<'_>, channels: &[&GraphChannel<'_>], view: &View<'_>) -> Vec<NodeIndex> {
    if view.channels.is_empty() {
        return graph.nodes().collect();
    }
    let entries = channels.iter().flat_map(|channel| &channel.entries);
    let spoken_of = entries.flat_map(|entry| {
        let names = entry.replaces.iter().chain(&entry.skips);
        names.copied().chain([entry.node])
    });
    let named = [view.installed, view.from, view.to].into_iter().flatten();
    let nodes: BTreeSet<_> = spoken_of.chain(named).collect();
    nodes.into_iter().collect()
}

fn facts<'p>(graph: &Graph<'p>, nodes: &[NodeIndex], view: &View<'_>) -> Vec<RowFacts<'p>> {
    let labelled = nodes.iter().zip(labels(graph, nodes));
    let facts = labelled.map(|(node, label)| {
        let bundle = graph.bundle(*node);
        RowFacts {
            node: *node,
            name: graph.name_of(*node),
            version: bundle.and_then(version_text),
            is_prerelease: bundle.is_some_and(Bundle::is_prerelease),
            label,
            marks: common(graph, *node).with(VersionMark::Installed, view.installed == Some(*node)),
            deprecated: bundle.and_then(|bundle| bundle.deprecated.as_deref()),
            refusal: view.refusal(graph, *node),
        }
    });
    facts.collect()
}

/// Builds the lanes. The lane with the newest entry comes first.
fn lanes<'p>(
    graph: &Graph<'p>,
    channels: &[&GraphChannel<'p>],
    row_of: &RowOf,
    view: &View<'_>,
) -> Result<Vec<Lane<'p>>, GraphTooLarge> {
    let mut edges = 0;
    let mut counted = |lane: Lane<'p>| {
        edges += lane.edges();
        let fits = edges <= MOST_EDGES;
        fits.then_some(lane)
            .ok_or(GraphTooLarge::Edges { most: MOST_EDGES })
    };
    let mut lanes = Vec::new();
    if view.edges != EdgeSource::CaretRange {
        for channel in channels {
            lanes.push(counted(channel_lane(graph, channel, row_of, view))?);
        }
    }
    lanes.sort_by_key(|lane| (lane.cells.first().map(|cell| cell.row), !lane.is_default));
    if view.edges != EdgeSource::Catalog {
        lanes.push(counted(semver_lane(graph, row_of, view))?);
    }
    Ok(lanes)
}

/// Returns the steps of a lane that can be taken. OLM v0 takes forbidden ones too, because olmguard does not check
/// Subscriptions.
fn hops(at: u32, lane: &Lane<'_>, olm: Generation) -> Vec<(VersionRow, RowStep)> {
    let leads = |fate| match fate {
        EdgeFate::Taken => true,
        EdgeFate::Forbidden => olm == Generation::V0,
        EdgeFate::NotTaken => false,
    };
    let hop = |to, field| RowStep {
        to,
        lane: at,
        field,
    };
    let steps = lane.steps.iter().filter(|step| leads(step.fate));
    let steps = steps.map(|step| (step.from, hop(step.to, StepField::Replaces)));
    let fans = lane.fans.iter().filter(|fan| leads(fan.fate));
    let fans = fans.flat_map(|fan| {
        let hop = hop(fan.to, fan.kind.field());
        fan.from.iter().map(move |from| (*from, hop))
    });
    steps.chain(fans).collect()
}

/// Marks the versions from which OLM finds no upgrade.
fn strand(sketch: &mut Sketch<'_, '_>) {
    let cells = sketch.lanes.iter().flat_map(|lane| &lane.cells);
    let heads = cells.filter(|cell| cell.marks.has(VersionMark::Head));
    let heads: BTreeSet<_> = heads.map(|cell| cell.row).collect();
    let walk = &sketch.walk;
    // A graph by the rules of OLM v0 does not describe OLM v1.
    let of_v1 = sketch.view.olm == Generation::V1;
    let barred = &sketch.barred;
    let leads = |row: VersionRow| !walk.from(row).is_empty() || barred.from(row).next().is_some();
    let is_stranded = |row: VersionRow| of_v1 && !leads(row) && !heads.contains(&row);
    for (row, facts) in (0..).map(VersionRow).zip(&mut sketch.rows) {
        facts.marks = facts.marks.with(VersionMark::StrandedV1, is_stranded(row));
    }
    for cell in sketch.lanes.iter_mut().flat_map(|lane| &mut lane.cells) {
        let facts = sketch.rows.get(cell.row.0 as usize);
        let marks = facts.map(|facts| facts.marks).unwrap_or_default();
        for mark in [VersionMark::Installed, VersionMark::StrandedV1] {
            cell.marks = cell.marks.with(mark, marks.has(mark));
        }
    }
}

fn reach(sketch: &Sketch<'_, '_>, row_of: &RowOf) -> Option<ReachedRows> {
    let View { from, to, .. } = sketch.view;
    let start = *row_of.get(&from?)?;
    let goal = to.and_then(|to| row_of.get(&to).copied());
    match sketch.view.olm {
        Generation::V1 => {
            let is_prerelease = |row| sketch.row(row).is_some_and(|facts| facts.is_prerelease);
            let is_suggested = |row| is_prerelease(start) || !is_prerelease(row);
            Some(sketch.walk.reach(start, goal, is_suggested))
        }
        Generation::V0 => Some(course(sketch, row_of, start, goal)),
    }
}

/// Returns the automatic upgrades of an OLM v0 Subscription from a row. It always takes the first candidate.
fn course(
    sketch: &Sketch<'_, '_>,
    row_of: &RowOf,
    start: VersionRow,
    goal: Option<VersionRow>,
) -> ReachedRows {
    let at = sketch.lane_of_subscription();
    let order = SubscriptionOrder::of(sketch.graph, subscribed(sketch.view.channels)).ok();
    let node = sketch.row(start).map(|facts| facts.node);
    let walked = order
        .zip(node)
        .map_or_else(Vec::new, |(line, node)| line.walk_from(node));
    let rows = walked.iter().filter_map(|node| row_of.get(node).copied());
    sketch.walk.course(start, rows, goal, at)
}

/// Sorts the nodes from the newest to the oldest: bundles in order of preference, and among them names without a
/// bundle, by the version that the name contains. Nodes without a version come last.
pub(super) fn order(graph: &Graph<'_>, nodes: Vec<NodeIndex>) -> (Vec<NodeIndex>, RowOf) {
    let version = |node: NodeIndex| (version_of(graph, node), node);
    let mut nodes: Vec<_> = nodes.into_iter().map(version).collect();
    // A stable sort keeps the order of the graph for equal versions: bundles before other names.
    nodes.sort_by(|(a, _), (b, _)| newest_first(a.as_ref(), b.as_ref()));
    let nodes: Vec<_> = nodes.into_iter().map(|(_, node)| node).collect();
    let rows = nodes.iter().copied().zip((0..).map(VersionRow)).collect();
    (nodes, rows)
}

/// Compares versions in descending order. A missing version comes last.
pub(super) fn newest_first(a: Option<&Version>, b: Option<&Version>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.cmp_precedence(a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

pub(super) fn version_of(graph: &Graph<'_>, node: NodeIndex) -> Option<Version> {
    graph.likely_version(node).map(Cow::into_owned)
}

/// Returns the labels of the nodes, in order: the version, or the full name if two versions would be equal or there
/// is none.
pub(super) fn labels(graph: &Graph<'_>, nodes: &[NodeIndex]) -> Vec<String> {
    let short: Vec<_> = nodes.iter().map(|node| short(graph, *node)).collect();
    let mut times = BTreeMap::<_, usize>::new();
    for label in short.iter().flatten() {
        *times.entry(label.clone()).or_default() += 1;
    }
    let label = |(short, node): (Option<String>, &NodeIndex)| {
        let own = short.filter(|label| times.get(label) == Some(&1));
        own.unwrap_or_else(|| graph.name_of(*node).to_owned())
    };
    let labels = short.into_iter().zip(nodes).map(label);
    labels.map(|label| go::escape(&label)).collect()
}

fn short(graph: &Graph<'_>, node: NodeIndex) -> Option<String> {
    match graph.bundle(node) {
        Some(bundle) => version_text(bundle),
        None => version_in_name(graph.name_of(node)).map(|version| version.to_string()),
    }
}

/// Formats the version of a bundle with its release.
pub(super) fn version_text(bundle: &Bundle) -> Option<String> {
    let read = bundle.version.as_ref().ok()?;
    Some(match &read.release {
        Some(release) if !release.as_str().is_empty() => format!("{}+{release}", read.version),
        _ => read.version.to_string(),
    })
}
