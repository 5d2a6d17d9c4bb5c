//! What two catalogs differ in, as a list in words.

use crate::picture::mark::{Mark, Marks};
use crate::picture::sketch::{Change, Lane, Row, Sketch};
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
    let cells = lane.cells.iter().filter_map(|cell| {
        let change = of_marks(cell.marks)?;
        let facts = sketch.row(cell.row)?;
        let to = match change {
            Change::Removed => "removed from",
            Change::Added | Change::Kept => "added to",
        };
        let is_listed = of_marks(facts.marks) == Some(change);
        (!is_listed).then(|| (cell.row, format!("{} {to} {name}", facts.label)))
    });
    let label = |row| sketch.label(row);
    let steps = lane.steps.iter().filter_map(|step| {
        let word = word(step.change)?;
        let (from, to) = (label(step.from), label(step.to));
        Some((
            step.to,
            format!("upgrade {word}: {from} → {to} (replaces in {name})"),
        ))
    });
    let fans = lane.fans.iter().filter_map(|fan| {
        let word = word(fan.change)?;
        let (field, to) = (fan.kind.field().as_str(), label(fan.to));
        let text = match fan.from.as_slice() {
            [only] => format!(
                "upgrade {word}: {} → {to} ({field} in {name})",
                label(*only)
            ),
            many => format!(
                "upgrades {word}: {} versions → {to} ({field} in {name})",
                many.len()
            ),
        };
        Some((fan.to, text))
    });
    cells.chain(steps).chain(fans).collect()
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
