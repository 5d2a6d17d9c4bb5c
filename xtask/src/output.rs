//! Replaces a directory of results as a whole, and only if it is an earlier result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

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
    let part = folder.with_added_extension("part");
    let written = fill(&part, files).and_then(|()| {
        if is_there {
            fs::remove_dir_all(folder)?;
        }
        fs::rename(&part, folder)
    });
    written.map_err(|source| OutputError::File {
        path: folder.to_owned(),
        source,
    })
}

fn fill(folder: &Path, files: &Files) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    for (name, content) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        fs::write(file, content)?;
    }
    Ok(())
}
