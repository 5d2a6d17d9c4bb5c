//! All tests, with what they print: how much was compared with recorded answers.

use super::StepError;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let tallies = &mut report.tallies;
    Program::cargo("test --workspace -- --show-output")
        .run_with_lines(|line| tallies.read(line))?;
    if tallies.is_empty() {
        return Err(StepError::NothingCompared);
    }
    Ok(())
}
