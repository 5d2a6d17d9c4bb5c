//! A table for people. It has at most 80 columns if its items allow that: long lists are wrapped
//! between their items.
//!
//! A column without content is omitted. No cell may have control sequences of a terminal: callers
//! must escape them.

use unicode_width::UnicodeWidthStr;

use crate::text::{MOST_COLUMNS, Text, Tone};
use olmguard_catalog::version::go;

/// A table, row by row.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub struct Cell {
    tone: Tone,
    items: Vec<String>,
    /// Text after each item but the last.
    mark: &'static str,
    /// Maximum width of a line if the table is not too wide.
    widest: usize,
}

impl Cell {
    /// Creates a cell with one text.
    pub fn one(tone: Tone, text: impl Into<String>) -> Self {
        Self::list(tone, vec![text.into()])
    }

    /// Creates a cell with several items, separated by commas.
    pub fn list(tone: Tone, items: Vec<String>) -> Self {
        Self {
            tone,
            items,
            mark: ",",
            widest: WIDEST,
        }
    }

    /// Creates a cell with the parts of one text. It may be wrapped between them if the table is
    /// too wide.
    pub fn parts(tone: Tone, items: Vec<String>) -> Self {
        Self {
            mark: "",
            widest: MOST_COLUMNS,
            ..Self::list(tone, items)
        }
    }

    /// Creates an empty cell.
    pub fn empty() -> Self {
        Self::list(Tone::Plain, Vec::new())
    }

    /// The lines of the cell, at most this wide. A single item can be wider.
    fn lines(&self, width: usize) -> Vec<String> {
        let width = width.min(self.widest);
        let mut lines: Vec<String> = Vec::new();
        let last = self.items.len().saturating_sub(1);
        for (at, item) in self.items.iter().enumerate() {
            let item = if at == last {
                item.clone()
            } else {
                format!("{item}{}", self.mark)
            };
            match lines.last_mut() {
                Some(line) if line.width() + 1 + item.width() <= width => {
                    line.push(' ');
                    line.push_str(&item);
                }
                _ => lines.push(go::wrapped(&item)),
            }
        }
        lines
    }
}

impl Table {
    /// Creates a table with these headings.
    pub fn new(heads: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            heads: heads.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, with one cell for each heading.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Adds the table to a text, with two spaces before each line.
    pub fn say(&self, text: &mut Text) {
        let used: Vec<usize> = (0..self.heads.len())
            .filter(|column| self.cells(*column).any(|cell| !cell.items.is_empty()))
            .collect();
        let fits = |widest: &usize| self.columns(&used, *widest) <= MOST_COLUMNS;
        let widest = NARROWER.into_iter().find(fits).unwrap_or(NARROWEST);
        let widths = self.widths(&used, widest);
        let heads = used.iter().filter_map(|column| self.heads.get(*column));
        let heads: Vec<_> = heads.map(|head| head_cell(head)).collect();
        let row = Row {
            widths: &widths,
            widest,
        };
        row.say(&heads.iter().collect::<Vec<_>>(), text);
        for cells in &self.rows {
            let cells: Vec<_> = used
                .iter()
                .filter_map(|column| cells.get(*column))
                .collect();
            row.say(&cells, text);
        }
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    /// Width of the whole table.
    fn columns(&self, used: &[usize], widest: usize) -> usize {
        let widths = self.widths(used, widest);
        widths.iter().map(|width| GAP + width).sum()
    }

    fn widths(&self, used: &[usize], widest: usize) -> Vec<usize> {
        used.iter()
            .map(|column| self.width(*column, widest))
            .collect()
    }

    fn width(&self, column: usize, widest: usize) -> usize {
        let head = self.heads.get(column).map(|head| head_cell(head));
        let cells = self.cells(column).chain(&head);
        let lines = cells.flat_map(|cell| cell.lines(widest));
        lines.map(|line| line.width()).max().unwrap_or_default()
    }
}

/// Creates a heading, which is wrapped between its words if the table is too wide.
fn head_cell(head: &str) -> Cell {
    let words = head.split(' ').map(str::to_owned);
    Cell::parts(Tone::Label, words.collect())
}

/// The widths of the columns of a row.
struct Row<'w> {
    widths: &'w [usize],
    /// Maximum width of a list.
    widest: usize,
}

impl Row<'_> {
    fn say(&self, cells: &[&Cell], text: &mut Text) {
        let wrapped: Vec<_> = cells.iter().map(|cell| cell.lines(self.widest)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or_default();
        for at in 0..height {
            say_line(cells, &wrapped, self.widths, at, text);
        }
    }
}

/// Adds one line of a row, without spaces at its end.
fn say_line(
    cells: &[&Cell],
    wrapped: &[Vec<String>],
    widths: &[usize],
    at: usize,
    text: &mut Text,
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

/// Number of spaces before each column.
const GAP: usize = 2;

/// Maximum width of a list before it is wrapped.
const WIDEST: usize = 26;

/// The widths of lists that are tried in order until the table is not too wide.
const NARROWER: [usize; 5] = [MOST_COLUMNS, WIDEST, 20, 16, 12];

/// The width of lists if the table is too wide with all others.
const NARROWEST: usize = 8;

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
        let mut text = Text::default();
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
