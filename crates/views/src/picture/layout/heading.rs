//! What stands above everything: the package, what is shown of it, and what the signs mean.

use std::collections::BTreeSet;

use crate::picture::layout::grid::MARGIN;
use crate::picture::mark::Mark;
use crate::picture::measure::Face;
use crate::picture::scene::{Anchor, Area, Label, LegendItem, Point, Role, Sign};
use crate::picture::sketch::{Change, Fate, Lane, Sketch};
use crate::picture::text;
use crate::picture::walk::Field;

/// The heading, and where it ends.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) lines: Vec<Label>,
    pub(super) legend: Vec<LegendItem>,
    pub(super) bottom: i32,
}

pub(super) fn heading(sketch: &Sketch<'_, '_>, width: i32) -> Heading {
    let room = width - 2 * MARGIN;
    let mut y = MARGIN + TITLE_SIZE;
    let mut lines = vec![label(
        text::title(sketch),
        MARGIN,
        y,
        TITLE_SIZE,
        Role::Title,
    )];
    y += 8;
    for told in text::told(sketch) {
        for line in wrap(&told, room) {
            y += LINE;
            lines.push(label(line, MARGIN, y, LEGEND_SIZE, Role::Aside));
        }
    }
    y += 14;
    let (legend, bottom) = legend(sketch, room, y);
    Heading {
        lines,
        legend,
        bottom: bottom + 10,
    }
}

/// The signs that occur, in lines.
fn legend(sketch: &Sketch<'_, '_>, room: i32, top: i32) -> (Vec<LegendItem>, i32) {
    let (mut x, mut y) = (MARGIN, top);
    let mut items = Vec::new();
    for sign in signs(sketch) {
        let text = text::sign(sign);
        let width = SIGN + 8 + Face::Sans.width(text, LEGEND_SIZE);
        if x > MARGIN && x + width > MARGIN + room {
            (x, y) = (MARGIN, y + LEGEND_LINE);
        }
        items.push(LegendItem {
            sign,
            area: Area {
                x,
                y,
                width: SIGN,
                height: LEGEND_HEIGHT,
            },
            label: label(
                text.to_owned(),
                x + SIGN + 8,
                y + 13,
                LEGEND_SIZE,
                Role::Aside,
            ),
        });
        x += width + 22;
    }
    (items, y + LEGEND_LINE)
}

fn signs(sketch: &Sketch<'_, '_>) -> Vec<Sign> {
    let lanes = &sketch.lanes;
    let changes = [Change::Added, Change::Removed].into_iter();
    let changes = changes.filter(|change| lanes.iter().any(|lane| lane.has_edges(*change)));
    let in_lanes = lanes
        .iter()
        .flat_map(|lane| &lane.cells)
        .map(|cell| cell.marks);
    let marks: Vec<_> = in_lanes
        .chain(sketch.rows.iter().map(|row| row.marks))
        .collect();
    let marks = Mark::ALL
        .into_iter()
        .filter(|mark| marks.iter().any(|marks| marks.has(*mark)));
    let way = sketch.reach.as_ref();
    let has_way = way.is_some_and(|reach| !reach.way.is_empty());
    let misses = way.is_some_and(|reach| reach.hops.len() < sketch.rows.len());
    fields(lanes)
        .into_iter()
        .map(Sign::Edge)
        .chain(fates(lanes).into_iter().map(Sign::Fate))
        .chain(changes.map(Sign::Change))
        .chain(marks.map(Sign::Version))
        .chain(has_way.then_some(Sign::Way))
        .chain(misses.then_some(Sign::OutOfReach))
        .collect()
}

/// The fields of the edges that are drawn.
fn fields(lanes: &[Lane<'_>]) -> BTreeSet<Field> {
    let of_lane = |lane: &Lane<'_>| {
        let steps = lane.steps.iter().map(|_| Field::Replaces);
        let fans = lane.fans.iter().map(|fan| fan.kind.field());
        steps.chain(fans).collect::<Vec<_>>()
    };
    lanes.iter().flat_map(of_lane).collect()
}

/// Why edges that are drawn are not used.
fn fates(lanes: &[Lane<'_>]) -> BTreeSet<Fate> {
    let of_lane = |lane: &Lane<'_>| {
        let steps = lane.steps.iter().map(|step| step.fate);
        let fans = lane.fans.iter().map(|fan| fan.fate);
        steps.chain(fans).collect::<Vec<_>>()
    };
    let fates = lanes.iter().flat_map(of_lane);
    fates.filter(|fate| *fate != Fate::Taken).collect()
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

fn label(text: String, x: i32, y: i32, size: i32, role: Role) -> Label {
    let face = match role {
        Role::Title => Face::Bold,
        _ => Face::Sans,
    };
    Label {
        at: Point { x, y },
        anchor: Anchor::Start,
        size,
        face,
        role,
        text,
    }
}

const TITLE_SIZE: i32 = 22;
const LEGEND_SIZE: i32 = 12;
const LINE: i32 = 18;
/// The width of a sign.
const SIGN: i32 = 34;
const LEGEND_HEIGHT: i32 = 18;
const LEGEND_LINE: i32 = 26;
