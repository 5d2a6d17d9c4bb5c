//! Why a document cannot be read, where its text says more than the parser: an unfinished merge, or a
//! template that no one has rendered.

use super::error::{DocumentErrorKind, Fault};
use super::position::Position;
use olmguard_catalog::yaml_scalar::unquoted;

/// The fault in those terms, if its text has one of the two. It begins at line `first_line` of the
/// file.
pub(super) fn explain(fault: Fault, text: &str, first_line: u32) -> Fault {
    let found = conflict(text, first_line).or_else(|| template(&fault, text, first_line));
    let found = found.or_else(|| range(&fault, text, first_line));
    found.unwrap_or(fault)
}

/// A version range without quotes, which is a block of text to YAML.
fn range(fault: &Fault, text: &str, first_line: u32) -> Option<Fault> {
    let index = fault.at.line.checked_sub(first_line)?;
    let line = text.lines().nth(usize::try_from(index).ok()?)?;
    let line = unquoted(line.as_bytes())?;
    let is_syntax = matches!(fault.kind, DocumentErrorKind::Syntax { .. });
    is_syntax.then(|| Fault::new(fault.at, DocumentErrorKind::Unquoted { line }))
}

/// Git writes a marker at the beginning of a line, where no mapping goes on with text of its own; the
/// first one counts.
fn conflict(text: &str, first_line: u32) -> Option<Fault> {
    let is_marker = |line: &str| {
        let label = MARKERS.iter().find_map(|marker| line.strip_prefix(marker));
        label.is_some_and(|label| label.is_empty() || label.starts_with(' ')) || line == MIDDLE
    };
    let (marker, line) = text
        .lines()
        .zip(first_line..)
        .find(|(line, _)| is_marker(line))?;
    let marker = marker.split(' ').next().unwrap_or_default();
    let kind = DocumentErrorKind::Conflict {
        marker: marker.into(),
    };
    Some(Fault::new(Position { line, column: 1 }, kind))
}

/// The text has an opening `{{` where a value, an item or a line of its own would begin, and that is
/// as far as reading came, or the first of the two was read yet. Within a text that was read, such as a script's, `{{` is nothing special.
fn template(fault: &Fault, text: &str, first_line: u32) -> Option<Fault> {
    let could_be_one = matches!(
        fault.kind,
        DocumentErrorKind::Syntax { .. } | DocumentErrorKind::KeyNotScalar { .. }
    );
    let lines = text.lines().zip(first_line..);
    let up_to_it = lines.take_while(|(_, number)| *number <= fault.at.line);
    let mut openings = up_to_it.flat_map(|(line, number)| openings(line, number));
    let opening = openings.find(|opening| {
        let column = opening.column.saturating_add(1);
        let second = Position { column, ..*opening };
        second >= fault.reached
    })?;
    could_be_one.then(|| Fault::new(opening, DocumentErrorKind::Template))
}

/// Where `{{` begins the line, a value, or an item.
fn openings(line: &str, number: u32) -> impl Iterator<Item = Position> {
    let before = line
        .match_indices("{{")
        .filter_map(|(at, _)| line.get(..at));
    let begins = |before: &&str| {
        let before = before.trim_end();
        before.is_empty() || before.ends_with([':', '-', '[', ','])
    };
    before.filter(begins).map(move |before| {
        let column = u32::try_from(before.chars().count()).unwrap_or(u32::MAX);
        Position {
            line: number,
            column: column.saturating_add(1),
        }
    })
}

/// With the name of a side behind them, perhaps.
const MARKERS: [&str; 3] = ["<<<<<<<", "|||||||", ">>>>>>>"];

/// Alone on its line.
const MIDDLE: &str = "=======";
