//! Digests that can be names of files, and failures of a cache.

use std::io;
use std::path::{Path, PathBuf};

use crate::source::SourceError;
use olmguard_catalog::memory::TooLarge;

/// A digest such as `sha256:1a2b...`: lower-case letters and digits, a colon, lower-case hexadecimal.
///
/// Invariant: it has no other character, so no name made from it leads anywhere but into its folder.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Digest {
    algorithm: Box<str>,
    hex: Box<str>,
}

impl Digest {
    /// Reads a digest as an image reference ends with it.
    pub(super) fn parse(text: &str) -> Result<Self, CacheError> {
        Self::split(text, ':').ok_or_else(|| CacheError::Digest {
            found: text.to_owned(),
        })
    }

    /// Reads it from what [`Digest::stem`] returned.
    pub(super) fn of_stem(stem: &str) -> Option<Self> {
        Self::split(stem, '-')
    }

    /// The beginning of the names of its files.
    pub(super) fn stem(&self) -> String {
        format!("{}-{}", self.algorithm, self.hex)
    }

    pub(super) fn split(text: &str, at: char) -> Option<Self> {
        let (algorithm, hex) = text.split_once(at)?;
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        let is_one = (1..=ALGORITHM_LIMIT).contains(&algorithm.len())
            && algorithm.chars().all(is_word)
            && (HEX_LEAST..=HEX_LIMIT).contains(&hex.len())
            && hex.chars().all(is_hex);
        is_one.then(|| Self {
            algorithm: algorithm.into(),
            hex: hex.into(),
        })
    }
}

/// `sha256`, `sha512` and whatever comes.
const ALGORITHM_LIMIT: usize = 16;

/// 128 bits, below which contents could be made to share a digest by accident.
const HEX_LEAST: usize = 32;

/// 512 bits.
const HEX_LIMIT: usize = 128;

// === Failures of a cache, and reasons why a file of it is of no use ===

/// Why the cache did not do what it was asked to. Nothing but the cache is worse off.
#[derive(Debug, thiserror::Error)]
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
    /// The content does not fit.
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
    pub reason: EntryFault,
}

/// Why a file of the cache is of no use.
#[derive(Debug, thiserror::Error)]
pub enum EntryFault {
    /// The process that wrote it ended before it was done.
    #[error("it was not written completely")]
    HalfWritten,
    /// The entry is not a file.
    #[error("it is not a regular file")]
    NotAFile,
    /// The file is damaged, or has no catalog.
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
