//! The time of each test, from the moments at which results are printed.
//!
//! With the stable toolchain, a test executable does not print the times of tests. Its tests run one after another, so
//! the time of a test is the time between the previous result and its own.

use std::time::{Duration, Instant};

/// One test and its time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Timed {
    pub(crate) name: String,
    pub(crate) took: Duration,
}

/// Reads the lines of one executable as they arrive.
pub(crate) struct Clock {
    since: Instant,
    /// A test whose result was not on the line of its name, because the test printed in between.
    open: Option<String>,
    pub(crate) tests: Vec<Timed>,
}

impl Clock {
    pub(crate) fn new(start: Instant) -> Self {
        Self {
            since: start,
            open: None,
            tests: Vec::new(),
        }
    }

    /// Reads one line that was printed at this moment.
    pub(crate) fn read(&mut self, line: &str, at: Instant) {
        if line.starts_with("running ") && self.tests.is_empty() {
            self.since = at;
        }
        let named = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "));
        if let Some((name, _)) = named {
            self.open = Some(name.trim_end().to_owned());
        }
        if !is_end(named.map_or(line, |(_, rest)| rest).trim_end()) {
            return;
        }
        if let Some(name) = self.open.take() {
            let took = at.saturating_duration_since(self.since);
            self.tests.push(Timed { name, took });
            self.since = at;
        }
    }

    /// The test that has no result yet.
    pub(crate) fn running(&self) -> Option<&str> {
        self.open.as_deref()
    }
}

/// The slowest tests, slowest first, at most `count` of them.
pub(crate) fn slowest(tests: &[Timed], count: usize) -> Vec<&Timed> {
    let mut tests: Vec<_> = tests.iter().collect();
    tests.sort_by(|a, b| b.took.cmp(&a.took).then_with(|| a.name.cmp(&b.name)));
    tests.truncate(count);
    tests
}

/// Whether a text is the end of a result. `ok` and `FAILED` follow the output of the test; `ignored` can have a
/// reason.
fn is_end(result: &str) -> bool {
    result.ends_with("ok") || result.ends_with("FAILED") || result.starts_with("ignored")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[(&str, u64)]) -> Clock {
        let start = Instant::now();
        let mut clock = Clock::new(start);
        for (line, seconds) in lines {
            clock.read(line, start + Duration::from_secs(*seconds));
        }
        clock
    }

    fn seconds(clock: &Clock) -> Vec<(&str, u64)> {
        let tests = clock.tests.iter();
        tests
            .map(|test| (&*test.name, test.took.as_secs()))
            .collect()
    }

    #[test]
    fn a_test_takes_from_the_result_before_it_to_its_own() {
        let clock = read(&[
            ("", 1),
            ("running 3 tests", 2),
            ("test a::b ... ok", 5),
            ("test c - should panic ... FAILED", 6),
            ("test d ... ignored, is run by c", 6),
            ("", 9),
            ("successes:", 9),
            ("test result: FAILED. 1 passed; 1 failed", 9),
        ]);
        assert_eq!(
            seconds(&clock),
            [("a::b", 3), ("c - should panic", 1), ("d", 0)]
        );
        assert_eq!(clock.running(), None);
    }

    #[test]
    fn a_result_is_found_behind_what_the_test_printed() {
        let clock = read(&[
            ("running 2 tests", 0),
            ("test a ... a line of a process", 1),
            ("another", 2),
            ("ok", 4),
            ("test b ... ", 5),
        ]);
        assert_eq!(seconds(&clock), [("a", 4)]);
        assert_eq!(clock.running(), Some("b"));
    }

    #[test]
    fn the_slowest_come_first() {
        let tests: Vec<_> = [("a", 1), ("b", 3), ("c", 3), ("d", 2)]
            .map(|(name, seconds)| Timed {
                name: name.to_owned(),
                took: Duration::from_secs(seconds),
            })
            .into();
        let names: Vec<_> = slowest(&tests, 3).iter().map(|test| &*test.name).collect();
        assert_eq!(names, ["b", "c", "d"]);
    }
}
