//! Checks of the alert rules, their unit tests and the metrics of a running olmguard, with promtool.
//!
//! The calls are in `tests/pages/alerting/promtool.rs`, which skips them if there is no promtool. Here, for people who
//! change a rule, a missing promtool is an error.

use std::env::{self, JoinPathsError};

use crate::find;
use crate::program::{Program, ProgramError};

/// Runs the checks with the first promtool that is found.
pub(crate) fn run() -> Result<(), AlertsError> {
    let mut is_left_out = false;
    let tests = Program::cargo(TESTS).env("OLMGUARD_E2E_BIN", env::join_paths(find::folders())?);
    tests.run_with_lines(|line| is_left_out |= line.starts_with(LEFT_OUT))?;
    if is_left_out {
        return Err(AlertsError::NoPromtool);
    }
    Ok(())
}

/// The reason why promtool did not run, or does not accept the rules.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AlertsError {
    #[error("the checks of deploy/monitoring by promtool do not pass, see above: {0}")]
    Refused(#[from] ProgramError),
    #[error("a folder of programs cannot be named in a PATH: {0}")]
    Folder(#[from] JoinPathsError),
    #[error(
        "no promtool to check deploy/monitoring with: it is in no folder of OLMGUARD_E2E_BIN and not \
         on the PATH; `cargo xtask e2e-assets` builds it, and Debian's package prometheus has it"
    )]
    NoPromtool,
}

const TESTS: &str = "test --package olmguard --test pages -- alerting::promtool:: --show-output";
const LEFT_OUT: &str = "left out: promtool";
