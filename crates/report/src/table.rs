//! A table for people. It has at most 80 columns if its items allow that: long lists are wrapped
//! between their items.
//!
//! A column without content is omitted. No cell may have control sequences of a terminal: callers
//! must escape them.

use unicode_width::UnicodeWidthStr;

use crate::text::{MOST_COLUMNS, Text, Tone, wrapped};

/// A table, row by row.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<Cell>,
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

    /// Creates a heading, which is wrapped between its words if the table is too wide.
    fn head(head: &str) -> Self {
        let words = head.split(' ').map(str::to_owned);
        Self::parts(Tone::Label, words.collect())
    }

    /// Creates an empty cell.
    pub fn empty() -> Self {
        Self::list(Tone::Plain, Vec::new())
    }

    /// The lines of the cell, at most this wide. A single item can be wider.
    fn lines(&self, width: usize) -> Vec<String> {
        let last = self.items.len().saturating_sub(1);
        let items = self.items.iter().enumerate();
        let marked = items.map(|(at, item)| {
            let mark = if at == last { "" } else { self.mark };
            format!("{item}{mark}")
        });
        wrapped(marked, width.min(self.widest))
    }
}

impl Table {
    /// Creates a table with these headings.
    pub fn new(heads: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            heads: heads
                .into_iter()
                .map(|head| Cell::head(&head.into()))
                .collect(),
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
        let widths = |widest: usize| -> Vec<usize> {
            let widths = used.iter().map(|column| self.width(*column, widest));
            widths.collect()
        };
        let columns = |widest| {
            widths(widest)
                .iter()
                .map(|width| GAP + width)
                .sum::<usize>()
        };
        let fits = |widest: &usize| columns(*widest) <= MOST_COLUMNS;
        let widest = NARROWER.into_iter().find(fits).unwrap_or(NARROWEST);
        let widths = widths(widest);
        for cells in std::iter::once(&self.heads).chain(&self.rows) {
            let cells = used.iter().filter_map(|column| cells.get(*column));
            say_row(&cells.collect::<Vec<_>>(), &widths, widest, text);
        }
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    fn width(&self, column: usize, widest: usize) -> usize {
        let cells = self.cells(column).chain(self.heads.get(column));
        let lines = cells.flat_map(|cell| cell.lines(widest));
        lines.map(|line| line.width()).max().unwrap_or_default()
    }
}

/// Adds a row with columns of these widths, with lists of at most `widest` columns.
fn say_row(cells: &[&Cell], widths: &[usize], widest: usize, text: &mut Text) {
    let wrapped: Vec<_> = cells.iter().map(|cell| cell.lines(widest)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or_default();
    for at in 0..height {
        // No line has spaces at its end.
        let mut gap = 0;
        for ((cell, lines), width) in cells.iter().zip(&wrapped).zip(widths) {
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
