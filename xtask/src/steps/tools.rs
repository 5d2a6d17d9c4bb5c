//! Whether the toolchain has what the other checks call, and the start of the background process. A
//! missing part is a failure, never a skip.

use super::{StepError, is_continuous_integration};
use crate::ahead::Ahead;
use crate::build::Target;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    for (arguments, component) in [("fmt --version", "rustfmt"), ("clippy --version", "clippy")] {
        if !Program::cargo(arguments).works() {
            return Err(StepError::MissingComponent { component });
        }
    }
    if is_continuous_integration() {
        // Needed last of all: a machine without it fails here instead.
        Target::here().prepare()?;
    }
    report.ahead = Some(Ahead::start().map_err(StepError::Background)?);
    Ok(())
}
