//! What is drawn, before anything has a place: a row for each version, a lane for each channel.
//!
//! ```text
//! row 0  1.2.0   <- the newest            lane "stable"   cells: rows 0, 1, 2
//! row 1  1.1.0   (virtual)                steps: 2 -> 0 (replaces)
//! row 2  1.0.0                            fans:  {1} -> 0 (skips), {1, 2} -> 0 (skipRange)
//! ```
//!
//! Every form of the picture is made from this, so they agree. A fan is what one entry says in one
//! field: all that it skips, or all that one range holds. Where not all of that has one fate, it is as many
//! fans, one behind the other.

mod barred;
mod build;
mod compare;
mod lane;

use crate::picture::Marks;
use crate::picture::walk::{ReachedRows, StepField, StepsByRow};
use crate::picture::{Generation, GraphTooLarge, View};
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_engine::resolve::Refusal;

pub use barred::ForbiddenSteps;
pub use compare::{Comparison, DrawnChange};

/// Everything that is drawn of a graph.
#[derive(Clone, Debug)]
pub struct Sketch<'g, 'p> {
    /// What it is a picture of.
    pub graph: &'g Graph<'p>,
    /// What was asked for.
    pub view: View<'g>,
    /// The versions, the newest first.
    pub rows: Vec<RowFacts<'p>>,
    /// The channels, those with the newest heads first.
    pub lanes: Vec<Lane<'p>>,
    /// What guardrails forbid.
    pub barred: ForbiddenSteps,
    /// Where each row leads.
    pub walk: StepsByRow,
    /// What can be reached from where it starts, if a start was asked for.
    pub reach: Option<ReachedRows>,
    /// What it is compared with, if it is.
    pub comparison: Option<Comparison>,
}

/// The place of a version among all that are drawn, from the top.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Serialize)]
pub struct VersionRow(pub u32);

/// A version.
#[derive(Clone, Debug)]
pub struct RowFacts<'p> {
    /// Its node of the graph.
    pub node: NodeIndex,
    /// The name that edges use.
    pub name: &'p str,
    /// Its version, where it has one that can be read.
    pub version: Option<String>,
    /// Whether its version is a prerelease.
    pub is_prerelease: bool,
    /// What it is called in the picture: its version, where that tells it from others.
    pub label: String,
    /// What holds whatever the channel.
    pub marks: Marks,
    /// The message of its deprecation, perhaps empty.
    pub deprecated: Option<&'p str>,
    /// Why OLM v1 refuses it, where that is asked about.
    pub refusal: Option<Refusal<'p>>,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Lane<'p> {
    /// Its name.
    pub name: &'p str,
    /// Whether an author wrote it.
    pub kind: LaneKind,
    /// Whether it is the package's default channel.
    pub is_default: bool,
    /// The message of its deprecation, perhaps empty.
    pub deprecated: Option<&'p str>,
    /// How many of the cells are entries.
    pub entries: usize,
    /// Why OLM v0 resolves nothing from it, if it does not.
    pub refused_by_v0: Option<String>,
    /// Its entries, and the names that its edges start at, from the top.
    pub cells: Vec<LaneCell>,
    /// `replaces`.
    pub steps: Vec<ReplacesStep>,
    /// `skips` and `skipRange`.
    pub fans: Vec<Fan<'p>>,
    /// What entries have as a `skipRange` and OLM cannot read.
    pub unread: Vec<(VersionRow, &'p str)>,
    /// What the comparison makes of it.
    pub change: DrawnChange,
}

/// What a lane shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LaneKind {
    /// A channel, as written.
    Channel,
    /// What versions alone allow, whatever the author wrote.
    Semver,
}

/// What becomes of an edge.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum EdgeFate {
    /// OLM, the one asked about, takes it.
    Taken,
    /// It would, and guardrails forbid it.
    Forbidden,
    /// It does not.
    NotTaken,
}

/// A version in a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneCell {
    /// Which.
    pub row: VersionRow,
    /// What this channel makes of it.
    pub marks: Marks,
}

/// An entry replaces a name.
#[derive(Clone, Copy, Debug)]
pub struct ReplacesStep {
    /// What is replaced.
    pub from: VersionRow,
    /// The entry.
    pub to: VersionRow,
    /// What becomes of it.
    pub fate: EdgeFate,
    /// What the comparison makes of it.
    pub change: DrawnChange,
}

/// An entry skips several versions at once.
#[derive(Clone, Debug)]
pub struct Fan<'p> {
    /// By which field.
    pub kind: FanKind<'p>,
    /// The entry.
    pub to: VersionRow,
    /// What is skipped, from the top; nothing where a range holds no version of the package.
    pub from: Vec<VersionRow>,
    /// How many are skipped by the field: more than stand in `from` where it is drawn in parts.
    pub whole: usize,
    /// Whether it is a further part of what the fan before it is a part of.
    pub continues: bool,
    /// What becomes of it.
    pub fate: EdgeFate,
    /// What the comparison makes of it.
    pub change: DrawnChange,
}

/// The field of an entry that skips.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FanKind<'p> {
    /// `skips`, a list of names.
    Skips,
    /// `skipRange`, as written.
    SkipRange(&'p str),
    /// None: the semver rules allow it.
    Semver,
}

impl<'g, 'p> Sketch<'g, 'p> {
    /// What a view shows of a graph.
    ///
    /// # Errors
    /// If there are more versions or edges than any picture can show.
    pub fn of(graph: &'g Graph<'p>, view: View<'g>) -> Result<Self, GraphTooLarge> {
        build::build(graph, view)
    }

    /// What is told of a row; every row of a sketch is one of its own.
    pub fn row(&self, VersionRow(row): VersionRow) -> Option<&RowFacts<'p>> {
        self.rows.get(row as usize)
    }

    /// What a row is called.
    pub fn label(&self, row: VersionRow) -> &str {
        self.row(row).map_or("", |facts| &facts.label)
    }

    /// The lane that a subscription of OLM v0 is in: the default channel's, else the first. None where no
    /// channel is asked for: a subscription without one is given the entries of all.
    pub fn lane_of_subscription(&self) -> Option<u32> {
        if self.view.olm == Generation::V0 && self.view.channels.is_empty() {
            return None;
        }
        let default = (0..).zip(&self.lanes).find(|(_, lane)| lane.is_default);
        let default = default.map(|(at, _)| at);
        default.or((!self.lanes.is_empty()).then_some(0))
    }
}

impl Lane<'_> {
    /// How many edges there are, each version that is skipped counted.
    pub fn edges(&self) -> usize {
        let skipped = self.fans.iter().map(|fan| fan.from.len());
        self.steps.len() + skipped.sum::<usize>()
    }

    /// Whether the comparison makes this of an edge.
    pub fn has_edges(&self, change: DrawnChange) -> bool {
        self.steps.iter().any(|step| step.change == change)
            || self.fans.iter().any(|fan| fan.change == change)
    }

    /// What a row has as a `skipRange` and OLM cannot read.
    pub fn unread_of(&self, row: VersionRow) -> impl Iterator<Item = &str> {
        let unread = self.unread.iter().filter(move |(of, _)| *of == row);
        unread.map(|(_, text)| *text)
    }

    /// What this channel makes of a row, where it has a cell.
    pub fn marks(&self, row: VersionRow) -> Option<Marks> {
        let at = self.cells.binary_search_by_key(&row, |cell| cell.row);
        at.ok()
            .and_then(|at| self.cells.get(at))
            .map(|cell| cell.marks)
    }
}

impl EdgeFate {
    /// Its name in classes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Forbidden => "forbidden",
            Self::NotTaken => "unused",
        }
    }
}

impl FanKind<'_> {
    /// The field of the entry.
    pub fn field(&self) -> StepField {
        match self {
            Self::Skips => StepField::Skips,
            Self::SkipRange(_) => StepField::SkipRange,
            Self::Semver => StepField::Semver,
        }
    }
}
