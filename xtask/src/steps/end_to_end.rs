//! The end-to-end tests. A machine that cannot run them says so; continuous integration has to.

use super::{StepError, is_continuous_integration};
use crate::e2e;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let ended = e2e::run_with_lines(|line| report.tallies.read(line));
    ended.map_err(|error| {
        if error.is_for_want_of_means() && !is_continuous_integration() {
            let why = error.to_string();
            StepError::LeftOut { why }
        } else {
            error.into()
        }
    })
}
