//! Checks that the rendered manifests are up to date, and that both of their sources agree.

use super::{StepError, is_continuous_integration};
use crate::render;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    match render::check(&report.programs) {
        Err(error) if error.is_for_want_of_means() && !is_continuous_integration() => {
            Err(StepError::LeftOut {
                why: error.to_string(),
            })
        }
        ended => Ok(ended?),
    }
}
