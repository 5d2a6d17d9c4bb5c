//! The rendered manifests are what their sources render to, and both sources say the same.

use std::env;

use super::StepError;
use crate::report::Report;
use crate::{find, render};

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    match render::check(&find::folders()) {
        Err(error) if error.is_for_want_of_means() && !is_continuous_integration() => {
            report.left_out.push(format!("manifests: {error}"));
            Ok(())
        }
        ended => Ok(ended?),
    }
}

fn is_continuous_integration() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
}
