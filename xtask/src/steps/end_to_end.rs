//! The end-to-end tests. A machine that cannot run them says so; continuous integration has to.

use std::time::Instant;

use super::{StepError, is_continuous_integration};
use crate::e2e;
use crate::report::Report;
use crate::suite::Clock;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let program = report.built.programs.get(e2e::PROGRAM);
    let program = program.ok_or(StepError::NotBuilt {
        program: e2e::PROGRAM,
    })?;
    let mut clock = Clock::new(Instant::now());
    let tallies = &mut report.tallies;
    let ended = e2e::run_with_lines(program, |line| {
        clock.read(line, Instant::now());
        tallies.read(line);
    });
    report.trials = clock.tests;
    ended.map_err(|error| {
        if error.is_for_want_of_means() && !is_continuous_integration() {
            let why = error.to_string();
            StepError::LeftOut { why }
        } else {
            error.into()
        }
    })
}
