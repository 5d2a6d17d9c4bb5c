//! The files of a catalog directory, in the order of Go's `fs.WalkDir`.
//!
//! The entries of a directory are sorted by name, byte by byte, and the files of a subdirectory come in its place.
//! `WalkDir` does not descend into a symbolic link. A link to a file is read. A link to a directory is a fault, as it
//! is for catalogd. A link that points outside the directory is also a fault here, so a catalog from elsewhere cannot
//! make olmguard read other files.

use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::indexignore::Patterns;
use super::{SourceError, display, io_error};
use crate::links::Root;
use olmguard_catalog::fbc::{self, NotAFile};

/// Returns the entries below `directory` that no `.indexignore` excludes. [`FolderEntry::confine`] decides whether an
/// entry is a file.
pub(super) fn files(directory: &Path) -> Result<Vec<FolderEntry>, SourceError> {
    let mut walk = DirectoryWalk::new(directory)?;
    walk.run()?;
    let DirectoryWalk {
        found,
        mut patterns,
        ..
    } = walk;
    let mut files = Vec::new();
    for file in found {
        match patterns.leave_out(&file.elements(directory)) {
            Some(true) => {}
            Some(false) => files.push(file),
            None => {
                let folder = display(directory);
                return Err(SourceError::CostlyPatterns { folder });
            }
        }
    }
    Ok(files)
}

struct DirectoryWalk<'a> {
    directory: &'a Path,
    root: Rc<Root>,
    found: Vec<FolderEntry>,
    patterns: Patterns,
    /// The directories and files yet to visit, the next one last.
    ahead: Vec<FolderEntry>,
    visited: usize,
}

/// An entry of the directory.
pub(super) struct FolderEntry {
    path: PathBuf,
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
        walk.enter(directory)?;
        Ok(walk)
    }

    fn run(&mut self) -> Result<(), SourceError> {
        while let Some(found) = self.ahead.pop() {
            if found.kind.is_dir() {
                self.enter(&found.path)?;
            } else if found
                .path
                .file_name()
                .is_some_and(|name| name == IGNORE_FILE)
            {
                let mut folder = found.elements(self.directory);
                folder.pop();
                self.patterns.read(&found.confine()?, folder)?;
            } else {
                self.found.push(found);
            }
        }
        Ok(())
    }

    /// Pushes the entries of a directory, so that the first by name is visited first.
    fn enter(&mut self, folder: &Path) -> Result<(), SourceError> {
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
            self.ahead.push(FolderEntry {
                path: entry.path(),
                root: Rc::clone(&self.root),
                kind: entry.file_type().map_err(failed)?,
            });
        }
        Ok(())
    }
}

impl FolderEntry {
    /// Returns the path below the directory of the catalog, element by element.
    fn elements(&self, directory: &Path) -> Vec<Box<str>> {
        let below = self.path.strip_prefix(directory).unwrap_or(&self.path);
        let elements = below.iter();
        elements.map(|name| name.to_string_lossy().into()).collect()
    }

    /// Returns the path to read. A link is accepted if its target is a file inside the directory.
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

/// The maximum number of files and directories that are visited.
const FILE_LIMIT: usize = 100_000;
