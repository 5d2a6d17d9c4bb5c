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

mod error;
mod folder;
#[cfg(test)]
mod tests;

pub use error::{CacheError, DroppedFile, EntryFault};
pub use folder::CacheEntry;
pub(super) use folder::touch;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::source::decompress::ZstdFrame;
use crate::source::{Progress, SourceError, read_from};
use error::Digest;
use folder::{BoundedFolder, CacheFolder};
use olmguard_catalog::blob::Sink;

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
