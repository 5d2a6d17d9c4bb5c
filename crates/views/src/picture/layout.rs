//! Where everything is.
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
mod columns;
mod fold;
mod grid;
mod heading;
mod plan;
mod tracks;
mod way;

pub(crate) use grid::LONGEST_VERSION;
pub(crate) use plan::signs;

use crate::picture::layout::card::{LanePlace, card, is_out_of_reach};
use crate::picture::layout::columns::{Column, columns};
use crate::picture::layout::grid::{
    BEYOND, CARD_GAP, CARD_HEADING, Grid, MARGIN, ROW, VERSION_SIZE,
};
use crate::picture::layout::plan::Plan;
use crate::picture::measure::{Face, clip, px};
use crate::picture::scene::{Anchor, Area, Axis, AxisRow, Label, Point, Role, Scene};
use crate::picture::sketch::{Row, Sketch};
use crate::picture::text;

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
        .map(|(at, lane)| Plan::of(sketch, at, lane))
        .collect();
    let axis_width = axis_width(sketch);
    let (columns, places) = columns(&lanes, room - 2 * MARGIN - axis_width);
    let (lefts, x) = lefts(&columns, MARGIN + axis_width + CARD_GAP);
    let width = (x - CARD_GAP + MARGIN).max(NARROWEST);
    let top = heading::heading(sketch, width);
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
        way: way::way(sketch, &cards, grid),
        axis,
        cards,
    }
}

/// Where each column begins, and where one more would.
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
    let rows = (0..).map(Row).zip(&sketch.rows).map(|(row, facts)| {
        let y = grid.y(row);
        let label = |x, anchor, text| Label {
            at: Point { x, y: y + 4 },
            anchor,
            size: VERSION_SIZE,
            face: Face::Mono,
            role: Role::Version,
            text,
        };
        let hops = sketch.reach.as_ref().and_then(|reach| reach.hops.get(&row));
        AxisRow {
            row,
            marks: facts.marks,
            area: Area {
                x: MARGIN - 8,
                y: y - ROW / 2,
                width: end + 8 - (MARGIN - 8),
                height: ROW,
            },
            label: label(right, Anchor::End, clip(&facts.label, LONGEST_VERSION)),
            name: facts.name.to_owned(),
            hops: hops.map(|hops| label(MARGIN, Anchor::Start, text::hops_away(*hops))),
            is_out_of_reach: is_out_of_reach(sketch, row),
        }
    });
    Axis {
        area: Area {
            x: MARGIN - 8,
            y: grid.first - ROW / 2,
            width: width + 16,
            height: ROW * px(sketch.rows.len()),
        },
        label: Label {
            at: Point {
                x: right,
                y: grid.first - ROW / 2 - 11,
            },
            anchor: Anchor::End,
            size: text::ASIDE_SIZE,
            face: Face::Sans,
            role: Role::Aside,
            text: text::AXIS.to_owned(),
        },
        rows: rows.collect(),
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
