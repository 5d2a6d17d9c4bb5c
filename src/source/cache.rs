//! A directory that keeps fetched contents of catalogs across restarts, each under its digest.
//!
//! ```text
//! FOLDER/lock                         locked by the process that uses the directory
//! FOLDER/sha256-1a2b....jsonl.zst     the content as it was fetched, which `zstd -d` opens
//! FOLDER/sha256-1a2b....7.partial     content that is being written
//! ```
//!
//! A file is written under a temporary name and renamed once all of it is on disk. A file with any fault is removed,
//! and its content is fetched again. Opening the cache checks names only. Loading a file reads all of it, and so checks
//! its checksum.
//!
//! Invariants:
//!
//! - A file with the name of a digest is complete, or it is refused when it is loaded.
//! - Only names that this module creates are ever read, replaced or removed.
//! - Complete files together do not exceed the limit. One file does not exceed half of it, so two files that are being
//!   written do not exceed it either.

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

/// A directory of catalog contents, by their digests.
#[derive(Debug)]
pub struct Cache(Arc<BoundedFolder>);

impl Cache {
    /// Opens the directory and locks it for this process, after creating it if necessary. Complete files may use
    /// `limit` bytes together.
    ///
    /// Files that are incomplete or unusable are removed and returned.
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

    /// Hands the blobs of the content with this digest to `sink`. Returns false if the digest is not cached.
    ///
    /// # Errors
    /// Fails if the file is faulty, and removes it. The blobs handed over before the error must be discarded.
    pub fn load(&self, digest: &str, sink: &mut dyn Sink) -> Result<bool, CacheError> {
        let digest = Digest::parse(digest)?;
        let Some(file) = self.0.folder.open(&digest)? else {
            return Ok(false);
        };
        let frame = ZstdFrame::open(&file)
            .map_err(CacheError::io(&self.0.folder.path_of(&digest), "read"))?;
        match read_from("content", frame, &Progress::default(), sink) {
            Ok(()) => Ok(true),
            Err(SourceError::Memory { source, .. }) => Err(source.into()),
            Err(error) => Err(self.0.damaged(&digest, &file, EntryFault::Content(error))),
        }
    }

    /// Starts to write the content with this digest, which is cached once the entry is committed.
    pub fn begin(&self, digest: &str) -> Result<CacheEntry, CacheError> {
        CacheEntry::begin(Arc::clone(&self.0), Digest::parse(digest)?)
    }

    /// Removes the content with this digest, if it is cached.
    pub fn remove(&self, digest: &str) -> Result<(), CacheError> {
        self.0.folder.remove(&Digest::parse(digest)?)
    }

    /// Sets which contents are in use. Others are removed, the least recently used first, as far as the limit demands
    /// it: now, and whenever an entry needs space.
    pub fn retain(&self, in_use: &[&str]) -> Result<(), CacheError> {
        // A text that is not a digest cannot be cached.
        let in_use = in_use
            .iter()
            .filter_map(|digest| Digest::parse(digest).ok());
        self.0.retain(in_use.collect())
    }
}

// === Digests that can be names of files ===

/// A digest such as `sha256:1a2b...`, as the names of its files start: `sha256-1a2b...`.
///
/// Invariant: it has only lower-case letters and digits, a hyphen, and lower-case hexadecimal, so a name made from it
/// never points outside the directory.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Digest(String);

impl Digest {
    /// Parses a digest in the form in which an image reference ends.
    fn parse(text: &str) -> Result<Self, CacheError> {
        Self::split(text, ':').ok_or_else(|| CacheError::Digest {
            found: text.to_owned(),
        })
    }

    /// Parses the start of the name of a file.
    fn of_stem(stem: &str) -> Option<Self> {
        Self::split(stem, '-')
    }

    fn split(text: &str, at: char) -> Option<Self> {
        let (algorithm, hex) = text.split_once(at)?;
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        let is_one = (1..=ALGORITHM_LIMIT).contains(&algorithm.len())
            && algorithm.chars().all(is_word)
            && (HEX_LEAST..=HEX_LIMIT).contains(&hex.len())
            && hex.chars().all(is_hex);
        is_one.then(|| Self(format!("{algorithm}-{hex}")))
    }
}

/// The maximum number of characters of an algorithm: enough for `sha256`, `sha512` and future ones.
const ALGORITHM_LIMIT: usize = 16;

/// 128 bits. Shorter digests could be equal by accident.
const HEX_LEAST: usize = 32;

/// 512 bits.
const HEX_LIMIT: usize = 128;

// === Failures of the cache, and faults of its files ===

/// A failure of the cache. Only the cache is affected.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The digest cannot be the name of a file.
    #[error(
        "digest {found:?}: expected one such as sha256: and 64 hexadecimal digits; it is not cached"
    )]
    Digest {
        /// The text given as a digest.
        found: String,
    },
    /// Another process uses the directory.
    #[error("{}: another olmguard uses this directory: give each olmguard its own", .folder.display())]
    Held {
        /// The directory.
        folder: PathBuf,
    },
    /// An error of the operating system.
    #[error("{}: cannot {action}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A file was unusable and has been removed.
    #[error("{0}; it must be fetched again")]
    Damaged(DroppedFile),
    /// The content needs more memory than is available for it. The file stays.
    #[error(transparent)]
    Memory(#[from] TooLarge),
    /// The content does not fit.
    #[error(
        "{bytes} bytes do not fit into {limit} next to the catalogs in use: raise --cache-limit"
    )]
    Full {
        /// The size of the content in bytes.
        bytes: u64,
        /// The maximum number of bytes that all files may use together.
        limit: u64,
    },
}

/// A file that was removed, with the reason.
#[derive(Debug, thiserror::Error)]
#[error("{}: removed: {reason}", .file.display())]
pub struct DroppedFile {
    /// The file.
    pub file: PathBuf,
    /// The fault of the file.
    pub reason: EntryFault,
}

/// Why a file of the cache is unusable.
#[derive(Debug, thiserror::Error)]
pub enum EntryFault {
    /// The process that wrote the file ended before it was complete.
    #[error("it was not written completely")]
    HalfWritten,
    /// The entry is not a file.
    #[error("it is not a regular file")]
    NotAFile,
    /// The file is damaged, or is not a catalog.
    #[error(transparent)]
    Content(#[from] SourceError),
}

impl CacheError {
    /// Returns a function that adds the path and the operation to an error of the system.
    fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io {
            path,
            action,
            source,
        }
    }
}
