//! Runs every bench once with a small catalog. Its answers are asserted, and its figures must be
//! readable.

use olmguard_figures::Bench;

use super::StepError;
use crate::bench;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let program = report.built.benches.get(bench::PROGRAM);
    let program = program.ok_or(StepError::NotBuilt {
        program: bench::PROGRAM,
    })?;
    let tallies = &mut report.tallies;
    bench::smoke(program, &Bench::ALL, |line| tallies.read(line))?;
    Ok(())
}
