//! Whether the toolchain has what the other checks call. A missing part is a failure, never a skip.

use super::StepError;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(_: &mut Report) -> Result<(), StepError> {
    for (arguments, component) in [("fmt --version", "rustfmt"), ("clippy --version", "clippy")] {
        if !Program::cargo(arguments).works() {
            return Err(StepError::MissingComponent { component });
        }
    }
    Ok(())
}
