//! The directory of a cache: its lock, its files, and the room that they take.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, futimens};
use zstd::stream::write::Encoder;

use super::{CacheError, Digest, DroppedFile, EntryFault};
use crate::source::decompress::compress;

/// A folder that this process holds.
#[derive(Debug)]
pub(super) struct CacheFolder {
    path: PathBuf,
    /// Held until it is closed, by whatever ends this process.
    _lock: File,
    /// How many files were begun, so that each has a name of its own.
    begun: AtomicU64,
}

/// A complete file, by its name.
#[derive(Debug)]
pub(super) struct CacheFile {
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) used: SystemTime,
}

/// What a name says that a file is.
enum Name {
    Complete(Digest),
    Partial,
}

impl CacheFolder {
    /// Takes the folder for this process, and makes it first if it is not there.
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

    /// Removes every file whose name or kind says that it is of no use, in the order of the names.
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
            let (bytes, used) = metadata.map_err(CacheError::io(&path, "look at"))?;
            found.push(CacheFile {
                digest,
                bytes,
                used,
            });
        }
        Ok(found)
    }

    /// Opens the file of a digest, if there is one, and notes that it is used.
    pub(super) fn open(&self, digest: &Digest) -> Result<Option<File>, CacheError> {
        let path = self.path_of(digest);
        match File::open(&path) {
            Ok(file) => {
                // At worst it is the first to go.
                let _gone_first = touch(&file);
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CacheError::io(&path, "open")(error)),
        }
    }

    /// Removes a file that turned out to be of no use, and says so.
    pub(super) fn damaged(&self, digest: &Digest, reason: EntryFault) -> CacheError {
        let file = self.path_of(digest);
        match remove(&file) {
            Ok(()) => CacheError::Damaged(DroppedFile { file, reason }),
            Err(error) => error,
        }
    }

    /// Removes the file of a digest, if there is one.
    pub(super) fn remove(&self, digest: &Digest) -> Result<(), CacheError> {
        remove(&self.path_of(digest))
    }

    /// Creates a file to write the content of a digest into.
    pub(super) fn create(&self, digest: &Digest) -> Result<(PathBuf, File), CacheError> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}.{number}{PARTIAL}", digest.stem());
        let path = self.path.join(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(&path)
            .map_err(CacheError::io(&path, "create"))?;
        Ok((path, file))
    }

    /// Puts a file that lies on the disk at the place of its digest, for good.
    pub(super) fn place(&self, file: &Path, digest: &Digest) -> Result<(), CacheError> {
        let path = self.path_of(digest);
        fs::rename(file, &path).map_err(CacheError::io(&path, "move it into place"))?;
        File::open(&self.path)
            .and_then(|folder| folder.sync_all())
            .map_err(CacheError::io(&self.path, "write the directory to disk"))
    }

    /// The path of the content of a digest, if the cache has it.
    pub(super) fn path_of(&self, digest: &Digest) -> PathBuf {
        self.path.join(digest.stem() + COMPLETE)
    }

    /// What bears a name that is given here, in the order of the names; all else is left alone.
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

/// What is in a catalog is nobody else's business.
const FOLDER_MODE: u32 = 0o700;

const FILE_MODE: u32 = 0o600;

/// Notes that a file is used.
pub(in crate::source) fn touch(file: &File) -> io::Result<()> {
    Ok(futimens(file, &NOW)?)
}

/// The file system's own time, so that no clock is read.
const NOW: Timestamps = Timestamps {
    last_access: AT_ONCE,
    last_modification: AT_ONCE,
};

const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: UTIME_NOW,
};

// === An entry that is being written ===

/// A content that is being written. Dropped without [`CacheEntry::commit`] it leaves nothing.
///
/// Writing to it never fails: the cache is a help to whoever fetches, never a must. What went wrong is
/// the answer of [`CacheEntry::commit`].
#[derive(derive_more::Debug)]
#[debug("CacheEntry {{ digest: {digest:?}, fault: {fault:?}, .. }}")]
pub struct CacheEntry {
    shared: Arc<BoundedFolder>,
    digest: Digest,
    frame: Encoder<'static, Partial>,
    /// The first thing that went wrong; nothing is written after it.
    fault: Option<io::Error>,
}

/// A file that is removed, unless it bears another name by then.
#[derive(Debug)]
struct Partial {
    path: PathBuf,
    file: File,
    /// How many bytes it may still take.
    left: u64,
}

/// The content takes more bytes than an entry may.
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

    /// Puts what was written into its place, once it lies on the disk.
    ///
    /// # Errors
    /// The first thing that went wrong since it was begun; what was there before stays.
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
        // It bears another name now, or the folder is gone: either way there is nothing to remove.
        drop(fs::remove_file(&self.path));
    }
}

// === The room of a cache, and which entries are removed when it is needed ===

/// A folder, and how much may be in it.
#[derive(Debug)]
pub(super) struct BoundedFolder {
    pub(super) folder: CacheFolder,
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

    /// Sets which digests are in use.
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
