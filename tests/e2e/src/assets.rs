//! Where the programs are: `cargo xtask e2e` has built them and says so in the environment.

use std::env;
use std::path::PathBuf;
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

/// How many minutes a soak takes.
const MINUTES: &str = "OLMGUARD_E2E_SOAK_MINUTES";

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

/// How long a soak takes; none if no one has asked for one.
pub(crate) fn soak() -> Result<Option<Duration>> {
    let Some(minutes) = env::var_os(MINUTES) else {
        return Ok(None);
    };
    let minutes = minutes.to_str().and_then(|text| text.parse().ok());
    let minutes = minutes.with_context(|| format!("{MINUTES} is a number of minutes"))?;
    Ok(Some(Duration::from_mins(minutes)))
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
