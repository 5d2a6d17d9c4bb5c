//! Why a document cannot be read, where its text says more than the parser: an unfinished merge, or a
//! template that no one has rendered.

use super::error::{DocumentErrorKind, Fault};
use super::placeholder::starting;
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

/// The text has a placeholder where a value, an item or a line of its own would begin, and that is
/// as far as reading came, or the first character of it was read yet. Within a text that was read, such as a script's, it is nothing special.
fn template(fault: &Fault, text: &str, first_line: u32) -> Option<Fault> {
    let could_be_one = matches!(
        fault.kind,
        DocumentErrorKind::Syntax { .. } | DocumentErrorKind::KeyNotScalar { .. }
    );
    let lines = text.lines().zip(first_line..);
    let up_to_it = lines.take_while(|(_, number)| *number <= fault.at.line);
    let mut openings = up_to_it.flat_map(|(line, number)| openings(line, number));
    let (at, opening) = openings.find(|(at, _)| {
        let column = at.column.saturating_add(1);
        let second = Position { column, ..*at };
        second >= fault.reached
    })?;
    let opening = opening.into();
    could_be_one.then(|| Fault::new(at, DocumentErrorKind::Template { opening }))
}

/// Where a placeholder begins the line, a value, or an item, and its opening.
fn openings(line: &str, number: u32) -> impl Iterator<Item = (Position, &str)> {
    let mut before = None;
    let starts = line.char_indices().zip(1..).filter(move |((_, c), _)| {
        let begins = matches!(before, None | Some(':' | '-' | '[' | ','));
        before = Some(*c).filter(|c| !c.is_whitespace()).or(before);
        begins && !c.is_whitespace()
    });
    starts.filter_map(move |((at, _), column)| {
        let rest = line.get(at..)?;
        let block = BLOCKS.iter().find(|block| rest.starts_with(**block));
        let opening = block.copied().or_else(|| starting(rest))?;
        Some((
            Position {
                line: number,
                column,
            },
            opening,
        ))
    })
}

/// What may begin a part of a template that goes on for several lines.
const BLOCKS: [&str; 3] = ["{{", "{%", "{#"];

/// With the name of a side behind them, perhaps.
const MARKERS: [&str; 3] = ["<<<<<<<", "|||||||", ">>>>>>>"];

/// Alone on its line.
const MIDDLE: &str = "=======";
