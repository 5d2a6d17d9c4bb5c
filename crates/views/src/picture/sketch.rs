//! Contents of a picture, without positions: a row for each version, a lane for each channel.
//!
//! ```text
//! row 0  1.2.0   <- the newest            lane "stable"   cells: rows 0, 1, 2
//! row 1  1.1.0   (virtual)                steps: 2 -> 0 (replaces)
//! row 2  1.0.0                            fans:  {1} -> 0 (skips), {1, 2} -> 0 (skipRange)
//! ```
//!
//! Every output format is made from the sketch, so they agree. A fan is one field of one entry: all names that
//! it skips, or all versions of one range. If these do not have the same fate, the field is split into consecutive
//! fans.

mod barred;
mod build;
mod compare;
mod lane;

use crate::picture::walk::{ReachedRows, StepField, StepsByRow};
use crate::picture::{Generation, GraphTooLarge, Marks, View};
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::image_reference::ReferenceError;
use olmguard_catalog::word_set;
use olmguard_engine::resolve::Refusal;

pub use crate::picture::walk::VersionRow;

pub use barred::ForbiddenSteps;
pub use compare::{Comparison, DrawnChange};

/// The contents of the picture of a graph.
#[derive(Clone, Debug)]
pub struct Sketch<'g, 'p> {
    /// Graph of the picture.
    pub graph: &'g Graph<'p>,
    /// Selection that was requested.
    pub view: View<'g>,
    /// The versions, the newest first.
    pub rows: Vec<RowFacts<'p>>,
    /// The channels, the one with the newest entry first.
    pub lanes: Vec<Lane<'p>>,
    /// Steps that guardrails forbid.
    pub barred: ForbiddenSteps,
    /// Steps from each row.
    pub walk: StepsByRow,
    /// Rows that can be reached from the start, if a start was requested.
    pub reach: Option<ReachedRows>,
    /// Comparison with another catalog, if there is one.
    pub comparison: Option<Comparison>,
}

/// A version.
#[derive(Clone, Debug)]
pub struct RowFacts<'p> {
    /// Node of the graph.
    pub node: NodeIndex,
    /// The name that edges use.
    pub name: &'p str,
    /// Version, if there is one that can be read.
    pub version: Option<String>,
    /// Whether the version is a prerelease.
    pub is_prerelease: bool,
    /// Label in the picture: the version, if no other row has the same.
    pub label: String,
    /// Marks that do not depend on a channel.
    pub marks: Marks,
    /// Deprecation message, possibly empty. `None` if the version is not deprecated.
    pub deprecated: Option<&'p str>,
    /// Reason why OLM v1 refuses the bundle, if OLM v1 was requested.
    pub refusal: Option<InstallRefusal<'p>>,
}

/// The reason why OLM v1 does not install a bundle.
#[derive(Clone, Copy, Debug)]
pub enum InstallRefusal<'p> {
    /// Resolution refuses the bundle.
    Resolved(Refusal<'p>),
    /// Its image reference is not accepted.
    Image(&'p ReferenceError),
    /// It has no install mode that OLM supports, or needs another feature that OLM does not support.
    Unsupported,
}

/// A channel.
#[derive(Clone, Debug, Default)]
pub struct Lane<'p> {
    /// Name of the channel.
    pub name: &'p str,
    /// Kind of the lane: a channel, or the semver rules.
    pub kind: LaneKind,
    /// Whether the channel is the default channel of the package.
    pub is_default: bool,
    /// Deprecation message, possibly empty. `None` if the channel is not deprecated.
    pub deprecated: Option<&'p str>,
    /// Number of cells that are entries.
    pub entries: usize,
    /// Reason why OLM v0 resolves nothing from the channel, if it does not.
    pub refused_by_v0: Option<String>,
    /// Entries, and names that edges of the channel start at, from the top.
    pub cells: Vec<LaneCell>,
    /// `replaces` edges.
    pub steps: Vec<ReplacesStep>,
    /// `skips` and `skipRange` edges.
    pub fans: Vec<Fan<'p>>,
    /// Texts of `skipRange` fields that OLM cannot read.
    pub unread: Vec<(VersionRow, &'p str)>,
    /// Change that the comparison found.
    pub change: DrawnChange,
}

/// Contents of a lane.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LaneKind {
    /// A channel, as written.
    #[default]
    Channel,
    /// Steps that the semver rules allow, whatever the catalog contains.
    Semver,
}

word_set! {
    /// Fate of an edge.
    pub enum EdgeFate {
        /// The requested generation of OLM takes the edge.
        Taken => "taken",
        /// OLM would take the edge, and guardrails forbid it.
        Forbidden => "forbidden",
        /// OLM does not take the edge.
        NotTaken => "unused",
    }
}

/// A version in a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneCell {
    /// Row of the version.
    pub row: VersionRow,
    /// Marks of the version in this channel.
    pub marks: Marks,
}

/// A `replaces` edge.
#[derive(Clone, Copy, Debug)]
pub struct ReplacesStep {
    /// Row that is replaced.
    pub from: VersionRow,
    /// The entry.
    pub to: VersionRow,
    /// Fate of the edge.
    pub fate: EdgeFate,
    /// Change that the comparison found.
    pub change: DrawnChange,
}

/// The versions that one field of an entry skips.
#[derive(Clone, Debug)]
pub struct Fan<'p> {
    /// Field of the entry.
    pub kind: FanKind<'p>,
    /// The entry.
    pub to: VersionRow,
    /// Rows that are skipped, from the top; none if a range includes no version of the package.
    pub from: Vec<VersionRow>,
    /// Number of rows that the field skips: more than in `from` if the field is drawn in parts.
    pub whole: usize,
    /// Whether the fan before it is another part of the same field.
    pub continues: bool,
    /// Fate of the edges.
    pub fate: EdgeFate,
    /// Change that the comparison found.
    pub change: DrawnChange,
}

/// The field of an entry that skips.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FanKind<'p> {
    /// `skips`, a list of names.
    Skips,
    /// `skipRange`, as written.
    SkipRange(&'p str),
    /// No field: the semver rules allow the step.
    Semver,
}

impl<'g, 'p> Sketch<'g, 'p> {
    /// Sketches a graph for a view.
    ///
    /// # Errors
    /// If there are more versions or edges than any picture can show.
    pub fn of(graph: &'g Graph<'p>, view: View<'g>) -> Result<Self, GraphTooLarge> {
        build::build(graph, view)
    }

    /// Returns the facts of a row.
    pub fn row(&self, VersionRow(row): VersionRow) -> Option<&RowFacts<'p>> {
        self.rows.get(row as usize)
    }

    /// Returns the name of a version, empty if there is no such row.
    pub fn name(&self, row: VersionRow) -> &'p str {
        self.row(row).map_or("", |facts| facts.name)
    }

    /// Returns the label of a row.
    pub fn label(&self, row: VersionRow) -> &str {
        self.row(row).map_or("", |facts| &facts.label)
    }

    /// Returns the lane of an OLM v0 Subscription: the first requested channel. Returns `None` if no channel is
    /// requested: a Subscription without a channel uses the entries of all channels. For OLM v1, returns the default
    /// channel, otherwise the first lane.
    pub fn lane_of_subscription(&self) -> Option<u32> {
        let mut lanes = (0..).zip(&self.lanes);
        if self.view.olm == Generation::V0 {
            let channel = self.view.channels.first()?;
            let own = lanes.find(|(_, lane)| lane.name == channel);
            return own.map(|(at, _)| at);
        }
        let default = lanes.find(|(_, lane)| lane.is_default);
        let default = default.map(|(at, _)| at);
        default.or((!self.lanes.is_empty()).then_some(0))
    }
}

impl Lane<'_> {
    /// Returns the number of edges. Each skipped version counts.
    pub fn edges(&self) -> usize {
        let skipped = self.fans.iter().map(|fan| fan.from.len());
        self.steps.len() + skipped.sum::<usize>()
    }

    /// Whether any edge has this change.
    pub fn has_edges(&self, change: DrawnChange) -> bool {
        self.steps.iter().any(|step| step.change == change)
            || self.fans.iter().any(|fan| fan.change == change)
    }

    /// Returns the `skipRange` texts of a row that OLM cannot read.
    pub fn unread_of(&self, row: VersionRow) -> impl Iterator<Item = &str> {
        let unread = self.unread.iter().filter(move |(of, _)| *of == row);
        unread.map(|(_, text)| *text)
    }

    /// Returns the marks of a row in this channel, if the channel has a cell for it.
    pub fn marks(&self, row: VersionRow) -> Option<Marks> {
        let at = self.cells.binary_search_by_key(&row, |cell| cell.row);
        at.ok()
            .and_then(|at| self.cells.get(at))
            .map(|cell| cell.marks)
    }
}

impl FanKind<'_> {
    /// Returns the field of the entry.
    pub fn field(&self) -> StepField {
        match self {
            Self::Skips => StepField::Skips,
            Self::SkipRange(_) => StepField::SkipRange,
            Self::Semver => StepField::Semver,
        }
    }
}
