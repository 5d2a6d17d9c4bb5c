//! Long runs of versions that are alike, of which a page shows the ends only.
//!
//! ```text
//! 3.10.25  head            3.10.25  head
//! 3.10.24          --->    [ 3.10.23 to 3.10.1: 23 versions folded ]
//! ...                      3.10.0
//! 3.10.0
//! ```
//!
//! Versions are alike that are in the same channels, have the same marks, and take part in no step of
//! `replaces` but those from neighbour to neighbour. A run keeps its ends where other channels begin, so
//! that nothing of a channel but its middle is ever folded.

use std::collections::BTreeSet;

use crate::picture::html::notes::Note;
use crate::picture::mark::{Mark, Marks};
use crate::picture::sketch::{Change, Fate, Row, Sketch};

/// The first and the last row of each run that can be folded; none in a picture that is short anyway.
pub(super) fn folds(sketch: &Sketch<'_, '_>, notes: &[Note]) -> Vec<(Row, Row)> {
    if sketch.rows.len() < SHORT {
        return Vec::new();
    }
    let apart = apart(sketch, notes);
    let looks: Vec<_> = rows(sketch).map(|row| Look::of(sketch, row)).collect();
    let look = |row: Row| looks.get(row.0 as usize);
    let alike = |a: Row, b: Row| look(a) == look(b) && !apart.contains(&a) && !apart.contains(&b);
    let neighbours = |a: Option<Row>, b: Option<Row>| match (a.and_then(look), b.and_then(look)) {
        (Some(a), Some(b)) => a.lanes().eq(b.lanes()),
        _ => false,
    };
    let mut folds = Vec::new();
    let mut rest = rows(sketch).peekable();
    while let Some(first) = rest.next() {
        let mut last = first;
        while let Some(next) = rest.next_if(|next| alike(last, *next)) {
            last = next;
        }
        let above = first.0.checked_sub(1).map(Row);
        let start = first.0 + u32::from(!neighbours(above, Some(first)));
        let end = last.0 + u32::from(neighbours(Some(last), Some(Row(last.0 + 1))));
        if end >= start + FEWEST && !apart.contains(&first) {
            folds.push((Row(start), Row(end - 1)));
        }
    }
    folds
}

/// What a version looks like: its own marks, and those it has in each of its channels.
#[derive(Debug, Eq, PartialEq)]
struct Look {
    own: Vec<Mark>,
    in_lanes: Vec<(u32, Vec<Mark>)>,
}

impl Look {
    fn of(sketch: &Sketch<'_, '_>, row: Row) -> Self {
        let marks = |marks: Marks| marks.iter().collect::<Vec<_>>();
        let lanes = (0..).zip(&sketch.lanes);
        let in_lanes = lanes.filter_map(|(at, lane)| Some((at, marks(lane.marks(row)?))));
        Self {
            own: sketch
                .row(row)
                .map(|facts| marks(facts.marks))
                .unwrap_or_default(),
            in_lanes: in_lanes.collect(),
        }
    }

    fn lanes(&self) -> impl Iterator<Item = u32> {
        self.in_lanes.iter().map(|(lane, _)| *lane)
    }
}

/// The rows that no fold hides: those with a mark that users look for, at a note, beside the heading of a
/// channel, where the walk starts and ends, at a branch, and with a step that is not taken or is new.
fn apart(sketch: &Sketch<'_, '_>, notes: &[Note]) -> BTreeSet<Row> {
    let marked = rows(sketch).filter(|row| is_marked(sketch, *row));
    let around_notes = notes
        .iter()
        .flat_map(|note| [note.below.0.checked_sub(1).map(Row), Some(note.below)]);
    let has_note = |row: Row| notes.iter().any(|note| note.below == row);
    let tops = sketch.lanes.iter().filter_map(|lane| lane.cells.first());
    let tops = tops.map(|cell| cell.row).filter(|row| !has_note(*row));
    let headings = tops.flat_map(|row| (1..=HEADING).map(move |up| row.0.checked_sub(up).map(Row)));
    let reach = sketch.reach.iter();
    let walked = reach.flat_map(|reach| [Some(reach.start), reach.goal]);
    let steps = sketch.lanes.iter().flat_map(|lane| &lane.steps);
    let as_ever = |fate, change| fate == Fate::Taken && change == Change::Kept;
    let is_next = |from: Row, to: Row| from.0 == to.0 + 1;
    let steps =
        steps.filter(|step| !is_next(step.from, step.to) || !as_ever(step.fate, step.change));
    let fans = sketch.lanes.iter().flat_map(|lane| &lane.fans);
    let fans = fans.filter(|fan| !as_ever(fan.fate, fan.change));
    let ends = steps.flat_map(|step| [step.from, step.to]);
    let others = ends.chain(fans.map(|fan| fan.to));
    marked
        .chain(around_notes.chain(headings).chain(walked).flatten())
        .chain(others)
        .collect()
}

fn is_marked(sketch: &Sketch<'_, '_>, row: Row) -> bool {
    let own = sketch.row(row).map(|facts| facts.marks);
    let in_lanes = sketch.lanes.iter().filter_map(|lane| lane.marks(row));
    let mut all = own.into_iter().chain(in_lanes);
    all.any(|marks| MARKED.iter().any(|mark| marks.has(*mark)) || marks.is_stranded())
}

fn rows(sketch: &Sketch<'_, '_>) -> impl Iterator<Item = Row> + use<> {
    let count = u32::try_from(sketch.rows.len()).unwrap_or(u32::MAX);
    (0..count).map(Row)
}

const MARKED: [Mark; 6] = [
    Mark::Installed,
    Mark::Head,
    Mark::Virtual,
    Mark::Elsewhere,
    Mark::Added,
    Mark::Removed,
];
/// As many versions fit on a screen.
const SHORT: usize = 30;
/// As many rows are beside the heading of a channel.
const HEADING: u32 = 2;
/// A fold takes the place of one version; fewer are not worth a click.
const FEWEST: u32 = 3;
