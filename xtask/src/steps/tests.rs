//! All tests, with what they print: how much was compared with recorded answers.

use std::env;

use super::StepError;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let programs = env::join_paths(&report.programs)?;
    let tallies = &mut report.tallies;
    Program::cargo("test --workspace -- --show-output")
        .env("OLMGUARD_E2E_BIN", programs)
        .run_with_lines(|line| tallies.read(line))?;
    if tallies.is_empty() {
        return Err(StepError::NothingCompared);
    }
    Ok(())
}
