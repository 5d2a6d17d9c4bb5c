//! The folder of a cache: who holds it, and the files in it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, futimens};

use crate::source::cache::digest::Digest;
use crate::source::cache::{CacheError, DroppedFile, Reason};

/// A folder that this process holds.
#[derive(Debug)]
pub(super) struct Folder {
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

impl Folder {
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
                let _gone_first = futimens(&file, &NOW);
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CacheError::io(&path, "open")(error)),
        }
    }

    /// Removes a file that turned out to be of no use, and says so.
    pub(super) fn damaged(&self, digest: &Digest, reason: Reason) -> CacheError {
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

    /// Where the content of a digest is, if it is here.
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

fn check(path: &Path, name: &Name) -> Result<(), Reason> {
    let is_file = || {
        let metadata = path.symlink_metadata();
        metadata.is_ok_and(|metadata| metadata.is_file())
    };
    match name {
        Name::Partial => Err(Reason::HalfWritten),
        Name::Complete(_) if is_file() => Ok(()),
        Name::Complete(_) => Err(Reason::NotAFile),
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

/// The file system's own time, so that no clock is read.
const NOW: Timestamps = Timestamps {
    last_access: AT_ONCE,
    last_modification: AT_ONCE,
};
const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: UTIME_NOW,
};
