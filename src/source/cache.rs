//! A folder in which contents of catalogs outlive the process, each under its digest.
//!
//! ```text
//! FOLDER/lock                         held by the one process that uses the folder
//! FOLDER/sha256-1a2b....catalog       sealed { program, digest, record }
//! FOLDER/sha256-1a2b....7.partial     one that is being written
//! ```
//!
//! Whatever is wrong with a file, the answer is the same: it is removed, and fetched again by whoever
//! asked. A file is written under a name of its own, and takes its place only when it lies on the disk
//! as a whole. What another version of this program reduced is not used: it may hold what a fault of
//! that version made of it.
//!
//! Opening looks at the name, the head and the length of each file; its checksum is that of all it
//! holds, and so is checked when it is loaded, which reads it anyway.
//!
//! Invariants: a file under the name of a digest is whole, or refused when it is loaded; only names that this module
//! gives are ever read, replaced or removed; complete files take no more than the limit together.

mod digest;
mod entry;
mod error;
mod folder;
mod room;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::source::record::{RecordError, replay};
use digest::Digest;
pub use entry::CacheEntry;
pub use error::{CacheError, DroppedFile, Reason};
use folder::Folder;
use olmguard_catalog::blob::Sink;
use room::BoundedFolder;

/// The contents of catalogs that are kept in a folder, by their digests.
#[derive(Debug)]
pub struct Cache(Arc<BoundedFolder>);

impl Cache {
    /// Opens the folder, which is made if it is not there, and holds it for this process. Complete files
    /// may take `limit` bytes together.
    ///
    /// What is not finished, or not of this program, is removed, and told.
    pub fn open(folder: &Path, limit: u64) -> Result<(Self, Vec<DroppedFile>), CacheError> {
        let folder = Folder::hold(folder)?;
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
    /// A damaged file, which is removed. The blobs handed over until then mean nothing.
    pub fn load(&self, digest: &str, sink: &mut dyn Sink) -> Result<bool, CacheError> {
        let digest = Digest::parse(digest)?;
        let Some(file) = self.0.folder.open(&digest)? else {
            return Ok(false);
        };
        match hand_over(file, &digest, sink) {
            Ok(()) => Ok(true),
            Err(Reason::Record(RecordError::Memory(too_large))) => Err(too_large.into()),
            Err(reason) => Err(self.0.folder.damaged(&digest, reason)),
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

fn hand_over(file: File, digest: &Digest, sink: &mut dyn Sink) -> Result<(), Reason> {
    let record: BufReader<_> = entry::open(file, digest)?;
    Ok(replay(record, sink)?)
}
