//! Completions and manual pages, as the program prints them.

use std::path::Path;
use std::{fs, io};

use super::error::{ReleaseError, read};
use crate::output::Files;
use crate::program::Program;

/// The files below `completions` and `man`.
pub(super) fn of(program: &Path) -> Result<Files, ReleaseError> {
    let mut pages = manual(program)?;
    for (shell, file) in COMPLETIONS {
        let script = Program::at(program).args(["completions", shell]).output()?;
        pages.insert(format!("completions/{file}"), script.into_bytes());
    }
    Ok(pages)
}

fn manual(program: &Path) -> Result<Files, ReleaseError> {
    let no_folder = |source| ReleaseError::File {
        path: std::env::temp_dir(),
        source,
    };
    let folder = tempfile::tempdir().map_err(no_folder)?;
    let print = Program::at(program).args(["man", "--folder"]);
    print.arg(folder.path()).run()?;
    let names = names(folder.path()).map_err(no_folder)?;
    let pages = names.into_iter().map(|name| {
        let page = read(&folder.path().join(&name))?;
        Ok((format!("man/{name}"), page))
    });
    pages.collect()
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(folder)?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    names.collect()
}

/// Each shell, with the name under which it finds the script.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "olmguard.bash"),
    ("fish", "olmguard.fish"),
    ("zsh", "_olmguard"),
];
