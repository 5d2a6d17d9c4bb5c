//! The channels of two catalogs, each with what it has more or less.

use std::collections::BTreeSet;

use super::rows::BothRows;
use super::{Change, changed, place};
use crate::picture::mark::{Mark, Marks};
use crate::picture::sketch::{Cell, Fan, Fate, Lane, ReplacesStep, Row};
use crate::picture::walk::Field;

/// The channels of now, in their places, and below those that were removed.
pub(super) fn of_both<'p>(
    rows: &BothRows<'_>,
    new: Vec<Lane<'p>>,
    old: Vec<Lane<'p>>,
) -> Vec<Lane<'p>> {
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

/// The same lane with its parts in other rows.
fn moved<'p>(lane: Lane<'p>, places: &[Row]) -> Lane<'p> {
    let row = |row| place(places, row);
    let cells = lane.cells.into_iter();
    let steps = lane.steps.into_iter();
    let fans = lane.fans.into_iter();
    let unread = lane.unread.into_iter();
    Lane {
        cells: cells
            .map(|cell| Cell {
                row: row(cell.row),
                ..cell
            })
            .collect(),
        steps: steps
            .map(|step| ReplacesStep {
                from: row(step.from),
                to: row(step.to),
                ..step
            })
            .collect(),
        fans: fans
            .map(|fan| Fan {
                to: row(fan.to),
                from: fan.from.into_iter().map(row).collect(),
                ..fan
            })
            .collect(),
        unread: unread.map(|(of, text)| (row(of), text)).collect(),
        ..lane
    }
}

/// A channel of which nothing is left.
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
        change: Change::Removed,
        ..lane_of_both(nothing, Some(lane))
    }
}

/// A channel as it is now, marked with what it was before; a new one where it was not.
fn lane_of_both<'p>(mut new: Lane<'p>, old: Option<Lane<'p>>) -> Lane<'p> {
    let is_new = old.is_none();
    let (cells, steps, fans) =
        old.map_or_else(Default::default, |old| (old.cells, old.steps, old.fans));
    new.cells = cells_of_both(&new.cells, &cells);
    let (now, before) = (Pairs::of(&new.steps, &new.fans), Pairs::of(&steps, &fans));
    for step in &mut new.steps {
        if !before.has(Field::Replaces, step.from, step.to) {
            step.change = Change::Added;
        }
    }
    let gone = steps.into_iter();
    let gone = gone.filter(|step| !now.has(Field::Replaces, step.from, step.to));
    new.steps.extend(gone.map(|step| ReplacesStep {
        change: Change::Removed,
        fate: Fate::Taken,
        ..step
    }));
    let own = std::mem::take(&mut new.fans).into_iter();
    new.fans = own.flat_map(|fan| split(fan, &before)).collect();
    new.fans
        .extend(fans.into_iter().filter_map(|fan| gone_of(fan, &now)));
    if is_new {
        new.change = Change::Added;
    }
    new
}

fn cells_of_both(new: &[Cell], old: &[Cell]) -> Vec<Cell> {
    let is_entry = |cell: &&Cell| !cell.marks.has(Mark::Elsewhere);
    let entries = |cells: &[Cell]| -> BTreeSet<Row> {
        cells.iter().filter(is_entry).map(|cell| cell.row).collect()
    };
    let (now, before) = (entries(new), entries(old));
    let shown: BTreeSet<_> = new.iter().map(|cell| cell.row).collect();
    let gone = old.iter().filter(|cell| !shown.contains(&cell.row));
    let gone = gone.map(|cell| Cell {
        row: cell.row,
        marks: Marks::default()
            .with(Mark::Virtual, cell.marks.has(Mark::Virtual))
            .with(Mark::Deprecated, cell.marks.has(Mark::Deprecated))
            .with(Mark::Elsewhere, cell.marks.has(Mark::Elsewhere)),
    });
    let mut cells: Vec<_> = new.iter().copied().chain(gone).collect();
    for cell in &mut cells {
        let (is_now, was) = (now.contains(&cell.row), before.contains(&cell.row));
        cell.marks = changed(cell.marks, is_now, was);
    }
    cells.sort_unstable_by_key(|cell| cell.row);
    cells
}

/// The edges of a channel, each version that is skipped by itself.
struct Pairs(BTreeSet<(Field, Row, Row)>);

impl Pairs {
    fn of(steps: &[ReplacesStep], fans: &[Fan<'_>]) -> Self {
        let steps = steps
            .iter()
            .map(|step| (Field::Replaces, step.from, step.to));
        let fans = fans.iter().flat_map(|fan| {
            let field = fan.kind.field();
            fan.from.iter().map(move |from| (field, *from, fan.to))
        });
        Self(steps.chain(fans).collect())
    }

    fn has(&self, field: Field, from: Row, to: Row) -> bool {
        self.0.contains(&(field, from, to))
    }
}

/// A fan of now as what was there before and what was not.
fn split<'p>(fan: Fan<'p>, before: &Pairs) -> Vec<Fan<'p>> {
    let rows = fan.from.iter().copied();
    let was = |from: &Row| before.has(fan.kind.field(), *from, fan.to);
    let (kept, added): (Vec<_>, Vec<_>) = rows.partition(was);
    if added.is_empty() {
        return vec![fan];
    }
    let parts = [(kept, Change::Kept), (added, Change::Added)].into_iter();
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

/// What is left over of a fan of before.
fn gone_of<'p>(mut fan: Fan<'p>, now: &Pairs) -> Option<Fan<'p>> {
    let (field, to) = (fan.kind.field(), fan.to);
    fan.from.retain(|from| !now.has(field, *from, to));
    fan.whole = fan.from.len();
    fan.continues = false;
    fan.change = Change::Removed;
    fan.fate = Fate::Taken;
    (fan.whole > 0).then_some(fan)
}
