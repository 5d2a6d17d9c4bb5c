//! The path of a program: in one of some directories, otherwise on the `PATH`.

use std::env;
use std::path::{Path, PathBuf};

use crate::assets;

/// The directories in `OLMGUARD_E2E_BIN`, which has the form of a `PATH`, and those that `cargo xtask e2e-assets` has
/// filled.
pub(crate) fn folders() -> Vec<PathBuf> {
    let mut folders = listed("OLMGUARD_E2E_BIN");
    // Without a directory for assets, none were built.
    folders.extend(assets::present().unwrap_or_default());
    folders
}

/// The first executable file of that name in these directories, otherwise on the `PATH`.
pub(crate) fn find(program: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    find_in(program, folders).or_else(|| find_in(program, &listed("PATH")))
}

/// The first executable file of that name, only in these directories.
pub(crate) fn find_in(program: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let mut files = folders.iter().map(|folder| folder.join(program));
    files.find(|file| is_program(file))
}

fn listed(variable: &str) -> Vec<PathBuf> {
    let value = env::var_os(variable).unwrap_or_default();
    let folders = env::split_paths(&value);
    folders
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect()
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    let metadata = file.metadata();
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_run_is_no_program() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        let file = folder.path().join("no-such-program");
        assert_eq!(find("no-such-program", &folders), None);
        std::fs::write(&file, "").unwrap();
        assert_eq!(find("no-such-program", &folders), None);
        assert!(find("cargo", &[]).is_some());
        assert_eq!(find_in("cargo", &folders), None);
    }
}
