//! What two catalogs differ in, as a list in words.

use crate::picture::mark::{Mark, Marks};
use crate::picture::sketch::{Cell, Change, Fan, Lane, ReplacesStep, Row, Sketch};
use crate::picture::text;

/// A sentence, and the version to look at.
pub(super) type ListedChange = (Row, String);

/// The changes: versions from the top, then what each channel has more or less.
pub(super) fn changes(sketch: &Sketch<'_, '_>) -> Vec<ListedChange> {
    let rows = (0..).map(Row).zip(&sketch.rows);
    let versions = rows.filter_map(|(row, facts)| {
        let change = of_marks(facts.marks)?;
        Some((row, format!("{} {}", facts.label, change.as_str())))
    });
    let lanes = sketch.lanes.iter().flat_map(|lane| in_lane(sketch, lane));
    versions.chain(lanes).take(MOST).collect()
}

fn in_lane(sketch: &Sketch<'_, '_>, lane: &Lane<'_>) -> Vec<ListedChange> {
    let name = text::lane_name(lane);
    if let (Some(word), Some(first)) = (word(lane.change), lane.cells.first()) {
        return vec![(first.row, format!("channel {name} {word}"))];
    }
    let cells = lane.cells.iter();
    let cells = cells.filter_map(|cell| of_cell(sketch, *cell, &name));
    let steps = lane.steps.iter();
    let steps = steps.filter_map(|step| of_step(sketch, step, &name));
    let fans = lane.fans.iter();
    let fans = fans.filter_map(|fan| of_fan(sketch, fan, &name));
    cells.chain(steps).chain(fans).collect()
}

/// What a channel has more or less, unless the package has it more or less.
fn of_cell(sketch: &Sketch<'_, '_>, cell: Cell, channel: &str) -> Option<ListedChange> {
    let change = of_marks(cell.marks)?;
    let facts = sketch.row(cell.row)?;
    let to = match change {
        Change::Removed => "removed from",
        Change::Added | Change::Kept => "added to",
    };
    let is_listed = of_marks(facts.marks) == Some(change);
    (!is_listed).then(|| (cell.row, format!("{} {to} {channel}", facts.label)))
}

fn of_step(sketch: &Sketch<'_, '_>, step: &ReplacesStep, channel: &str) -> Option<ListedChange> {
    let word = word(step.change)?;
    let (from, to) = (sketch.label(step.from), sketch.label(step.to));
    let text = format!("upgrade {word}: {from} → {to} (replaces in {channel})");
    Some((step.to, text))
}

fn of_fan(sketch: &Sketch<'_, '_>, fan: &Fan<'_>, channel: &str) -> Option<ListedChange> {
    let word = word(fan.change)?;
    let (field, to) = (fan.kind.field().as_str(), sketch.label(fan.to));
    let text = match fan.from.as_slice() {
        [only] => {
            let from = sketch.label(*only);
            format!("upgrade {word}: {from} → {to} ({field} in {channel})")
        }
        many => {
            let count = many.len();
            format!("upgrades {word}: {count} versions → {to} ({field} in {channel})")
        }
    };
    Some((fan.to, text))
}

fn of_marks(marks: Marks) -> Option<Change> {
    let added = marks.has(Mark::Added).then_some(Change::Added);
    added.or(marks.has(Mark::Removed).then_some(Change::Removed))
}

fn word(change: Change) -> Option<&'static str> {
    (change != Change::Kept).then(|| change.as_str())
}

/// More are not read; the picture has all of them.
const MOST: usize = 500;
