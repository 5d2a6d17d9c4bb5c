//! Figures as tables: one for each bench, or one for each chart if its figures are on curves.

mod chart;

use std::collections::BTreeMap;

use olmguard_figures::{Bench, Figure, number};

use self::chart::of_charts;
use super::record::Record;

/// Texts in columns. A column without text is not shown.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Table {
    pub(super) title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The tables of a run, compared with an earlier run.
pub(super) fn tables(record: &Record, before: Option<&Record>) -> Vec<Table> {
    let mut tables = Vec::new();
    for bench in Bench::ALL {
        let is_of_it = |figure: &&Figure| figure.bench == bench;
        let figures: Vec<_> = record.figures.iter().filter(is_of_it).collect();
        if before.is_none() && figures.iter().any(|figure| figure.on.is_some()) {
            tables.extend(of_charts(bench, figures));
        } else if !figures.is_empty() {
            tables.push(flat(bench, &figures, record, before));
        }
    }
    tables
}

/// The number of aims that are met, of all aims.
pub(super) fn summary(record: &Record) -> String {
    let is_met = record.figures.iter().filter_map(Figure::is_met);
    let all = is_met.clone().count();
    let met = is_met.filter(|is_met| *is_met).count();
    format!("{met} of {all} aims are met")
}

fn flat(bench: Bench, figures: &[&Figure], record: &Record, before: Option<&Record>) -> Table {
    let statics = by_row(bench, &record.statics);
    let earlier = before
        .map(|before| by_row(bench, &before.figures))
        .unwrap_or_default();
    let rows = figures.iter().map(|figure| {
        let row = figure.row.as_str();
        let cells = cells(figure, statics.get(row).copied());
        cells
            .into_iter()
            .chain(compared(figure, earlier.get(row).copied()))
            .collect()
    });
    let has_static = !statics.is_empty();
    let columns = COLUMNS.map(|name| match name {
        "olmguard" if has_static => "built for this machine",
        name => name,
    });
    Table::new(
        bench.title().to_owned(),
        columns.map(str::to_owned).into(),
        rows.collect(),
    )
}

const COLUMNS: [&str; 10] = [
    "what",
    "olmguard",
    "static program",
    "peer",
    "ratio",
    "aim",
    "met",
    "before",
    "ratio before",
    "times better than before",
];

fn by_row(bench: Bench, figures: &[Figure]) -> BTreeMap<&str, &Figure> {
    let figures = figures.iter().filter(|figure| figure.bench == bench);
    figures
        .map(|figure| (figure.row.as_str(), figure))
        .collect()
}

fn cells(figure: &Figure, of_static: Option<&Figure>) -> [String; 7] {
    let peer = figure.peer.as_ref();
    let met = match figure.is_met() {
        None => "",
        Some(true) => "yes",
        Some(false) => "no",
    };
    [
        figure.row.clone(),
        value(figure),
        of_static.map(value).unwrap_or_default(),
        peer.map(|peer| format!("{} ({})", number(peer.value), peer.name))
            .unwrap_or_default(),
        peer.map(|peer| number(peer.ratio)).unwrap_or_default(),
        figure.aim.map(|aim| aim.to_string()).unwrap_or_default(),
        met.to_owned(),
    ]
}

/// The figures of an earlier run, and the factor by which this run is better.
fn compared(figure: &Figure, earlier: Option<&Figure>) -> [String; 3] {
    let Some(earlier) = earlier else {
        return Default::default();
    };
    let ratio = earlier.peer.as_ref().map(|peer| number(peer.ratio));
    let better = figure.unit.ratio(figure.value, earlier.value);
    [value(earlier), ratio.unwrap_or_default(), number(better)]
}

fn value(figure: &Figure) -> String {
    format!("{} {}", number(figure.value), figure.unit)
        .trim_end()
        .to_owned()
}

impl Table {
    /// Creates a table, and removes columns without text.
    fn new(title: String, mut columns: Vec<String>, mut rows: Vec<Vec<String>>) -> Self {
        let is_used = |at: usize| {
            rows.iter()
                .any(|row| row.get(at).is_some_and(|cell| !cell.is_empty()))
        };
        let used: Vec<bool> = (0..columns.len()).map(is_used).collect();
        let keep = |cells: &mut Vec<String>| {
            let mut used = used.iter();
            cells.retain(|_| used.next().copied().unwrap_or_default());
        };
        keep(&mut columns);
        rows.iter_mut().for_each(keep);
        Self {
            title,
            columns,
            rows,
        }
    }

    /// The table as text for a terminal.
    pub(super) fn text(&self) -> String {
        let lines = [&self.columns].into_iter().chain(&self.rows);
        let width = |at: usize| {
            let cells = lines.clone().filter_map(|line| line.get(at));
            cells
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        let mut text = format!("\n{}\n", self.title);
        for line in lines.clone() {
            let cells = line
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(at, (cell, width))| match at {
                    0 => format!("  {cell:width$}"),
                    _ => format!("{cell:>width$}"),
                });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    /// The table as Markdown for a page.
    pub(super) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = (0..self.columns.len()).map(|at| if at == 0 { "---" } else { "---:" });
        let rule = rule.map(str::to_owned).collect::<Vec<_>>();
        let rows = self.rows.iter().map(|row| line(row)).collect::<String>();
        format!(
            "### {}\n\n{}{}{rows}",
            self.title,
            line(&self.columns),
            line(&rule)
        )
    }
}

#[cfg(test)]
mod tests {
    use olmguard_figures::{Aim, Peer, Unit};

    use super::*;
    use crate::machine::Facts;

    pub(super) fn record(figures: Vec<Figure>) -> Record {
        Record {
            facts: Facts::default(),
            figures,
            statics: Vec::new(),
        }
    }

    fn lint(value: f64, ratio: f64) -> Figure {
        Figure {
            peer: Some(Peer {
                name: "opm".to_owned(),
                value: 484.2,
                ratio,
            }),
            aim: Some(Aim::Ratio(25.0)),
            ..Figure::new(Bench::Lint, "v4.17, JSON lines", Unit::Milliseconds, value)
        }
    }

    fn five() -> Figure {
        Figure::new(Bench::Lint, "all five", Unit::Milliseconds, 85.0)
    }

    #[test]
    fn a_bench_is_a_table_without_empty_columns() {
        let record = record(vec![lint(21.4, 22.6), five()]);
        let tables = tables(&record, None);
        assert_eq!(
            tables.iter().map(Table::markdown).collect::<String>(),
            "### Linting whole catalogs\n\n\
             | what | olmguard | peer | ratio | aim | met |\n\
             | --- | ---: | ---: | ---: | ---: | ---: |\n\
             | v4.17, JSON lines | 21.4 ms | 484 (opm) | 22.6 | ratio at least 25 | no |\n\
             | all five | 85 ms |  |  |  |  |\n"
        );
        assert_eq!(summary(&record), "0 of 1 aims are met");
    }

    #[test]
    fn a_baseline_and_the_static_program_have_their_columns() {
        let before = record(vec![lint(42.8, 11.0)]);
        let now = Record {
            statics: vec![lint(20.0, 24.0)],
            ..record(vec![lint(21.4, 22.6)])
        };
        let text: String = tables(&now, Some(&before))
            .iter()
            .map(Table::text)
            .collect();
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        let words = |line: &str| {
            line.split("  ")
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(lines[1], "Linting whole catalogs");
        assert_eq!(
            words(lines[2]),
            [
                "what",
                "built for this machine",
                "static program",
                "peer",
                "ratio",
                "aim",
                "met",
                "before",
                "ratio before",
                "times better than before"
            ]
        );
        assert_eq!(
            words(lines[3]),
            [
                "v4.17, JSON lines",
                "21.4 ms",
                "20 ms",
                "484 (opm)",
                "22.6",
                "ratio at least 25",
                "no",
                "42.8 ms",
                "11",
                "2"
            ]
        );
    }
}
