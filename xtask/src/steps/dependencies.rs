//! Checks the dependencies: bans, licences and sources by `.deny.toml`, and known advisories.
//!
//! The database of advisories is a repository that not every machine can reach. If it cannot be
//! reached, the run reports this. An advisory does not fail the run. Otherwise, an advisory of
//! tomorrow would fail an unchanged commit of today.

use std::path::Path;

use super::StepError;
use super::pinned::CARGO_DENY;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let deny = CARGO_DENY.program()?;
    calling(&deny, "--workspace --locked check bans licenses sources").run()?;
    check_advisories(&deny, report);
    Ok(())
}

fn check_advisories(deny: &Path, report: &mut Report) {
    let fetch = calling(deny, "fetch db");
    if let Err(error) = within_limits(fetch).run() {
        report.left_out.push(format!(
            "advisories: their database cannot be reached ({error})"
        ));
    } else if let Err(error) =
        within_limits(calling(deny, "--workspace --locked check advisories")).run()
    {
        report
            .notes
            .push(format!("LOOK: advisories were found ({error}), see above"));
    } else {
        report.notes.push("no advisories".to_owned());
    }
}

/// A call of cargo-deny, with arguments that are separated by spaces.
fn calling(deny: &Path, arguments: &str) -> Program {
    Program::at(deny).args(arguments.split(' '))
}

/// Sets limits: a connection that stalls for 20 s ends, and git does not ask for a password.
fn within_limits(deny: Program) -> Program {
    deny.env("GIT_HTTP_LOW_SPEED_LIMIT", "1000")
        .env("GIT_HTTP_LOW_SPEED_TIME", "20")
        .env("GIT_TERMINAL_PROMPT", "0")
}
