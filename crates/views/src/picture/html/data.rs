//! Data for the script of the page.

use std::collections::{BTreeMap, BTreeSet};

use olmguard_catalog::version::go;
use serde::Serialize;

use crate::picture::html::notes::{GapNote, is_bundle, notes, rows};
use crate::picture::html::{FILLED, helps};
use crate::picture::scene::Scene;
use crate::picture::sketch::{
    DrawnChange, EdgeFate, Fan, Lane, LaneCell, LaneKind, ReplacesStep, Sketch, VersionRow,
};
use crate::picture::{Generation, Marks, VersionMark, text};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageData<'s> {
    rows: Vec<RowData<'s>>,
    /// Reasons why guardrails forbid steps.
    reasons: Vec<&'s str>,
    /// Names of the channels. `None` for the semver rules.
    lanes: Vec<Option<String>>,
    /// Whether a path uses the steps of one lane only.
    keeps_to_lane: bool,
    start: Option<VersionRow>,
    /// Sentence if the start is not a version of the package.
    no_version: Option<String>,
    start_lane: Option<u32>,
    compares: bool,
    end: Option<VersionRow>,
    grid: PageGrid,
    /// Ranges of rows that can be folded: the first and the last row.
    folds: Vec<(VersionRow, VersionRow)>,
    /// Texts between versions: the row below, whether the note is a gap, and the text.
    notes: Vec<(VersionRow, bool, String)>,
    /// Differences between the catalogs, each with the row to show.
    changes: Vec<ListedChange>,
    words: PageWords,
}

/// Positions of the rows in the picture.
#[derive(Serialize)]
struct PageGrid {
    top: i32,
    row: i32,
}

#[derive(Serialize)]
struct PageWords {
    #[serde(flatten)]
    filled: BTreeMap<&'static str, &'static str>,
    helps: [&'static str; 5],
}

#[derive(Serialize)]
struct RowData<'s> {
    name: String,
    label: String,
    /// Whether the version can be installed.
    bundle: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    prerelease: bool,
    /// Marks in words.
    marks: Vec<&'static str>,
    /// Additional notes.
    notes: Vec<String>,
    /// Steps from the version: target row, lane, kind of the edge.
    next: Vec<(VersionRow, u32, &'static str)>,
    /// Steps that guardrails forbid: target row, positions of the reasons.
    barred: Vec<(VersionRow, &'s [usize])>,
}

/// Returns the data as JSON that can be embedded in a page.
pub(super) fn data(sketch: &Sketch<'_, '_>, scene: &Scene) -> String {
    let reach = sketch.reach.as_ref();
    let notes = notes(sketch);
    let data = PageData {
        rows: rows(sketch).map(|row| row_data(sketch, row)).collect(),
        reasons: sketch
            .barred
            .reasons()
            .iter()
            .map(|reason| &*reason.text)
            .collect(),
        lanes: sketch
            .lanes
            .iter()
            .map(|lane| (lane.kind == LaneKind::Channel).then(|| text::lane_name(lane)))
            .collect(),
        keeps_to_lane: sketch.view.olm == Generation::V0,
        start: reach.map(|reach| reach.start),
        no_version: text::no_version(sketch),
        start_lane: sketch.lane_of_subscription(),
        compares: sketch.comparison.is_some(),
        end: reach.and_then(|reach| reach.goal),
        grid: PageGrid {
            top: scene.axis.area.y,
            row: scene.axis.rows.first().map_or(0, |row| row.area.height),
        },
        folds: folds(sketch, &notes),
        notes: notes
            .into_iter()
            .map(|note| (note.below, note.is_gap, note.text))
            .collect(),
        changes: changes(sketch),
        words: PageWords {
            filled: BTreeMap::from(FILLED),
            helps: helps(sketch.view.olm),
        },
    };
    // Serializing strings and numbers with string keys cannot fail.
    inert(&serde_json::to_string(&data).unwrap_or_default())
}

fn row_data<'s>(sketch: &'s Sketch<'_, '_>, row: VersionRow) -> RowData<'s> {
    let facts = sketch.row(row);
    let own = facts.map(|facts| facts.marks);
    let cells = sketch.lanes.iter().filter_map(|lane| lane.marks(row));
    let marks: Vec<_> = own.into_iter().chain(cells).collect();
    let has = |mark: &VersionMark| {
        *mark != VersionMark::Elsewhere && marks.iter().any(|marks| marks.has(*mark))
    };
    let marks = VersionMark::ALL.into_iter().filter(has);
    let deprecated = facts.and_then(|facts| facts.deprecated);
    let refused = facts.and_then(|facts| facts.refusal).map(text::refused);
    RowData {
        name: facts
            .map(|facts| go::escape(facts.name))
            .unwrap_or_default(),
        label: sketch.label(row).to_owned(),
        bundle: is_bundle(sketch, row),
        prerelease: facts.is_some_and(|facts| facts.is_prerelease),
        marks: marks.map(text::mark_word).collect(),
        notes: deprecated
            .map(text::deprecated)
            .into_iter()
            .chain(refused)
            .collect(),
        next: sketch
            .walk
            .from(row)
            .iter()
            .map(|hop| (hop.to, hop.lane, hop.field.as_str()))
            .collect(),
        barred: sketch.barred.from(row).collect(),
    }
}

/// Escapes JSON so that no character in it can end the surrounding element.
fn inert(json: &str) -> String {
    let mut inert = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => inert.push_str("\\u003c"),
            '>' => inert.push_str("\\u003e"),
            '&' => inert.push_str("\\u0026"),
            '\u{2028}' => inert.push_str("\\u2028"),
            '\u{2029}' => inert.push_str("\\u2029"),
            other => inert.push(other),
        }
    }
    inert
}

// === Differences between two catalogs, as a list of sentences ===

/// A sentence, and the row to show.
type ListedChange = (VersionRow, String);

/// Lists the changes: versions from the top, then the changes of each channel.
fn changes(sketch: &Sketch<'_, '_>) -> Vec<ListedChange> {
    let rows = (0..).map(VersionRow).zip(&sketch.rows);
    let versions = rows.filter_map(|(row, facts)| {
        let change = of_marks(facts.marks)?;
        Some((row, format!("{} {}", facts.label, change.as_str())))
    });
    let lanes = sketch.lanes.iter().flat_map(|lane| in_lane(sketch, lane));
    versions.chain(lanes).take(MOST).collect()
}

fn in_lane(sketch: &Sketch<'_, '_>, lane: &Lane<'_>) -> Vec<ListedChange> {
    let name = text::lane_name(lane);
    if let (Some(word), Some(first)) = (lane.change.word(), lane.cells.first()) {
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

/// Describes a version that a channel gained or lost, unless the package as a whole did.
fn of_cell(sketch: &Sketch<'_, '_>, cell: LaneCell, channel: &str) -> Option<ListedChange> {
    let change = of_marks(cell.marks)?;
    let facts = sketch.row(cell.row)?;
    let to = match change {
        DrawnChange::Removed => "removed from",
        DrawnChange::Added | DrawnChange::Kept => "added to",
    };
    let is_listed = of_marks(facts.marks) == Some(change);
    (!is_listed).then(|| (cell.row, format!("{} {to} {channel}", facts.label)))
}

fn of_step(sketch: &Sketch<'_, '_>, step: &ReplacesStep, channel: &str) -> Option<ListedChange> {
    let word = step.change.word()?;
    let (from, to) = (sketch.label(step.from), sketch.label(step.to));
    let text = format!("upgrade {word}: {from} → {to} (replaces in {channel})");
    Some((step.to, text))
}

fn of_fan(sketch: &Sketch<'_, '_>, fan: &Fan<'_>, channel: &str) -> Option<ListedChange> {
    let word = fan.change.word()?;
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

fn of_marks(marks: Marks) -> Option<DrawnChange> {
    let added = marks.has(VersionMark::Added).then_some(DrawnChange::Added);
    added.or(marks
        .has(VersionMark::Removed)
        .then_some(DrawnChange::Removed))
}

/// Maximum number of listed changes. The picture shows all of them.
const MOST: usize = 500;

// === Long runs of similar versions, of which the page shows only the ends ===
//
// ```text
// 3.10.25  head            3.10.25  head
// 3.10.24          --->    [ 3.10.23 to 3.10.1: 23 versions folded ]
// ...                      3.10.0
// 3.10.0
// ```
//
// Versions are similar if they are in the same channels and have the same marks. They must also have no `replaces`
// step except to and from a neighbor. A run keeps its ends where other channels start, so only the middle of a
// channel is ever folded.

/// Returns the first and the last row of each run that can be folded. Empty for a short picture.
pub(super) fn folds(sketch: &Sketch<'_, '_>, notes: &[GapNote]) -> Vec<(VersionRow, VersionRow)> {
    if sketch.rows.len() < SHORT {
        return Vec::new();
    }
    let apart = apart(sketch, notes);
    let looks: Vec<_> = rows(sketch).map(|row| look_of(sketch, row)).collect();
    let look = |row: VersionRow| looks.get(row.0 as usize);
    let alike = |a: VersionRow, b: VersionRow| {
        look(a) == look(b) && !apart.contains(&a) && !apart.contains(&b)
    };
    let lanes = |look: &[(u32, Marks)]| look.iter().map(|(lane, _)| *lane).collect::<Vec<_>>();
    let neighbours =
        |a: Option<VersionRow>, b: Option<VersionRow>| match (a.and_then(look), b.and_then(look)) {
            (Some((_, a)), Some((_, b))) => lanes(a) == lanes(b),
            _ => false,
        };
    let mut folds = Vec::new();
    let mut rest = rows(sketch).peekable();
    while let Some(first) = rest.next() {
        let mut last = first;
        while let Some(next) = rest.next_if(|next| alike(last, *next)) {
            last = next;
        }
        let above = first.0.checked_sub(1).map(VersionRow);
        let start = first.0 + u32::from(!neighbours(above, Some(first)));
        let end = last.0 + u32::from(neighbours(Some(last), Some(VersionRow(last.0 + 1))));
        if end >= start + FEWEST && !apart.contains(&first) {
            folds.push((VersionRow(start), VersionRow(end - 1)));
        }
    }
    folds
}

/// Appearance of a version: its own marks, and its marks in each of its channels.
type Look = (Marks, Vec<(u32, Marks)>);

fn look_of(sketch: &Sketch<'_, '_>, row: VersionRow) -> Look {
    let own = sketch.row(row).map(|facts| facts.marks);
    let lanes = (0..).zip(&sketch.lanes);
    let in_lanes = lanes.filter_map(|(at, lane)| Some((at, lane.marks(row)?)));
    (own.unwrap_or_default(), in_lanes.collect())
}

/// Returns the rows that no fold hides.
///
/// These rows have a mark that users look for, a note, the heading of a channel, or the start or end of the walk.
/// Others have a branch, or a step that is not taken or has changed.
fn apart(sketch: &Sketch<'_, '_>, notes: &[GapNote]) -> BTreeSet<VersionRow> {
    let marked = rows(sketch).filter(|row| is_marked(sketch, *row));
    let around_notes = notes.iter().flat_map(|note| {
        [
            note.below.0.checked_sub(1).map(VersionRow),
            Some(note.below),
        ]
    });
    let has_note = |row: VersionRow| notes.iter().any(|note| note.below == row);
    let tops = sketch.lanes.iter().filter_map(|lane| lane.cells.first());
    let tops = tops.map(|cell| cell.row).filter(|row| !has_note(*row));
    let headings =
        tops.flat_map(|row| (1..=HEADING).map(move |up| row.0.checked_sub(up).map(VersionRow)));
    let reach = sketch.reach.iter();
    let walked = reach.flat_map(|reach| [Some(reach.start), reach.goal]);
    let steps = sketch.lanes.iter().flat_map(|lane| &lane.steps);
    let as_ever = |fate, change| fate == EdgeFate::Taken && change == DrawnChange::Kept;
    let is_next = |from: VersionRow, to: VersionRow| from.0 == to.0 + 1;
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

fn is_marked(sketch: &Sketch<'_, '_>, row: VersionRow) -> bool {
    let own = sketch.row(row).map(|facts| facts.marks);
    let in_lanes = sketch.lanes.iter().filter_map(|lane| lane.marks(row));
    let mut all = own.into_iter().chain(in_lanes);
    all.any(|marks| MARKED.iter().any(|mark| marks.has(*mark)) || marks.is_stranded())
}

const MARKED: [VersionMark; 6] = [
    VersionMark::Installed,
    VersionMark::Head,
    VersionMark::Virtual,
    VersionMark::Elsewhere,
    VersionMark::Added,
    VersionMark::Removed,
];
/// Minimum number of versions for folding. Fewer fit on a screen.
const SHORT: usize = 30;
/// Number of rows next to the heading of a channel.
const HEADING: u32 = 2;
/// Minimum number of versions in a fold. A fold takes the room of one version.
const FEWEST: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_data_end_their_element() {
        let json = serde_json::to_string("</script><!--&\u{2028}").unwrap();
        let written = inert(&json);
        assert_eq!(written, "\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\"");
        assert_eq!(
            serde_json::from_str::<String>(&written).unwrap(),
            "</script><!--&\u{2028}"
        );
    }
}
