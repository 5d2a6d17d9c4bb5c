//! Attacks the program as delivered, with the memory limit of its deployment: `tests/attacked.rs`.

use crate::build::{Build, BuildError};
use crate::image::ENVIRONMENT;
use crate::program::Program;

/// Builds the program and attacks it.
pub(crate) fn run() -> Result<(), BuildError> {
    let build = Build::here()?;
    // With the features of the whole workspace, as all tests are built.
    let test = Program::cargo("test --quiet --workspace --test attacked");
    let test = test.args(["--", "--ignored", "--nocapture"]);
    let test = test.env(ENVIRONMENT.0, ENVIRONMENT.1);
    Ok(test.env("OLMGUARD_ATTACKED", build.program).run()?)
}
