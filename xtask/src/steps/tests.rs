//! Runs all tests, and collects what they print: the number of comparisons with recorded answers.
//!
//! The environment has the locations of programs for comparison: `OLMGUARD_E2E_BIN`, directories as in a `PATH`;
//! `OLMGUARD_OPM`, the pinned opm; and `OLMGUARD_CHROMEDRIVER`, which drives a browser. A test without its program
//! reports that it is skipped.

use std::env::{self, JoinPathsError};
use std::ffi::OsString;
use std::mem;

use super::{StepError, machine};
use crate::bench;
use crate::find;
use crate::program::Program;
use crate::report::{Report, say, seconds};
use crate::suite::{self, Built, Ran};

/// Builds every program, every test and the benches of the workspace in one call, so what they share is built once.
pub(super) fn build(report: &mut Report) -> Result<(), StepError> {
    let build = Program::cargo("build --workspace --bins --tests --bench").arg(bench::PROGRAM);
    let messages = build
        .arg("--message-format=json-render-diagnostics")
        .output()?;
    report.built = Built::read(&messages)?;
    Ok(())
}

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let environment = environment(report)?;
    let mut all = Vec::new();
    suite::run(mem::take(&mut report.built.tests), &environment, |ran| {
        print(&ran);
        all.push(ran);
    })?;
    // Executables end in any order. Sorted, the output is the same each time.
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let failed: Vec<_> = all.iter().filter_map(fault).collect();
    for ran in all {
        report.ran(ran);
    }
    in_documentation(report)?;
    if !failed.is_empty() {
        return Err(StepError::Tests {
            executables: failed,
        });
    }
    if report.tallies.is_empty() {
        return Err(StepError::NothingCompared);
    }
    Ok(())
}

fn in_documentation(report: &mut Report) -> Result<(), StepError> {
    let tests = Program::cargo("test --workspace --doc --quiet -- --show-output");
    let tallies = &mut report.tallies;
    Ok(tests.run_with_lines(|line| tallies.read(line))?)
}

fn environment(report: &Report) -> Result<Vec<(&'static str, OsString)>, JoinPathsError> {
    let mut environment = vec![("OLMGUARD_E2E_BIN", env::join_paths(&report.programs)?)];
    if let Some(opm) = find::find_in("opm", &report.programs) {
        environment.push(("OLMGUARD_OPM", opm.into()));
    }
    if let Some(driver) = machine::chromedriver() {
        environment.push(("OLMGUARD_CHROMEDRIVER", driver.into()));
    }
    Ok(environment)
}

/// Prints all output of an executable except the counts, which are in the summary.
fn print(ran: &Ran) {
    let alone = ran
        .alone
        .map(|why| format!(", alone: {why}"))
        .unwrap_or_default();
    let (name, took) = (&ran.name, seconds(ran.took));
    say(format_args!("\n     Ran {name} in {took}{alone}"));
    for line in ran.lines.iter().filter(|line| ran.result() != Some(line)) {
        say(line);
    }
    if let Some(fault) = fault(ran) {
        say(format_args!("FAILED: {fault}"));
    }
}

fn fault(ran: &Ran) -> Option<String> {
    let fault = ran.fault.as_ref()?;
    Some(format!("{}: {fault}", ran.name))
}
