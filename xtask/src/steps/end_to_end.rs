//! The end-to-end tests. A machine that cannot run them skips them with a message; in CI, this is
//! an error.

use std::time::Duration;

use super::{StepError, is_continuous_integration};
use crate::e2e;
use crate::report::Report;
use crate::suite::Timed;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let program = report.built.programs.get(e2e::PROGRAM);
    let program = program.ok_or(StepError::NotBuilt {
        program: e2e::PROGRAM,
    })?;
    let (tallies, trials) = (&mut report.tallies, &mut report.trials);
    let reasons = &mut report.reasons;
    let ended = e2e::run_with_lines(program, |line| {
        trials.extend(timed(line));
        reasons.extend(reason(line));
        tallies.read(line);
    });
    ended.map_err(|error| {
        if error.is_for_want_of_means() && !is_continuous_integration() {
            let why = error.to_string();
            StepError::LeftOut { why }
        } else {
            error.into()
        }
    })
}

/// The time of a test. Two tests run at the same time, so each prints its own time: `NAME took 12.3
/// s`.
fn timed(line: &str) -> Option<Timed> {
    let (name, rest) = line.split_once(" took ")?;
    let seconds: f64 = rest.strip_suffix(" s")?.parse().ok()?;
    Some(Timed {
        name: name.to_owned(),
        took: Duration::try_from_secs_f64(seconds).ok()?,
    })
}

/// A line about the reason of a failure, which a test prints long before the end: `NAME failed:
/// LINE`.
fn reason(line: &str) -> Option<String> {
    let (name, _) = line.split_once(" failed: ")?;
    let is_name = name.contains("::") && !name.contains(' ');
    is_name.then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_from_the_line_of_its_test() {
        let read = |line| timed(line).map(|it| (it.name, it.took.as_millis()));
        let expected = ("away::etcd_is_stopped".to_owned(), 12_300);
        assert_eq!(read("away::etcd_is_stopped took 12.3 s"), Some(expected));
        assert_eq!(read("37 trials took 700 s in all, the slowest:"), None);
        assert_eq!(read("test bare::takes_an_extension ... ok"), None);
    }

    #[test]
    fn why_one_failed_is_read_from_its_lines() {
        let line = "away::etcd_is_stopped failed: waited 60s for a pod, in vain";
        assert_eq!(reason(line).as_deref(), Some(line));
        assert_eq!(reason("it failed: texts::one"), None);
        assert_eq!(
            reason("test result: FAILED. 1 passed; 1 failed; 0 ignored"),
            None
        );
    }
}
