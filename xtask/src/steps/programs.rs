//! The programs that Go builds for later checks: the programs of a cluster, helm, promtool and opm.
//!
//! Normally, the background process has built them. What it could not build is tried again here, so that this step
//! reports the error.

use super::{StepError, is_continuous_integration};
use crate::report::{Report, seconds};
use crate::{assets, find};

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    if let Some(ahead) = report.ahead.take() {
        let took = ahead.wait().map_err(StepError::Background)?;
        let note = format!("the background process ended after {}", seconds(took));
        report.notes.push(note);
    }
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
