//! A lane in its position.

use crate::picture::layout::plan::{COUNT_PAD, COUNT_SIZE, FoldedFans, LanePlan, signs};
use crate::picture::layout::{BEYOND, CARD_HEADING, CARD_PAD, Grid, PILL, ROW, SIGN, VERSION_SIZE};
use crate::picture::scene::{
    Anchor, Area, Bus, BusStop, Card, Door, EdgeLine, Face, LabelRole, Pill, Point, SceneLabel, px,
};
use crate::picture::sketch::{
    DrawnChange, EdgeFate, Fan, LaneCell, ReplacesStep, Sketch, VersionRow,
};
use crate::picture::text;
use crate::picture::walk::{RowStep, StepField};

/// The position of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct LanePlace {
    pub(super) grid: Grid,
    /// Left edge of the card.
    pub(super) x: i32,
    pub(super) width: i32,
    /// Left edge of the versions.
    pub(super) pill_x: i32,
    /// Width of the versions.
    pub(super) pill: i32,
}

/// Lays out the card of a plan.
pub(super) fn card(sketch: &Sketch<'_, '_>, plan: &LanePlan<'_, '_>, place: LanePlace) -> Card {
    let draft = Draft {
        sketch,
        plan,
        place,
    };
    let area = draft.area();
    Card {
        lane: plan.at,
        heading: CARD_HEADING,
        labels: draft.heading(area),
        title: text::lane_title(plan.lane),
        is_default: plan.lane.is_default,
        is_deprecated: plan.lane.deprecated.is_some(),
        pills: plan
            .lane
            .cells
            .iter()
            .map(|cell| draft.pill(*cell))
            .collect(),
        lines: draft.lines(),
        buses: plan
            .buses
            .iter()
            .map(|(bus, x)| draft.bus(bus, *x))
            .collect(),
        area,
    }
}

struct Draft<'d, 's, 'g, 'p> {
    sketch: &'d Sketch<'g, 'p>,
    plan: &'d LanePlan<'s, 'p>,
    place: LanePlace,
}

impl Draft<'_, '_, '_, '_> {
    fn area(&self) -> Area {
        let (first, last) = self.plan.rows;
        let y = self.place.grid.y(first) - ROW / 2 - CARD_HEADING;
        let below = if self.plan.is_open { BEYOND } else { 0 };
        let bottom = self.place.grid.y(last) + ROW / 2 + below + 2;
        Area::new(self.place.x, y, self.place.width, bottom - y)
    }

    fn heading(&self, area: Area) -> Vec<SceneLabel> {
        let label = |text, role, size, dy| {
            let at = Point::new(area.x + CARD_PAD, area.y + dy);
            SceneLabel::new(at, Anchor::Start, size, role, text)
        };
        let lane = self.plan.lane;
        vec![
            label(text::lane_name(lane), LabelRole::Name, text::NAME_SIZE, 21),
            label(
                text::lane_aside(lane),
                LabelRole::Aside,
                text::ASIDE_SIZE,
                38,
            ),
        ]
    }

    fn pill(&self, cell: LaneCell) -> Pill {
        let LanePlace { pill_x, pill, .. } = self.place;
        let y = self.place.grid.y(cell.row);
        let signs = SIGN * px(signs(cell.marks).count());
        Pill {
            row: cell.row,
            marks: cell.marks,
            area: Area::new(pill_x, y - PILL / 2, pill, PILL),
            label: SceneLabel::new(
                Point::new(pill_x + signs / 2 + pill / 2, y + 4),
                Anchor::Middle,
                VERSION_SIZE,
                LabelRole::Version,
                text::pill_label(self.sketch, cell),
            ),
            title: text::pill_title(self.sketch, self.plan.lane, cell),
            is_out_of_reach: is_out_of_reach(self.sketch, cell.row),
        }
    }

    fn lines(&self) -> Vec<EdgeLine> {
        let straight = self.plan.straight.iter();
        let straight = straight.map(|step| self.line(step, self.straight(step)));
        let bent = self.plan.bent.iter();
        let bent = bent.map(|(step, away)| self.line(step, self.bent(*step, *away)));
        straight.chain(bent).collect()
    }

    fn line(&self, step: &ReplacesStep, points: Vec<Point>) -> EdgeLine {
        EdgeLine {
            from: step.from,
            to: step.to,
            points,
            fate: step.fate,
            change: step.change,
            title: text::step_title(self.sketch, step),
        }
    }

    fn straight(&self, step: &ReplacesStep) -> Vec<Point> {
        let x = self.place.pill_x + self.place.pill / 2;
        let y = |row| self.place.grid.y(row);
        let from = Point::new(x, y(step.from) - PILL / 2);
        let to = Point::new(x, y(step.to) + PILL / 2);
        vec![from, to]
    }

    /// Returns the bends of a step that leaves a version on the left, follows its track, and enters the target.
    ///
    /// An upward step leaves above the middle and enters below it. A downward step does the opposite.
    fn bent(&self, step: ReplacesStep, away: i32) -> Vec<Point> {
        let (near, far) = (self.place.pill_x, self.place.pill_x - away);
        let aside = if step.from > step.to { PORT } else { -PORT };
        let from = self.place.grid.y(step.from) - aside;
        let to = self.place.grid.y(step.to) + aside;
        vec![
            Point::new(near, from),
            Point::new(far, from),
            Point::new(far, to),
            Point::new(near, to),
        ]
    }

    fn bus(&self, bus: &FoldedFans<'_, '_>, away: i32) -> Bus {
        let LanePlace {
            grid, pill_x, pill, ..
        } = self.place;
        let (first, last) = self.plan.rows;
        let x = pill_x + pill + away;
        let (top, bottom) = (bus.top().max(first), bus.bottom());
        let is_inside = |row: &VersionRow| (first..=last).contains(row);
        let stops = bus.first.from.iter().filter(|row| is_inside(row));
        let port = port(bus.first.kind.field(), bus.first.fate, bus.first.change);
        let stop = |row: &VersionRow| BusStop {
            row: *row,
            at: Point::new(x, grid.y(*row) - port),
            from: self.plan.lane.marks(*row).map(|_| pill_x + pill),
        };
        let stops: Vec<_> = stops.map(stop).collect();
        let has_door = |row| bus.fans.iter().any(|fan| fan.to == row);
        let top_y = grid.y(top) + if has_door(top) { port } else { -port };
        let bottom_y = if bus.leaves((first, last)) {
            grid.y(last) + ROW / 2 + 4
        } else if bottom == top {
            top_y
        } else if has_door(bottom) {
            grid.y(bottom) + port
        } else {
            grid.y(bottom) - port
        };
        let beyond = bus.first.from.len() - stops.len();
        Bus {
            field: bus.first.kind.field(),
            fate: bus.first.fate,
            change: bus.first.change,
            top: Point::new(x, top_y),
            length: bottom_y - top_y,
            stops,
            doors: bus.fans.iter().map(|fan| self.door(fan, x)).collect(),
            beyond: (beyond > 0).then(|| count(x, bottom_y + 13, text::beyond(beyond))),
        }
    }

    fn door(&self, fan: &Fan<'_>, x: i32) -> Door {
        let LanePlace {
            grid, pill_x, pill, ..
        } = self.place;
        let y = grid.y(fan.to) + port(fan.kind.field(), fan.fate, fan.change);
        let count = text::count(fan.from.len()).map(|text| {
            let width = Face::Mono.width(&text, COUNT_SIZE) + COUNT_PAD;
            let area = Area::new(x - width / 2, y - COUNT_HEIGHT / 2, width, COUNT_HEIGHT);
            (area, count(x, y + 4, text))
        });
        Door {
            to: fan.to,
            from: fan.from.clone(),
            points: [Point::new(x, y), Point::new(pill_x + pill, y)],
            count,
            title: text::fan_title(self.sketch, fan),
        }
    }
}

/// Creates a count of versions, with its middle at this point.
fn count(x: i32, y: i32, text: String) -> SceneLabel {
    SceneLabel::new(
        Point::new(x, y),
        Anchor::Middle,
        COUNT_SIZE,
        LabelRole::Count,
        text,
    )
}

/// Whether there is a walk that does not reach this row.
pub(super) fn is_out_of_reach(sketch: &Sketch<'_, '_>, row: VersionRow) -> bool {
    let reach = sketch.reach.as_ref();
    reach.is_some_and(|reach| !reach.hops.contains_key(&row))
}

/// Returns how far below the middle of a version an edge of a field ends. It starts as far above the middle.
///
/// `skips` edges do the opposite, so that they do not run along those of a range. Forbidden and removed edges of
/// both fields run between the two.
pub(super) fn port(field: StepField, fate: EdgeFate, change: DrawnChange) -> i32 {
    match (fate, field) {
        _ if change == DrawnChange::Removed => 0,
        (EdgeFate::Forbidden, _) => 0,
        (EdgeFate::Taken | EdgeFate::NotTaken, StepField::Skips) => -PORT,
        (
            EdgeFate::Taken | EdgeFate::NotTaken,
            StepField::Replaces | StepField::SkipRange | StepField::Semver,
        ) => PORT,
    }
}

/// Distance of the ends of lines from the middle of a version.
const PORT: i32 = 5;
/// Height of a count.
const COUNT_HEIGHT: i32 = 14;

/// Lays out the requested path, drawn over its edges: one line for each step.
pub(super) fn way(sketch: &Sketch<'_, '_>, cards: &[Card], grid: Grid) -> Vec<EdgeLine> {
    let hops = sketch.reach.iter().flat_map(|reach| &reach.way);
    let line = |(from, hop): &(VersionRow, RowStep)| {
        let card = cards.iter().find(|card| card.lane == hop.lane)?;
        Some(EdgeLine {
            from: *from,
            to: hop.to,
            points: points(card, *from, hop, grid)?,
            fate: EdgeFate::Taken,
            change: DrawnChange::Kept,
            title: None,
        })
    };
    hops.filter_map(line).collect()
}

fn points(card: &Card, from: VersionRow, hop: &RowStep, grid: Grid) -> Option<Vec<Point>> {
    if hop.field == StepField::Replaces {
        let mut lines = card.lines.iter();
        let line = lines.find(|line| line.from == from && line.to == hop.to)?;
        return Some(line.points.clone());
    }
    let mut buses = card.buses.iter().filter(|bus| bus.field == hop.field);
    buses.find_map(|bus| ride(card, bus, from, hop.to, grid))
}

/// Returns the bends from the version to the line, along it, and to the entry.
fn ride(
    card: &Card,
    bus: &Bus,
    from: VersionRow,
    to: VersionRow,
    grid: Grid,
) -> Option<Vec<Point>> {
    let mut doors = bus.doors.iter();
    let door = doors.find(|door| door.to == to && door.from.contains(&from))?;
    let [at, end] = door.points;
    let board = match card.pills.iter().find(|pill| pill.row == from) {
        Some(pill) => {
            let y = grid.y(from) - port(bus.field, bus.fate, bus.change);
            vec![Point::new(pill.area.right(), y), Point::new(at.x, y)]
        }
        // The version is not in this channel: start at the end of the line.
        None => vec![Point::new(at.x, grid.y(from).min(bus.top.y + bus.length))],
    };
    Some(board.into_iter().chain([at, end]).collect())
}
