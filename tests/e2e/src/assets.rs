//! The paths of the programs, which `cargo xtask e2e` has built and passes in the environment.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};

/// The variable with the directories of the cluster's programs, as in a `PATH`.
const PROGRAMS: &str = "OLMGUARD_E2E_BIN";

/// The variable with the directories of custom resource definitions.
const CRDS: &str = "OLMGUARD_E2E_CRDS";

/// The variable with the program under test.
const GUARD: &str = "OLMGUARD_E2E_GUARD";

/// The variable with another build of it, of the same version.
const OTHER: &str = "OLMGUARD_E2E_OTHER";

/// The variable with the length of a soak in minutes, at the usual speed.
const MINUTES: &str = "OLMGUARD_E2E_SOAK_MINUTES";

/// The variable with the factor by which its loads come more often than usual.
const SPEED: &str = "OLMGUARD_E2E_SOAK_SPEED";

/// The variable with the directory of its image.
const IMAGE: &str = "OLMGUARD_E2E_IMAGE";

/// Returns the path of a program such as `etcd`.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    find(name, PROGRAMS)
}

/// Returns the file with the definition of a resource, such as `clusterextensions` of `olm.operatorframework.io`.
pub(crate) fn definition(resource: &str, group: &str) -> Result<PathBuf> {
    find(&format!("{group}_{resource}.yaml"), CRDS)
}

fn find(name: &str, folders: &str) -> Result<PathBuf> {
    env::split_paths(&variable(folders)?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .with_context(|| {
            format!("{name} is in no folder of {folders}; `cargo xtask e2e-assets` makes it")
        })
}

/// Returns the program under test.
pub(crate) fn guard() -> Result<PathBuf> {
    variable(GUARD).map(PathBuf::from)
}

/// Returns the length of a soak and the factor of its speed, or `None` if no soak is requested.
pub(crate) fn soak() -> Result<Option<(Duration, u32)>> {
    if env::var_os(MINUTES).is_none() {
        return Ok(None);
    }
    let minutes = Duration::from_mins(number(MINUTES)?);
    let speed = number(SPEED)?;
    Ok(Some((minutes / speed, speed)))
}

fn number<T: FromStr>(name: &str) -> Result<T> {
    let text = variable(name)?;
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.with_context(|| format!("{name} is a number"))
}

/// Returns another build of the program under test: the same version from another commit and profile.
pub(crate) fn other_guard() -> Result<PathBuf> {
    variable(OTHER).map(PathBuf::from)
}

/// Returns the image of olmguard, as an OCI layout.
pub(crate) fn image() -> Result<PathBuf> {
    variable(IMAGE).map(PathBuf::from)
}

fn variable(name: &str) -> Result<std::ffi::OsString> {
    env::var_os(name).with_context(|| format!("{name} is not set; `cargo xtask e2e` sets it"))
}
