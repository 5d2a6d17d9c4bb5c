//! Where the programs are: `cargo xtask e2e` has built them and says so in the environment.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};

/// Folders with the programs of the cluster, as in a `PATH`.
const PROGRAMS: &str = "OLMGUARD_E2E_BIN";

/// Folders with definitions of custom resources.
const CRDS: &str = "OLMGUARD_E2E_CRDS";

/// The program under test.
const GUARD: &str = "OLMGUARD_E2E_GUARD";

/// Another build of it, of the same version.
const OTHER: &str = "OLMGUARD_E2E_OTHER";

/// For how many minutes a soak is like what a pod meets in its usual life.
const MINUTES: &str = "OLMGUARD_E2E_SOAK_MINUTES";

/// How many times as often as usual its loads come.
const SPEED: &str = "OLMGUARD_E2E_SOAK_SPEED";

/// The folder with its image.
const IMAGE: &str = "OLMGUARD_E2E_IMAGE";

/// The path of a program such as `etcd`.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    find(name, PROGRAMS)
}

/// The file with the definition of a resource, such as `clusterextensions` of `olm.operatorframework.io`.
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

/// The guard.
pub(crate) fn guard() -> Result<PathBuf> {
    variable(GUARD).map(PathBuf::from)
}

/// How long a soak takes, and how many times as often as usual its loads come; none if no one has asked for one.
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

/// Another build of the program under test: the same version of another commit and profile.
pub(crate) fn other_guard() -> Result<PathBuf> {
    variable(OTHER).map(PathBuf::from)
}

/// The guard's image, as a layout of OCI.
pub(crate) fn image() -> Result<PathBuf> {
    variable(IMAGE).map(PathBuf::from)
}

fn variable(name: &str) -> Result<std::ffi::OsString> {
    env::var_os(name).with_context(|| format!("{name} is not set; `cargo xtask e2e` sets it"))
}
