//! Checks that the toolchain has what the other checks call, and starts the background process. A
//! missing part is always a failure.

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
        // Needed only at the end, but a machine without it should fail here.
        Target::here().prepare()?;
    }
    report.ahead = Some(Ahead::start().map_err(StepError::Background)?);
    Ok(())
}
