//! Figures on curves: a table for each chart, with a row for each curve and a column for each size.

use olmguard_figures::{Bench, Figure, number};

use super::super::curves::{Chart, Curve, charts};
use super::Table;

/// Creates one table for each chart.
pub(super) fn of_charts<'f>(
    bench: Bench,
    figures: impl IntoIterator<Item = &'f Figure>,
) -> Vec<Table> {
    let charts = charts(figures);
    charts.iter().map(|chart| table(bench, chart)).collect()
}

fn table(bench: Bench, chart: &Chart<'_>) -> Table {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let mut sizes: Vec<u32> = points().map(|(size, _)| *size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let unit = points()
        .next()
        .map_or("", |(_, figure)| figure.unit.symbol());
    let mut columns = vec![
        format!("{unit}, by the number of bundles"),
        "aim".to_owned(),
    ];
    columns.extend(sizes.iter().map(|size| number((*size).into())));
    let rows = chart.curves.iter().flat_map(|curve| rows(curve, &sizes));
    let title = format!("{}: {}", bench.title(), chart.name);
    Table::new(title, columns, rows.collect())
}

/// The row of a curve, and the row of its peer if it has one.
fn rows(curve: &Curve<'_>, sizes: &[u32]) -> Vec<Vec<String>> {
    let mut figures = curve.points.iter().map(|(_, figure)| figure);
    let aim = figures.clone().find_map(|figure| figure.aim);
    let peer = figures.find_map(|figure| figure.peer.as_ref());
    let row = |name: String, aim: String, cell: fn(&Figure) -> String| {
        let cells = sizes
            .iter()
            .map(|size| curve.at(*size).map(cell).unwrap_or_default());
        [name, aim].into_iter().chain(cells).collect()
    };
    let aim = aim.map(|aim| aim.to_string()).unwrap_or_default();
    let own = row(curve.name.to_owned(), aim, |figure| {
        let is_missed = figure.is_met() == Some(false);
        let missed = if is_missed { " (missed)" } else { "" };
        format!("{}{missed}", number(figure.value))
    });
    let peer = peer.map(|peer| {
        let name = format!("{}, {}", curve.name, peer.name);
        row(name, String::new(), |figure| {
            let value = figure.peer.as_ref().map(|peer| number(peer.value));
            value.unwrap_or_default()
        })
    });
    [own].into_iter().chain(peer).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::curves::tests::point;
    use super::*;

    #[test]
    fn a_curve_is_a_row_and_its_peer_the_next() {
        let figures = [
            point("next", 100, 3.75, Some(274.0)),
            point("next", 1000, 4.7, Some(2567.0)),
            point("next", 100_000, 16.2, None),
        ];
        let tables = of_charts(Bench::Growth, &figures);
        assert_eq!(
            tables.iter().map(Table::markdown).collect::<String>(),
            "### One answer, with message and advice, as one package grows: a < b\n\n\
             | µs, by the number of bundles | aim | 100 | 1,000 | 100,000 |\n\
             | --- | ---: | ---: | ---: | ---: |\n\
             | next | at most 5 | 3.75 | 4.70 | 16.2 (missed) |\n\
             | next, operator-controller |  | 274 | 2,567 |  |\n"
        );
    }
}
