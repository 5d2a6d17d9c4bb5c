//! Attacks the program as it is delivered, under the limit that it is delivered with: `tests/attacked.rs`.

use crate::program::Program;
use crate::release::{Release, ReleaseError};

/// Builds the program, and attacks it.
pub(crate) fn run() -> Result<(), ReleaseError> {
    let release = Release::build()?;
    let test = Program::cargo("test --quiet --package olmguard --test attacked");
    let test = test.args(["--", "--ignored", "--nocapture"]);
    Ok(test.env("OLMGUARD_ATTACKED", release.program).run()?)
}
