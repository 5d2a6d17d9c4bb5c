//! A walk over the files below some paths of a tree.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::hash::Kind;
use gix::objs::tree::EntryKind;
use gix::objs::{self, compute_hash};

use super::tree::{MOST_BYTES, PathTarget, Tree, TreeEntry, beside};
use super::{COST_OF_LINK, COST_OF_REPEAT, FileError, ReadingBudget};
use crate::manifest::has_manifest_name;

/// One file of a revision.
#[derive(Debug)]
pub struct RevisionFile {
    /// The path from the root of the work tree, with `/` between its parts.
    pub path: String,
    /// The content, or the reason why there is none.
    pub bytes: Result<Vec<u8>, FileError>,
}

/// An iterator over files of a revision, with directories in byte order. Each file is read when the iterator reaches
/// it, and only once, however many links point to it.
#[derive(Debug, Default)]
pub struct RevisionFiles<'k> {
    /// The entries to visit, the next one last.
    pending: Vec<TreeStep>,
    /// The named paths that could not be looked up.
    lost: Vec<RevisionFile>,
    visited: HashSet<TreePlace>,
    read: HashSet<ObjectId>,
    budget: ReadingBudget,
    /// The contents that are known, by their ids.
    known: HashMap<ObjectId, &'k [u8]>,
    wanted: WantedFiles,
}

/// The place of an entry with links followed, and whether the entry is read if it is a file.
type TreePlace = (PathBuf, Vec<u8>, bool);

/// The selection among the files that look like manifests.
#[derive(Debug, Default)]
enum WantedFiles {
    #[default]
    All,
    /// Files outside of these paths that the work tree no longer has.
    Gone { but: Vec<Vec<u8>> },
}

/// An entry to visit.
#[derive(Debug)]
struct TreeStep {
    tree: Rc<Tree>,
    /// The path as users see it, with links as written.
    path: Vec<u8>,
    /// The path with links followed.
    real: Vec<u8>,
    kind: EntryKind,
    id: ObjectId,
    role: StepRole,
}

/// The reason for a visit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum StepRole {
    /// The path was named, so its file is read whatever its name is.
    Named,
    /// The path is in a directory, so its file is read if it looks like a manifest.
    Listed,
}

impl<'k> RevisionFiles<'k> {
    pub(super) fn below(
        tree: &Rc<Tree>,
        paths: &[PathBuf],
        known: HashMap<ObjectId, &'k [u8]>,
    ) -> Self {
        let mut files = Self {
            known,
            ..Self::default()
        };
        for path in paths.iter().rev().map(|path| bytes(path)) {
            match tree.at(&path, &mut files.budget) {
                Ok(Some(found)) => files.pending.push(TreeStep::named(tree, &path, found)),
                Ok(None) => {}
                Err(error) => files.lost.push(RevisionFile {
                    path: tree.shown(&path),
                    bytes: Err(error),
                }),
            }
        }
        files
    }

    pub(super) fn gone(tree: &Rc<Tree>, but: &[PathBuf]) -> Self {
        let mut files = Self::default();
        let but = but.iter().map(|path| {
            let path = bytes(path);
            match tree.at(&path, &mut files.budget) {
                Ok(Some(found)) => found.path,
                _ => path,
            }
        });
        let but: Vec<_> = but.collect();
        if !but.iter().any(Vec::is_empty) {
            files.pending.push(TreeStep::top(tree));
        }
        files.wanted = WantedFiles::Gone { but };
        files
    }

    /// Returns the content of a file; `None` if the entry is not a file to read. A place is visited once, so loops of
    /// links end.
    fn visit(&mut self, step: &TreeStep) -> Result<Option<Vec<u8>>, FileError> {
        if !self.is_wanted(step)? || !self.visited.insert(step.place()) {
            return Ok(None);
        }
        match step.kind {
            EntryKind::Tree => self.list(step)?,
            EntryKind::Commit => self.enter(step)?,
            EntryKind::Link => self.follow(step)?,
            EntryKind::Blob | EntryKind::BlobExecutable => return self.read(step).map(Some),
        }
        Ok(None)
    }

    fn read(&mut self, file: &TreeStep) -> Result<Vec<u8>, FileError> {
        if !self.read.insert(file.id) {
            self.budget.take(COST_OF_REPEAT)?;
        }
        let Some(content) = self.known.get(&file.id) else {
            return file.tree.file_at(&file.real, file.id, &mut self.budget);
        };
        self.budget.take_file(content.len() as u64)?;
        Ok(content.to_vec())
    }

    /// Whether an entry must be visited: a directory, a submodule, a link, or a file to read.
    fn is_wanted(&mut self, step: &TreeStep) -> Result<bool, FileError> {
        if !step.is_file() || !step.is_asked() {
            return Ok(!step.is_file());
        }
        match &self.wanted {
            WantedFiles::All => Ok(true),
            WantedFiles::Gone { but } if is_in(but, &step.real) => Ok(false),
            WantedFiles::Gone { .. } => step.tree.is_gone(&step.real, &mut self.budget),
        }
    }

    /// Adds the entries of a directory, except hidden ones and files that are not read.
    fn list(&mut self, folder: &TreeStep) -> Result<(), FileError> {
        let entries = folder.tree.folder(folder.id)?;
        self.budget.take(entries.len() as u64 * folder.cost())?;
        let entries = entries.iter().rev();
        for entry in entries.filter(|entry| !entry.name.starts_with(b".")) {
            let step = folder.below(entry);
            if step.path.len() > MOST_BYTES {
                return Err(FileError::TooDeep { limit: MOST_BYTES });
            }
            if !step.is_file() || step.is_asked() {
                self.pending.push(step);
            }
        }
        Ok(())
    }

    /// Enters a submodule, if it is checked out. Otherwise none of its files is compared.
    fn enter(&mut self, step: &TreeStep) -> Result<(), FileError> {
        if let WantedFiles::Gone { .. } = self.wanted {
            return Ok(());
        }
        if let Some(tree) = step.tree.submodule(&step.real, step.id)? {
            self.pending.push(TreeStep {
                role: StepRole::Listed,
                ..TreeStep::top(&Rc::new(tree))
            });
        }
        Ok(())
    }

    /// Follows a link, if its target is in the revision.
    fn follow(&mut self, link: &TreeStep) -> Result<(), FileError> {
        if let WantedFiles::Gone { .. } = self.wanted {
            return Ok(());
        }
        self.budget.take(COST_OF_LINK)?;
        let target = link.tree.file(link.id, &mut self.budget)?;
        let Some(path) = beside(&link.real, &target) else {
            return Ok(());
        };
        if let Some(found) = link.tree.at(&path, &mut self.budget)? {
            self.pending.push(TreeStep {
                role: link.role,
                ..TreeStep::named(&link.tree, &link.path, found)
            });
        }
        Ok(())
    }
}

impl Iterator for RevisionFiles<'_> {
    type Item = RevisionFile;

    fn next(&mut self) -> Option<RevisionFile> {
        if let Some(lost) = self.lost.pop() {
            return Some(lost);
        }
        loop {
            let step = self.pending.pop()?;
            let bytes = self.visit(&step).transpose();
            if self.budget.is_spent() {
                self.pending.clear();
            }
            if let Some(bytes) = bytes {
                let path = step.tree.shown(&step.path);
                return Some(RevisionFile { path, bytes });
            }
        }
    }
}

impl TreeStep {
    fn named(tree: &Rc<Tree>, path: &[u8], found: PathTarget) -> Self {
        Self {
            tree: Rc::clone(tree),
            path: path.to_owned(),
            real: found.path,
            kind: found.entry.kind,
            id: found.entry.id,
            role: StepRole::Named,
        }
    }

    fn top(tree: &Rc<Tree>) -> Self {
        let (entry, path) = (tree.top(), Vec::new());
        Self::named(tree, b"", PathTarget { entry, path })
    }

    fn is_file(&self) -> bool {
        matches!(self.kind, EntryKind::Blob | EntryKind::BlobExecutable)
    }

    /// Whether the entry is read, if it is a file.
    fn is_asked(&self) -> bool {
        self.role == StepRole::Named || is_manifest(&self.path)
    }

    /// Returns the place of the entry. For a directory, the name does not matter.
    fn place(&self) -> TreePlace {
        let is_asked = self.kind == EntryKind::Tree || self.is_asked();
        (self.tree.on_disk(&self.real), self.real.clone(), is_asked)
    }

    /// The cost of each entry in this directory. Long paths cost more, because of their memory.
    fn cost(&self) -> u64 {
        1 + self.path.len().max(self.real.len()) as u64 / LONG
    }

    fn below(&self, entry: &TreeEntry) -> Self {
        Self {
            tree: Rc::clone(&self.tree),
            path: join(&self.path, &entry.name),
            real: join(&self.real, &entry.name),
            kind: entry.kind,
            id: entry.id,
            role: StepRole::Listed,
        }
    }
}

/// Returns a path on disk in the form that git uses.
pub(super) fn bytes(path: &Path) -> Vec<u8> {
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

fn is_manifest(path: &[u8]) -> bool {
    has_manifest_name(Path::new(&*path.to_str_lossy()))
}

/// Whether a path equals one of these or is below one.
fn is_in(paths: &[Vec<u8>], path: &[u8]) -> bool {
    paths.iter().any(|around| {
        let rest = path.strip_prefix(&**around);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    })
}

/// The path length in bytes that adds one to the cost. It keeps the memory of paths within a small multiple of the
/// budget.
const LONG: u64 = 256;

/// Indexes contents by the ids that they have in a repository with ids of this kind.
pub(super) fn by_id<'k>(
    kind: Kind,
    contents: impl IntoIterator<Item = &'k [u8]>,
) -> HashMap<ObjectId, &'k [u8]> {
    let contents = contents.into_iter();
    let with_id = contents.filter_map(|content| {
        let id = compute_hash(kind, objs::Kind::Blob, content).ok()?;
        Some((id, content))
    });
    with_id.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_content_is_found_by_the_id_of_its_blob() {
        let known = by_id(Kind::Sha1, [&b"a\n"[..], b""]);
        let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).expect("an id");
        // git hash-object
        let of_a = id("78981922613b2afb6025042ff6bd878ac1994e85");
        assert_eq!(known.get(&of_a), Some(&&b"a\n"[..]));
        let empty = ObjectId::empty_blob(Kind::Sha1);
        assert_eq!(known.get(&empty), Some(&&b""[..]));
        assert_eq!(known.get(&ObjectId::empty_tree(Kind::Sha1)), None);
    }
}
