//! `cargo xtask faults`: the experience of users while parts of a cluster fail, as a table.
//!
//! The end-to-end tests `faults::` cause the faults, and print a line for each. This module measures nothing.

use std::fmt::Write as _;

use olmguard_figures::FaultRow;

use crate::e2e::{self, E2eError};
use crate::page::{FiguresPage, PageError};
use crate::report::say;

/// The reason why there is no table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FaultsError {
    #[error(transparent)]
    Tests(#[from] E2eError),
    #[error("a line of the tests is not a row: {0}")]
    Row(#[from] serde_json::Error),
    #[error("the tests said no row")]
    NoRow,
    #[error(transparent)]
    Page(#[from] PageError),
}

/// Causes all faults and prints their table. Also writes the table into the page if `is_written` is set.
pub(crate) fn run(is_written: bool) -> Result<(), FaultsError> {
    let facts = is_written.then(|| PAGE.facts()).transpose()?;
    let (lines, ended) = e2e::measure("faults::", &[]);
    let rows = e2e::said(&lines, ROW)?;
    let table = table(&rows);
    say(&table);
    ended?;
    if rows.is_empty() {
        return Err(FaultsError::NoRow);
    }
    if let Some(facts) = facts {
        PAGE.write(&format!("{facts}.\n\n{table}"))?;
    }
    Ok(())
}

fn table(rows: &[FaultRow]) -> String {
    let mut table =
        "| fault | seconds | edits | a second | failed | undecided | wrong | recovered after |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    for row in rows {
        let FaultRow {
            fault,
            edits,
            pace,
            failed,
            undecided,
            wrong,
            seconds,
            recovered,
        } = row;
        // Writing to a String does not fail.
        let _ = writeln!(
            table,
            "| {fault} | {seconds:.1} | {edits} | {pace:.0} | {failed} | {undecided} | {wrong} | {recovered} ms |"
        );
    }
    table
}

/// The start of a line with a row.
const ROW: &str = "fault: ";

/// The page with the table.
pub(crate) const PAGE: FiguresPage = FiguresPage {
    file: "docs/reliability.md",
    start: "<!-- written by cargo xtask faults --write -->",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_tests_is_a_row_of_the_table() {
        let line = r#"fault: {"fault": "etcd is stopped", "edits": 400, "pace": 55.2, "failed": 0, "undecided": 3,
            "wrong": 0, "seconds": 30.25, "recovered": 120}"#;
        let other = "test faults::of_pods ... ok";
        let rows = e2e::said(&[line, other].map(str::to_owned), ROW).unwrap();
        let table = table(&rows);
        let last = table.lines().last().unwrap();
        assert_eq!(
            last,
            "| etcd is stopped | 30.2 | 400 | 55 | 0 | 3 | 0 | 120 ms |"
        );
    }

    #[test]
    fn a_row_that_cannot_be_read_is_a_fault() {
        let rows = e2e::said::<FaultRow>(&["fault: nothing".to_owned()], ROW);
        assert!(rows.is_err());
    }
}
