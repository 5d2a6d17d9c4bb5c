//! Which series a test has seen move.
//!
//! `tests/server/telemetry/moved` has a file for each place where a server is driven; a line of it is a series
//! as the text of the metrics has it. `tests/server/telemetry/moved_rows.rs` sees to it that every metric has
//! a line.

use std::collections::{BTreeMap, BTreeSet};

/// The values of each series of one server.
#[derive(Debug, Default)]
pub struct Moved(BTreeMap<String, BTreeSet<String>>);

impl Moved {
    /// Takes down the values of this moment. A series that is absent has none.
    pub fn look(&mut self, text: &str) {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (series, value) in lines.filter_map(|line| line.rsplit_once(' ')) {
            let values = self.0.entry(series.to_owned()).or_default();
            values.insert(value.to_owned());
        }
    }

    /// The series that have had more than one value.
    pub fn series(&self) -> BTreeSet<String> {
        let moved = self.0.iter().filter(|(_, values)| values.len() > 1);
        moved.map(|(series, _)| series.clone()).collect()
    }

    /// Those of these rows that have not moved.
    pub fn still<'r>(&self, text: &'r str) -> Vec<&'r str> {
        let moved = self.series();
        rows(text).filter(|row| !moved.contains(*row)).collect()
    }
}

/// The rows of a file.
pub fn rows(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}
