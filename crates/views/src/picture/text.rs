//! Every sentence of the picture.
//!
//! Texts of the catalog are not escaped for an output format here. Each format escapes what it writes.

use std::collections::BTreeSet;

use crate::picture::scene::{Face, LONGEST_VERSION, LegendSign, clip};
use crate::picture::sketch::{
    Comparison, DrawnChange, EdgeFate, Fan, FanKind, InstallRefusal, Lane, LaneCell, LaneKind,
    ReplacesStep, RowFacts, Sketch, VersionRow,
};
use crate::picture::walk::StepField;
use crate::picture::{Generation, VersionMark};
use crate::see::not_a_version;
use olmguard_catalog::olm::EdgeSource;
use olmguard_catalog::version::{Version, go};
use olmguard_engine::explain::counted;
use olmguard_engine::resolve::Refusal;

/// Label above the versions.
pub(super) const AXIS: &str = "version";
/// Font size of the name of a channel.
pub(super) const NAME_SIZE: i32 = 14;
/// Font size of remarks.
pub(super) const ASIDE_SIZE: i32 = 11;

/// Returns the name of the package.
pub(super) fn title(sketch: &Sketch<'_, '_>) -> String {
    clip(&go::escape(sketch.graph.name()), LONGEST_TITLE)
}

/// Describes the contents of the picture, and how to read it.
pub(super) fn told(sketch: &Sketch<'_, '_>) -> Vec<String> {
    let mut told: Vec<_> = no_version(sketch).into_iter().collect();
    told.extend([what(sketch), HOW.to_owned()]);
    told.extend(sketch.comparison.as_ref().map(comparison));
    told.extend(rules(sketch).map(str::to_owned));
    told.extend(guardrails(sketch));
    told.extend(walk(sketch));
    told
}

/// Returns the first line if the start is neither a version of the package nor a name in its edges, with its neighbors.
pub fn no_version(sketch: &Sketch<'_, '_>) -> Option<String> {
    let VersionRow(start) = sketch.reach.as_ref()?.start;
    let start = start as usize;
    let is_bundle = |row: &&RowFacts<'_>| {
        let marks = row.marks;
        !marks.has(VersionMark::Virtual) && !marks.has(VersionMark::Removed)
    };
    let (name, above) = (sketch.rows.get(start)?.name, sketch.rows.get(..start)?);
    let is_known = sketch.rows.get(start).is_some_and(|row| is_bundle(&row));
    if is_known || Version::parse(name).is_err() {
        return None;
    }
    let below = sketch.rows.iter().skip(start).find(is_bundle);
    let nearest = above.iter().rfind(is_bundle).into_iter().chain(below);
    let nearest: Vec<_> = nearest.map(|row| row.label.clone()).collect();
    Some(format!(
        "{}.",
        not_a_version(name, sketch.graph.name(), &nearest)
    ))
}

fn what(sketch: &Sketch<'_, '_>) -> String {
    let channels = sketch
        .lanes
        .iter()
        .filter(|lane| lane.kind == LaneKind::Channel && lane.change != DrawnChange::Removed);
    let absent = sketch
        .rows
        .iter()
        .filter(|row| row.marks.has(VersionMark::Virtual) || row.marks.has(VersionMark::Removed));
    let mut parts = vec![
        format!("catalog {}", shown(sketch.view.catalog)),
        counted(sketch.rows.len() - absent.count(), "version"),
        counted(channels.count(), "channel"),
    ];
    if let Some(default) = sketch.graph.default_channel() {
        parts.push(format!("default channel {}", shown(default)));
    }
    if sketch.graph.is_deprecated() {
        parts.push("the package is deprecated".to_owned());
    }
    parts.join(" · ")
}

/// Describes the differences between two catalogs.
fn comparison(comparison: &Comparison) -> String {
    let Comparison {
        base,
        versions,
        edges,
    } = comparison;
    let change = |(added, removed): (usize, usize), what| {
        format!("{} added and {removed} removed", counted(added, what))
    };
    format!(
        "Compared with {}: {}; {}.",
        shown(base),
        change(*versions, "version"),
        change(*edges, "upgrade edge")
    )
}

fn rules(sketch: &Sketch<'_, '_>) -> Option<&'static str> {
    match (sketch.view.olm, sketch.view.edges) {
        (Generation::V1, EdgeSource::Catalog) => None,
        (Generation::V0, _) if sketch.lane_of_subscription().is_none() => Some(
            "OLM v0: a Subscription without a channel uses the entries of all channels, those of the \
             default channel first. A skipped version is never offered as an update.",
        ),
        (Generation::V0, _) => Some(
            "OLM v0: a Subscription stays in its channel. A skipped version is never offered as an update.",
        ),
        (Generation::V1, EdgeSource::CaretRange) => {
            Some("Semver rules only: the edges of the catalog do not count.")
        }
        (Generation::V1, EdgeSource::Both) => {
            Some("An edge counts only if the semver rules also allow the step.")
        }
    }
}

/// Describes how many steps guardrails forbid, and by which rules.
fn guardrails(sketch: &Sketch<'_, '_>) -> Option<String> {
    let barred = &sketch.barred;
    if barred.is_empty() {
        return None;
    }
    let (steps, rules) = (counted(barred.len(), "step"), barred.names());
    let all_the_same = match sketch.view.olm {
        Generation::V1 => "",
        Generation::V0 => " OLM v0 ignores guardrails.",
    };
    Some(format!("Guardrails forbid {steps}: {rules}.{all_the_same}"))
}

fn walk(sketch: &Sketch<'_, '_>) -> Option<String> {
    let reach = sketch.reach.as_ref()?;
    let start = sketch.label(reach.start);
    let count = match reach.hops.len() - 1 {
        0 => "no version".to_owned(),
        count => counted(count, "version"),
    };
    let lane = sketch.lane_of_subscription();
    let lane = lane.and_then(|at| sketch.lanes.get(at as usize));
    let within = match (sketch.view.olm, lane) {
        (Generation::V0, Some(lane)) => format!(", subscribed to {},", lane_name(lane)),
        (Generation::V0, None) => ", subscribed without a channel,".to_owned(),
        (Generation::V1, _) => String::new(),
    };
    if reach.hops.len() == 1 && no_version(sketch).is_some() {
        return None;
    }
    let there = format!("From {start}{within} {count} can be reached");
    if reach.misses_goal() {
        return Some(format!("{there}, but not the requested version."));
    }
    let hops = reach.way.iter().map(|(_, hop)| sketch.label(hop.to));
    let hops: Vec<_> = hops.collect();
    Some(match *hops.as_slice() {
        [] => format!("{there}."),
        [only] => format!("{there}; {only} in 1 step."),
        [.., last] => {
            let way = hops.join(" → ");
            format!("{there}; {last} in {}: {way}.", counted(hops.len(), "step"))
        }
    })
}

/// Returns the id of a version in a channel, for formats in which each node has one.
pub(super) fn id(lane: usize, VersionRow(row): VersionRow) -> String {
    format!("c{lane}r{row}")
}

/// Returns the name of a channel, clipped and escaped.
pub(super) fn lane_name(lane: &Lane<'_>) -> String {
    shown(lane_words(lane))
}

/// Returns the name of a channel, for callers that escape it themselves.
pub(super) fn lane_words<'p>(lane: &Lane<'p>) -> &'p str {
    match lane.kind {
        LaneKind::Channel if lane.name.is_empty() => "(no name)",
        LaneKind::Channel => lane.name,
        LaneKind::Semver => "semver rules",
    }
}

/// Returns the remarks below the name of a channel.
pub(super) fn lane_aside(lane: &Lane<'_>) -> String {
    let count = match lane.entries {
        1 => "1 entry".to_owned(),
        entries => format!("{entries} entries"),
    };
    if lane.kind == LaneKind::Semver {
        return "what versions allow".to_owned();
    }
    let default = lane.is_default.then_some("default");
    let deprecated = lane.deprecated.is_some().then_some("deprecated");
    let refused = lane.refused_by_v0.is_some().then_some("refused by OLM v0");
    let parts = [default, deprecated, refused, lane.change.word()]
        .into_iter()
        .flatten();
    parts.fold(count, |told, part| format!("{told} · {part}"))
}

/// Returns the tooltip of a channel.
pub(super) fn lane_title(lane: &Lane<'_>) -> String {
    let mut lines = vec![match lane.kind {
        LaneKind::Channel => format!("channel {}", go::escape(lane.name)),
        LaneKind::Semver => "semver rules".to_owned(),
    }];
    lines.extend(lane.deprecated.map(deprecated));
    lines.extend(
        lane.refused_by_v0
            .iter()
            .map(|why| format!("OLM v0: {why}")),
    );
    lines.join("\n")
}

/// Returns the width of the heading of a channel.
pub(super) fn heading_width(lane: &Lane<'_>) -> i32 {
    let name = Face::Bold.width(&lane_name(lane), NAME_SIZE);
    name.max(Face::Sans.width(&lane_aside(lane), ASIDE_SIZE))
}

/// Returns the label of a version in a channel. It includes a word if the channel gained or lost the version.
pub(super) fn pill_label(sketch: &Sketch<'_, '_>, cell: LaneCell) -> String {
    let label = clip(sketch.label(cell.row), LONGEST_VERSION);
    let changed = [VersionMark::Added, VersionMark::Removed].into_iter();
    let mut changed = changed.filter(|mark| cell.marks.has(*mark));
    match changed.next() {
        Some(mark) => format!("{label} {}", mark_word(mark)),
        None => label,
    }
}

/// Returns the tooltip of a version in a channel.
pub(super) fn pill_title(sketch: &Sketch<'_, '_>, lane: &Lane<'_>, cell: LaneCell) -> String {
    let Some(facts) = sketch.row(cell.row) else {
        return String::new();
    };
    let mut lines = vec![go::escape(facts.name)];
    let told = cell
        .marks
        .iter()
        .filter(|mark| *mark != VersionMark::Deprecated);
    lines.extend(told.map(|mark| mark_sentence(mark).to_owned()));
    lines.extend(facts.deprecated.map(deprecated));
    lines.extend(facts.refusal.map(refused));
    lines.extend(lane.unread_of(cell.row).map(|range| {
        format!(
            "OLM ignores its skipRange {}, which is not valid",
            go::quote(range)
        )
    }));
    lines.join("\n")
}

pub(super) fn deprecated(message: &str) -> String {
    if message.is_empty() {
        "deprecated".to_owned()
    } else {
        format!("deprecated: {}", go::escape(message))
    }
}

/// Describes why OLM v1 refuses a version.
pub(super) fn refused(refusal: InstallRefusal<'_>) -> String {
    let why = match refusal {
        InstallRefusal::Resolved(Refusal::Version(error)) => {
            format!(
                "its version is not valid: {}",
                go::escape(&error.to_string())
            )
        }
        InstallRefusal::Resolved(Refusal::Dependency(kind)) => {
            format!("it declares a dependency with {}", kind.as_str())
        }
        InstallRefusal::Image(error) => go::escape(&error.to_string()),
        InstallRefusal::Unsupported => "it needs a feature that OLM v1 does not support".to_owned(),
    };
    format!("OLM v1 cannot install it: {why}")
}

/// Names a mark in a word or two.
pub(super) fn mark_word(mark: VersionMark) -> &'static str {
    match mark {
        VersionMark::Installed => "installed",
        VersionMark::Head => "channel head",
        VersionMark::Deprecated => "deprecated",
        VersionMark::Skipped => "skipped",
        VersionMark::StrandedV0 => "stranded in OLM v0",
        VersionMark::StrandedV1 => "stranded in OLM v1",
        VersionMark::Virtual => "no bundle",
        VersionMark::Elsewhere => "no entry",
        VersionMark::Added => "added",
        VersionMark::Removed => "removed",
    }
}

/// Describes a mark in a sentence.
pub(super) fn mark_sentence(mark: VersionMark) -> &'static str {
    match mark {
        VersionMark::Installed => "installed",
        VersionMark::Head => "channel head: no entry replaces or skips it",
        VersionMark::Deprecated => "deprecated",
        VersionMark::Skipped => "skipped by an entry of the channel: OLM v0 does not offer it",
        VersionMark::StrandedV0 => "stranded in OLM v0: it offers no upgrade from here",
        VersionMark::StrandedV1 => "stranded in OLM v1: it has no upgrade from here",
        VersionMark::Virtual => "only a name: no bundle has this name",
        VersionMark::Elsewhere => "not in this channel",
        VersionMark::Added => "added: this channel did not have it before",
        VersionMark::Removed => "removed: this channel had it before",
    }
}

/// Returns the tooltip of a fan.
pub(super) fn fan_title(sketch: &Sketch<'_, '_>, fan: &Fan<'_>) -> String {
    let count = format!("{}{}", counted(fan.whole, "version"), part(fan));
    let to = sketch.label(fan.to);
    let what = match fan.kind {
        FanKind::Skips => format!("{to} skips {count}"),
        FanKind::SkipRange(range) => {
            format!("{to} has the skipRange {}: {count}", go::quote(range))
        }
        FanKind::Semver => format!("{count} can be upgraded to {to}"),
    };
    let steps = fan.from.iter().map(|from| (*from, fan.to));
    let forbidden = forbidden(sketch, fan.fate, steps);
    std::iter::once(what)
        .chain(changed(fan.change).map(str::to_owned))
        .chain(forbidden)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Formats how many edges of its field a fan has, if it is only a part.
fn part(fan: &Fan<'_>) -> String {
    let count = fan.from.len();
    match (fan.fate, count) {
        _ if count == fan.whole => String::new(),
        (EdgeFate::Forbidden, _) => format!(", of which guardrails forbid {count}"),
        (EdgeFate::Taken, 1) => ", of which OLM uses 1".to_owned(),
        (EdgeFate::Taken, _) => format!(", of which OLM uses {count}"),
        (EdgeFate::NotTaken, 1) => ", of which OLM ignores 1".to_owned(),
        (EdgeFate::NotTaken, _) => format!(", of which OLM ignores {count}"),
    }
}

/// Describes the change of an edge.
fn changed(change: DrawnChange) -> Option<&'static str> {
    match change {
        DrawnChange::Kept => None,
        DrawnChange::Added => Some("added: there was no such upgrade before"),
        DrawnChange::Removed => Some("removed: there was such an upgrade before"),
    }
}

/// Returns the tooltip of a `replaces` edge. `None` for an edge that is taken and has not changed.
pub(super) fn step_title(sketch: &Sketch<'_, '_>, step: &ReplacesStep) -> Option<String> {
    let steps = std::iter::once((step.from, step.to));
    let forbidden = forbidden(sketch, step.fate, steps);
    let changed = changed(step.change).map(str::to_owned);
    let lines: Vec<_> = changed.into_iter().chain(forbidden).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Lists why guardrails forbid steps, each reason once. If there are very many, only the first ones.
fn forbidden(
    sketch: &Sketch<'_, '_>,
    fate: EdgeFate,
    steps: impl Iterator<Item = (VersionRow, VersionRow)>,
) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let barred = &sketch.barred;
    let steps = steps.filter(|_| fate == EdgeFate::Forbidden);
    let places = steps.flat_map(|(from, to)| barred.places(from, to));
    let first = places
        .filter(|place| seen.insert(**place))
        .take(MOST_REASONS);
    let reasons = first.filter_map(|place| barred.reasons().get(*place));
    let lines = reasons.map(|reason| format!("forbidden: {}", reason.text));
    lines.collect()
}

/// Names the rules that forbid a step, for the label of an edge.
pub(super) fn forbidden_by(sketch: &Sketch<'_, '_>, from: VersionRow, to: VersionRow) -> String {
    format!("forbidden: {}", sketch.barred.names_of(from, to))
}

/// Formats the count of a fan. `None` for a single edge.
pub(super) fn count(count: usize) -> Option<String> {
    (count != 1).then(|| count.to_string())
}

/// Formats how many more versions a line continues to.
pub(super) fn beyond(count: usize) -> String {
    format!("+{count}")
}

/// Formats the number of steps to a version.
pub(super) fn hops_away(hops: usize) -> String {
    match hops {
        0 => START.to_owned(),
        hops => format!("+{hops}"),
    }
}

/// Describes a sign of the legend.
pub(super) fn sign(sign: LegendSign) -> &'static str {
    match sign {
        LegendSign::Edge(StepField::Replaces) => "replaces",
        LegendSign::Edge(StepField::Skips) => "skips, from each stop below",
        LegendSign::Edge(StepField::SkipRange) => {
            "skipRange, from each stop below; the number counts the versions"
        }
        LegendSign::Edge(StepField::Semver) => "allowed by the semver rules, from each stop below",
        LegendSign::Fate(EdgeFate::Taken) => "taken",
        LegendSign::Fate(EdgeFate::Forbidden) => "forbidden by guardrails",
        LegendSign::Fate(EdgeFate::NotTaken) => "not taken",
        LegendSign::Change(DrawnChange::Kept) => "in both",
        LegendSign::Change(DrawnChange::Added) => "edge added",
        LegendSign::Change(DrawnChange::Removed) => "edge removed",
        LegendSign::Version(VersionMark::Added) => "version added",
        LegendSign::Version(VersionMark::Removed) => "version removed",
        LegendSign::Version(VersionMark::Installed) => "installed",
        LegendSign::Version(VersionMark::Head) => "channel head",
        LegendSign::Version(VersionMark::Deprecated) => "deprecated",
        LegendSign::Version(VersionMark::Skipped) => "skipped, not offered by OLM v0",
        LegendSign::Version(VersionMark::StrandedV0) => "stranded in OLM v0",
        LegendSign::Version(VersionMark::StrandedV1) => "stranded",
        LegendSign::Version(VersionMark::Virtual) => "name without a bundle",
        LegendSign::Version(VersionMark::Elsewhere) => "not in the channel",
        LegendSign::Way => "shortest path",
        LegendSign::OutOfReach => "not reachable",
    }
}

/// Label of the start of a walk.
pub(super) const START: &str = "start";

fn shown(name: &str) -> String {
    clip(&go::escape(name), LONGEST_NAME)
}

const HOW: &str =
    "Each arrow is an upgrade from one version to another. The newest versions are on top.";
/// Maximum number of reasons for one line.
const MOST_REASONS: usize = 4;
/// Maximum number of columns of the name of a package. Longer names are clipped.
const LONGEST_TITLE: usize = 48;
/// Maximum number of columns of other names. Longer names are clipped.
const LONGEST_NAME: usize = 40;
