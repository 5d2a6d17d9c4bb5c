//! Why there is no revision, why a file of one cannot be read, and how much of one is read.

use std::path::PathBuf;

use crate::foreign_text::one_line;

/// Why there is no repository.
#[derive(Debug, thiserror::Error)]
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

const FETCH: &str = "this clone is shallow, so fetch the revision first (git fetch --depth=1 origin REV, then --base \
                     FETCH_HEAD; for HEAD~N git fetch --deepen=N; for the common commit of two revisions git fetch --unshallow, or fetch-depth: 0 in a checkout step)";

/// The causes of an error of the library, in one line.
pub(super) fn cause(error: &gix::Error) -> String {
    let first: &dyn std::error::Error = error;
    let chain = std::iter::successors(Some(first), |error| error.source());
    let chain = chain.take(MOST_CAUSES);
    let mut said: Vec<String> = chain.map(|error| one_line(&error.to_string())).collect();
    said.dedup();
    // Its own names for what is said before or behind them in words.
    said.retain(|words| words.contains(' ') && !words.starts_with("couldn't parse revision"));
    said.join(": ")
}

/// How many causes of an error are shown.
const MOST_CAUSES: usize = 8;

/// How much of a revision is still read; nothing once more was requested than there was. What is in a revision may be
/// made to be endless.
#[derive(Debug)]
pub(super) struct ReadingBudget {
    left: Option<u64>,
}

impl Default for ReadingBudget {
    fn default() -> Self {
        let left = Some(MOST_ENTRIES);
        Self { left }
    }
}

impl ReadingBudget {
    /// Pays for so many entries of folders.
    pub(super) fn take(&mut self, entries: u64) -> Result<(), FileError> {
        self.left = self.left.and_then(|left| left.checked_sub(entries));
        let limit = MOST_ENTRIES;
        self.left.map(drop).ok_or(FileError::TooMany { limit })
    }

    /// Pays for a file of so many bytes: [`MOST_ENTRIES`] buy a GiB.
    pub(super) fn take_file(&mut self, bytes: u64) -> Result<(), FileError> {
        self.take(1 + bytes / 1024)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.is_none()
    }
}

/// The cost of following a link, in entries: its target is an object of its own, which is slow to read.
pub(super) const COST_OF_LINK: u64 = 10;

/// The cost of reading again what is in another place as well, in entries: a few directories within each other, each
/// there many times, make any number of places of one file.
pub(super) const COST_OF_REPEAT: u64 = 30;

/// The most entries of folders that are looked at: many times what any repository of manifests has.
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
