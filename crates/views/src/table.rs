//! A table for people: columns as wide as they need to be, long lists wrapped between their items.
//!
//! A column without anything in it is left out. No text in a cell may hold what a terminal would
//! obey: whoever fills a cell escapes it.

use unicode_width::UnicodeWidthStr;

use olmguard_engine::explain::tone::{Tone, TonedText};

/// A table, row by row.
#[derive(Clone, Debug)]
pub(super) struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// What stands in one place of it.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    tone: Tone,
    items: Vec<String>,
}

impl Cell {
    /// One text.
    pub(super) fn one(tone: Tone, text: impl Into<String>) -> Self {
        Self::list(tone, vec![text.into()])
    }

    /// Several, with commas between them.
    pub(super) fn list(tone: Tone, items: Vec<String>) -> Self {
        Self { tone, items }
    }

    /// Nothing.
    pub(super) fn empty() -> Self {
        Self::list(Tone::Plain, Vec::new())
    }

    /// The lines it takes where a line is at most this wide; an item alone may be wider.
    fn lines(&self, width: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let last = self.items.len().saturating_sub(1);
        for (at, item) in self.items.iter().enumerate() {
            let item = if at == last {
                item.clone()
            } else {
                format!("{item},")
            };
            match lines.last_mut() {
                Some(line) if line.width() + 1 + item.width() <= width => {
                    line.push(' ');
                    line.push_str(&item);
                }
                _ => lines.push(item),
            }
        }
        lines
    }
}

impl Table {
    /// A table with these heads.
    pub(super) fn new(heads: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            heads: heads.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, one cell for each head.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Writes it, two blanks before each line.
    pub(super) fn say(&self, text: &mut TonedText) {
        let used: Vec<usize> = (0..self.heads.len())
            .filter(|column| self.cells(*column).any(|cell| !cell.items.is_empty()))
            .collect();
        let widths: Vec<usize> = used.iter().map(|column| self.width(*column)).collect();
        let heads = used.iter().filter_map(|column| self.heads.get(*column));
        let heads: Vec<_> = heads.map(|head| Cell::one(Tone::Label, head)).collect();
        say_row(&heads.iter().collect::<Vec<_>>(), &widths, text);
        for row in &self.rows {
            let cells: Vec<_> = used.iter().filter_map(|column| row.get(*column)).collect();
            say_row(&cells, &widths, text);
        }
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    fn width(&self, column: usize) -> usize {
        let head = self.heads.get(column).map_or(0, |head| head.width());
        let lines = self.cells(column).flat_map(|cell| cell.lines(WIDEST));
        lines.map(|line| line.width()).fold(head, usize::max)
    }
}

fn say_row(cells: &[&Cell], widths: &[usize], text: &mut TonedText) {
    let wrapped: Vec<_> = cells.iter().map(|cell| cell.lines(WIDEST)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or_default();
    for at in 0..height {
        say_line(cells, &wrapped, widths, at, text);
    }
}

/// One line of a row: no blanks at its end.
fn say_line(
    cells: &[&Cell],
    wrapped: &[Vec<String>],
    widths: &[usize],
    at: usize,
    text: &mut TonedText,
) {
    let mut gap = 0;
    for ((cell, lines), width) in cells.iter().zip(wrapped).zip(widths) {
        gap += GAP;
        match lines.get(at) {
            Some(line) => {
                text.say(Tone::Plain, " ".repeat(gap));
                text.say(cell.tone, line);
                gap = width.saturating_sub(line.width());
            }
            None => gap += width,
        }
    }
    text.end_line();
}

/// What stands before each column.
const GAP: usize = 2;

/// How wide a list may become before it is wrapped.
const WIDEST: usize = 26;

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> Cell {
        Cell::list(Tone::Plain, items.iter().map(|&item| item.into()).collect())
    }

    #[test]
    fn lists_wrap_between_items_and_empty_columns_are_left_out() {
        let mut table = Table::new(["Version", "Nothing", "Channels", "漢"]);
        table.row(vec![
            list(&["1.0.0"]),
            Cell::empty(),
            list(&["candidate", "stable-v1", "stable-v2"]),
            list(&["漢字"]),
        ]);
        table.row(vec![
            list(&["1.0.0-a.very.long.prerelease.indeed"]),
            Cell::empty(),
            Cell::empty(),
            list(&["x"]),
        ]);
        table.row(vec![
            list(&["2"]),
            Cell::empty(),
            Cell::empty(),
            Cell::empty(),
        ]);
        let mut text = TonedText::default();
        table.say(&mut text);
        let expected = [
            "  Version                              Channels               漢",
            "  1.0.0                                candidate, stable-v1,  漢字",
            "                                       stable-v2",
            "  1.0.0-a.very.long.prerelease.indeed                         x",
            "  2",
        ];
        assert_eq!(text.to_string(), expected.join("\n") + "\n");
    }
}
