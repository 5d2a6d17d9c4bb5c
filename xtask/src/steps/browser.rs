//! The browser that pages are tried in: Chromium, behind chromedriver.
//!
//! Continuous integration runs as root on Debian and gets it as packages; nobody else's machine is
//! changed.

use std::path::PathBuf;

use super::{StepError, is_continuous_integration};
use crate::find;
use crate::program::Program;

/// Where chromedriver is; nothing where there is none and none has to be had.
pub(super) fn driver() -> Result<Option<PathBuf>, StepError> {
    let found = find::find(DRIVER, &[]);
    if found.is_some() || !is_continuous_integration() {
        return Ok(found);
    }
    Program::new("apt-get").args(["update"]).run()?;
    let packages = [
        "install",
        "--yes",
        "--no-install-recommends",
        "chromium",
        "chromium-driver",
    ];
    Program::new("apt-get").args(packages).run()?;
    find::find(DRIVER, &[])
        .map(Some)
        .ok_or(StepError::NoBrowser)
}

const DRIVER: &str = "chromedriver";
