//! Notes between the versions about missing upgrades.
//!
//! A gap is a line that no step crosses upwards: no path joins the versions below it with those above. A dead end is a
//! version without an upgrade although newer versions exist.

use crate::picture::VersionMark;
use crate::picture::sketch::{Sketch, VersionRow};

/// A note above a row.
#[derive(Debug)]
pub(super) struct GapNote {
    /// Row below the note.
    pub(super) below: VersionRow,
    /// Whether the note is a gap: no step crosses this line.
    pub(super) is_gap: bool,
    pub(super) text: String,
}

/// Returns the notes, from the top.
pub(super) fn notes(sketch: &Sketch<'_, '_>) -> Vec<GapNote> {
    let bundles: Vec<_> = rows(sketch).filter(|row| is_bundle(sketch, *row)).collect();
    let taken = crossings(sketch, |row| sketch.walk.from(row).iter().map(|hop| hop.to));
    let forbidden = crossings(sketch, |row| sketch.barred.from(row).map(|(to, _)| to));
    let pairs = bundles.iter().zip(bundles.iter().skip(1));
    let gaps: Vec<_> = pairs
        .filter(|(above, below)| !crosses(&taken, **above, **below))
        .map(|(above, below)| (*above, *below))
        .collect();
    let said: Vec<_> = gaps.iter().map(|(_, below)| *below).collect();
    let gaps = gaps.chunk_by(|(_, below), (above, _)| below == above);
    let gaps = gaps.filter_map(|run| gap(sketch, &forbidden, run));
    let newest = bundles.first().copied();
    let is_end = |row: &VersionRow| Some(*row) != newest && sketch.walk.from(*row).is_empty();
    let ends = bundles.iter().copied();
    let ends: Vec<_> = ends
        .filter(|row| is_end(row) && !said.contains(row))
        .collect();
    let next = |row: VersionRow| bundles.iter().copied().find(|other| *other > row);
    let ends = ends.chunk_by(|above, below| next(*above) == Some(*below));
    let ends = ends.filter_map(|run| end(sketch, &bundles, run));
    let mut notes: Vec<_> = gaps.chain(ends).collect();
    notes.sort_by_key(|note| note.below);
    notes
}

/// Returns the note for consecutive gaps. Each version between two of them is alone.
fn gap(
    sketch: &Sketch<'_, '_>,
    forbidden: &[i64],
    run: &[(VersionRow, VersionRow)],
) -> Option<GapNote> {
    let ((above, below), (last, _)) = (*run.first()?, *run.last()?);
    let label = |row| sketch.label(row);
    let why = if crosses(forbidden, above, below) {
        "Guardrails forbid every upgrade across this line"
    } else {
        "Gap: no upgrade crosses this line"
    };
    let alone = match run.len() - 1 {
        0 => String::new(),
        1 => format!(" {} is alone between two gaps.", label(below)),
        alone => format!(
            " {alone} versions, {} to {}, are each alone between two gaps.",
            label(below),
            label(last)
        ),
    };
    let text = format!(
        "{why}: {} and older cannot reach {} or newer.{alone}",
        label(below),
        label(above)
    );
    Some(GapNote {
        below,
        is_gap: true,
        text,
    })
}

/// Returns the note for consecutive dead ends.
fn end(sketch: &Sketch<'_, '_>, bundles: &[VersionRow], run: &[VersionRow]) -> Option<GapNote> {
    let (first, last) = (*run.first()?, *run.last()?);
    let newer = bundles.iter().filter(|row| **row < first).count();
    let newer = match newer {
        1 => "1 newer version exists".to_owned(),
        newer => format!("{newer} newer versions exist"),
    };
    let label = sketch.label(first);
    let mut barred = run.iter().flat_map(|row| sketch.barred.from(*row));
    let why = if barred.next().is_some() {
        "no upgrade that guardrails allow"
    } else {
        "no upgrade"
    };
    let text = match run.len() {
        1 => format!("Dead end: {label} has {why}. {newer}."),
        count => format!(
            "Dead ends: {count} versions, {label} to {}, have {why}. {newer}.",
            sketch.label(last)
        ),
    };
    Some(GapNote {
        below: first,
        is_gap: false,
        text,
    })
}

/// Whether steps cross every line between two bundles. Names without a bundle can be between them.
fn crosses(lines: &[i64], above: VersionRow, below: VersionRow) -> bool {
    let between = lines.get(above.0 as usize + 1..=below.0 as usize);
    between.is_some_and(|lines| lines.iter().all(|count| *count > 0))
}

/// Counts for each row the upward steps across the line above it.
fn crossings<R: Iterator<Item = VersionRow>>(
    sketch: &Sketch<'_, '_>,
    steps_from: impl Fn(VersionRow) -> R,
) -> Vec<i64> {
    let mut changes = vec![0; sketch.rows.len() + 1];
    let mut change = |row: u32, by: i64| {
        if let Some(at) = changes.get_mut(row as usize) {
            *at += by;
        }
    };
    for from in rows(sketch) {
        for to in steps_from(from).filter(|to| *to < from) {
            change(to.0 + 1, 1);
            change(from.0 + 1, -1);
        }
    }
    let mut sum = 0;
    let sums = changes.into_iter().map(|change| {
        sum += change;
        sum
    });
    sums.collect()
}

/// Whether the row is a version that users can install.
pub(super) fn is_bundle(sketch: &Sketch<'_, '_>, row: VersionRow) -> bool {
    let marks = sketch.row(row).map(|facts| facts.marks);
    marks.is_some_and(|marks| !marks.has(VersionMark::Virtual) && !marks.has(VersionMark::Removed))
}

pub(super) fn rows(sketch: &Sketch<'_, '_>) -> impl Iterator<Item = VersionRow> + use<> {
    let count = u32::try_from(sketch.rows.len()).unwrap_or(u32::MAX);
    (0..count).map(VersionRow)
}
