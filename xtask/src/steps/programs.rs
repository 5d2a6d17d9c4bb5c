//! What is built by Go for later checks: the programs of a cluster, helm, promtool, opm.

use super::{StepError, is_continuous_integration};
use crate::report::Report;
use crate::{assets, find};

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    report.programs = find::folders();
    match assets::prepare() {
        Ok(assets) => report.programs.extend(assets.programs),
        Err(error) if error.is_for_want_of_means() && !is_continuous_integration() => {
            return Err(StepError::LeftOut {
                why: error.to_string(),
            });
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
