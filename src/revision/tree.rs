//! The tree of one commit: its directories and files, looked up in the repository's objects by path.
//!
//! Links inside a path are followed as the system would, with their targets in the tree. A link at the end of a path
//! is not followed.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use gix::objs::{Kind, compute_hash};
use gix::{ObjectId, open};

use super::{COST_OF_LINK, FileError, ReadingBudget, cause};
use crate::manifest::{MAX_BYTES, read_file};

/// The tree of a commit, with the location of its files in the work tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    git: gix::Repository,
    /// The directory of the work tree, without links.
    root: PathBuf,
    /// The prefix of displayed paths: the path to the submodule.
    shown: String,
    id: ObjectId,
    /// The number of repositories that contain this one.
    depth: usize,
    looked_up: Folders,
    behind_links: Rc<RefCell<HashMap<PathBuf, bool>>>,
}

/// A cache of directories that were looked up, because many links can point into one.
type Folders = Rc<RefCell<HashMap<ObjectId, Rc<[TreeEntry]>>>>;

/// An entry of a directory.
#[derive(Clone, Debug)]
pub(super) struct TreeEntry {
    pub(super) name: Vec<u8>,
    pub(super) kind: EntryKind,
    pub(super) id: ObjectId,
}

impl Tree {
    pub(super) fn of_commit(git: gix::Repository, root: &Path, id: ObjectId) -> Self {
        Self {
            git,
            root: root.to_owned(),
            shown: String::new(),
            id,
            depth: 0,
            looked_up: Folders::default(),
            behind_links: Rc::default(),
        }
    }

    /// Returns the root directory as an entry.
    pub(super) fn top(&self) -> TreeEntry {
        TreeEntry {
            name: Vec::new(),
            kind: EntryKind::Tree,
            id: self.id,
        }
    }

    /// Returns a path of this tree as users see it.
    pub(super) fn shown(&self, path: &[u8]) -> String {
        format!("{}{}", self.shown, path.to_str_lossy())
    }

    /// Returns the location of a path in the work tree.
    pub(super) fn on_disk(&self, path: &[u8]) -> PathBuf {
        let lossy = |_| PathBuf::from(path.to_str_lossy().into_owned());
        let path = gix::path::from_bstr(path.as_bstr());
        self.root.join(path.map_or_else(lossy, Cow::into_owned))
    }

    /// Returns the entries of a directory, in byte order.
    pub(super) fn folder(&self, id: ObjectId) -> Result<Vec<TreeEntry>, FileError> {
        let tree = self.git.find_tree(id).map_err(|error| broken(&error))?;
        let mut entries = Vec::new();
        for entry in tree.iter() {
            let entry = entry.map_err(|error| broken(&error))?;
            entries.push(TreeEntry {
                name: entry.filename().to_vec(),
                kind: entry.mode().kind(),
                id: entry.object_id(),
            });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Returns the entry at a path; `None` if the path leaves the tree or does not exist. Links inside the path are
    /// followed; a link at its end is not.
    pub(super) fn at(
        &self,
        path: &[u8],
        budget: &mut ReadingBudget,
    ) -> Result<Option<PathTarget>, FileError> {
        let mut way = WalkedPath {
            tree: self,
            gone: Vec::new(),
            rest: Vec::new(),
            hops: 0,
        };
        if !way.take_up(path) {
            return Ok(None);
        }
        while let Some(name) = way.rest.pop() {
            let goes_on = match &*name {
                b".." => way.gone.pop().is_some(),
                name => way.enter(name, budget)?,
            };
            if !goes_on {
                return Ok(None);
            }
        }
        way.found().map(Some)
    }

    /// Returns the entry with this name in a directory.
    pub(super) fn look_in(
        &self,
        folder: ObjectId,
        name: &[u8],
        budget: &mut ReadingBudget,
    ) -> Result<Option<TreeEntry>, FileError> {
        let entries = self.looked_up(folder, budget)?;
        let at = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name));
        Ok(at.ok().and_then(|at| entries.get(at)).cloned())
    }

    /// Returns the entries of a directory. They are charged to the budget when they are read for the first time.
    fn looked_up(
        &self,
        id: ObjectId,
        budget: &mut ReadingBudget,
    ) -> Result<Rc<[TreeEntry]>, FileError> {
        let known = self.looked_up.borrow().get(&id).map(Rc::clone);
        if let Some(entries) = known {
            return Ok(entries);
        }
        let entries: Rc<[TreeEntry]> = self.folder(id)?.into();
        budget.take(entries.len() as u64)?;
        let mut looked_up = self.looked_up.borrow_mut();
        looked_up.insert(id, Rc::clone(&entries));
        Ok(entries)
    }

    /// Returns the content of a file. Its size is checked before the content is read.
    pub(super) fn file(
        &self,
        id: ObjectId,
        budget: &mut ReadingBudget,
    ) -> Result<Vec<u8>, FileError> {
        budget.take_file(self.size(id)?)?;
        self.content(id)
    }

    /// Returns the content of the file at this path. A missing object can be in the work tree, because a partial clone
    /// omits blobs until they are needed.
    pub(super) fn file_at(
        &self,
        path: &[u8],
        id: ObjectId,
        budget: &mut ReadingBudget,
    ) -> Result<Vec<u8>, FileError> {
        let in_work_tree = |error| match error {
            FileError::Object { .. } => self.in_work_tree(path, id).ok_or(error),
            _ => Err(error),
        };
        match self.size(id) {
            Ok(size) => {
                budget.take_file(size)?;
                self.content(id).or_else(in_work_tree)
            }
            Err(error) => {
                let bytes = in_work_tree(error)?;
                budget.take_file(bytes.len() as u64)?;
                Ok(bytes)
            }
        }
    }

    /// Returns the size of a file, if it is within the limit.
    fn size(&self, id: ObjectId) -> Result<u64, FileError> {
        let header = self.git.find_header(id).map_err(|error| broken(&error))?;
        if header.size() > MAX_BYTES {
            return Err(FileError::TooLarge { limit: MAX_BYTES });
        }
        Ok(header.size())
    }

    fn content(&self, id: ObjectId) -> Result<Vec<u8>, FileError> {
        let mut object = self.git.find_object(id).map_err(|error| broken(&error))?;
        Ok(object.data.split_off(0))
    }

    /// Returns the file at this path in the work tree, if it has this id. A filter that changes files at checkout
    /// gives them another id.
    fn in_work_tree(&self, path: &[u8], id: ObjectId) -> Option<Vec<u8>> {
        let path = self.on_disk(path);
        // A read from a pipe would wait for its writer, and a link can point anywhere.
        let is_file = fs::symlink_metadata(&path).ok()?.is_file();
        if !is_file || self.is_behind_link(&path) {
            return None;
        }
        let bytes = read_file(&path).ok()?;
        let found = compute_hash(id.kind(), Kind::Blob, &bytes).ok()?;
        (found == id).then_some(bytes)
    }

    /// Returns the tree of a submodule at a path in this tree; `None` if the submodule is not checked out.
    pub(super) fn submodule(
        &self,
        path: &[u8],
        commit: ObjectId,
    ) -> Result<Option<Self>, FileError> {
        let root = self.on_disk(path);
        let git = isolated().open(&root);
        let Some(git) = git.ok().filter(|_| self.depth < MOST_DEPTH) else {
            return Ok(None);
        };
        let git = git.to_thread_local();
        let missing = || FileError::Submodule {
            commit: commit.to_hex().to_string(),
        };
        let id = git
            .find_commit(commit)
            .ok()
            .and_then(|commit| commit.tree_id().ok())
            .map(gix::Id::detach)
            .ok_or_else(missing)?;
        Ok(Some(Self {
            git,
            root,
            shown: format!("{}/", self.shown(path)),
            id,
            depth: self.depth + 1,
            looked_up: Folders::default(),
            behind_links: Rc::default(),
        }))
    }

    /// Whether the work tree no longer has a file. A file that a sparse checkout omits is not gone. A file behind a
    /// link is a different file, so the original one is gone.
    pub(super) fn is_gone(
        &self,
        path: &[u8],
        budget: &mut ReadingBudget,
    ) -> Result<bool, FileError> {
        let is_gone = self.is_missing(path) || self.is_behind_link(&self.on_disk(path));
        Ok(is_gone && !self.is_left_out(path, budget)?)
    }

    /// Whether the work tree has no entry at this path.
    pub(super) fn is_missing(&self, path: &[u8]) -> bool {
        let found = fs::symlink_metadata(self.on_disk(path));
        found.is_err_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            )
        })
    }

    /// Whether one of the directories above a file on disk is a link. Each directory is checked once.
    fn is_behind_link(&self, file: &Path) -> bool {
        let mut known = self.behind_links.borrow_mut();
        let folders = file.ancestors().skip(1);
        let new = folders.take_while(|one| *one != self.root && !known.contains_key(*one));
        let new: Vec<&Path> = new.collect();
        let above = file.ancestors().nth(new.len() + 1);
        let above = above.and_then(|folder| known.get(folder).copied());
        new.iter()
            .rev()
            .fold(above.unwrap_or_default(), |above, folder| {
                let is_behind = above || folder.is_symlink();
                known.insert((*folder).to_owned(), is_behind);
                is_behind
            })
    }

    /// Whether a sparse checkout omits a file of the current commit.
    fn is_left_out(&self, path: &[u8], budget: &mut ReadingBudget) -> Result<bool, FileError> {
        let is_sparse = self.git.config_snapshot().boolean("core.sparseCheckout");
        let head = self.git.head_tree_id().ok().map(gix::Id::detach);
        let Some(id) = head.filter(|_| is_sparse == Some(true)) else {
            return Ok(false);
        };
        let head = Self { id, ..self.clone() };
        let found = head.at(path, budget)?;
        Ok(found.is_some_and(|found| found.path == path))
    }
}

/// The options for opening a repository. No configuration around it is read, no object replaces another, and the
/// memory for one object is bounded.
pub(super) fn isolated() -> open::Options {
    open::Options::isolated().config_overrides([MOST_ROOM, NO_REPLACEMENTS])
}

fn broken(error: &gix::Error) -> FileError {
    FileError::Object { why: cause(error) }
}

/// Twice the maximum size of a manifest, which leaves room for the object that a delta is based on.
const MOST_ROOM: &str = "gitoxide.objects.allocLimit=67108864";

/// A ref below `refs/replace` could substitute any commit of a pull request for the base.
const NO_REPLACEMENTS: &str = "core.useReplaceRefs=false";

/// The maximum nesting depth of submodules that are followed.
const MOST_DEPTH: usize = 8;

/// The entry at a path.
#[derive(Clone, Debug)]
pub(super) struct PathTarget {
    pub(super) entry: TreeEntry,
    /// The path of the entry, with links followed.
    pub(super) path: Vec<u8>,
}

/// A path during its resolution.
struct WalkedPath<'t> {
    tree: &'t Tree,
    /// The entries passed so far, the last one last.
    gone: Vec<TreeEntry>,
    /// The remaining parts, the next one last.
    rest: Vec<Vec<u8>>,
    hops: usize,
}

impl WalkedPath<'_> {
    /// Puts the parts of a path before the remaining ones. Returns whether the path can be followed from here.
    fn take_up(&mut self, path: &[u8]) -> bool {
        let parts = path.split(|byte| *byte == b'/').rev();
        let parts = parts.filter(|part| !part.is_empty() && *part != b".");
        self.rest.extend(parts.map(<[u8]>::to_vec));
        !path.starts_with(b"/") && path.len() <= MOST_BYTES
    }

    /// Enters the entry with this name. Returns whether it exists.
    fn enter(&mut self, name: &[u8], budget: &mut ReadingBudget) -> Result<bool, FileError> {
        let folder = self.last();
        match folder.kind {
            EntryKind::Tree => {}
            EntryKind::Commit => return Err(self.within_submodule()),
            _ => return Ok(false),
        }
        budget.take(1)?;
        let Some(entry) = self.tree.look_in(folder.id, name, budget)? else {
            return Ok(false);
        };
        if entry.kind == EntryKind::Link && !self.rest.is_empty() {
            return self.follow(&entry, budget);
        }
        self.gone.push(entry);
        Ok(true)
    }

    fn follow(&mut self, link: &TreeEntry, budget: &mut ReadingBudget) -> Result<bool, FileError> {
        self.hops += 1;
        if self.hops > MOST_HOPS {
            return Ok(false);
        }
        budget.take(COST_OF_LINK)?;
        let target = self.tree.file(link.id, budget)?;
        Ok(self.take_up(&target))
    }

    fn last(&self) -> TreeEntry {
        self.gone.last().cloned().unwrap_or_else(|| self.tree.top())
    }

    fn path(&self) -> Vec<u8> {
        let names: Vec<&[u8]> = self.gone.iter().map(|entry| &*entry.name).collect();
        names.join(&b'/')
    }

    fn within_submodule(&self) -> FileError {
        FileError::WithinSubmodule {
            path: self.path().to_str_lossy().into_owned(),
        }
    }

    fn found(&self) -> Result<PathTarget, FileError> {
        let (entry, path) = (self.last(), self.path());
        if path.len() > MOST_BYTES {
            return Err(FileError::TooDeep { limit: MOST_BYTES });
        }
        Ok(PathTarget { entry, path })
    }
}

/// Returns the path of a link's target, if it can be in the tree.
pub(super) fn beside(link: &[u8], target: &[u8]) -> Option<Vec<u8>> {
    if target.starts_with(b"/") || target.len() > MOST_BYTES {
        return None;
    }
    let folder = link.rfind_byte(b'/').and_then(|end| link.get(..=end));
    Some([folder.unwrap_or_default(), target].concat())
}

/// The maximum length of a path in bytes. No system checks out longer ones.
pub(super) const MOST_BYTES: usize = 4096;

/// The maximum number of links that are followed in one path, as on Linux.
const MOST_HOPS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_link_holds_counts_from_its_folder() {
        for (link, target, expected) in [
            ("a/b/c", "d", Some("a/b/d")),
            ("a/b/c", "../d/./e", Some("a/b/../d/./e")),
            ("c", "d//e/", Some("d//e/")),
            ("c", "..", Some("..")),
            ("c", "/etc/passwd", None),
        ] {
            let path = beside(link.as_bytes(), target.as_bytes());
            let expected = expected.map(str::as_bytes);
            assert_eq!(path.as_deref(), expected, "{link} -> {target}");
        }
        assert_eq!(beside(b"c", &[b'd'; MOST_BYTES + 1]), None);
    }
}
