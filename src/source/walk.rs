//! The files of a catalog directory, in the order of Go's `fs.WalkDir`.
//!
//! Entries of a folder are taken by name, byte by byte, and a subfolder's files come where its
//! name does. A symbolic link is no folder to that walk: one to a file is read, one to a folder
//! is a fault, for catalogd as for us. One that leads out of the folder is a fault here, so that
//! a catalog from elsewhere cannot make us read other files.

use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::indexignore::{self, Patterns};
use super::{SourceError, display, io_error};
use crate::links::Root;
use olmguard_catalog::fbc::{self, NotAFile};

/// What stands below `root` and no `.indexignore` leaves out: files, as far as [`FolderEntry::confine`] tells.
pub(super) fn files(directory: &Path) -> Result<Vec<FolderEntry>, SourceError> {
    let mut walk = DirectoryWalk::new(directory)?;
    walk.run()?;
    let DirectoryWalk {
        found, patterns, ..
    } = walk;
    let files = found.into_iter();
    Ok(files
        .filter(|file| !patterns.leave_out(&file.elements))
        .collect())
}

struct DirectoryWalk<'a> {
    directory: &'a Path,
    root: Rc<Root>,
    found: Vec<FolderEntry>,
    patterns: Patterns,
    /// Folders and files yet to visit, the next one last.
    ahead: Vec<FolderEntry>,
    visited: usize,
}

/// Something in the folder.
pub(super) struct FolderEntry {
    path: PathBuf,
    /// The path below the root, element by element.
    elements: Vec<Box<str>>,
    kind: FileType,
    root: Rc<Root>,
}

impl<'a> DirectoryWalk<'a> {
    fn new(directory: &'a Path) -> Result<Self, SourceError> {
        let root = Root::of(directory);
        let root = root.map_err(|source| io_error(directory, "read the directory", source))?;
        let mut walk = Self {
            directory,
            root: Rc::new(root),
            found: Vec::new(),
            patterns: Patterns::default(),
            ahead: Vec::new(),
            visited: 0,
        };
        walk.enter(directory, &[])?;
        Ok(walk)
    }

    fn run(&mut self) -> Result<(), SourceError> {
        while let Some(found) = self.ahead.pop() {
            let is_ignore_file = found
                .elements
                .last()
                .is_some_and(|name| **name == *IGNORE_FILE);
            if found.kind.is_dir() {
                self.enter(&found.path, &found.elements)?;
            } else if is_ignore_file {
                let folder = found
                    .elements
                    .split_last()
                    .map_or(&[][..], |(_, folder)| folder);
                let folder = folder.to_vec();
                let path = found.confine()?;
                self.patterns.extend(indexignore::read(&path, &folder)?);
            } else {
                self.found.push(found);
            }
        }
        Ok(())
    }

    /// Puts the entries of a folder ahead, the first by name last.
    fn enter(&mut self, folder: &Path, elements: &[Box<str>]) -> Result<(), SourceError> {
        let failed = |source| io_error(folder, "read the directory", source);
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            entries.push(entry.map_err(failed)?);
            self.visited += 1;
            if self.visited > FILE_LIMIT {
                let (folder, limit) = (display(self.directory), FILE_LIMIT);
                return Err(SourceError::TooManyFiles { folder, limit });
            }
        }
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries.into_iter().rev() {
            let name = entry.file_name().to_string_lossy().into();
            self.ahead.push(FolderEntry {
                path: entry.path(),
                elements: [elements, &[name]].concat(),
                root: Rc::clone(&self.root),
                kind: entry.file_type().map_err(failed)?,
            });
        }
        Ok(())
    }
}

impl FolderEntry {
    /// The path to read it by; a link is followed if its target is a file inside the directory.
    pub(super) fn confine(self) -> Result<PathBuf, SourceError> {
        if self.kind.is_file() {
            return Ok(self.path);
        }
        let failed = |source: io::Error| io_error(&self.path, "follow the link", source);
        if self.kind.is_symlink() {
            let Some(target) = self.root.target(&self.path).map_err(failed)? else {
                let link = display(&self.path);
                return Err(SourceError::LinkLeadsOut { link });
            };
            if target.is_file() {
                return Ok(self.path);
            }
            if target.is_dir() {
                return Err(self.not_a_file(fbc::FileKind::LinkToFolder));
            }
            return Err(self.not_a_file(fbc::FileKind::LinkToOther));
        }
        Err(self.not_a_file(fbc::FileKind::Special))
    }

    fn not_a_file(&self, found: fbc::FileKind) -> SourceError {
        SourceError::NotAFile {
            path: display(&self.path),
            fault: NotAFile(found),
        }
    }
}

const IGNORE_FILE: &str = ".indexignore";

/// How many files and folders are looked at.
const FILE_LIMIT: usize = 100_000;
