//! What a run of all checks says in the end: what was compared, what was left out, what passed.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::tally::Tallies;

/// The closing lines of a run in which nothing failed.
#[derive(Default)]
pub(crate) struct Report {
    /// What the tests printed about themselves.
    pub(crate) tallies: Tallies,
    /// Facts that a check found worth telling.
    pub(crate) notes: Vec<String>,
    /// Folders with the programs that checks use, beside those of the `PATH`.
    pub(crate) programs: Vec<PathBuf>,
    /// What a check could not look at, and why.
    pub(crate) left_out: Vec<String>,
    /// The checks that ran, in order.
    pub(crate) passed: Vec<&'static str>,
    /// How long all of it took.
    pub(crate) took: Duration,
}

impl Report {
    /// Writes it as far as the reader listens.
    pub(crate) fn print(&self, out: &mut impl Write) {
        // A reader that closed its end has what it wanted: no failure of the checks.
        let _ = self.write(out);
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n== compared with recorded answers, all agree")?;
        write!(out, "{}", self.tallies)?;
        section(out, "notes", &self.notes)?;
        let left_out: Vec<_> = self.tallies.left_out.iter().chain(&self.left_out).collect();
        section(out, "left out", &left_out)?;
        writeln!(
            out,
            "\n== all passed in {} s: {}; {} tests",
            self.took.as_secs(),
            self.passed.join(", "),
            self.tallies.tests
        )
    }
}

/// Prints one line at once, in order with what programs print on the same stream.
pub(crate) fn say(line: impl Display) {
    // As above: only a reader that went away makes this fail.
    let _ = writeln!(io::stdout().lock(), "{line}");
}

fn section(out: &mut impl Write, title: &str, lines: &[impl Display]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n== {title}")?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_left_out_and_what_passed() {
        let mut report = Report {
            left_out: vec!["advisories: not reached".to_owned()],
            passed: vec!["format", "tests"],
            took: Duration::from_secs(61),
            ..Report::default()
        };
        for line in [
            "a.jsonl: 12 compared, 3 left out (older)",
            "left out: the full a.jsonl, no shared folder",
            "test result: ok. 7 passed; 0 failed; 0 ignored",
        ] {
            report.tallies.read(line);
        }
        let mut text = Vec::new();
        report.print(&mut text);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "\n== compared with recorded answers, all agree\n\
             a.jsonl: 12 compared, 3 left out (older)\n\
             \n== left out\n\
             the full a.jsonl, no shared folder\n\
             advisories: not reached\n\
             \n== all passed in 61 s: format, tests; 7 tests\n"
        );
    }
}
