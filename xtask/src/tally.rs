//! The counts that tests print: how much they compared with recorded answers.
//!
//! ```text
//! masterminds-older.jsonl: 1063 compared, 0 left out (none)
//! left out: the full masterminds-older.jsonl, no shared folder; the sample is compared
//! test result: ok. 12 passed; 0 failed; ...
//! ```
//!
//! `suite::Clock` reads the times.

use std::fmt;

/// The counts, gathered from the lines of a test run in order.
#[derive(Default)]
pub(crate) struct Tallies {
    files: Vec<Tally>,
    /// The parts that the tests skipped, each once.
    pub(crate) left_out: Vec<String>,
    /// The number of tests that passed.
    pub(crate) tests: usize,
}

#[derive(Debug, Eq, PartialEq)]
struct Tally {
    file: String,
    compared: usize,
    left_out: String,
}

impl Tallies {
    /// Reads one line. Most lines have no counts.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(what) = line.strip_prefix("left out: ") {
            if !self.left_out.iter().any(|known| known == what) {
                self.left_out.push(what.to_owned());
            }
        } else if let Some(passed) = passed(line) {
            self.tests += passed;
        } else {
            self.files.extend(tally(line));
        }
    }

    /// Whether no test compared anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl fmt::Display for Tallies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |of: fn(&Tally) -> usize| self.files.iter().map(of).max().unwrap_or(0);
        let name_width = width(|tally| tally.file.chars().count());
        let count_width = width(|tally| tally.compared.to_string().len());
        for Tally {
            file,
            compared,
            left_out,
        } in &self.files
        {
            let pad = name_width - file.chars().count();
            writeln!(
                f,
                "{file}: {:pad$}{compared:count_width$} compared, {left_out}",
                ""
            )?;
        }
        Ok(())
    }
}

/// Parses `FILE: N compared, M left out (WHY)`.
fn tally(line: &str) -> Option<Tally> {
    let (file, counts) = line.split_once(": ")?;
    let (compared, left_out) = counts.split_once(" compared, ")?;
    Some(Tally {
        file: file.to_owned(),
        compared: compared.parse().ok()?,
        left_out: left_out.to_owned(),
    })
}

/// Parses `test result: ok. N passed; ...`.
fn passed(line: &str) -> Option<usize> {
    let counts = line.strip_prefix("test result: ok. ")?;
    counts.split_once(" passed")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_lines_of_the_form() {
        let mut tallies = Tallies::default();
        for line in [
            "running 3 tests",
            "test compared, left out ... ok",
            "a.jsonl: many compared, 0 left out (none)",
            "b.jsonl: 5 compared, 2 left out (no selector)",
            "decisions/ranges.jsonl: 1063 compared, 0 left out (none)",
            "left out: x",
            "left out: x",
            "test result: ok. 3 passed; 0 failed; 0 ignored",
            "test result: FAILED. 8 passed; 1 failed",
            "test result: ok. 4 passed; 0 failed; 0 ignored",
        ] {
            tallies.read(line);
        }
        assert_eq!(
            tallies.to_string(),
            "b.jsonl:                   5 compared, 2 left out (no selector)\n\
             decisions/ranges.jsonl: 1063 compared, 0 left out (none)\n"
        );
        assert_eq!(tallies.left_out, ["x"]);
        assert_eq!(tallies.tests, 7);
    }
}
