//! How much room a cache takes, and who has to go when it is needed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::source::cache::CacheError;
use crate::source::cache::digest::Digest;
use crate::source::cache::folder::{CacheFile, Folder};

/// A folder, and how much may be in it.
#[derive(Debug)]
pub(super) struct BoundedFolder {
    pub(super) folder: Folder,
    /// How many bytes complete files may take together.
    pub(super) limit: u64,
    /// What is never removed to make room. Held while files come and go, one after another.
    pub(super) in_use: Mutex<BTreeSet<Digest>>,
}

impl BoundedFolder {
    /// How many bytes one file may take.
    pub(super) fn most_of_one(&self) -> u64 {
        self.limit / 2
    }

    /// From now on these are in use.
    pub(super) fn retain(&self, in_use: BTreeSet<Digest>) -> Result<(), CacheError> {
        let mut held = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        *held = in_use;
        let found = self.folder.found()?;
        self.evict(found, &held, 0)
    }

    /// Puts a file of this size at its place, where there is room or can be made.
    pub(super) fn place(&self, file: &Path, digest: &Digest, bytes: u64) -> Result<(), CacheError> {
        let in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        let mut others = self.folder.found()?;
        others.retain(|found| found.digest != *digest);
        let used = others.iter().filter(|found| in_use.contains(&found.digest));
        if total(used).saturating_add(bytes) > self.limit {
            let limit = self.limit;
            return Err(CacheError::Full { bytes, limit });
        }
        self.evict(others, &in_use, bytes)?;
        self.folder.place(file, digest)
    }

    /// Removes files that are not in use, that used longest ago first, until all take no more than the
    /// limit without `more`.
    fn evict(
        &self,
        mut found: Vec<CacheFile>,
        in_use: &BTreeSet<Digest>,
        more: u64,
    ) -> Result<(), CacheError> {
        let mut taken = total(&found).saturating_add(more);
        found.sort_by_key(|found| found.used);
        for one in found.iter().filter(|one| !in_use.contains(&one.digest)) {
            if taken <= self.limit {
                break;
            }
            self.folder.remove(&one.digest)?;
            taken = taken.saturating_sub(one.bytes);
        }
        Ok(())
    }
}

fn total<'f>(found: impl IntoIterator<Item = &'f CacheFile>) -> u64 {
    found.into_iter().map(|found| found.bytes).sum()
}
