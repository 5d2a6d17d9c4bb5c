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

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;

pub use self::error::InputError;
pub use self::read::MAX_BYTES;
pub(crate) use self::read::file as read_file;
use self::walk::FileWalk;
pub(crate) use self::walk::has_manifest_name;

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
