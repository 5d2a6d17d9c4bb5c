//! The directory of a cache: its lock, its files, and the space that they use.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, futimens};
use zstd::stream::write::Encoder;

use super::{CacheError, Digest, DroppedFile, EntryFault};
use crate::source::decompress::compress;

/// A directory that this process has locked.
#[derive(Debug)]
pub(super) struct CacheFolder {
    path: PathBuf,
    /// The lock, released when the file is closed, however this process ends.
    _lock: File,
    /// The number of files started, so that each has its own name.
    begun: AtomicU64,
}

/// A complete file, by its name.
#[derive(Debug)]
pub(super) struct CacheFile {
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) used: SystemTime,
}

/// The kind of a file, according to its name.
enum Name {
    Complete(Digest),
    Partial,
}

impl CacheFolder {
    /// Locks the directory for this process, after creating it if necessary.
    pub(super) fn hold(path: &Path) -> Result<Self, CacheError> {
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(FOLDER_MODE)
            .create(path)
            .map_err(CacheError::io(path, "create the directory"))?;
        let lock = path.join(LOCK);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_MODE)
            .open(&lock)
            .map_err(CacheError::io(&lock, "open"))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => CacheError::Held {
                folder: path.to_owned(),
            },
            TryLockError::Error(source) => CacheError::io(&lock, "lock")(source),
        })?;
        Ok(Self {
            path: path.to_owned(),
            _lock: file,
            begun: AtomicU64::new(0),
        })
    }

    /// Removes every file that its name or kind shows to be unusable, in the order of names.
    pub(super) fn sweep(&self) -> Result<Vec<DroppedFile>, CacheError> {
        let mut dropped = Vec::new();
        for (path, name) in self.names()? {
            let Err(reason) = check(&path, &name) else {
                continue;
            };
            remove(&path)?;
            dropped.push(DroppedFile { file: path, reason });
        }
        Ok(dropped)
    }

    /// The complete files.
    pub(super) fn found(&self) -> Result<Vec<CacheFile>, CacheError> {
        let mut found = Vec::new();
        for (path, name) in self.names()? {
            let Name::Complete(digest) = name else {
                continue;
            };
            let metadata = path.symlink_metadata().and_then(|metadata| {
                let used = metadata.modified()?;
                Ok((metadata.len(), used))
            });
            let (bytes, used) = match metadata {
                // Another thread has removed the file since the directory was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                metadata => metadata.map_err(CacheError::io(&path, "look at"))?,
            };
            found.push(CacheFile {
                digest,
                bytes,
                used,
            });
        }
        Ok(found)
    }

    /// Opens the file of a digest, if it exists, and marks it as used.
    pub(super) fn open(&self, digest: &Digest) -> Result<Option<File>, CacheError> {
        let path = self.path_of(digest);
        match File::open(&path) {
            Ok(file) => {
                // If this fails, the file is at worst the first to be evicted.
                let _gone_first = touch(&file);
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CacheError::io(&path, "open")(error)),
        }
    }

    /// Removes the file of a digest, if it exists.
    pub(super) fn remove(&self, digest: &Digest) -> Result<(), CacheError> {
        remove(&self.path_of(digest))
    }

    /// Creates a file to write the content of a digest into.
    pub(super) fn create(&self, digest: &Digest) -> Result<(PathBuf, File), CacheError> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}.{number}{PARTIAL}", digest.0);
        let path = self.path.join(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(&path)
            .map_err(CacheError::io(&path, "create"))?;
        Ok((path, file))
    }

    /// Moves a file that is on disk to the path of its digest, durably.
    pub(super) fn place(&self, file: &Path, digest: &Digest) -> Result<(), CacheError> {
        let path = self.path_of(digest);
        fs::rename(file, &path).map_err(CacheError::io(&path, "move it into place"))?;
        File::open(&self.path)
            .and_then(|folder| folder.sync_all())
            .map_err(CacheError::io(&self.path, "write the directory to disk"))
    }

    /// The path for the content of a digest, whether it is cached or not.
    pub(super) fn path_of(&self, digest: &Digest) -> PathBuf {
        self.path.join(format!("{}{COMPLETE}", digest.0))
    }

    /// The files whose names this module creates, in the order of names. Other files are ignored.
    fn names(&self) -> Result<Vec<(PathBuf, Name)>, CacheError> {
        let failed = || CacheError::io(&self.path, "read the directory");
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name().to_str().and_then(Name::read);
            names.extend(name.map(|name| (entry.path(), name)));
        }
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(names)
    }
}

impl Name {
    fn read(name: &str) -> Option<Self> {
        if let Some(stem) = name.strip_suffix(COMPLETE) {
            return Digest::of_stem(stem).map(Self::Complete);
        }
        let (stem, number) = name.strip_suffix(PARTIAL)?.split_once('.')?;
        let is_ours = Digest::of_stem(stem).is_some() && number.parse::<u64>().is_ok();
        is_ours.then_some(Self::Partial)
    }
}

fn check(path: &Path, name: &Name) -> Result<(), EntryFault> {
    let is_file = || {
        let metadata = path.symlink_metadata();
        metadata.is_ok_and(|metadata| metadata.is_file())
    };
    match name {
        Name::Partial => Err(EntryFault::HalfWritten),
        Name::Complete(_) if is_file() => Ok(()),
        Name::Complete(_) => Err(EntryFault::NotAFile),
    }
}

/// Whether the file at a path is this one, and not one that has replaced it.
fn is_at(path: &Path, file: &File) -> bool {
    let (found, own) = (path.metadata(), file.metadata());
    let same =
        |found: Metadata, own: Metadata| (found.dev(), found.ino()) == (own.dev(), own.ino());
    found.is_ok_and(|found| own.is_ok_and(|own| same(found, own)))
}

fn remove(path: &Path) -> Result<(), CacheError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CacheError::io(path, "remove")(error))
        }
        _ => Ok(()),
    }
}

const LOCK: &str = "lock";

const COMPLETE: &str = ".jsonl.zst";

const PARTIAL: &str = ".partial";

/// Only the owner may read the contents of catalogs.
const FOLDER_MODE: u32 = 0o700;

const FILE_MODE: u32 = 0o600;

/// Sets the timestamps of a file to now, to mark it as used.
pub(in crate::source) fn touch(file: &File) -> io::Result<()> {
    Ok(futimens(file, &NOW)?)
}

/// The time of the file system, so that no clock is read.
const NOW: Timestamps = Timestamps {
    last_access: AT_ONCE,
    last_modification: AT_ONCE,
};

const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: UTIME_NOW,
};

// === An entry that is being written ===

/// Content that is being written. If the entry is dropped without [`CacheEntry::commit`], nothing is kept.
///
/// Writing never fails, because a fetch must not depend on the cache. [`CacheEntry::commit`] returns the first error.
#[derive(derive_more::Debug)]
#[debug("CacheEntry {{ digest: {digest:?}, fault: {fault:?}, .. }}")]
pub struct CacheEntry {
    shared: Arc<BoundedFolder>,
    digest: Digest,
    frame: Encoder<'static, Partial>,
    /// The first error. Nothing is written after it.
    fault: Option<io::Error>,
}

/// A file that is removed when it is dropped, unless it has been renamed.
#[derive(Debug)]
struct Partial {
    path: PathBuf,
    file: File,
    /// The number of bytes that may still be written.
    left: u64,
}

/// The content needs more bytes than an entry may have.
#[derive(Debug, thiserror::Error)]
#[error("more than {most} bytes, compressed, which is half of the cache size: raise --cache-limit")]
struct OversizedEntry {
    most: u64,
}

impl CacheEntry {
    pub(super) fn begin(shared: Arc<BoundedFolder>, digest: Digest) -> Result<Self, CacheError> {
        let (path, file) = shared.folder.create(&digest)?;
        let failed = CacheError::io(&path, "write");
        let left = shared.most_of_one();
        let frame = compress(Partial { path, file, left }).map_err(failed)?;
        Ok(Self {
            shared,
            digest,
            frame,
            fault: None,
        })
    }

    /// Moves the file into place once it is on disk.
    ///
    /// # Errors
    /// Returns the first error since the entry was started. An earlier file of the digest then stays.
    pub fn commit(self) -> Result<(), CacheError> {
        let Self {
            shared,
            digest,
            frame,
            fault,
        } = self;
        let failed = CacheError::io(&frame.get_ref().path, "write");
        let written = fault.map_or(Ok(()), Err).and_then(|()| {
            let partial = frame.finish()?;
            partial.file.sync_all()?;
            let bytes = partial.file.metadata()?.len();
            Ok((partial, bytes))
        });
        let (partial, bytes) = written.map_err(failed)?;
        shared.place(&partial.path, &digest, bytes)
    }
}

impl Write for CacheEntry {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.fault.is_none() {
            self.fault = self.frame.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left.checked_sub(bytes.len() as u64);
        let Some(left) = left else {
            let most = self.file.metadata()?.len() + self.left;
            return Err(io::Error::other(OversizedEntry { most }));
        };
        self.file.write_all(bytes)?;
        self.left = left;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // It has been renamed, or the directory no longer exists. In both cases nothing remains to remove.
        drop(fs::remove_file(&self.path));
    }
}

// === The size limit of a cache, and eviction ===

/// A directory and its size limit.
#[derive(Debug)]
pub(super) struct BoundedFolder {
    pub(super) folder: CacheFolder,
    /// The maximum number of bytes that complete files may use together.
    pub(super) limit: u64,
    /// The digests that are never evicted. The lock is held while files are placed and evicted, and while a damaged
    /// one is removed.
    pub(super) in_use: Mutex<BTreeSet<Digest>>,
}

impl BoundedFolder {
    /// The maximum number of bytes that one file may have.
    pub(super) fn most_of_one(&self) -> u64 {
        self.limit / 2
    }

    /// Sets the digests that are in use, and evicts others down to the limit.
    pub(super) fn retain(&self, in_use: BTreeSet<Digest>) -> Result<(), CacheError> {
        let mut held = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        *held = in_use;
        let found = self.folder.found()?;
        self.evict(found, &held, 0)
    }

    /// Removes an unusable file that was opened for a digest, unless another has replaced it since. Returns the error
    /// that reports it.
    pub(super) fn damaged(&self, digest: &Digest, opened: &File, reason: EntryFault) -> CacheError {
        let file = self.folder.path_of(digest);
        let _none_is_placed = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        if is_at(&file, opened)
            && let Err(error) = remove(&file)
        {
            return error;
        }
        CacheError::Damaged(DroppedFile { file, reason })
    }

    /// Moves a file of this size into place, if there is enough space or others can be evicted.
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

    /// Removes files that are not in use, the least recently used first, until all files and `more` bytes fit into the
    /// limit.
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
