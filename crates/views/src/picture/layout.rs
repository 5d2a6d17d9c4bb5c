//! Places of all parts of a picture.
//!
//! ```text
//!        versions |  stable                        |  candidate
//!        1.3.0    |                                |    (1.3.0) head
//!        1.2.0    |      (1.2.0) <--- 2 ---+       |       ^
//!        1.1.0    |   .->(1.1.0)           o       |    (1.1.0)
//!        1.0.0    |   '--(1.0.0)           o       |
//!                     replaces   skips, skipRange
//! ```
//!
//! A step to the next version runs in the middle, one past others to the left of them, and what skips
//! to their right, folded (`fold`). Lines keep to tracks of their own, so none lies upon another.

mod card;
mod plan;

use std::collections::BTreeSet;

use crate::picture::layout::card::{LanePlace, card, is_out_of_reach, way};
use crate::picture::layout::plan::LanePlan;
use crate::picture::scene::{
    Anchor, Area, Axis, AxisRow, Face, LONGEST_VERSION, LabelRole, LegendItem, LegendSign, Point,
    Scene, SceneLabel, clip, px,
};
use crate::picture::sketch::{DrawnChange, EdgeFate, Lane, RowFacts, Sketch, VersionRow};
use crate::picture::walk::StepField;
use crate::picture::{VersionMark, text};

pub(crate) use crate::picture::layout::plan::signs;

/// Gives everything its place, in as few columns as channels need.
pub fn layout(sketch: &Sketch<'_, '_>) -> Scene {
    place(sketch, 0)
}

/// The same for a page: a channel has a column of its own as long as a window has room for one more.
pub fn layout_for_page(sketch: &Sketch<'_, '_>) -> Scene {
    place(sketch, WINDOW)
}

/// Shares no column before the picture is this wide.
fn place(sketch: &Sketch<'_, '_>, room: i32) -> Scene {
    let lanes: Vec<_> = (0..)
        .zip(&sketch.lanes)
        .map(|(at, lane)| LanePlan::of(sketch, at, lane))
        .collect();
    let axis_width = axis_width(sketch);
    let (columns, places) = columns(&lanes, room - 2 * MARGIN - axis_width);
    let (lefts, x) = lefts(&columns, MARGIN + axis_width + CARD_GAP);
    let width = (x - CARD_GAP + MARGIN).max(NARROWEST);
    let top = heading(sketch, width);
    let grid = Grid {
        first: top.bottom + CARD_HEADING + ROW / 2,
    };
    let cards = lanes.iter().zip(places).filter_map(|(plan, at)| {
        let (column, x) = (columns.get(at)?, *lefts.get(at)?);
        let place = LanePlace {
            grid,
            x,
            width: column.width(),
            pill_x: x + column.middle() - plan.pill / 2,
            pill: plan.pill,
        };
        Some(card(sketch, plan, place))
    });
    let cards: Vec<_> = cards.collect();
    let axis = axis(sketch, grid, axis_width, x - CARD_GAP);
    Scene {
        width,
        height: axis.area.bottom() + BEYOND + MARGIN,
        heading: top.lines,
        legend: top.legend,
        way: way(sketch, &cards, grid),
        axis,
        cards,
    }
}

/// Left edge of each column, and of one more.
fn lefts(columns: &[Column], first: i32) -> (Vec<i32>, i32) {
    let mut x = first;
    let mut lefts = Vec::new();
    for column in columns {
        lefts.push(x);
        x += column.width() + CARD_GAP;
    }
    (lefts, x)
}

fn axis_width(sketch: &Sketch<'_, '_>) -> i32 {
    let label = |label: &str| Face::Mono.width(&clip(label, LONGEST_VERSION), VERSION_SIZE);
    let widest = sketch.rows.iter().map(|row| label(&row.label)).max();
    let hops = sketch.reach.as_ref().map_or(0, |_| HOPS);
    widest.unwrap_or(0).max(NARROWEST_AXIS) + hops
}

/// The axis; the bands behind its rows end a little right of everything.
fn axis(sketch: &Sketch<'_, '_>, grid: Grid, width: i32, end: i32) -> Axis {
    let right = MARGIN + width;
    let rows = (0..).map(VersionRow).zip(&sketch.rows);
    let rows = rows.map(|(row, facts)| axis_row(sketch, row, facts, grid.y(row), (right, end)));
    Axis {
        area: Area::new(
            MARGIN - 8,
            grid.first - ROW / 2,
            width + 16,
            ROW * px(sketch.rows.len()),
        ),
        label: SceneLabel::new(
            Point::new(right, grid.first - ROW / 2 - 11),
            Anchor::End,
            text::ASIDE_SIZE,
            LabelRole::Aside,
            text::AXIS.to_owned(),
        ),
        rows: rows.collect(),
    }
}

/// One version: its label ends at `right`, and its row at `end`.
fn axis_row(
    sketch: &Sketch<'_, '_>,
    row: VersionRow,
    facts: &RowFacts<'_>,
    y: i32,
    (right, end): (i32, i32),
) -> AxisRow {
    let label = |x, anchor, text| {
        SceneLabel::new(
            Point::new(x, y + 4),
            anchor,
            VERSION_SIZE,
            LabelRole::Version,
            text,
        )
    };
    let hops = sketch.reach.as_ref().and_then(|reach| reach.hops.get(&row));
    AxisRow {
        row,
        marks: facts.marks,
        area: Area::new(MARGIN - 8, y - ROW / 2, end + 8 - (MARGIN - 8), ROW),
        label: label(right, Anchor::End, clip(&facts.label, LONGEST_VERSION)),
        name: facts.name.to_owned(),
        hops: hops.map(|hops| label(MARGIN, Anchor::Start, text::hops_away(*hops))),
        is_out_of_reach: is_out_of_reach(sketch, row),
    }
}

/// The label of the axis is no narrower.
const NARROWEST_AXIS: i32 = 56;
/// The column that tells how many hops away a version is.
const HOPS: i32 = 40;
/// What a window 1400 wide has beside the panel of the page and a scroll bar.
const WINDOW: i32 = 1040;
/// No picture is narrower: its heading must be readable.
const NARROWEST: i32 = 760;

// === What stands above everything: the package, what is shown of it, and what the signs mean ===

/// The heading, and where it ends.
#[derive(Debug)]
struct PictureHeading {
    lines: Vec<SceneLabel>,
    legend: Vec<LegendItem>,
    bottom: i32,
}

fn heading(sketch: &Sketch<'_, '_>, width: i32) -> PictureHeading {
    let room = width - 2 * MARGIN;
    let mut y = MARGIN + TITLE_SIZE;
    let mut lines = vec![label(
        text::title(sketch),
        MARGIN,
        y,
        TITLE_SIZE,
        LabelRole::Title,
    )];
    y += 8;
    for told in text::told(sketch) {
        for line in wrap(&told, room) {
            y += LINE;
            lines.push(label(line, MARGIN, y, LEGEND_SIZE, LabelRole::Aside));
        }
    }
    y += 14;
    let (legend, bottom) = legend(sketch, room, y);
    PictureHeading {
        lines,
        legend,
        bottom: bottom + 10,
    }
}

/// The signs that occur, in lines.
fn legend(sketch: &Sketch<'_, '_>, room: i32, top: i32) -> (Vec<LegendItem>, i32) {
    let (mut x, mut y) = (MARGIN, top);
    let mut items = Vec::new();
    for sign in occurring_signs(sketch) {
        let text = text::sign(sign);
        let width = LEGEND_SIGN + 8 + Face::Sans.width(text, LEGEND_SIZE);
        if x > MARGIN && x + width > MARGIN + room {
            (x, y) = (MARGIN, y + LEGEND_LINE);
        }
        items.push(LegendItem {
            sign,
            area: Area::new(x, y, LEGEND_SIGN, LEGEND_HEIGHT),
            label: label(
                text.to_owned(),
                x + LEGEND_SIGN + 8,
                y + 13,
                LEGEND_SIZE,
                LabelRole::Aside,
            ),
        });
        x += width + 22;
    }
    (items, y + LEGEND_LINE)
}

fn occurring_signs(sketch: &Sketch<'_, '_>) -> Vec<LegendSign> {
    let lanes = &sketch.lanes;
    let changes = [DrawnChange::Added, DrawnChange::Removed].into_iter();
    let changes = changes.filter(|change| lanes.iter().any(|lane| lane.has_edges(*change)));
    let in_lanes = lanes
        .iter()
        .flat_map(|lane| &lane.cells)
        .map(|cell| cell.marks);
    let marks: Vec<_> = in_lanes
        .chain(sketch.rows.iter().map(|row| row.marks))
        .collect();
    let marks = VersionMark::ALL
        .into_iter()
        .filter(|mark| marks.iter().any(|marks| marks.has(*mark)));
    let way = sketch.reach.as_ref();
    let has_way = way.is_some_and(|reach| !reach.way.is_empty());
    let misses = way.is_some_and(|reach| reach.hops.len() < sketch.rows.len());
    let edges = edges(lanes);
    let fields: BTreeSet<_> = edges.iter().map(|(field, _)| *field).collect();
    let fates: BTreeSet<_> = edges.iter().map(|(_, fate)| *fate).collect();
    let unused = fates.into_iter().filter(|fate| *fate != EdgeFate::Taken);
    let fields = fields.into_iter().map(LegendSign::Edge);
    fields
        .chain(unused.map(LegendSign::Fate))
        .chain(changes.map(LegendSign::Change))
        .chain(marks.map(LegendSign::Version))
        .chain(has_way.then_some(LegendSign::Way))
        .chain(misses.then_some(LegendSign::OutOfReach))
        .collect()
}

/// The fields and the fates of the edges that are drawn.
fn edges(lanes: &[Lane<'_>]) -> BTreeSet<(StepField, EdgeFate)> {
    let of_lane = |lane: &Lane<'_>| {
        let steps = lane
            .steps
            .iter()
            .map(|step| (StepField::Replaces, step.fate));
        let fans = lane.fans.iter().map(|fan| (fan.kind.field(), fan.fate));
        steps.chain(fans).collect::<Vec<_>>()
    };
    lanes.iter().flat_map(of_lane).collect()
}

/// The words of a text in lines of at most this width.
fn wrap(text: &str, room: i32) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(last) = lines.last_mut() else {
            break;
        };
        let longer = if last.is_empty() {
            word.to_owned()
        } else {
            format!("{last} {word}")
        };
        if last.is_empty() || Face::Sans.width(&longer, LEGEND_SIZE) <= room {
            *last = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

fn label(text: String, x: i32, y: i32, size: i32, role: LabelRole) -> SceneLabel {
    SceneLabel::new(Point::new(x, y), Anchor::Start, size, role, text)
}

const TITLE_SIZE: i32 = 22;
const LEGEND_SIZE: i32 = 12;
const LINE: i32 = 18;
/// The width of a sign.
const LEGEND_SIGN: i32 = 34;
const LEGEND_HEIGHT: i32 = 18;
const LEGEND_LINE: i32 = 26;

// === Which channels stand above each other ===
//
// A channel takes the rows of its versions and a heading above them. Those of different times share a
// column, so that a package with a channel for each minor version is no long diagonal.

/// Lanes above each other, with their versions in one line.
#[derive(Debug, Default)]
struct Column {
    /// Left of the middle of the versions.
    left: i32,
    /// Right of it.
    right: i32,
    /// The first row that is free.
    free: u32,
    /// The widest heading.
    heading: i32,
}

/// The column of each plan, in the order given: one of its own while that fits into the room, else the
/// first that is free.
fn columns(plans: &[LanePlan<'_, '_>], room: i32) -> (Vec<Column>, Vec<usize>) {
    let mut columns = Vec::<Column>::new();
    let place = |plan: &LanePlan<'_, '_>| {
        let first = plan.rows.0.0;
        let free = columns.iter().position(|column| column.free <= first);
        let free = free.filter(|_| !has_room(&columns, plan, room));
        let at = free.unwrap_or(columns.len());
        if free.is_none() {
            columns.push(Column::default());
        }
        if let Some(column) = columns.get_mut(at) {
            column.add(plan);
        }
        at
    };
    let places = plans.iter().map(place).collect();
    (columns, places)
}

/// Whether one more column fits.
fn has_room(columns: &[Column], plan: &LanePlan<'_, '_>, room: i32) -> bool {
    let mut own = Column::default();
    own.add(plan);
    let columns = columns.iter().chain([&own]);
    columns.map(|column| column.width() + CARD_GAP).sum::<i32>() <= room
}

impl Column {
    fn add(&mut self, plan: &LanePlan<'_, '_>) {
        self.left = self.left.max(plan.left + plan.pill / 2);
        self.right = self.right.max(plan.pill - plan.pill / 2 + plan.right);
        self.heading = self.heading.max(text::heading_width(plan.lane));
        self.free = plan.rows.1.0 + if plan.is_open { 4 } else { 3 };
    }

    /// From edge to edge.
    fn width(&self) -> i32 {
        (self.left + self.right).max(self.heading) + 2 * CARD_PAD
    }

    /// The middle of the versions, from the edge: what room is left over is shared by both sides.
    fn middle(&self) -> i32 {
        let spare = self.width() - 2 * CARD_PAD - (self.left + self.right);
        CARD_PAD + self.left + spare / 2
    }
}

/// Puts stretches on tracks, each on the first where nothing is in its way; in the order given, so what
/// should lie innermost comes first. Returns the track of each.
fn tracks(stretches: impl IntoIterator<Item = (u32, u32)>) -> Vec<usize> {
    let mut taken = Vec::<Vec<(u32, u32)>>::new();
    let place = |(top, bottom): (u32, u32)| {
        let is_free = |track: &Vec<(u32, u32)>| {
            track
                .iter()
                .all(|(other_top, other_bottom)| bottom < *other_top || *other_bottom < top)
        };
        let free = taken.iter().position(is_free);
        let at = free.unwrap_or(taken.len());
        match taken.get_mut(at) {
            Some(track) => track.push((top, bottom)),
            None => taken.push(vec![(top, bottom)]),
        }
        at
    };
    stretches.into_iter().map(place).collect()
}

// === The measures that all parts of the picture share ===

/// From one version to the next.
const ROW: i32 = 28;
/// The height of a version.
const PILL: i32 = 20;
/// Left and right of the text in a version.
const PILL_PAD: i32 = 9;
/// The size of versions.
const VERSION_SIZE: i32 = 12;
/// What a sign takes inside a version.
const SIGN: i32 = 14;
/// Around everything.
const MARGIN: i32 = 24;
/// The heading of a channel.
const CARD_HEADING: i32 = 48;
/// Inside a channel, on every side.
const CARD_PAD: i32 = 14;
/// Between two channels.
const CARD_GAP: i32 = 20;
/// What a line that leads beyond the last version takes below it.
const BEYOND: i32 = 22;

/// Places of rows.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// The middle of the first.
    first: i32,
}

impl Grid {
    /// The middle of a row.
    fn y(self, VersionRow(row): VersionRow) -> i32 {
        self.first + ROW * i32::try_from(row).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_touches_takes_another_track() {
        for (stretches, expected) in [
            (vec![], vec![]),
            (vec![(0, 2), (3, 5)], vec![0, 0]),
            (vec![(0, 2), (2, 5)], vec![0, 1]),
            (vec![(1, 2), (0, 9), (4, 5), (4, 4)], vec![0, 1, 0, 2]),
        ] {
            assert_eq!(tracks(stretches.clone()), expected, "{stretches:?}");
        }
    }
}
