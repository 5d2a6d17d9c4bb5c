//! All tests, with what they print: how much was compared with recorded answers.
//!
//! They are told where programs are that they compare with: `OLMGUARD_E2E_BIN`, folders as in a
//! `PATH`, `OLMGUARD_OPM`, opm as it is pinned, and `OLMGUARD_CHROMEDRIVER`, which drives a browser. A
//! test that misses one says that it is left out.

use std::env;

use super::{StepError, browser};
use crate::find;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let programs = env::join_paths(&report.programs)?;
    let mut tests = Program::cargo("test --workspace -- --show-output");
    tests = tests.env("OLMGUARD_E2E_BIN", programs);
    if let Some(opm) = find::find_in("opm", &report.programs) {
        tests = tests.env("OLMGUARD_OPM", opm);
    }
    if let Some(driver) = browser::driver()? {
        tests = tests.env("OLMGUARD_CHROMEDRIVER", driver);
    }
    let tallies = &mut report.tallies;
    tests.run_with_lines(|line| tallies.read(line))?;
    if tallies.is_empty() {
        return Err(StepError::NothingCompared);
    }
    Ok(())
}
