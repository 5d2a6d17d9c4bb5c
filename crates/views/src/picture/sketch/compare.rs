//! Two catalogs in one picture: the current package and its previous state, the base.
//!
//! ```text
//! before: 1.1.0 <- 1.0.0     now: 1.2.0 <- 1.0.0     both: 1.2.0 added   <- 1.0.0 added
//!                                                          1.1.0 removed <- 1.0.0 removed
//! ```
//!
//! Versions and channels are the same if their names are equal. Edges are the same if they have the same field,
//! start, end and channel. Reachability is computed for the current package only: removed edges are drawn, but no
//! path uses them.

use std::collections::{BTreeMap, BTreeSet};

use olmguard_catalog::graph::Graph;
use olmguard_catalog::version::{Version, go};

use crate::picture::sketch::build::{newest_first, version_of};
use crate::picture::sketch::{
    EdgeFate, Fan, Lane, LaneCell, ReplacesStep, RowFacts, Sketch, VersionRow,
};
use crate::picture::walk::StepField;
use crate::picture::{Marks, VersionMark};
use olmguard_catalog::word_set;

word_set! {
    /// Change of a channel or an edge.
    #[derive(Default)]
    pub enum DrawnChange {
        /// Both catalogs have it, or there is no comparison.
        #[default]
        Kept => "kept",
        /// Only the current catalog has it.
        Added => "added",
        /// Only the base has it.
        Removed => "removed",
    }
}

/// The catalog of a comparison, and the numbers of differences.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Name that the user gave the catalog.
    pub base: String,
    /// Numbers of added and of removed versions.
    pub versions: (usize, usize),
    /// Numbers of added and of removed edges.
    pub edges: (usize, usize),
}

impl Sketch<'_, '_> {
    /// Adds the differences from an older picture of the same package. `None` means that the package is new.
    pub fn compared(self, old: Option<Self>, base: &str) -> Self {
        let (old_rows, old_lanes) = match old {
            Some(old) => (placed(old.rows, old.graph), old.lanes),
            None => (Vec::new(), Vec::new()),
        };
        let graph = self.graph;
        let both = BothRows::of(placed(self.rows, graph), old_rows);
        let lanes = of_both(&both, self.lanes, old_lanes);
        let new = |row: VersionRow| place(&both.new, row);
        let mut sketch = Sketch {
            barred: self.barred.mapped(new),
            walk: self.walk.mapped(new),
            reach: self.reach.map(|reach| reach.mapped(new)),
            rows: both.rows,
            lanes,
            ..self
        };
        sketch.comparison = Some(Comparison::of(&sketch, base));
        sketch
    }
}

impl DrawnChange {
    /// Returns the word for something that was added or removed.
    pub(in crate::picture) fn word(self) -> Option<&'static str> {
        (self != Self::Kept).then(|| self.as_str())
    }
}

impl Comparison {
    fn of(sketch: &Sketch<'_, '_>, base: &str) -> Self {
        let versions = |mark| {
            let rows = sketch.rows.iter();
            rows.filter(|row| row.marks.has(mark)).count()
        };
        let edges = |change| {
            let steps = sketch.lanes.iter().flat_map(|lane| &lane.steps);
            let fans = sketch.lanes.iter().flat_map(|lane| &lane.fans);
            let fans = fans.filter(|fan| fan.change == change);
            let skipped = fans.map(|fan| fan.from.len()).sum::<usize>();
            steps.filter(|step| step.change == change).count() + skipped
        };
        Self {
            base: base.to_owned(),
            versions: (versions(VersionMark::Added), versions(VersionMark::Removed)),
            edges: (edges(DrawnChange::Added), edges(DrawnChange::Removed)),
        }
    }
}

fn changed(marks: Marks, is_now: bool, was: bool) -> Marks {
    marks
        .with(VersionMark::Added, is_now && !was)
        .with(VersionMark::Removed, was && !is_now)
}

fn place(places: &[VersionRow], VersionRow(row): VersionRow) -> VersionRow {
    places.get(row as usize).copied().unwrap_or(VersionRow(row))
}

/// Merges the lanes: the current channels in their order, then the removed ones.
fn of_both<'p>(rows: &BothRows<'_>, new: Vec<Lane<'p>>, old: Vec<Lane<'p>>) -> Vec<Lane<'p>> {
    let new = new.into_iter().map(|lane| moved(lane, &rows.new));
    let mut old: Vec<_> = old.into_iter().map(|lane| moved(lane, &rows.old)).collect();
    let mut lanes = Vec::new();
    for lane in new {
        let is_same = |other: &Lane<'_>| other.name == lane.name && other.kind == lane.kind;
        let before = old.iter().position(is_same).map(|at| old.remove(at));
        lanes.push(lane_of_both(lane, before));
    }
    lanes.extend(old.into_iter().map(removed));
    lanes
}

/// Moves the parts of a lane to other rows.
fn moved<'p>(mut lane: Lane<'p>, places: &[VersionRow]) -> Lane<'p> {
    let place = |row: &mut VersionRow| *row = place(places, *row);
    lane.cells.iter_mut().for_each(|cell| place(&mut cell.row));
    for step in &mut lane.steps {
        place(&mut step.from);
        place(&mut step.to);
    }
    for fan in &mut lane.fans {
        fan.from.iter_mut().for_each(place);
        fan.from.sort_unstable();
        place(&mut fan.to);
    }
    lane.unread.iter_mut().for_each(|(of, _)| place(of));
    lane
}

/// Returns a channel that was removed, with all of its parts marked as removed.
fn removed(lane: Lane<'_>) -> Lane<'_> {
    let nothing = Lane {
        cells: Vec::new(),
        steps: Vec::new(),
        fans: Vec::new(),
        unread: Vec::new(),
        is_default: false,
        ..lane.clone()
    };
    Lane {
        change: DrawnChange::Removed,
        ..lane_of_both(nothing, Some(lane))
    }
}

/// Marks the differences of a channel from the base. Without a base, the channel is new.
fn lane_of_both<'p>(mut new: Lane<'p>, old: Option<Lane<'p>>) -> Lane<'p> {
    let is_new = old.is_none();
    let (cells, steps, fans) =
        old.map_or_else(Default::default, |old| (old.cells, old.steps, old.fans));
    new.cells = cells_of_both(&new.cells, &cells);
    let (now, before) = (Pairs::of(&new.steps, &new.fans), Pairs::of(&steps, &fans));
    for step in &mut new.steps {
        if !before.has(StepField::Replaces, step.from, step.to) {
            step.change = DrawnChange::Added;
        }
    }
    let gone = steps.into_iter();
    let gone = gone.filter(|step| !now.has(StepField::Replaces, step.from, step.to));
    new.steps.extend(gone.map(|step| ReplacesStep {
        change: DrawnChange::Removed,
        fate: EdgeFate::Taken,
        ..step
    }));
    let own = std::mem::take(&mut new.fans).into_iter();
    new.fans = own.flat_map(|fan| split(fan, &before)).collect();
    new.fans
        .extend(fans.into_iter().filter_map(|fan| gone_of(fan, &now)));
    if is_new {
        new.change = DrawnChange::Added;
    }
    new
}

fn cells_of_both(new: &[LaneCell], old: &[LaneCell]) -> Vec<LaneCell> {
    let is_entry = |cell: &&LaneCell| !cell.marks.has(VersionMark::Elsewhere);
    let entries = |cells: &[LaneCell]| -> BTreeSet<VersionRow> {
        cells.iter().filter(is_entry).map(|cell| cell.row).collect()
    };
    let (now, before) = (entries(new), entries(old));
    let shown: BTreeSet<_> = new.iter().map(|cell| cell.row).collect();
    let gone = old.iter().filter(|cell| !shown.contains(&cell.row));
    let gone = gone.map(|cell| LaneCell {
        row: cell.row,
        marks: cell.marks.only(&[
            VersionMark::Virtual,
            VersionMark::Deprecated,
            VersionMark::Elsewhere,
        ]),
    });
    let mut cells: Vec<_> = new.iter().copied().chain(gone).collect();
    for cell in &mut cells {
        let (is_now, was) = (now.contains(&cell.row), before.contains(&cell.row));
        cell.marks = changed(cell.marks, is_now, was);
    }
    cells.sort_unstable_by_key(|cell| cell.row);
    cells
}

/// The edges of a channel, one for each skipped version.
struct Pairs(BTreeSet<(StepField, VersionRow, VersionRow)>);

impl Pairs {
    fn of(steps: &[ReplacesStep], fans: &[Fan<'_>]) -> Self {
        let steps = steps
            .iter()
            .map(|step| (StepField::Replaces, step.from, step.to));
        let fans = fans.iter().flat_map(|fan| {
            let field = fan.kind.field();
            fan.from.iter().map(move |from| (field, *from, fan.to))
        });
        Self(steps.chain(fans).collect())
    }

    fn has(&self, field: StepField, from: VersionRow, to: VersionRow) -> bool {
        self.0.contains(&(field, from, to))
    }
}

/// Splits a current fan into the part that the base has and the part that is new.
fn split<'p>(fan: Fan<'p>, before: &Pairs) -> Vec<Fan<'p>> {
    let rows = fan.from.iter().copied();
    let was = |from: &VersionRow| before.has(fan.kind.field(), *from, fan.to);
    let (kept, added): (Vec<_>, Vec<_>) = rows.partition(was);
    if added.is_empty() {
        return vec![fan];
    }
    let parts = [(kept, DrawnChange::Kept), (added, DrawnChange::Added)].into_iter();
    let parts = parts.filter(|(from, _)| !from.is_empty());
    let fans = parts.enumerate().map(|(at, (from, change))| Fan {
        whole: from.len(),
        from,
        continues: fan.continues || at > 0,
        change,
        ..fan
    });
    fans.collect()
}

/// Returns the part of a fan of the base that no longer exists.
fn gone_of<'p>(mut fan: Fan<'p>, now: &Pairs) -> Option<Fan<'p>> {
    let (field, to) = (fan.kind.field(), fan.to);
    fan.from.retain(|from| !now.has(field, *from, to));
    fan.whole = fan.from.len();
    fan.continues = false;
    fan.change = DrawnChange::Removed;
    fan.fate = EdgeFate::Taken;
    (fan.whole > 0).then_some(fan)
}

/// A row with the version that decides its position.
type PlacedRow<'p> = (Option<Version>, RowFacts<'p>);

fn placed<'p>(rows: Vec<RowFacts<'p>>, graph: &Graph<'_>) -> Vec<PlacedRow<'p>> {
    let rows = rows.into_iter();
    rows.map(|facts| (version_of(graph, facts.node), facts))
        .collect()
}

/// The rows of both catalogs, and the positions of the rows of each.
struct BothRows<'p> {
    rows: Vec<RowFacts<'p>>,
    new: Vec<VersionRow>,
    old: Vec<VersionRow>,
}

impl<'p> BothRows<'p> {
    fn of(new: Vec<PlacedRow<'p>>, old: Vec<PlacedRow<'p>>) -> Self {
        let (now, before) = (bundles(&new), bundles(&old));
        let old_names: Vec<_> = old.iter().map(|(_, facts)| facts.name).collect();
        let all = in_order(new, old);
        let of_now = (0..)
            .map(VersionRow)
            .zip(&all)
            .filter(|(_, (.., is_new))| *is_new);
        let of_now = of_now.map(|(row, _)| row).collect();
        let mut rows: Vec<_> = all.into_iter().map(|(_, facts, _)| facts).collect();
        for facts in &mut rows {
            let (is_now, was) = (now.contains(facts.name), before.contains(facts.name));
            facts.marks = changed(facts.marks, is_now, was);
        }
        let names = rows.iter().map(|facts| facts.name);
        let places: BTreeMap<_, _> = names.zip((0..).map(VersionRow)).collect();
        let of_before = old_names.iter().filter_map(|name| places.get(name));
        Self {
            new: of_now,
            old: of_before.copied().collect(),
            rows,
        }
    }
}

fn is_bundle(facts: &RowFacts<'_>) -> bool {
    !facts.marks.has(VersionMark::Virtual)
}

fn bundles<'p>(rows: &[PlacedRow<'p>]) -> BTreeSet<&'p str> {
    let facts = rows.iter().map(|(_, facts)| facts);
    let bundles = facts.filter(|facts| is_bundle(facts));
    bundles.map(|facts| facts.name).collect()
}

/// Merges the current rows and the removed ones, the newest first. The flag is true for a current row.
fn in_order<'p>(
    new: Vec<PlacedRow<'p>>,
    old: Vec<PlacedRow<'p>>,
) -> Vec<(Option<Version>, RowFacts<'p>, bool)> {
    let known: BTreeSet<_> = new.iter().map(|(_, facts)| facts.name).collect();
    let labels: BTreeSet<_> = new.iter().map(|(_, facts)| facts.label.clone()).collect();
    let was = old.iter().filter(|(_, facts)| is_bundle(facts));
    let was: BTreeMap<_, _> = was
        .map(|(_, facts)| (facts.name, facts.label.clone()))
        .collect();
    let gone = old
        .into_iter()
        .filter(|(_, facts)| !known.contains(facts.name));
    let gone = gone.map(|(version, facts)| (version, before_only(facts, &labels), false));
    let new = new
        .into_iter()
        .map(|(version, facts)| match was.get(facts.name) {
            Some(label) if !is_bundle(&facts) => (version, named(facts, label, &labels), true),
            _ => (version, facts, true),
        });
    let mut all: Vec<_> = new.chain(gone).collect();
    // A stable sort keeps the order of the current rows.
    all.sort_by(|(a, ..), (b, ..)| newest_first(a.as_ref(), b.as_ref()));
    all
}

/// Returns a row that only the base has. Of its marks, only virtual and deprecated are kept.
fn before_only<'p>(facts: RowFacts<'p>, labels: &BTreeSet<String>) -> RowFacts<'p> {
    let label = if labels.contains(&facts.label) {
        go::escape(facts.name)
    } else {
        facts.label
    };
    let marks = [VersionMark::Virtual, VersionMark::Deprecated];
    RowFacts {
        label,
        marks: facts.marks.only(&marks),
        ..facts
    }
}

/// Returns the row of a name that is a bundle only in the base, with the label from there.
fn named<'p>(facts: RowFacts<'p>, label: &str, labels: &BTreeSet<String>) -> RowFacts<'p> {
    let is_free = !labels.contains(label);
    let others = VersionMark::ALL
        .into_iter()
        .filter(|mark| *mark != VersionMark::Virtual);
    RowFacts {
        label: if is_free {
            label.to_owned()
        } else {
            facts.label
        },
        marks: facts.marks.only(&others.collect::<Vec<_>>()),
        ..facts
    }
}
