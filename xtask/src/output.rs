//! Replaces a directory of results as a whole, and only if it is an earlier result.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::{Builder, TempDir};

/// Contents by their paths below a directory.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The reason why a directory was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(
        "{path} exists and has no {mark}, so it is something else: remove it, or name another \
         directory with --output",
        path = .path.display()
    )]
    SomethingElse { path: PathBuf, mark: &'static str },
}

/// Writes the files. Replaces a directory that has a file named `mark`. Anything else is left
/// alone, with an error.
pub(crate) fn replace(folder: &Path, mark: &'static str, files: &Files) -> Result<(), OutputError> {
    let is_there = folder.exists();
    if is_there && !folder.join(mark).is_file() {
        let path = folder.to_owned();
        return Err(OutputError::SomethingElse { path, mark });
    }
    let written = fill(folder, files).and_then(|part| {
        if is_there {
            fs::remove_dir_all(folder)?;
        }
        // A result that cannot be renamed is kept.
        fs::rename(part.keep(), folder)
    });
    written.map_err(|source| OutputError::File {
        path: folder.to_owned(),
        source,
    })
}

/// Writes the files to a new directory next to a directory.
fn fill(folder: &Path, files: &Files) -> io::Result<TempDir> {
    let above = folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    fs::create_dir_all(above)?;
    let part = Builder::new()
        .prefix(".xtask-")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(above)?;
    let folder = part.path();
    for (name, content) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        fs::write(file, content)?;
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_earlier_result_is_replaced() {
        let above = tempfile::tempdir().unwrap();
        let [out, part] = ["out", "out.part"].map(|name| above.path().join(name));
        fs::create_dir(&part).unwrap();
        fs::write(part.join("other"), "kept").unwrap();
        let files = |content: &str| Files::from([("mark".to_owned(), content.as_bytes().to_vec())]);
        for content in ["one", "two"] {
            replace(&out, "mark", &files(content)).unwrap();
            assert_eq!(fs::read_to_string(out.join("mark")).unwrap(), content);
        }
        assert_eq!(fs::read_to_string(part.join("other")).unwrap(), "kept");
        let refused = replace(&part, "mark", &files("three"));
        assert!(matches!(refused, Err(OutputError::SomethingElse { .. })));
        assert_eq!(fs::read_dir(above.path()).unwrap().count(), 2);
    }
}
