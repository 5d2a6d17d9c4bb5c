//! Programs that tests run if they are installed.

use std::env;
use std::path::PathBuf;

/// Finds a program in the directories of `OLMGUARD_E2E_BIN`, or otherwise of `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let folders = ["OLMGUARD_E2E_BIN", "PATH"].map(|name| env::var_os(name).unwrap_or_default());
    let mut programs = folders
        .iter()
        .flat_map(env::split_paths)
        .map(|folder| folder.join(name));
    programs.find(|program| program.is_file())
}
