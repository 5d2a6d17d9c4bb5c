//! What can go wrong with a cache, and why a file of it is of no use.

use std::io;
use std::path::{Path, PathBuf};

use crate::source::SourceError;
use olmguard_catalog::memory::TooLarge;

/// Why the cache did not do what it was asked to. Nothing but the cache is worse off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// No file can be named after it.
    #[error(
        "digest {found:?}: expected one such as sha256: and 64 hexadecimal digits; it is not cached"
    )]
    Digest {
        /// What was given for a digest.
        found: String,
    },
    /// Another process uses the folder.
    #[error("{}: another olmguard uses this directory: give each olmguard its own", .folder.display())]
    Held {
        /// The folder.
        folder: PathBuf,
    },
    /// The operating system said no.
    #[error("{}: cannot {action}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A file is of no use. It was removed.
    #[error("{0}; it must be fetched again")]
    Damaged(DroppedFile),
    /// A file needs more memory than there is for it. It stays.
    #[error(transparent)]
    Memory(#[from] TooLarge),
    /// It does not fit.
    #[error(
        "{bytes} bytes do not fit into {limit} next to the catalogs in use: raise --cache-limit"
    )]
    Full {
        /// How large it is.
        bytes: u64,
        /// How many bytes all files may take together.
        limit: u64,
    },
}

/// A file that was removed, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: removed: {reason}", .file.display())]
pub struct DroppedFile {
    /// The file.
    pub file: PathBuf,
    /// What was wrong with it.
    pub reason: Reason,
}

/// Why a file of the cache is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The process that wrote it ended before it was done.
    #[error("it was not written completely")]
    HalfWritten,
    /// It is no file.
    #[error("it is not a regular file")]
    NotAFile,
    /// It is damaged, or holds no catalog.
    #[error(transparent)]
    Content(#[from] SourceError),
}

impl CacheError {
    /// Makes an error of what the system says.
    pub(super) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io {
            path,
            action,
            source,
        }
    }
}
