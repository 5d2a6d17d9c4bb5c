//! Tries the mutants on the lines that the last commit changed, in crates whose tests take seconds.

use super::StepError;
use super::pinned::CARGO_MUTANTS;
use crate::mutants;
use crate::program::Program;
use crate::report::{Report, say};

pub(super) fn check(_: &mut Report) -> Result<(), StepError> {
    let before = Program::new("git").args(["rev-parse", "--verify", "--quiet", "HEAD^"]);
    if !before.works() {
        let why = "no commit before this one".to_owned();
        return Err(StepError::LeftOut { why });
    }
    if !mutants::are_in_the_last_commit() {
        say("the last commit changed nothing that they are made of");
        return Ok(());
    }
    let tool = CARGO_MUTANTS.program()?;
    Ok(mutants::of_the_last_commit(&tool)?)
}
