//! The rendered manifests are what their sources render to, and both sources say the same.

use super::{StepError, unless_left_out};
use crate::render;
use crate::report::Report;

pub(super) fn check(_: &mut Report) -> Result<(), StepError> {
    render::check().map_err(|error| {
        let is_left_out = error.is_for_want_of_means();
        unless_left_out(error.into(), is_left_out)
    })
}
