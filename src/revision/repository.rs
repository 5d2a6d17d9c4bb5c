//! A repository, and a commit in it by any name that git knows.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use gix::bstr::BStr;
use gix::discover::upwards;
use gix::revision::plumbing::Spec;
use gix::{ObjectId, ThreadSafeRepository};

use super::error::{ReadingBudget, RepositoryError, RevisionError, cause};
use super::tree::{Tree, isolated};
use super::walk::{KnownContents, RevisionFiles, bytes};

/// A repository with a work tree.
#[derive(Clone, Debug)]
pub struct Repository {
    git: gix::Repository,
    /// The directory of the work tree, without links.
    root: PathBuf,
}

/// One commit of a repository.
#[derive(Clone, Debug)]
pub struct Revision {
    commit: ObjectId,
    tree: Rc<Tree>,
}

impl Repository {
    /// The repository around a file or a directory.
    pub fn around(path: &Path) -> Result<Self, RepositoryError> {
        let folder = as_written(path).and_then(|path| nearest(&path));
        let folder = folder.map_err(|source| RepositoryError::Io {
            path: path.to_owned(),
            source,
        })?;
        let trust = gix::sec::trust::Mapping {
            full: isolated(),
            reduced: isolated(),
        };
        let found =
            ThreadSafeRepository::discover_opts(&folder, upwards::Options::default(), trust);
        let git = found.map_err(|error| not_opened(path, &error))?;
        let git = git.to_thread_local();
        match git.workdir().map(fs::canonicalize) {
            Some(Ok(root)) => Ok(Self { git, root }),
            _ => Err(RepositoryError::Bare {
                path: path.to_owned(),
            }),
        }
    }

    /// The directory of its work tree, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path from its root to a file or a directory, if that is in the work tree. Links within the path are kept:
    /// in a revision they may lead elsewhere.
    pub fn within(&self, path: &Path) -> Option<PathBuf> {
        let path = as_written(path).ok()?;
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        above.into_iter().find_map(|above| {
            let real = fs::canonicalize(above).ok()?;
            let real = real.strip_prefix(&self.root).ok()?;
            let rest = path.strip_prefix(above).ok()?;
            Some(real.components().chain(rest.components()).collect())
        })
    }

    /// The commit of this name: a branch, a tag, an id, `HEAD~2`, or `A...B` for the common commit of A and B.
    pub fn revision(&self, name: &str) -> Result<Revision, RevisionError> {
        name.split("...")
            .try_for_each(|side| self.check_clear(side))?;
        let shallow = self.git.is_shallow().unwrap_or_default();
        let spec = self.git.rev_parse(<&BStr>::from(name));
        let spec = spec.map_err(|_| RevisionError::Unknown {
            name: name.to_owned(),
            shallow,
        })?;
        let id = match spec.detach() {
            Spec::Include(id) => id,
            Spec::Merge { theirs, ours } => {
                let common = self.git.merge_base(theirs, ours).ok().flatten();
                let common = common.ok_or_else(|| RevisionError::NothingInCommon {
                    name: name.to_owned(),
                    shallow,
                })?;
                common.detach()
            }
            _ => {
                return Err(RevisionError::Range {
                    name: name.to_owned(),
                });
            }
        };
        self.commit(id).ok_or_else(|| RevisionError::NoCommit {
            name: name.to_owned(),
        })
    }

    /// The names of branches and tags; a branch of a remote starts with the name of the remote.
    pub fn names(&self) -> Vec<String> {
        let references = self.git.references();
        let all = references.ok().and_then(|names| {
            Some(
                names
                    .all()
                    .ok()?
                    .flatten()
                    .map(|one| one.name().shorten().to_string())
                    .collect(),
            )
        });
        all.unwrap_or_default()
    }

    /// Refuses a name that two refs have for two commits. Git prefers the tag, and anyone who can push a tag could
    /// name it as the base: `origin/main`.
    fn check_clear(&self, side: &str) -> Result<(), RevisionError> {
        let name = side.split(['~', '^', ':']).next().unwrap_or_default();
        let name = name.split("@{").next().unwrap_or_default();
        let is_id = name.len() >= WHOLE_ID && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id || name.starts_with("refs/") {
            return Ok(());
        }
        let refs = REFS.map(|place| format!("{place}{name}"));
        let found = refs.into_iter().filter_map(|name| {
            let found = self.git.try_find_reference(&*name).ok().flatten();
            Some((name, found?.into_fully_peeled_id().ok()?.detach()))
        });
        let mut found = found.collect::<Vec<_>>().into_iter();
        let Some((first, id)) = found.next() else {
            return Ok(());
        };
        let other = found.find(|(_, other)| *other != id);
        other.map_or(Ok(()), |(second, _)| {
            Err(RevisionError::Ambiguous {
                name: name.to_owned(),
                refs: [first, second],
            })
        })
    }

    fn commit(&self, id: ObjectId) -> Option<Revision> {
        let object = self.git.find_object(id).ok()?;
        let commit = object.peel_to_commit().ok()?;
        let tree = commit.tree_id().ok()?.detach();
        Some(Revision {
            commit: commit.id,
            tree: Rc::new(Tree::of_commit(self.git.clone(), &self.root, tree)),
        })
    }
}

impl Revision {
    /// The id of the commit, in full.
    pub fn commit(&self) -> String {
        self.commit.to_hex().to_string()
    }

    /// The files at and below these paths from the root, in their order. A file with one of the known contents is not
    /// read.
    pub fn files<'k>(
        &self,
        paths: &[PathBuf],
        known: impl IntoIterator<Item = &'k [u8]>,
    ) -> RevisionFiles<'k> {
        let known = KnownContents::new(self.commit.kind(), known);
        RevisionFiles::below(&self.tree, paths, known)
    }

    /// Whether the work tree no longer has this file of the revision.
    pub fn has_gone(&self, path: &str) -> bool {
        let (path, budget) = (path.as_bytes(), &mut ReadingBudget::default());
        let found = self.tree.at(path, budget).ok().flatten();
        let place = found.map_or_else(|| path.to_owned(), |found| found.path);
        let is_nowhere = place != path && self.tree.is_missing(path);
        is_nowhere || self.tree.is_gone(&place, budget).unwrap_or_default()
    }

    /// Whether the revision has something at this path from the root, and the work tree has nothing.
    pub fn is_emptied(&self, way: &Path) -> bool {
        let (path, budget) = (bytes(way), &mut ReadingBudget::default());
        let was = self.tree.at(&path, budget).ok().flatten().is_some();
        was && self.tree.is_gone(&path, budget).unwrap_or_default()
    }

    /// The files of the whole revision that are outside of these paths, and that the work tree no longer has.
    pub fn gone(&self, but: &[PathBuf]) -> RevisionFiles<'static> {
        RevisionFiles::gone(&self.tree, but)
    }
}

/// Why there is no repository around this path. If one was found, the error has the reason why it cannot be opened.
fn not_opened(path: &Path, error: &gix::Error) -> RepositoryError {
    let path = path.to_owned();
    match error.downcast_any_ref() {
        Some(
            upwards::Error::NoGitRepository { .. }
            | upwards::Error::NoGitRepositoryWithinCeiling { .. }
            | upwards::Error::NoGitRepositoryWithinFs { .. },
        ) => RepositoryError::None { path },
        _ => RepositoryError::Broken {
            path,
            why: cause(error),
        },
    }
}

/// The whole path, with links as they are written, save where `..` leads out of one.
fn as_written(path: &Path) -> io::Result<PathBuf> {
    let mut whole = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        if part != Component::ParentDir {
            whole.push(part);
            continue;
        }
        if whole.is_symlink() {
            whole = fs::canonicalize(&whole)?;
        }
        whole.pop();
    }
    Ok(whole)
}

/// The nearest existing directory around a path, or at it; without links.
fn nearest(path: &Path) -> io::Result<PathBuf> {
    let mut last = io::Error::from(ErrorKind::NotFound);
    for around in path.ancestors() {
        match fs::canonicalize(around) {
            Ok(real) if real.is_dir() => return Ok(real),
            Ok(real) => return Ok(real.parent().map_or(real.clone(), Path::to_owned)),
            Err(error) => last = error,
        }
        if !matches!(last.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            break;
        }
    }
    Err(last)
}

/// Where a ref can be that is not named in full, as git looks for it.
const REFS: [&str; 4] = ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];

/// A whole id is an object, whatever refs are called so.
const WHOLE_ID: usize = 40;
