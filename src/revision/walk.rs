//! The files below some paths of a tree.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;

use super::error::FileError;
use super::tree::{Entry, Tree};
use crate::manifest::has_manifest_name;

/// One file of a revision.
#[derive(Debug)]
pub struct File {
    /// The way from the root of the work tree, with `/` between its parts.
    pub path: String,
    /// The content, or why there is none.
    pub bytes: Result<Vec<u8>, FileError>,
}

/// Iterator over files of a revision, folders in byte order. Each is read when it is asked for; one
/// that holds, byte for byte, what one before it holds, is left out.
#[derive(Debug)]
pub struct Files {
    /// What is still to visit, the next one last.
    pending: Vec<Step>,
    /// The folders listed, each by its work tree and the way from there.
    listed: HashSet<(PathBuf, Vec<u8>)>,
    read: HashSet<ObjectId>,
    /// How many entries may still be looked at.
    left: usize,
    wanted: Wanted,
}

/// Which of the files that look like manifests are read.
#[derive(Debug)]
enum Wanted {
    All,
    /// Those that are in none of these, and not in the work tree.
    Gone {
        but: Vec<Vec<u8>>,
    },
}

/// Something to visit.
#[derive(Debug)]
struct Step {
    tree: Rc<Tree>,
    /// As people are shown it, links as they are written.
    path: Vec<u8>,
    /// Where it is, links followed.
    real: Vec<u8>,
    kind: EntryKind,
    id: ObjectId,
    role: Role,
    /// How many links led here, one to the next.
    links: usize,
}

/// Why a path is looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Role {
    /// It was named: it is read whatever it is called.
    Named,
    /// It is in a folder: it is read if it looks like a manifest.
    Listed,
}

impl Files {
    pub(super) fn below(tree: &Rc<Tree>, paths: &[PathBuf]) -> Self {
        let mut files = Self::new(Wanted::All);
        let paths = paths.iter().rev().map(|path| bytes(path));
        files.pending = paths
            .filter_map(|path| {
                let entry = tree.at(&path).ok()??;
                Some(Step::named(tree, &path, &entry))
            })
            .collect();
        files
    }

    pub(super) fn gone(tree: &Rc<Tree>, but: &[PathBuf]) -> Self {
        let but: Vec<_> = but.iter().map(|path| bytes(path)).collect();
        let all = but.iter().any(Vec::is_empty);
        let mut files = Self::new(Wanted::Gone { but });
        if !all {
            files.pending.push(Step::named(tree, b"", &tree.top()));
        }
        files
    }

    fn new(wanted: Wanted) -> Self {
        Self {
            pending: Vec::new(),
            listed: HashSet::new(),
            read: HashSet::new(),
            left: MOST_ENTRIES,
            wanted,
        }
    }

    /// The content of a file, or nothing where the step only led further.
    fn visit(&mut self, step: &Step) -> Option<Result<Vec<u8>, FileError>> {
        let further = match step.kind {
            EntryKind::Tree => self.list(step),
            EntryKind::Commit => self.enter(step),
            EntryKind::Link => self.follow(step),
            EntryKind::Blob | EntryKind::BlobExecutable => {
                let is_read = self.is_wanted(step) && self.read.insert(step.id);
                return is_read.then(|| step.tree.file(step.id));
            }
        };
        further.err().map(Err)
    }

    fn is_wanted(&self, step: &Step) -> bool {
        let is_manifest = step.role == Role::Named || is_manifest(&step.path);
        is_manifest
            && match &self.wanted {
                Wanted::All => true,
                Wanted::Gone { but } => !is_in(but, &step.real) && is_gone(step),
            }
    }

    /// Takes up what is in a folder, but for what is hidden. A folder that was listed before adds
    /// nothing.
    fn list(&mut self, folder: &Step) -> Result<(), FileError> {
        let place = (folder.tree.on_disk(&folder.real), folder.real.clone());
        if !self.listed.insert(place) {
            return Ok(());
        }
        let mut entries = folder.tree.folder(folder.id)?;
        entries.retain(|entry| !entry.name.starts_with(b"."));
        if entries.len() > self.left {
            self.left = 0;
            return Err(FileError::TooMany {
                limit: MOST_ENTRIES,
            });
        }
        self.left -= entries.len();
        for entry in entries.iter().rev() {
            let step = folder.below(entry);
            if step.path.len() > MOST_BYTES {
                return Err(FileError::TooDeep { limit: MOST_BYTES });
            }
            self.pending.push(step);
        }
        Ok(())
    }

    /// Goes on in the submodule, where it is checked out: elsewhere nothing of it is among the files that
    /// are compared.
    fn enter(&mut self, step: &Step) -> Result<(), FileError> {
        if let Wanted::Gone { .. } = self.wanted {
            return Ok(());
        }
        if let Some(tree) = step.tree.submodule(&step.real, step.id)? {
            let top = tree.top();
            self.pending.push(Step {
                role: Role::Listed,
                ..Step::named(&Rc::new(tree), b"", &top)
            });
        }
        Ok(())
    }

    /// Goes on where a link leads, as long as that is in the revision.
    fn follow(&mut self, link: &Step) -> Result<(), FileError> {
        if matches!(self.wanted, Wanted::Gone { .. }) || link.links == MOST_LINKS {
            return Ok(());
        }
        let target = link.tree.file(link.id)?;
        let Some(real) = joined(&link.real, &target) else {
            return Ok(());
        };
        if let Some(entry) = link.tree.at(&real)? {
            self.pending.push(Step {
                tree: Rc::clone(&link.tree),
                path: link.path.clone(),
                real,
                kind: entry.kind,
                id: entry.id,
                role: link.role,
                links: link.links + 1,
            });
        }
        Ok(())
    }
}

impl Iterator for Files {
    type Item = File;

    fn next(&mut self) -> Option<File> {
        loop {
            let step = self.pending.pop()?;
            if let Some(bytes) = self.visit(&step) {
                let path = step.tree.shown(&step.path);
                return Some(File { path, bytes });
            }
        }
    }
}

impl Step {
    fn named(tree: &Rc<Tree>, path: &[u8], entry: &Entry) -> Self {
        Self {
            tree: Rc::clone(tree),
            path: path.to_owned(),
            real: path.to_owned(),
            kind: entry.kind,
            id: entry.id,
            role: Role::Named,
            links: 0,
        }
    }

    fn below(&self, entry: &Entry) -> Self {
        Self {
            tree: Rc::clone(&self.tree),
            path: join(&self.path, &entry.name),
            real: join(&self.real, &entry.name),
            kind: entry.kind,
            id: entry.id,
            role: Role::Listed,
            links: 0,
        }
    }
}

/// A path on disk as git writes it.
fn bytes(path: &Path) -> Vec<u8> {
    let lossy = || path.to_string_lossy().into_owned().into_bytes();
    let written = gix::path::into_bstr(path).map(gix::path::to_unix_separators_on_windows);
    written.map_or_else(|_| lossy(), |written| written.to_vec())
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        return name.to_owned();
    }
    [folder, b"/", name].concat()
}

/// Where a link leads, if that is below the root.
fn joined(link: &[u8], target: &[u8]) -> Option<Vec<u8>> {
    if target.starts_with(b"/") || target.len() > MOST_BYTES {
        return None;
    }
    let mut parts: Vec<&[u8]> = link.split(|byte| *byte == b'/').collect();
    parts.pop();
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join(&b'/'))
}

fn is_manifest(path: &[u8]) -> bool {
    has_manifest_name(Path::new(&*path.to_str_lossy()))
}

/// Whether a path is one of these or lies below one.
fn is_in(paths: &[Vec<u8>], path: &[u8]) -> bool {
    paths.iter().any(|around| {
        let rest = path.strip_prefix(&**around);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    })
}

/// Whether nothing is in the place of a file any more.
fn is_gone(step: &Step) -> bool {
    let found = fs::symlink_metadata(step.tree.on_disk(&step.real));
    let is_missing = found.is_err_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        )
    });
    is_missing && !step.tree.is_left_out(&step.real)
}

/// The most entries of folders that are looked at: many times what any repository of manifests has.
const MOST_ENTRIES: usize = 1_000_000;

/// The most bytes of a path: longer ones no system checks out.
const MOST_BYTES: usize = 4096;

/// The most links that lead from one to the next; Linux follows 40.
const MOST_LINKS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_they_would_on_disk() {
        for (link, target, expected) in [
            ("a/b/c", "d", Some("a/b/d")),
            ("a/b/c", "../d/./e", Some("a/d/e")),
            ("a/b/c", "../..", Some("")),
            ("a/b/c", "../../..", None),
            ("c", "d//e/", Some("d/e")),
            ("c", "/etc/passwd", None),
        ] {
            let real = joined(link.as_bytes(), target.as_bytes());
            assert_eq!(
                real.as_deref(),
                expected.map(str::as_bytes),
                "{link} -> {target}"
            );
        }
    }

    #[test]
    fn a_path_is_in_a_folder_and_not_in_its_namesakes() {
        let around = [b"a/b".to_vec()];
        for (path, expected) in [
            ("a/b", true),
            ("a/b/c", true),
            ("a/bc", false),
            ("a", false),
        ] {
            assert_eq!(is_in(&around, path.as_bytes()), expected, "{path}");
        }
    }
}
