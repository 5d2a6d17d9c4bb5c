//! Where a program is: in one of some folders, else on the `PATH`.

use std::env;
use std::path::{Path, PathBuf};

/// The first file of that name that can be run.
pub(crate) fn find(program: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let all = folders.iter().cloned().chain(env::split_paths(&path));
    let mut files = all.map(|folder| folder.join(program));
    files.find(|file| is_program(file))
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
    }
}
