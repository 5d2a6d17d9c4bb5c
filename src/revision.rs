//! The files of a git revision, read from the repository's objects. If the content of an object below the named paths
//! is known already, the object is not read. A file of the work tree with the same id replaces a missing object.
//!
//! ```text
//! path --Repository::around--> Repository --revision--> Revision --files, gone--> RevisionFile { path, bytes }
//! ```
//!
//! A directory has the same files as in a work tree: files that look like manifests, without hidden ones. Links are
//! followed within the revision, as long as they stay inside it. A submodule has the files of the commit that the
//! revision pins, if it is checked out.
//!
//! Invariants: nothing is executed and nothing is written. Of all configuration only the repository's own file is
//! read, and no environment variable. The library is built without the parts that run filters, hooks or helpers, so
//! the repository need not be trusted. Whatever the objects are, no blob larger than [`crate::manifest::MAX_BYTES`] is
//! read, and every walk ends.

mod tree;
mod walk;

pub use walk::{RevisionFile, RevisionFiles};

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use gix::bstr::BStr;
use gix::discover::upwards;
use gix::revision::plumbing::Spec;
use gix::{ObjectId, ThreadSafeRepository};

use crate::foreign_text::one_line;
use tree::{Tree, isolated};
use walk::{by_id, bytes};

// === A repository, and a commit in it by any name that git accepts ===

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
    /// Finds the repository that contains a file or a directory.
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

    /// The directory of the work tree, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path from the root to a file or a directory, if it is in the work tree. Links within the path are
    /// kept, because they can have other targets in a revision.
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

    /// Returns the commit with this name: a branch, a tag, an id, `HEAD~2`, or `A...B` for the merge base of A and B.
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

    /// Returns the names of branches and tags. A remote branch starts with the name of the remote.
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

    /// Refuses a name of different commits: of two refs, or of a ref and an object whose id starts with it. Git prefers
    /// the tag, so anyone who can push a tag could give it the name of the base: `origin/main`.
    fn check_clear(&self, side: &str) -> Result<(), RevisionError> {
        let name = side.split(['~', '^', ':']).next().unwrap_or_default();
        let name = name.split("@{").next().unwrap_or_default();
        let is_id = name.len() >= WHOLE_ID && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id || name.starts_with("refs/") {
            return Ok(());
        }
        let abbreviated = self.abbreviated(name);
        let refs = REFS.map(|(before, after)| format!("{before}{name}{after}"));
        let found = refs.into_iter().filter_map(|name| {
            let found = self.git.try_find_reference(&*name).ok().flatten();
            Some((name, found?.into_fully_peeled_id().ok()?.detach()))
        });
        let found = found.map(|(name, id)| (name, Some(id)));
        let mut found = found.chain(abbreviated);
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

    /// Returns the object whose id this name abbreviates. There is no id if the name abbreviates several.
    fn abbreviated(&self, name: &str) -> Option<(String, Option<ObjectId>)> {
        let prefix = gix::hash::Prefix::from_hex(name).ok()?;
        let found = self.git.objects.lookup_prefix(prefix, None).ok()??;
        Some(match found {
            Ok(id) => (format!("the object {id}"), Some(id)),
            Err(()) => ("several objects".to_owned(), None),
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
    /// The full id of the commit.
    pub fn commit(&self) -> String {
        self.commit.to_hex().to_string()
    }

    /// Returns the files at and below these paths from the root, in their order. A file whose content is known is not
    /// read.
    pub fn files<'k>(
        &self,
        paths: &[PathBuf],
        known: impl IntoIterator<Item = &'k [u8]>,
    ) -> RevisionFiles<'k> {
        let known = by_id(self.commit.kind(), known);
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

    /// Whether the revision has an entry at this path from the root, and the work tree has none.
    pub fn is_emptied(&self, way: &Path) -> bool {
        let (path, budget) = (bytes(way), &mut ReadingBudget::default());
        let was = self.tree.at(&path, budget).ok().flatten().is_some();
        was && self.tree.is_gone(&path, budget).unwrap_or_default()
    }

    /// Returns the files of the whole revision outside of these paths that the work tree no longer has.
    pub fn gone(&self, but: &[PathBuf]) -> RevisionFiles<'static> {
        RevisionFiles::gone(&self.tree, but)
    }
}

/// The reason why no repository could be opened for this path. If one was found, the error says why it cannot be
/// opened.
fn not_opened(path: &Path, error: &gix::Error) -> RepositoryError {
    let path = path.to_owned();
    match error.downcast_any_ref() {
        Some(
            upwards::Error::NoGitRepository { .. }
            | upwards::Error::NoGitRepositoryWithinCeiling { .. }
            | upwards::Error::NoGitRepositoryWithinFs { .. },
        ) => RepositoryError::None { path },
        _ => match cause(error) {
            why if why.contains(OBJECT_FORMAT) => RepositoryError::Sha256 { path },
            why => RepositoryError::Broken { path, why },
        },
    }
}

/// The setting that the error of the library names, if the repository does not use SHA-1.
const OBJECT_FORMAT: &str = "extensions.objectFormat";

/// Returns the absolute path. Links stay as written, except where `..` leaves one.
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

/// Returns the nearest existing directory at or above a path, without links.
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

/// The places that are tried for a ref that is not named in full: what comes before its name, and after.
const REFS: [(&str, &str); 5] = [
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

/// The length of a complete id, which always denotes an object, whatever the names of refs.
const WHOLE_ID: usize = 40;

// === Faults, and the limit on reading a revision ===

/// The reason why there is no repository.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// No directory around the path is a repository.
    #[error("{} is not in a git repository: expected a path in the repository that has the \
             revision", .path.display())]
    None {
        /// The path.
        path: PathBuf,
    },
    /// A repository was found but cannot be opened.
    #[error(
        "the git repository around {} cannot be opened: {why}: expected a repository in which git \
         status works",
        .path.display()
    )]
    Broken {
        /// The path.
        path: PathBuf,
        /// The error of the library.
        why: String,
    },
    /// The repository uses SHA-256 for its ids.
    #[error(
        "the git repository around {} uses SHA-256, which olmguard cannot read: expected a directory with the files of \
         the revision, for example of git worktree add",
        .path.display()
    )]
    Sha256 {
        /// The path.
        path: PathBuf,
    },
    /// The repository has no work tree.
    #[error("the git repository around {} has no work tree: expected a repository with the \
             manifests in its work tree", .path.display())]
    Bare {
        /// The path.
        path: PathBuf,
    },
    /// The system refused access.
    #[error("{} cannot be read: {source}", .path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// The reason why a name is not a revision.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RevisionError {
    /// No object or ref in the repository has this name, or several have.
    #[error("{name:?} is not a revision here: {}", missing(*.shallow))]
    Unknown {
        /// The name.
        name: String,
        /// Whether the clone has only a part of the history.
        shallow: bool,
    },
    /// Two refs have this name, or a ref and an abbreviated id, for different commits.
    #[error("{name:?} is the name of {} and of {}: write one of them in full", refs[0], refs[1])]
    Ambiguous {
        /// The name.
        name: String,
        /// The refs, the one that git prefers first.
        refs: [String; 2],
    },
    /// The name denotes more than one commit.
    #[error(
        "{name:?} is a range of revisions: expected one revision, or A...B for the common commit \
         of A and B"
    )]
    Range {
        /// The name.
        name: String,
    },
    /// The name denotes a file or a directory.
    #[error("{name:?} is not a commit: expected a branch, a tag or the id of a commit")]
    NoCommit {
        /// The name.
        name: String,
    },
    /// The two sides have no common commit.
    #[error("{name:?} names two revisions without a common commit here{}", after(*.shallow))]
    NothingInCommon {
        /// The name.
        name: String,
        /// Whether the clone has only a part of the history.
        shallow: bool,
    },
}

/// The reason why a file of a revision cannot be read. The texts do not repeat its path.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FileError {
    /// An object is missing or broken.
    #[error("cannot be read from the repository: {why}")]
    Object {
        /// The error of the library.
        why: String,
    },
    /// The file is larger than a manifest may be.
    #[error(
        "is larger than {} MiB: expected a manifest, so split it, or omit it",
        limit >> 20
    )]
    TooLarge {
        /// The maximum number of bytes.
        limit: u64,
    },
    /// Reading the revision costs more than any repository of manifests needs.
    #[error(
        "is past the limit for reading a revision: {limit} points, 1 for each entry of a directory and \
         each KiB of a file, {} for a link, {} for content that was read before; expected less, so \
         name a directory in it",
        COST_OF_LINK,
        COST_OF_REPEAT
    )]
    TooMany {
        /// The maximum number of points.
        limit: u64,
    },
    /// The path is longer than any system accepts.
    #[error("has a path of more than {limit} bytes: expected one that can be checked out")]
    TooDeep {
        /// The maximum number of bytes.
        limit: usize,
    },
    /// The commit of a submodule is not in its repository.
    #[error(
        "is a submodule at commit {commit}, which is not in its repository: expected it there, so fetch \
         it (git submodule foreach git fetch)"
    )]
    Submodule {
        /// The commit that the revision pins.
        commit: String,
    },
    /// A link points into a submodule, or a directory was a submodule in the revision.
    #[error(
        "goes through {path:?}, which is a submodule there: expected a path within the repository, \
         so check the submodule separately"
    )]
    WithinSubmodule {
        /// The path of the submodule in its repository.
        path: String,
    },
}

/// The reason why a name is unknown, with advice if the history was never fetched.
fn missing(shallow: bool) -> &'static str {
    if shallow {
        FETCH
    } else {
        "no single commit has this name"
    }
}

fn after(shallow: bool) -> String {
    if shallow {
        format!("; {FETCH}")
    } else {
        String::new()
    }
}

const FETCH: &str = "this clone is shallow, so fetch the revision first (git fetch --depth=1 origin REV, then --base \
                     FETCH_HEAD; for HEAD~N git fetch --deepen=N; for the common commit of two revisions git fetch --unshallow, or fetch-depth: 0 in a checkout step)";

/// Returns the causes of a library error in one line.
fn cause(error: &gix::Error) -> String {
    let first: &dyn std::error::Error = error;
    let chain = std::iter::successors(Some(first), |error| error.source());
    let chain = chain.take(MOST_CAUSES);
    let mut said: Vec<String> = chain.map(|error| one_line(&error.to_string())).collect();
    said.dedup();
    // The library's internal names only repeat what the other messages say.
    said.retain(|words| words.contains(' ') && !words.starts_with("couldn't parse revision"));
    said.join(": ")
}

/// The maximum number of causes that are shown.
const MOST_CAUSES: usize = 8;

/// The remaining budget for reading a revision; `None` once a request exceeded it. The content of a revision can be
/// crafted to be endless.
#[derive(Debug)]
struct ReadingBudget {
    left: Option<u64>,
}

impl Default for ReadingBudget {
    fn default() -> Self {
        let left = Some(MOST_ENTRIES);
        Self { left }
    }
}

impl ReadingBudget {
    /// Charges for directory entries.
    fn take(&mut self, entries: u64) -> Result<(), FileError> {
        self.left = self.left.and_then(|left| left.checked_sub(entries));
        let limit = MOST_ENTRIES;
        self.left.map(drop).ok_or(FileError::TooMany { limit })
    }

    /// Charges for a file of this size: [`MOST_ENTRIES`] pay for one GiB.
    fn take_file(&mut self, bytes: u64) -> Result<(), FileError> {
        self.take(1 + bytes / 1024)
    }

    fn is_spent(&self) -> bool {
        self.left.is_none()
    }
}

/// The cost of following a link, in entries: its target is a separate object, which is slow to read.
const COST_OF_LINK: u64 = 10;

/// The cost of reading content again that another place has too, in entries: a few nested directories, each used many
/// times, can create any number of places for one file.
const COST_OF_REPEAT: u64 = 30;

/// The maximum number of directory entries that are read: many times the number in any repository of manifests.
const MOST_ENTRIES: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_paid_for_spends_the_rest() {
        let limit = MOST_ENTRIES;
        let mut budget = ReadingBudget::default();
        assert_eq!(budget.take(limit - 2), Ok(()));
        assert_eq!(budget.take_file(1024), Ok(()));
        assert!(!budget.is_spent());
        assert_eq!(budget.take_file(0), Err(FileError::TooMany { limit }));
        assert!(budget.is_spent());
        assert_eq!(budget.take(0), Err(FileError::TooMany { limit }));
    }
}
