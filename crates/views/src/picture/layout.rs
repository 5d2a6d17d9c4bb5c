//! Positions of all parts of a picture.
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
//! A step to the next version runs in the middle, a longer one to the left, and edges that skip to the right, folded
//! (`fold`). Lines have separate tracks, so they do not overlap.

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

/// Lays out a sketch in as few columns as the channels need.
pub fn layout(sketch: &Sketch<'_, '_>) -> Scene {
    place(sketch, 0)
}

/// Lays out a sketch for a page: each channel has its own column as long as the window has room for one more.
pub fn layout_for_page(sketch: &Sketch<'_, '_>) -> Scene {
    place(sketch, WINDOW)
}

/// Lays out a sketch. Channels share columns only once the picture is wider than `room`.
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

/// Returns the left edge of each column, and of a further column.
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

/// Lays out the axis. The bands behind its rows extend a little beyond the right edge.
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

/// Lays out one version: its label ends at `right`, and its row at `end`.
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

/// Minimum width of the axis label.
const NARROWEST_AXIS: i32 = 56;
/// Width of the column with the number of steps to a version.
const HOPS: i32 = 40;
/// Free width of a window that is 1400 wide, without the panel of the page and a scroll bar.
const WINDOW: i32 = 1040;
/// Minimum width of a picture, so that its heading is readable.
const NARROWEST: i32 = 760;

// === The heading: the package, the selection, and the legend ===

/// The heading and its lower end.
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

/// Lays out the signs of the picture in lines.
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

/// Returns the fields and the fates of the edges in the picture.
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

/// Wraps the words of a text into lines of at most this width.
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
/// Width of a sign.
const LEGEND_SIGN: i32 = 34;
const LEGEND_HEIGHT: i32 = 18;
const LEGEND_LINE: i32 = 26;

// === Channels that share a column ===
//
// A channel needs the rows of its versions and a heading above them. Channels with different rows share a column, so
// a package with a channel for each minor version does not become one long diagonal.

/// A column of lanes whose versions are aligned.
#[derive(Debug, Default)]
struct Column {
    /// Width to the left of the middle of the versions.
    left: i32,
    /// Width to the right of the middle of the versions.
    right: i32,
    /// First free row.
    free: u32,
    /// Width of the widest heading.
    heading: i32,
}

/// Assigns a column to each plan, in the given order: a new column while there is room, otherwise the first free one.
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

/// Whether there is room for one more column.
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

    /// Returns the width, with padding.
    fn width(&self) -> i32 {
        (self.left + self.right).max(self.heading) + 2 * CARD_PAD
    }

    /// Returns the position of the middle of the versions. Spare room is split between both sides.
    fn middle(&self) -> i32 {
        let spare = self.width() - 2 * CARD_PAD - (self.left + self.right);
        CARD_PAD + self.left + spare / 2
    }
}

/// Puts ranges of rows on tracks, each on the first track that is free there. The order decides, so the innermost
/// ranges must come first. Returns the track of each.
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

// === Measures that all parts of the picture share ===

/// Distance from one version to the next.
const ROW: i32 = 28;
/// Height of a version.
const PILL: i32 = 20;
/// Padding to the left and right of the text of a version.
const PILL_PAD: i32 = 9;
/// Font size of versions.
const VERSION_SIZE: i32 = 12;
/// Width of a sign inside a version.
const SIGN: i32 = 14;
/// Margin of the picture.
const MARGIN: i32 = 24;
/// Height of the heading of a channel.
const CARD_HEADING: i32 = 48;
/// Padding inside a channel, on every side.
const CARD_PAD: i32 = 14;
/// Distance between two channels.
const CARD_GAP: i32 = 20;
/// Height of a line that continues below the last version.
const BEYOND: i32 = 22;

/// Positions of rows.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// Middle of the first row.
    first: i32,
}

impl Grid {
    /// Returns the middle of a row.
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
