//! The end-to-end tests. A machine that cannot run them says so; continuous integration has to.

use super::{StepError, unless_left_out};
use crate::e2e;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let ended = e2e::run_with_lines(|line| report.tallies.read(line));
    ended.map_err(|error| {
        let is_left_out = error.is_for_want_of_means();
        unless_left_out(error.into(), is_left_out)
    })
}
