//! The files that `-f` names: files, folders, `-` for standard input.
//!
//! A folder stands for the manifests in it and in the folders below, in byte order of their names
//! as `filepath.Walk` goes; a manifest there ends in .yaml, .yml or .json. What is hidden (`.git`)
//! is left out. Links are followed if their target is inside the directory (`crate::links`); each
//! directory is read once for an argument. A link to a directory around it, or out of the one that
//! was named, is reported.
//!
//! Invariant: one file is held at a time, and none past [`MAX_BYTES`].

mod error;
mod read;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeSet, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};

pub use self::error::InputError;
pub use self::read::MAX_BYTES;
pub(crate) use self::read::file as read_file;
pub(crate) use self::walk::has_manifest_name;
use self::walk::{FileWalk, KUSTOMIZATIONS};

/// One file: its path as the user would write it, and what it holds.
#[derive(Debug)]
pub struct Input {
    /// The argument, with the way below it joined by `/`; `-` for standard input.
    pub path: String,
    /// The content, or why there is none.
    pub bytes: Result<Vec<u8>, InputError>,
}

/// Iterator over the files, in the order of the arguments. Each is read when it is asked for.
#[derive(Debug)]
pub struct Inputs<R> {
    arguments: VecDeque<PathBuf>,
    walk: FileWalk,
    stdin: Option<R>,
}

/// The names of the files that [`Inputs`] reads for these arguments, without standard input.
pub(crate) fn manifest_files(arguments: &[PathBuf]) -> impl Iterator<Item = String> {
    let named = arguments.iter().filter(|path| path.as_os_str() != "-");
    named.flat_map(|path| FileWalk::from(path.clone()).map(|file| file.shown))
}

/// The kustomizations in the directories of these arguments and below, and in the directories of these files.
pub(crate) fn kustomizations(arguments: &[PathBuf], files: &[String]) -> Vec<String> {
    let named = arguments.iter().filter(|path| path.is_dir()).cloned();
    let around = files.iter().filter_map(|file| Path::new(file).parent());
    let directories: BTreeSet<_> = named.chain(around.map(Path::to_owned)).collect();
    let files = directories.into_iter().filter_map(|directory| {
        let mut candidates = KUSTOMIZATIONS.iter().map(|name| directory.join(name));
        candidates.find(|file| file.is_file())
    });
    files
        .map(|file| file.to_string_lossy().into_owned())
        .collect()
}

impl<R: Read> Inputs<R> {
    /// The files of these arguments. `stdin` is what `-` stands for; a second `-` adds nothing.
    pub fn new(arguments: impl IntoIterator<Item = PathBuf>, stdin: R) -> Self {
        let arguments = arguments.into_iter().collect();
        Self {
            arguments,
            walk: FileWalk::default(),
            stdin: Some(stdin),
        }
    }
}

impl<R: Read> Iterator for Inputs<R> {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        loop {
            if let Some(file) = self.walk.next() {
                return Some(Input {
                    path: file.shown,
                    bytes: file.found.and_then(|path| read::file(&path)),
                });
            }
            let argument = self.arguments.pop_front()?;
            if argument.as_os_str() != "-" {
                self.walk = FileWalk::from(argument);
            } else if let Some(stdin) = self.stdin.take() {
                return Some(Input {
                    path: "-".to_owned(),
                    bytes: read::bounded(stdin, 0),
                });
            }
        }
    }
}
