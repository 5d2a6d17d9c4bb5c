//! Whether a document that cannot be read is a template that no one has rendered.

use super::error::{DocumentErrorKind, Fault};
use super::position::Position;

/// The fault in terms of the template, if the text of its document has an opening `{{` at or above
/// its line where a value or a line of its own would begin. Within a text such as an annotation's,
/// `{{` is nothing special.
pub(super) fn explain(fault: Fault, text: &str, first_line: u32) -> Fault {
    let could_be_one = matches!(
        fault.kind,
        DocumentErrorKind::Syntax { .. } | DocumentErrorKind::KeyNotScalar { .. }
    );
    let above = fault.at.line.saturating_sub(first_line).saturating_add(1);
    let lines = text
        .lines()
        .zip(first_line..)
        .take(usize::try_from(above).unwrap_or(usize::MAX));
    match lines
        .filter_map(|(line, number)| opening(line, number))
        .last()
    {
        Some(at) if could_be_one => Fault::new(at, DocumentErrorKind::Template),
        _ => fault,
    }
}

/// Where `{{` begins the line, a value, or an item.
fn opening(line: &str, number: u32) -> Option<Position> {
    let before = line
        .match_indices("{{")
        .map(|(at, _)| line.get(..at).unwrap_or_default())
        .find(|before| {
            let before = before.trim_end();
            before.is_empty() || before.ends_with([':', '-'])
        })?;
    let column = u32::try_from(before.chars().count())
        .unwrap_or(u32::MAX)
        .saturating_add(1);
    Some(Position {
        line: number,
        column,
    })
}
