//! A directory that keeps fetched contents of catalogs over a restart, each under its digest.
//!
//! ```text
//! FOLDER/lock                         held by the one process that uses the folder
//! FOLDER/sha256-1a2b....jsonl.zst     the content as it was fetched, which `zstd -d` opens
//! FOLDER/sha256-1a2b....7.partial     one that is being written
//! ```
//!
//! A file is written under a name of its own, and gets its final name when all of it is on the disk. A
//! file with any fault is removed, and its content fetched again. Opening the cache looks at names only;
//! loading a file reads all of it, and so checks its checksum.
//!
//! Invariants: a file under the name of a digest is whole, or refused when it is loaded; only names that
//! this module gives are ever read, replaced or removed; complete files take no more than the limit
//! together, and one no more than half of it, so that two that are being written take no more either.

mod folder;
#[cfg(test)]
mod tests;

pub use folder::CacheEntry;
pub(super) use folder::touch;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::source::decompress::ZstdFrame;
use crate::source::{Progress, SourceError, read_from};
use folder::{BoundedFolder, CacheFolder};
use olmguard_catalog::blob::Sink;
use olmguard_catalog::memory::TooLarge;

/// The contents of catalogs that are kept in a folder, by their digests.
#[derive(Debug)]
pub struct Cache(Arc<BoundedFolder>);

impl Cache {
    /// Opens the folder, which is made if it is not there, and holds it for this process. Complete files
    /// may take `limit` bytes together.
    ///
    /// What is not finished, or not of this program, is removed, and told.
    pub fn open(folder: &Path, limit: u64) -> Result<(Self, Vec<DroppedFile>), CacheError> {
        let folder = CacheFolder::hold(folder)?;
        let dropped = folder.sweep()?;
        let shared = BoundedFolder {
            folder,
            limit,
            in_use: Mutex::default(),
        };
        shared.retain(BTreeSet::new())?;
        Ok((Self(Arc::new(shared)), dropped))
    }

    /// Hands the blobs of the content with this digest to `sink`; false if it is not there.
    ///
    /// # Errors
    /// A file with a fault, which is removed. The blobs handed over until then mean nothing.
    pub fn load(&self, digest: &str, sink: &mut dyn Sink) -> Result<bool, CacheError> {
        let digest = Digest::parse(digest)?;
        let Some(file) = self.0.folder.open(&digest)? else {
            return Ok(false);
        };
        let frame = ZstdFrame::open(file)
            .map_err(CacheError::io(&self.0.folder.path_of(&digest), "read"))?;
        match read_from("content", frame, &Progress::default(), sink) {
            Ok(()) => Ok(true),
            Err(SourceError::Memory { source, .. }) => Err(source.into()),
            Err(error) => Err(self.0.folder.damaged(&digest, EntryFault::Content(error))),
        }
    }

    /// Begins to write the content with this digest, which is there once the entry is committed.
    pub fn begin(&self, digest: &str) -> Result<CacheEntry, CacheError> {
        CacheEntry::begin(Arc::clone(&self.0), Digest::parse(digest)?)
    }

    /// Removes the content with this digest, if it is there.
    pub fn remove(&self, digest: &str) -> Result<(), CacheError> {
        self.0.folder.remove(&Digest::parse(digest)?)
    }

    /// Says which contents are in use. Others are removed, that used longest ago first, as far as the
    /// limit demands it, now and when an entry needs room.
    pub fn retain(&self, in_use: &[&str]) -> Result<(), CacheError> {
        // What is no digest is not here either.
        let in_use = in_use
            .iter()
            .filter_map(|digest| Digest::parse(digest).ok());
        self.0.retain(in_use.collect())
    }
}

// === Digests that can be names of files ===

/// A digest such as `sha256:1a2b...`: lower-case letters and digits, a colon, lower-case hexadecimal.
///
/// Invariant: it has no other character, so no name made from it leads anywhere but into its folder.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Digest {
    algorithm: Box<str>,
    hex: Box<str>,
}

impl Digest {
    /// Reads a digest as an image reference ends with it.
    fn parse(text: &str) -> Result<Self, CacheError> {
        Self::split(text, ':').ok_or_else(|| CacheError::Digest {
            found: text.to_owned(),
        })
    }

    /// Reads it from what [`Digest::stem`] returned.
    fn of_stem(stem: &str) -> Option<Self> {
        Self::split(stem, '-')
    }

    /// The beginning of the names of its files.
    fn stem(&self) -> String {
        format!("{}-{}", self.algorithm, self.hex)
    }

    fn split(text: &str, at: char) -> Option<Self> {
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
    fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io {
            path,
            action,
            source,
        }
    }
}
