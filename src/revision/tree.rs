//! The tree of one commit: its folders and files, looked up in the repository's objects.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use gix::objs::{Kind, compute_hash};

use super::budget::Budget;
use super::error::FileError;
use super::repository::{isolated, told};
use super::way::{PathTarget, look_up};
use crate::manifest::{MAX_BYTES, read_file};

/// The tree of a commit, and where its files would lie.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    git: gix::Repository,
    /// The folder of the work tree, without links.
    root: PathBuf,
    /// What stands before a path in it, as people are shown it: the way to the submodule.
    shown: String,
    id: ObjectId,
    /// How many repositories are around it.
    depth: usize,
    looked_up: Folders,
    behind_links: Rc<RefCell<HashMap<PathBuf, bool>>>,
}

/// Folders in which something was looked up: many links may lead into one.
type Folders = Rc<RefCell<HashMap<ObjectId, Rc<[TreeEntry]>>>>;

/// One thing in a folder.
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

    /// The folder that holds everything.
    pub(super) fn top(&self) -> TreeEntry {
        TreeEntry {
            name: Vec::new(),
            kind: EntryKind::Tree,
            id: self.id,
        }
    }

    /// A path in it as people are shown it.
    pub(super) fn shown(&self, path: &[u8]) -> String {
        format!("{}{}", self.shown, path.to_str_lossy())
    }

    /// Where a path in it lies in the work tree.
    pub(super) fn on_disk(&self, path: &[u8]) -> PathBuf {
        let lossy = |_| PathBuf::from(path.to_str_lossy().into_owned());
        let path = gix::path::from_bstr(path.as_bstr());
        self.root.join(path.map_or_else(lossy, Cow::into_owned))
    }

    /// What is in a folder, in byte order.
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

    /// What is at a path, if anything is. Links on the way are followed, and one at its end is not.
    pub(super) fn at(
        &self,
        path: &[u8],
        budget: &mut Budget,
    ) -> Result<Option<PathTarget>, FileError> {
        look_up(self, path, budget)
    }

    /// What has this name in a folder.
    pub(super) fn look_in(
        &self,
        folder: ObjectId,
        name: &[u8],
        budget: &mut Budget,
    ) -> Result<Option<TreeEntry>, FileError> {
        let entries = self.looked_up(folder, budget)?;
        let at = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name));
        Ok(at.ok().and_then(|at| entries.get(at)).cloned())
    }

    /// What is in a folder; it is paid for when it is looked at for the first time.
    fn looked_up(&self, id: ObjectId, budget: &mut Budget) -> Result<Rc<[TreeEntry]>, FileError> {
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

    /// The content of a file. How large it is, is asked before it is taken.
    pub(super) fn file(&self, id: ObjectId, budget: &mut Budget) -> Result<Vec<u8>, FileError> {
        budget.take_file(self.size(id)?)?;
        self.content(id)
    }

    /// The content of the file at this path. An object that is missing may be in the work tree: a clone can leave
    /// out blobs until they are needed.
    pub(super) fn file_at(
        &self,
        path: &[u8],
        id: ObjectId,
        budget: &mut Budget,
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

    /// How large a file is, if that is within the limit.
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

    /// The file at this path in the work tree, if it has this id. If a filter changes what is checked out, it has
    /// another one.
    fn in_work_tree(&self, path: &[u8], id: ObjectId) -> Option<Vec<u8>> {
        let path = self.on_disk(path);
        // Reading a pipe would wait for its writer, and a link can point anywhere.
        let is_file = fs::symlink_metadata(&path).ok()?.is_file();
        if !is_file || self.is_behind_link(&path) {
            return None;
        }
        let bytes = read_file(&path).ok()?;
        let found = compute_hash(id.kind(), Kind::Blob, &bytes).ok()?;
        (found == id).then_some(bytes)
    }

    /// The tree of a submodule, at a path in this one; none where it is not checked out.
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

    /// Whether nothing is in the place of a file any more; what nobody wants in the work tree is not gone,
    /// and what lies behind a link is another file.
    pub(super) fn is_gone(&self, path: &[u8], budget: &mut Budget) -> Result<bool, FileError> {
        let is_gone = self.is_missing(path) || self.is_behind_link(&self.on_disk(path));
        Ok(is_gone && !self.is_left_out(path, budget)?)
    }

    /// Whether nothing can be found by this path in the work tree.
    pub(super) fn is_missing(&self, path: &[u8]) -> bool {
        let found = fs::symlink_metadata(self.on_disk(path));
        found.is_err_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            )
        })
    }

    /// Whether one of the folders in which a file lies on disk is a link. Each is looked at once.
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

    /// Whether a sparse checkout leaves a file of the current commit out.
    fn is_left_out(&self, path: &[u8], budget: &mut Budget) -> Result<bool, FileError> {
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

fn broken(error: &gix::Error) -> FileError {
    FileError::Object { why: told(error) }
}

/// How deep submodules are followed into submodules.
const MOST_DEPTH: usize = 8;
