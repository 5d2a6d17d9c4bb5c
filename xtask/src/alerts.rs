//! The alert rules, their unit tests and the metrics of a running guard, put to promtool.
//!
//! The calls stand in `tests/monitoring/promtool.rs`, which leaves them out where there is no promtool.
//! Here it has to be there: for whoever changes a rule, and for a run that has built one.

use crate::program::{Cargo, CargoError};

/// Puts them to the promtool of these folders, a list as in `PATH`; without, to that of
/// `OLMGUARD_E2E_BIN`, and then of the `PATH`.
pub(crate) fn run(folders: Option<&str>) -> Result<(), AlertsError> {
    let tests = Cargo::new(TESTS);
    let tests = match folders {
        Some(folders) => tests.env("OLMGUARD_E2E_BIN", folders),
        None => tests,
    };
    let mut is_left_out = false;
    tests.run_with_lines(|line| is_left_out |= line.starts_with(LEFT_OUT))?;
    if is_left_out {
        return Err(AlertsError::NoPromtool);
    }
    Ok(())
}

/// Why promtool was not asked, or is not content.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AlertsError {
    #[error("the checks of deploy/monitoring by promtool do not pass, see above: {0}")]
    Refused(#[from] CargoError),
    #[error(
        "no promtool to check deploy/monitoring with: it is in no folder of OLMGUARD_E2E_BIN and not \
         on the PATH; Debian's package prometheus has it"
    )]
    NoPromtool,
}

const TESTS: &str = "test --package olmguard --test alerting -- promtool:: --show-output";
const LEFT_OUT: &str = "left out: promtool";
