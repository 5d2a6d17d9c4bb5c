//! What the script of the page works on.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::picture::html::changes::{ListedChange, changes};
use crate::picture::html::folds::folds;
use crate::picture::html::notes::{is_bundle, notes};
use crate::picture::html::words;
use crate::picture::mark::Mark;
use crate::picture::scene::Scene;
use crate::picture::sketch::{LaneKind, Row, Sketch};
use crate::picture::{Generation, text};
use olmguard_catalog::version::go;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'s> {
    rows: Vec<RowData<'s>>,
    /// Why guardrails forbid steps.
    reasons: Vec<&'s str>,
    /// The names of the channels; none for the semver rules.
    lanes: Vec<Option<String>>,
    /// Whether only the steps of one lane count at a time.
    keeps_to_lane: bool,
    start: Option<Row>,
    /// That the start is no version of the package.
    no_version: Option<String>,
    start_lane: Option<u32>,
    compares: bool,
    end: Option<Row>,
    grid: Grid,
    /// Runs that can be folded: the first and the last row.
    folds: Vec<(Row, Row)>,
    /// Texts between versions: above which row, whether it is a gap, the text.
    notes: Vec<(Row, bool, String)>,
    /// What the catalogs differ in, each with the row to look at.
    changes: Vec<ListedChange>,
    words: Words,
}

/// Where the rows are in the picture.
#[derive(Serialize)]
struct Grid {
    top: i32,
    row: i32,
}

#[derive(Serialize)]
struct Words {
    #[serde(flatten)]
    filled: BTreeMap<&'static str, &'static str>,
    helps: [&'static str; 5],
}

#[derive(Serialize)]
struct RowData<'s> {
    name: String,
    label: String,
    /// Whether it can be installed.
    bundle: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    prerelease: bool,
    /// Its marks in words.
    marks: Vec<&'static str>,
    /// What else is to be said of it.
    notes: Vec<String>,
    /// Where it leads: row, lane, kind of the edge.
    next: Vec<(Row, u32, &'static str)>,
    /// Where guardrails forbid to go: row, places of the reasons.
    barred: Vec<(Row, &'s [usize])>,
}

/// The data as JSON that can stand in a page.
pub(super) fn data(sketch: &Sketch<'_, '_>, scene: &Scene) -> String {
    let reach = sketch.reach.as_ref();
    let notes = notes(sketch);
    let rows = (0..sketch.rows.len()).filter_map(|row| u32::try_from(row).ok());
    let data = Data {
        rows: rows.map(|row| row_data(sketch, Row(row))).collect(),
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
        grid: Grid::of(scene),
        folds: folds(sketch, &notes),
        notes: notes
            .into_iter()
            .map(|note| (note.below, note.is_gap, note.text))
            .collect(),
        changes: changes(sketch),
        words: Words {
            filled: BTreeMap::from(words::FILLED),
            helps: words::helps(sketch.view.olm),
        },
    };
    // Strings and numbers under string keys can always be written.
    inert(&serde_json::to_string(&data).unwrap_or_default())
}

impl Grid {
    fn of(scene: &Scene) -> Self {
        Self {
            top: scene.axis.area.y,
            row: scene.axis.rows.first().map_or(0, |row| row.area.height),
        }
    }
}

fn row_data<'s>(sketch: &'s Sketch<'_, '_>, row: Row) -> RowData<'s> {
    let facts = sketch.row(row);
    let own = facts.map(|facts| facts.marks);
    let cells = sketch.lanes.iter().filter_map(|lane| lane.marks(row));
    let marks: Vec<_> = own.into_iter().chain(cells).collect();
    let has = |mark: &Mark| *mark != Mark::Elsewhere && marks.iter().any(|marks| marks.has(*mark));
    let marks = Mark::ALL.into_iter().filter(has);
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

/// JSON in which nothing can end the element that it stands in, and no character is more than a letter.
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
