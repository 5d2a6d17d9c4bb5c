//! The graph as JSON, schema `olmguard.graph/v1`: what is drawn, without any place.

use olmguard_catalog::olm::EdgeSource;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::picture::Generation;
use crate::picture::mark::{Mark, Marks};
use crate::picture::sketch::{FanKind, Lane, LaneKind, Row, RowFacts, Sketch};
use crate::picture::walk::Hop;
use olmguard_engine::explain::GuardrailReport;

/// The upgrade graph of a package, and what can be reached in it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "olmguard.graph/v1")]
pub struct GraphJson<'s> {
    /// Always `olmguard.graph/v1`.
    schema: &'static str,
    /// The package.
    package: &'s str,
    /// The catalog that it is from.
    catalog: &'s str,
    /// Whose rules say which edges are taken: v0 or v1.
    olm: &'static str,
    /// Which edges count: those of the catalog, those of the semver rules, or what both allow.
    graph: &'static str,
    /// The default channel, where one is named.
    default_channel: Option<&'s str>,
    /// Whether the package is deprecated.
    deprecated: bool,
    /// Every version that is shown, the newest first.
    versions: Vec<VersionJson<'s>>,
    /// The channels that are shown.
    channels: Vec<ChannelJson<'s>>,
    /// Every reason why guardrails forbid a step that is drawn, each once.
    guardrails: &'s [GuardrailReport],
    /// The walk that was asked for; null if none was.
    walk: Option<WalkJson<'s>>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct VersionJson<'s> {
    /// The name of the bundle, or the name without a bundle that an edge starts at.
    name: &'s str,
    /// Its version, with the release after a plus; null if there is none, or none that can be read.
    version: Option<String>,
    /// What holds of it whatever the channel.
    marks: Vec<&'static str>,
    /// The message of its deprecation, perhaps empty; null if it is not deprecated.
    deprecated: Option<&'s str>,
    /// Where OLM goes from it in one step, the newest first.
    successors: Vec<StepJson<'s>>,
    /// Where guardrails forbid to go from it along an edge, the newest first.
    forbidden: Vec<ForbiddenJson<'s>>,
    /// How many hops away it is from where the walk starts; null if it is out of reach or no walk was
    /// asked for.
    hops: Option<u32>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StepJson<'s> {
    /// The name of the bundle that it leads to.
    to: &'s str,
    /// The channel whose entry allows it; null for the semver rules.
    channel: Option<&'s str>,
    /// What allows it: replaces, skips, skipRange or semver.
    by: &'static str,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ForbiddenJson<'s> {
    /// The name of the bundle that the edge leads to.
    to: &'s str,
    /// Why it is forbidden: 0-based places in `guardrails` of the whole.
    guardrails: &'s [usize],
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChannelJson<'s> {
    /// Its name.
    name: &'s str,
    /// Whether it is the default channel.
    default: bool,
    /// The message of its deprecation, perhaps empty; null if it is not deprecated.
    deprecated: Option<&'s str>,
    /// OLM v0's own words where it resolves nothing from this channel; else null.
    refused_by_v0: Option<&'s str>,
    /// Its entries, the newest first.
    entries: Vec<EntryJson<'s>>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntryJson<'s> {
    /// The name of the bundle.
    name: &'s str,
    /// What the channel makes of it.
    marks: Vec<&'static str>,
    /// The names that it replaces.
    replaces: Vec<&'s str>,
    /// The names that it skips.
    skips: Vec<&'s str>,
    /// The ranges of versions that it skips.
    skip_ranges: Vec<RangeJson<'s>>,
    /// What is written as a skipRange and cannot be read.
    unread_ranges: Vec<&'s str>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RangeJson<'s> {
    /// The range as written.
    range: &'s str,
    /// The bundles of the package that it holds, the entry's own left out.
    holds: Vec<&'s str>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WalkJson<'s> {
    /// The name that it starts at.
    from: &'s str,
    /// The name that was asked for; null if none was, and the highest within reach is the goal.
    to: Option<&'s str>,
    /// How many versions can be reached.
    reached: usize,
    /// The shortest way, hop by hop; empty if there is none.
    way: Vec<StepJson<'s>>,
}

const SCHEMA: &str = "olmguard.graph/v1";

impl<'s> GraphJson<'s> {
    /// Of what is drawn.
    pub fn of(sketch: &'s Sketch<'_, '_>) -> Self {
        let lanes = sketch.lanes.iter();
        let channels = lanes.filter(|lane| lane.kind == LaneKind::Channel);
        let rows = (0..).map(Row).zip(&sketch.rows);
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

fn version<'s>(sketch: &'s Sketch<'_, '_>, row: Row, facts: &'s RowFacts<'_>) -> VersionJson<'s> {
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
                to: name(sketch, to),
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
        .filter(|cell| !cell.marks.has(Mark::Elsewhere));
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
    row: Row,
    marks: Marks,
) -> EntryJson<'s> {
    let steps = lane.steps.iter().filter(|step| step.to == row);
    let fans = lane.fans.iter().filter(|fan| fan.to == row);
    let mut skips = Vec::new();
    // A range may be drawn in parts: what is taken, what is forbidden, and what is not taken.
    let mut ranges = BTreeMap::<&str, Vec<Row>>::new();
    for fan in fans {
        match fan.kind {
            FanKind::Skips => skips.extend(&fan.from),
            FanKind::SkipRange(range) => ranges.entry(range).or_default().extend(&fan.from),
            FanKind::Semver => {}
        }
    }
    let names = |mut rows: Vec<Row>| {
        rows.sort_unstable();
        rows.into_iter().map(|row| name(sketch, row)).collect()
    };
    let ranges = ranges.into_iter().map(|(range, held)| RangeJson {
        range,
        holds: names(held),
    });
    EntryJson {
        name: name(sketch, row),
        marks: words(marks),
        replaces: steps.map(|step| name(sketch, step.from)).collect(),
        skip_ranges: ranges.collect(),
        skips: names(skips),
        unread_ranges: lane.unread_of(row).collect(),
    }
}

fn walk<'s>(sketch: &'s Sketch<'_, '_>) -> Option<WalkJson<'s>> {
    let reach = sketch.reach.as_ref()?;
    Some(WalkJson {
        from: name(sketch, reach.start),
        to: reach.goal.map(|goal| name(sketch, goal)),
        reached: reach.hops.len() - 1,
        way: reach.way.iter().map(|(_, hop)| step(sketch, hop)).collect(),
    })
}

fn step<'s>(sketch: &'s Sketch<'_, '_>, hop: &Hop) -> StepJson<'s> {
    let lane = sketch.lanes.get(hop.lane as usize);
    let lane = lane.filter(|lane| lane.kind == LaneKind::Channel);
    StepJson {
        to: name(sketch, hop.to),
        channel: lane.map(|lane| lane.name),
        by: hop.field.as_str(),
    }
}

fn name<'s>(sketch: &'s Sketch<'_, '_>, row: Row) -> &'s str {
    sketch.row(row).map_or("", |facts| facts.name)
}

fn words(marks: Marks) -> Vec<&'static str> {
    marks.iter().map(Mark::as_str).collect()
}
