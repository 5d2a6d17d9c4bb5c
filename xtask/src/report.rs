//! The summary of a run of all checks: the comparisons, the skipped parts, the results of the tests, and the times.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::ahead::Ahead;
use crate::suite::{Built, Ran, Timed, slowest};
use crate::tally::Tallies;

/// The data that checks pass to each other, and the summary of a run in which nothing failed.
#[derive(Default)]
pub(crate) struct Report {
    /// The counts that the tests printed.
    pub(crate) tallies: Tallies,
    /// Notes of the checks for the summary.
    pub(crate) notes: Vec<String>,
    /// Directories with the programs that checks use, in addition to the `PATH`.
    pub(crate) programs: Vec<PathBuf>,
    /// The parts that a check had to skip, with the reason.
    pub(crate) left_out: Vec<String>,
    /// The background process, until a check waits for it.
    pub(crate) ahead: Option<Ahead>,
    /// The outputs of cargo for this workspace.
    pub(crate) built: Built,
    /// The checks that ran, in order.
    pub(crate) steps: Vec<Step>,
    /// Each test executable with its line of counts, `test result: ...`.
    results: Vec<(String, String)>,
    /// Every test with its time.
    tests: Vec<Timed>,
    /// Every end-to-end test with its time.
    pub(crate) trials: Vec<Timed>,
    /// The reasons why end-to-end tests failed, line by line.
    pub(crate) reasons: Vec<String>,
}

/// A check that has ended, and its time.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) took: Duration,
}

impl Report {
    /// Adds the output of a test executable.
    pub(crate) fn ran(&mut self, ran: Ran) {
        ran.lines.iter().for_each(|line| self.tallies.read(line));
        if let Some(result) = ran.result() {
            self.results.push((ran.name.clone(), result.to_owned()));
        }
        self.tests.extend(ran.tests.into_iter().map(|test| Timed {
            name: format!("{} {}", ran.name, test.name),
            ..test
        }));
    }

    /// Everything that the tests and the checks skipped.
    pub(crate) fn all_left_out(&self) -> Vec<&str> {
        let left_out = self.tallies.left_out.iter().chain(&self.left_out);
        left_out.map(String::as_str).collect()
    }

    /// Writes the summary, as long as the reader reads.
    pub(crate) fn print(&self, out: &mut impl Write) {
        // A reader that closes its end early has what it needs. This is not a failure of the checks.
        let _ = self.write(out);
    }

    /// Writes the results and the times of a run that ends early.
    pub(crate) fn print_times(&self, out: &mut impl Write) {
        // As above.
        let _ = self.write_times(out);
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.tallies.is_empty() {
            writeln!(out, "\n== compared with recorded answers, all agree")?;
            write!(out, "{}", self.tallies)?;
        }
        section(out, "notes", &self.notes)?;
        section(out, "left out", &self.all_left_out())?;
        self.write_times(out)?;
        writeln!(
            out,
            "\n== all passed in {}; {} tests",
            seconds(self.took()),
            self.tallies.tests
        )
    }

    fn write_times(&self, out: &mut impl Write) -> io::Result<()> {
        let results = self.results.iter();
        let results = results.map(|(name, result)| format!("     Ran {name}\n{result}"));
        section(out, "test results", &results.collect::<Vec<_>>())?;
        let steps = self.steps.iter().map(|step| (step.name, step.took));
        let steps = steps.chain([("sum", self.took())]);
        section(out, "steps", &steps.map(timed).collect::<Vec<_>>())?;
        for (title, tests) in [("tests", &self.tests), ("end-to-end tests", &self.trials)] {
            let slowest = slowest(tests, 5).into_iter();
            let slowest = slowest.map(|test| timed((&test.name, test.took)));
            section(
                out,
                &format!("slowest {title}"),
                &slowest.collect::<Vec<_>>(),
            )?;
        }
        section(out, "why end-to-end tests failed", &self.reasons)
    }

    fn took(&self) -> Duration {
        self.steps.iter().map(|step| step.took).sum()
    }
}

/// A time in the form in which it is printed.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn timed((name, took): (&str, Duration)) -> String {
    format!("{:>9}  {name}", seconds(took))
}

/// Prints one line immediately, to keep the order with other programs that print on the same stream.
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

    fn ran(name: &str, tests: &[(&str, u64)], lines: &[&str]) -> Ran {
        let timed = tests.iter().map(|(name, seconds)| Timed {
            name: (*name).to_owned(),
            took: Duration::from_secs(*seconds),
        });
        Ran {
            name: name.to_owned(),
            alone: None,
            took: Duration::from_secs(1),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            tests: timed.collect(),
            fault: None,
        }
    }

    #[test]
    fn says_what_was_left_out_what_passed_and_how_long_it_took() {
        let mut report = Report {
            left_out: vec!["advisories: not reached".to_owned()],
            steps: [("format", 500), ("tests", 60_500)]
                .map(|(name, took)| Step {
                    name,
                    took: Duration::from_millis(took),
                })
                .into(),
            ..Report::default()
        };
        report.ran(ran(
            "tests/a.rs",
            &[("b", 1), ("c", 12)],
            &[
                "a.jsonl: 12 compared, 3 left out (older)",
                "left out: the full a.jsonl, no shared folder",
                "test result: ok. 7 passed; 0 failed; 0 ignored",
            ],
        ));
        report.trials = ran("", &[("texts::one", 3)], &[]).tests;
        let mut text = Vec::new();
        report.print(&mut text);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "\n== compared with recorded answers, all agree\n\
             a.jsonl: 12 compared, 3 left out (older)\n\
             \n== left out\n\
             the full a.jsonl, no shared folder\n\
             advisories: not reached\n\
             \n== test results\n     Ran tests/a.rs\n\
             test result: ok. 7 passed; 0 failed; 0 ignored\n\
             \n== steps\n    0.5 s  format\n   60.5 s  tests\n   61.0 s  sum\n\
             \n== slowest tests\n   12.0 s  tests/a.rs c\n    1.0 s  tests/a.rs b\n\
             \n== slowest end-to-end tests\n    3.0 s  texts::one\n\
             \n== all passed in 61.0 s; 7 tests\n"
        );
    }
}
