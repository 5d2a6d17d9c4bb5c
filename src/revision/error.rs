//! Why there is no revision, and why a file of one cannot be read.

use std::path::PathBuf;

use super::walk::COST_OF_REPEAT;
use super::way::COST_OF_LINK;

/// Why there is no repository.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// Nothing around the path is one.
    #[error("{} is not in a git repository: expected a path in the repository that has the \
             revision", .path.display())]
    None {
        /// The path.
        path: PathBuf,
    },
    /// There is one, and it cannot be opened.
    #[error(
        "the git repository around {} cannot be opened: {why}: expected a repository in which git \
         status works",
        .path.display()
    )]
    Broken {
        /// The path.
        path: PathBuf,
        /// What the library says.
        why: String,
    },
    /// It has no work tree.
    #[error("the git repository around {} has no work tree: expected a repository with the \
             manifests in its work tree", .path.display())]
    Bare {
        /// The path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{} cannot be read: {source}", .path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// Why a name is no revision.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RevisionError {
    /// Nothing in the repository is called so, or not one thing.
    #[error("{name:?} is not a revision here: {}", missing(*.shallow))]
    Unknown {
        /// The name.
        name: String,
        /// Whether the clone holds only a part of the history.
        shallow: bool,
    },
    /// Two refs have this name, for two commits.
    #[error("{name:?} is the name of {} and of {}: write one of them in full", refs[0], refs[1])]
    Ambiguous {
        /// The name.
        name: String,
        /// The refs, the one that git prefers first.
        refs: [String; 2],
    },
    /// It is more than one commit.
    #[error(
        "{name:?} is a range of revisions: expected one revision, or A...B for the common commit \
         of A and B"
    )]
    Range {
        /// The name.
        name: String,
    },
    /// It is a file or a folder.
    #[error("{name:?} is not a commit: expected a branch, a tag or the id of a commit")]
    NoCommit {
        /// The name.
        name: String,
    },
    /// The two sides have nothing in common.
    #[error("{name:?} names two revisions without a common commit here{}", after(*.shallow))]
    NothingInCommon {
        /// The name.
        name: String,
        /// Whether the clone holds only a part of the history.
        shallow: bool,
    },
}

/// Why a file of a revision cannot be read. The texts do not repeat its path.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// An object is missing or broken.
    #[error("cannot be read from the repository: {why}")]
    Object {
        /// What the library says.
        why: String,
    },
    /// Larger than a manifest may be.
    #[error(
        "is larger than {} MiB: expected a manifest, so split it, or omit it",
        limit >> 20
    )]
    TooLarge {
        /// The most bytes allowed.
        limit: u64,
    },
    /// More of the revision was read than any repository of manifests has.
    #[error(
        "is past the limit for reading a revision: {limit} points, 1 for each entry of a directory and \
         each KiB of a file, {} for a link, {} for content that was read before; expected less, so \
         name a directory in it",
        COST_OF_LINK,
        COST_OF_REPEAT
    )]
    TooMany {
        /// The points of a whole reading.
        limit: u64,
    },
    /// A path longer than systems take.
    #[error("has a path of more than {limit} bytes: expected one that can be checked out")]
    TooDeep {
        /// The most bytes allowed.
        limit: usize,
    },
    /// The commit of a submodule is not there.
    #[error(
        "is a submodule at commit {commit}, which is not in its repository: expected it there, so fetch \
         it (git submodule foreach git fetch)"
    )]
    Submodule {
        /// The commit that the revision pins.
        commit: String,
    },
    /// A link leads into a submodule, or a folder was one.
    #[error(
        "goes through {path:?}, which is a submodule there: expected a path within the repository, \
         so check the submodule separately"
    )]
    WithinSubmodule {
        /// Where it lies in its repository.
        path: String,
    },
}

/// Why a name is none, with what to do if the history was never fetched.
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

const FETCH: &str = "this clone is shallow, so fetch the revision first (git fetch --depth=1 origin REV; for the common \
                     commit of two revisions git fetch --unshallow, or fetch-depth: 0 in a checkout step)";
