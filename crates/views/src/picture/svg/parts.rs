//! Draws the parts of the picture.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::picture::Marks;
use crate::picture::layout::signs;
use crate::picture::scene::{
    Anchor, Area, Axis, AxisRow, Bus, BusStop, Card, Door, EdgeLine, Face, LabelRole, Pill, Point,
    Scene, SceneLabel,
};
use crate::picture::sketch::{DrawnChange, EdgeFate, VersionRow};
use crate::picture::svg::{draw_mark, sample};
use crate::picture::walk::StepField;
use olmguard_report::xml::Xml;

/// Draws the bands behind every second row.
pub(super) fn bands(axis: &Axis, xml: &mut Xml) {
    xml.open("g", &[("class", &"bands")]);
    for row in axis.rows.iter().filter(|row| row.row.0 % 2 == 1) {
        rect("odd", &row.area, 4, xml);
    }
    xml.close();
}

/// Draws the lines at the top, and the legend.
pub(super) fn heading(scene: &Scene, xml: &mut Xml) {
    xml.open("g", &[("class", &"heading")]);
    scene.heading.iter().for_each(|line| label(line, xml));
    for item in &scene.legend {
        xml.open("g", &[("class", &"legend")]);
        sample(item.sign, &item.area, xml);
        label(&item.label, xml);
        xml.close();
    }
    xml.close();
}

/// Draws the versions at the left edge.
pub(super) fn axis(axis: &Axis, height: i32, xml: &mut Xml) {
    xml.open("g", &[("class", &"axis")]);
    // When the page moves the axis, this ground covers the picture below it.
    let ground = Area::new(0, 0, axis.area.right(), height);
    rect("axis-ground", &ground, 0, xml);
    label(&axis.label, xml);
    axis.rows.iter().for_each(|row| axis_row(row, xml));
    xml.close();
}

fn axis_row(row: &AxisRow, xml: &mut Xml) {
    let class = classes("row", row.marks, row.is_out_of_reach);
    xml.open("g", &[("class", &class), ("data-row", &row.row.0)]);
    xml.text("title", &[], &row.name);
    label(&row.label, xml);
    if let Some(hops) = &row.hops {
        labelled(hops, "hops", xml);
    }
    xml.close();
}

/// Draws the ground of a channel and its edges.
pub(super) fn edges(card: &Card, xml: &mut Xml) {
    xml.open(
        "g",
        &[("class", &card_class(card)), ("data-lane", &card.lane)],
    );
    rect("ground", &card.area, 10, xml);
    card.buses.iter().for_each(|line| bus(line, xml));
    card.lines.iter().for_each(|line| replaces(line, xml));
    xml.close();
}

/// Draws the versions of a channel and the counts of its edges, above every line.
pub(super) fn versions(card: &Card, on_way: &BTreeSet<VersionRow>, xml: &mut Xml) {
    xml.open(
        "g",
        &[("class", &card_class(card)), ("data-lane", &card.lane)],
    );
    card.buses.iter().for_each(|bus| counts(bus, xml));
    for version in &card.pills {
        pill(version, on_way.contains(&version.row), xml);
    }
    xml.close();
}

/// Draws the name of a channel. The page keeps it visible; `data-room` is how far the page can move it.
pub(super) fn top(card: &Card, xml: &mut Xml) {
    let class = format!("{} top", card_class(card));
    xml.open(
        "g",
        &[
            ("class", &class),
            ("data-y", &card.area.y),
            (
                "data-room",
                &(card.area.height - card.heading - PILL_AND_GAP),
            ),
        ],
    );
    xml.text("title", &[], &card.title);
    let ground = Area::new(
        card.area.x + 1,
        card.area.y + 1,
        card.area.width - 2,
        card.heading,
    );
    rect("top-ground", &ground, 9, xml);
    card.labels.iter().for_each(|line| label(line, xml));
    xml.close();
}

fn card_class(card: &Card) -> String {
    let default = if card.is_default { " default" } else { "" };
    let deprecated = if card.is_deprecated {
        " deprecated"
    } else {
        ""
    };
    format!("card{default}{deprecated}")
}

fn pill(pill: &Pill, is_on_way: bool, xml: &mut Xml) {
    let mut class = classes("pill", pill.marks, pill.is_out_of_reach);
    if is_on_way {
        class.push_str(" on-way");
    }
    xml.open("g", &[("class", &class), ("data-row", &pill.row.0)]);
    xml.text("title", &[], &pill.title);
    let Area {
        x,
        y,
        width,
        height,
    } = pill.area;
    let ring = Area::new(x - 3, y - 3, width + 6, height + 6);
    rect("ring", &ring, 13, xml);
    rect("shape", &pill.area, 10, xml);
    let count = i32::try_from(signs(pill.marks).count()).unwrap_or(0);
    let mut at = Point::new(pill.label.left() - SIGN * count, pill.area.middle());
    for mark in signs(pill.marks) {
        draw_mark(mark, at, xml);
        at.x += SIGN;
    }
    label(&pill.label, xml);
    xml.close();
}

fn replaces(line: &EdgeLine, xml: &mut Xml) {
    let class = edge_class("replaces", line.fate, line.change);
    xml.open(
        "g",
        &[
            ("class", &class),
            ("data-kind", &"replaces"),
            ("data-from", &line.from.0),
            ("data-to", &line.to.0),
        ],
    );
    if let Some(title) = &line.title {
        xml.text("title", &[], title);
    }
    xml.empty("path", &[("d", &path(&line.points))]);
    tip("tip", &line.points, xml);
    change(line.change, beside(&line.points), xml);
    xml.close();
}

fn bus(bus: &Bus, xml: &mut Xml) {
    let Point { x, y } = bus.top;
    xml.open(
        "g",
        &[
            ("class", &bus_class(bus)),
            ("data-x", &x),
            ("data-end", &(y + bus.length)),
        ],
    );
    let line = format!("M{x} {y}V{}", y + bus.length);
    if bus.field != StepField::Skips {
        xml.empty("path", &[("class", &"band"), ("d", &line)]);
    }
    xml.empty("path", &[("d", &line)]);
    bus.stops.iter().for_each(|at| stop(bus.field, at, xml));
    bus.doors.iter().for_each(|at| door(bus, at, xml));
    xml.close();
}

fn stop(field: StepField, stop: &BusStop, xml: &mut Xml) {
    if let Some(from) = stop.from.filter(|_| field == StepField::Skips) {
        let stub = format!("M{from} {}H{}", stop.at.y, stop.at.x);
        xml.empty("path", &[("class", &"stub"), ("d", &stub)]);
    }
    xml.empty(
        "circle",
        &[
            ("class", &"stop"),
            ("data-row", &stop.row.0),
            ("cx", &stop.at.x),
            ("cy", &stop.at.y),
            ("r", &if stop.from.is_some() { "3" } else { "1.75" }),
        ],
    );
}

fn door(bus: &Bus, door: &Door, xml: &mut Xml) {
    let from: Vec<_> = door.from.iter().map(|row| row.0.to_string()).collect();
    xml.open(
        "g",
        &[
            ("class", &"door"),
            ("data-kind", &bus.field.as_str()),
            ("data-from", &from.join(" ")),
            ("data-to", &door.to.0),
        ],
    );
    xml.text("title", &[], &door.title);
    xml.empty("path", &[("d", &path(&door.points))]);
    tip("tip", &door.points, xml);
    let [at, _] = door.points;
    let above = Point::new(at.x, at.y - ABOVE);
    change(bus.change, above, xml);
    xml.close();
}

fn counts(bus: &Bus, xml: &mut Xml) {
    xml.open("g", &[("class", &bus_class(bus))]);
    for door in &bus.doors {
        if let Some((area, count)) = &door.count {
            xml.open("g", &[("class", &"count")]);
            xml.text("title", &[], &door.title);
            rect("badge", area, 7, xml);
            label(count, xml);
            xml.close();
        }
    }
    if let Some(beyond) = &bus.beyond {
        labelled(beyond, "beyond", xml);
    }
    xml.close();
}

fn bus_class(bus: &Bus) -> String {
    edge_class(bus.field.as_str(), bus.fate, bus.change)
}

/// Returns the class of an edge, with its fate if it is not taken, and its change if it has one.
fn edge_class(class: &str, fate: EdgeFate, change: DrawnChange) -> String {
    let mut class = class.to_owned();
    if fate != EdgeFate::Taken {
        class = format!("{class} {}", fate.as_str());
    }
    if let Some(word) = change.word() {
        class = format!("{class} {word}");
    }
    class
}

/// Draws the sign of an edge that only one of two catalogs has: a plus or a cross.
pub(super) fn change(change: DrawnChange, Point { x, y }: Point, xml: &mut Xml) {
    let d = match change {
        DrawnChange::Kept => return,
        DrawnChange::Added => format!("M{} {y}h8M{x} {}v8", x - 4, y - 4),
        DrawnChange::Removed => format!("M{} {}l6 6M{} {}l6 -6", x - 3, y - 3, x - 3, y + 3),
    };
    let class = format!("change {}", change.as_str());
    xml.empty("path", &[("class", &class), ("d", &d)]);
}

/// Returns a point to the right of the middle of a line, or on the part of it that runs along the versions.
fn beside(points: &[Point]) -> Point {
    let middle = |a: &Point, b: &Point, aside| {
        Point::new(i32::midpoint(a.x, b.x) + aside, i32::midpoint(a.y, b.y))
    };
    match points {
        [from, to] => middle(from, to, ASIDE),
        [_, from, to, ..] => middle(from, to, 0),
        _ => Point::new(0, 0),
    }
}

/// Draws the requested path, above every line and below every version.
pub(super) fn way(lines: &[EdgeLine], xml: &mut Xml) {
    xml.open("g", &[("id", &"way")]);
    for line in lines {
        xml.empty("path", &[("class", &"way"), ("d", &path(&line.points))]);
    }
    xml.close();
}

/// Formats a line with rounded corners.
pub(super) fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for (at, point) in points.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| points.get(at));
        let after = points.get(at + 1);
        let _infallible = match (before, after) {
            (None, _) => write!(path, "M{} {}", point.x, point.y),
            (Some(before), Some(after)) if before != point && after != point => {
                let (near, far) = (towards(*point, *before), towards(*point, *after));
                write!(
                    path,
                    "L{} {}Q{} {} {} {}",
                    near.x, near.y, point.x, point.y, far.x, far.y
                )
            }
            _ => write!(path, "L{} {}", point.x, point.y),
        };
    }
    path
}

/// Moves a point a little towards another one in the same row or column.
fn towards(from: Point, to: Point) -> Point {
    let step = |from: i32, to: i32| from + (to - from).clamp(-CORNER, CORNER);
    Point::new(step(from.x, to.x), step(from.y, to.y))
}

/// Draws the arrowhead at the end of a line.
pub(super) fn tip(class: &str, points: &[Point], xml: &mut Xml) {
    let [.., before, end] = points else {
        return;
    };
    let (dx, dy) = ((end.x - before.x).signum(), (end.y - before.y).signum());
    let base = Point::new(end.x - TIP * dx, end.y - TIP * dy);
    let (wx, wy) = (HALF_TIP * dy, HALF_TIP * dx);
    let d = format!(
        "M{} {}L{} {}L{} {}Z",
        end.x,
        end.y,
        base.x + wx,
        base.y + wy,
        base.x - wx,
        base.y - wy
    );
    xml.empty("path", &[("class", &class), ("d", &d)]);
}

pub(super) fn rect(class: &str, area: &Area, round: i32, xml: &mut Xml) {
    xml.empty(
        "rect",
        &[
            ("class", &class),
            ("x", &area.x),
            ("y", &area.y),
            ("width", &area.width),
            ("height", &area.height),
            ("rx", &round),
        ],
    );
}

pub(super) fn label(label: &SceneLabel, xml: &mut Xml) {
    labelled(label, "", xml);
}

fn labelled(label: &SceneLabel, class: &str, xml: &mut Xml) {
    let face = match label.role.face() {
        Face::Mono => "mono",
        Face::Sans | Face::Bold => "sans",
    };
    let role = match label.role {
        LabelRole::Title => " title",
        LabelRole::Name => " name",
        LabelRole::Version | LabelRole::Count => "",
        LabelRole::Aside => " aside",
    };
    let space = if class.is_empty() { "" } else { " " };
    let anchor = match label.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    xml.text(
        "text",
        &[
            ("class", &format_args!("{face}{role}{space}{class}")),
            ("x", &label.at.x),
            ("y", &label.at.y),
            ("font-size", &label.size),
            ("text-anchor", &anchor),
        ],
        &label.text,
    );
}

/// Returns a class, and one for each mark.
fn classes(first: &str, marks: Marks, is_out_of_reach: bool) -> String {
    let mut class = first.to_owned();
    for mark in marks.iter() {
        class.push(' ');
        class.push_str(mark.as_str());
    }
    if marks.is_stranded() {
        class.push_str(" stranded");
    }
    if is_out_of_reach {
        class.push_str(" far");
    }
    class
}

/// Height of a channel that stays below its name when the name has moved as far as possible.
const PILL_AND_GAP: i32 = 30;
/// Length of an arrowhead, and half of its width.
const TIP: i32 = 7;
const HALF_TIP: i32 = 4;
/// Offset of the sign of a change: to the side of a short line, or above the start of an arrow.
const ASIDE: i32 = 14;
const ABOVE: i32 = 12;
/// Radius of a corner.
const CORNER: i32 = 5;
/// Distance from one sign inside a version to the next.
const SIGN: i32 = 14;
