//! The rendered manifests are what their sources render to, and both sources say the same.

use super::{StepError, is_continuous_integration};
use crate::assets::{self, AssetsError};
use crate::render::RenderError;
use crate::report::Report;
use crate::{find, render};

pub(super) fn check(_: &mut Report) -> Result<(), StepError> {
    let mut folders = find::folders();
    match assets::prepare() {
        Ok(assets) => folders.extend(assets.programs),
        Err(error) if is_left_out(&error) => {}
        Err(error) => return Err(error.into()),
    }
    match render::check(&folders) {
        Err(error) if may_be_left_out(&error) => Err(StepError::LeftOut {
            why: error.to_string(),
        }),
        ended => Ok(ended?),
    }
}

/// Without what was to be built, kubectl and helm may still be on the `PATH`.
fn is_left_out(error: &AssetsError) -> bool {
    error.is_for_want_of_means() && !is_continuous_integration()
}

fn may_be_left_out(error: &RenderError) -> bool {
    error.is_for_want_of_means() && !is_continuous_integration()
}
