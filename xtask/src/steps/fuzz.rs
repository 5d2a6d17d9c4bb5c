//! A bounded run of each fuzz target, with the same inputs each time.

use super::{StepError, is_continuous_integration};
use crate::fuzz::{self, FuzzError};
use crate::report::Report;

pub(super) fn check(_: &mut Report) -> Result<(), StepError> {
    match fuzz::smoke() {
        Err(error @ FuzzError::NoCompiler) if !is_continuous_integration() => {
            let why = error.to_string();
            Err(StepError::LeftOut { why })
        }
        ended => Ok(ended?),
    }
}
