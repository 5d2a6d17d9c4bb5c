//! The graph as JSON, schema `olmguard.graph/v1`: the contents of the picture, without positions.

use olmguard_catalog::olm::EdgeSource;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::picture::sketch::{FanKind, Lane, LaneKind, RowFacts, Sketch, VersionRow};
use crate::picture::walk::RowStep;
use crate::picture::{Generation, Marks, VersionMark};
use olmguard_engine::explain::GuardrailReport;

/// The upgrade graph of a package, and the versions that can be reached in it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "olmguard.graph/v1")]
pub struct GraphJson<'s> {
    /// Always `olmguard.graph/v1`.
    schema: &'static str,
    /// Name of the package.
    package: &'s str,
    /// Catalog of the package.
    catalog: &'s str,
    /// Generation of OLM whose rules apply: v0 or v1.
    olm: &'static str,
    /// Edges that count: the edges of the catalog, of the semver rules, or of both.
    graph: &'static str,
    /// Default channel of the package. Null if it names none.
    default_channel: Option<&'s str>,
    /// Whether the package is deprecated.
    deprecated: bool,
    /// Versions in the graph, the newest first.
    versions: Vec<VersionJson<'s>>,
    /// Channels in the graph.
    channels: Vec<ChannelJson<'s>>,
    /// Every reason why guardrails forbid a step in the graph, each once.
    guardrails: &'s [GuardrailReport],
    /// The requested upgrade path. Null if none was requested.
    walk: Option<WalkJson<'s>>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct VersionJson<'s> {
    /// Name of the bundle, or a name without a bundle at which an edge starts.
    name: &'s str,
    /// Version of the bundle, with its release after a plus. Null if missing or invalid.
    version: Option<String>,
    /// Properties of the version that are the same in every channel.
    marks: Vec<&'static str>,
    /// Deprecation message of the bundle, possibly empty. Null if it is not deprecated.
    deprecated: Option<&'s str>,
    /// Upgrades that OLM can make from this version in one step, the newest first.
    successors: Vec<StepJson<'s>>,
    /// Edges from this version that guardrails forbid, the newest target first.
    forbidden: Vec<ForbiddenJson<'s>>,
    /// Number of steps from the start of the path. Null if there is no upgrade path, or no path was
    /// requested.
    hops: Option<u32>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StepJson<'s> {
    /// Name of the bundle that the step ends at.
    to: &'s str,
    /// Channel whose entry allows the step. Null for the semver rules.
    channel: Option<&'s str>,
    /// What allows the step: replaces, skips, skipRange or semver.
    by: &'static str,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ForbiddenJson<'s> {
    /// Name of the bundle that the edge ends at.
    to: &'s str,
    /// Reasons: positions in the top-level `guardrails`, from 0.
    guardrails: &'s [usize],
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChannelJson<'s> {
    /// Name of the channel.
    name: &'s str,
    /// Whether the channel is the default channel.
    default: bool,
    /// Deprecation message of the channel, possibly empty. Null if it is not deprecated.
    deprecated: Option<&'s str>,
    /// Error message of OLM v0 if it resolves nothing from this channel. Otherwise null.
    refused_by_v0: Option<&'s str>,
    /// Entries of the channel, the newest first.
    entries: Vec<EntryJson<'s>>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntryJson<'s> {
    /// Name of the bundle.
    name: &'s str,
    /// Properties of the bundle in this channel.
    marks: Vec<&'static str>,
    /// Names that the entry replaces.
    replaces: Vec<&'s str>,
    /// Names that the entry skips.
    skips: Vec<&'s str>,
    /// Version ranges that the entry skips.
    skip_ranges: Vec<RangeJson<'s>>,
    /// Values of `skipRange` that cannot be read.
    unread_ranges: Vec<&'s str>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RangeJson<'s> {
    /// The range as written in the catalog.
    range: &'s str,
    /// Bundles of the package that are in the range, without the bundle of the entry.
    holds: Vec<&'s str>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WalkJson<'s> {
    /// Name of the bundle that the path starts at.
    from: &'s str,
    /// Name of the requested target. Null if none was requested: the path then ends at the highest
    /// version that can be reached.
    to: Option<&'s str>,
    /// Number of versions that can be reached.
    reached: usize,
    /// Shortest upgrade path, step by step. Empty if there is none.
    way: Vec<StepJson<'s>>,
}

const SCHEMA: &str = "olmguard.graph/v1";

impl<'s> GraphJson<'s> {
    /// Converts a sketch.
    pub fn of(sketch: &'s Sketch<'_, '_>) -> Self {
        let lanes = sketch.lanes.iter();
        let channels = lanes.filter(|lane| lane.kind == LaneKind::Channel);
        let rows = (0..).map(VersionRow).zip(&sketch.rows);
        Self {
            schema: SCHEMA,
            package: sketch.graph.name(),
            catalog: sketch.view.catalog,
            olm: match sketch.view.olm {
                Generation::V0 => "v0",
                Generation::V1 => "v1",
            },
            graph: match sketch.view.edges {
                EdgeSource::Catalog => "catalog",
                EdgeSource::CaretRange => "semver",
                EdgeSource::Both => "both",
            },
            default_channel: sketch.graph.default_channel(),
            deprecated: sketch.graph.is_deprecated(),
            versions: rows
                .map(|(row, facts)| version(sketch, row, facts))
                .collect(),
            channels: channels.map(|lane| channel(sketch, lane)).collect(),
            guardrails: sketch.barred.reasons(),
            walk: walk(sketch),
        }
    }
}

fn version<'s>(
    sketch: &'s Sketch<'_, '_>,
    row: VersionRow,
    facts: &'s RowFacts<'_>,
) -> VersionJson<'s> {
    let reach = sketch.reach.as_ref();
    VersionJson {
        name: facts.name,
        version: facts.version.clone(),
        marks: words(facts.marks),
        deprecated: facts.deprecated,
        successors: sketch
            .walk
            .from(row)
            .iter()
            .map(|hop| step(sketch, hop))
            .collect(),
        forbidden: sketch
            .barred
            .from(row)
            .map(|(to, guardrails)| ForbiddenJson {
                to: sketch.name(to),
                guardrails,
            })
            .collect(),
        hops: reach.and_then(|reach| u32::try_from(*reach.hops.get(&row)?).ok()),
    }
}

fn channel<'s>(sketch: &'s Sketch<'_, '_>, lane: &'s Lane<'_>) -> ChannelJson<'s> {
    let entries = lane
        .cells
        .iter()
        .filter(|cell| !cell.marks.has(VersionMark::Elsewhere));
    ChannelJson {
        name: lane.name,
        default: lane.is_default,
        deprecated: lane.deprecated,
        refused_by_v0: lane.refused_by_v0.as_deref(),
        entries: entries
            .map(|cell| entry(sketch, lane, cell.row, cell.marks))
            .collect(),
    }
}

fn entry<'s>(
    sketch: &'s Sketch<'_, '_>,
    lane: &'s Lane<'_>,
    row: VersionRow,
    marks: Marks,
) -> EntryJson<'s> {
    let steps = lane.steps.iter().filter(|step| step.to == row);
    let fans = lane.fans.iter().filter(|fan| fan.to == row);
    let mut skips = Vec::new();
    // One range can be several fans: taken, forbidden and not taken.
    let mut ranges = BTreeMap::<&str, Vec<VersionRow>>::new();
    for fan in fans {
        match fan.kind {
            FanKind::Skips => skips.extend(&fan.from),
            FanKind::SkipRange(range) => ranges.entry(range).or_default().extend(&fan.from),
            FanKind::Semver => {}
        }
    }
    let names = |mut rows: Vec<VersionRow>| {
        rows.sort_unstable();
        rows.into_iter().map(|row| sketch.name(row)).collect()
    };
    let ranges = ranges.into_iter().map(|(range, held)| RangeJson {
        range,
        holds: names(held),
    });
    EntryJson {
        name: sketch.name(row),
        marks: words(marks),
        replaces: steps.map(|step| sketch.name(step.from)).collect(),
        skip_ranges: ranges.collect(),
        skips: names(skips),
        unread_ranges: lane.unread_of(row).collect(),
    }
}

fn walk<'s>(sketch: &'s Sketch<'_, '_>) -> Option<WalkJson<'s>> {
    let reach = sketch.reach.as_ref()?;
    Some(WalkJson {
        from: sketch.name(reach.start),
        to: reach.goal.map(|goal| sketch.name(goal)),
        reached: reach.hops.len() - 1,
        way: reach.way.iter().map(|(_, hop)| step(sketch, hop)).collect(),
    })
}

fn step<'s>(sketch: &'s Sketch<'_, '_>, hop: &RowStep) -> StepJson<'s> {
    let lane = sketch.lanes.get(hop.lane as usize);
    let lane = lane.filter(|lane| lane.kind == LaneKind::Channel);
    StepJson {
        to: sketch.name(hop.to),
        channel: lane.map(|lane| lane.name),
        by: hop.field.as_str(),
    }
}

fn words(marks: Marks) -> Vec<&'static str> {
    marks.iter().map(VersionMark::as_str).collect()
}
