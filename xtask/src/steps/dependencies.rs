//! What is linked in: bans, licences and sources by `.deny.toml`, and known advisories.
//!
//! The database of advisories is a repository that not every machine can reach; where it cannot be,
//! the run says so. An advisory does not fail the run: else one published tomorrow would fail a
//! commit of today that nobody changed.

use super::StepError;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    if !Program::cargo("deny --version").works() {
        Program::cargo("install --locked --version ^0.20 cargo-deny").run()?;
    }
    Program::cargo("deny --workspace --locked check bans licenses sources").run()?;
    check_advisories(report);
    Ok(())
}

fn check_advisories(report: &mut Report) {
    let fetch = Program::cargo("deny fetch db");
    if let Err(error) = within_limits(fetch).run() {
        report.left_out.push(format!(
            "advisories: their database cannot be reached ({error})"
        ));
    } else if let Err(error) =
        within_limits(Program::cargo("deny --workspace --locked check advisories")).run()
    {
        report
            .notes
            .push(format!("LOOK: advisories were found ({error}), see above"));
    } else {
        report.notes.push("no advisories".to_owned());
    }
}

/// A connection that stalls for 20 s ends; git asks nobody for a password.
fn within_limits(cargo: Program) -> Program {
    cargo
        .env("GIT_HTTP_LOW_SPEED_LIMIT", "1000")
        .env("GIT_HTTP_LOW_SPEED_TIME", "20")
        .env("GIT_TERMINAL_PROMPT", "0")
}
