//! Unpacked images on this machine: one directory for each, named after the digest of its manifest. All processes of a
//! user share them, and their size is bounded.
//!
//! ```text
//! IMAGES/catalog-HEX/content/...   the files that are kept
//!                   /note          its size and the directory to read; locked by its readers
//!       /.partial-X/               an image that is being unpacked
//! ```
//!
//! `.lock` is locked shared to look up an image, and exclusively to add or remove one.
//!
//! Invariants: a directory with the name of an image is complete, and no image is removed while it is read.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::source::cache::touch;

/// The directory of all images.
#[derive(Debug)]
pub(super) struct ImageStore {
    folder: PathBuf,
    limit: u64,
    lock: File,
    /// The directory, if it belongs to this process because there is no lasting one.
    temporary: Option<Arc<TempDir>>,
}

/// A complete image on disk, which stays there as long as this value exists.
#[derive(Debug)]
pub struct UnpackedImage {
    /// The directory to read.
    pub(super) root: PathBuf,
    /// The note, which is locked as long as it is open.
    _note: File,
    _store: Option<Arc<TempDir>>,
}

/// An image that is being unpacked.
#[derive(Debug)]
pub(super) struct PartialImage(TempDir);

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Note {
    bytes: u64,
    folder: Box<str>,
}

impl UnpackedImage {
    /// The directory to read: the files of a catalog, or the parent of `manifests` and `metadata` of a bundle.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl ImageStore {
    /// The store of the current user, below `XDG_CACHE_HOME` or `HOME`. If that cannot be used, this process gets a
    /// temporary one.
    pub(super) fn of_user() -> io::Result<Self> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
        let home = || Some(PathBuf::from(variable("HOME")?).join(".cache"));
        let cache = variable("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
        let lasting = cache.map(|cache| Self::at(cache.join("olmguard/images"), LIMIT, None));
        if let Some(Ok(lasting)) = lasting {
            return Ok(lasting);
        }
        let own = tempfile::tempdir()?;
        Self::at(own.path().to_owned(), LIMIT, Some(own))
    }

    pub(super) fn at(folder: PathBuf, limit: u64, own: Option<TempDir>) -> io::Result<Self> {
        make(&folder)?;
        let lock = folder.join(LOCK);
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(lock)?;
        // Not every file system supports locks.
        lock.lock_shared()?;
        lock.unlock()?;
        let temporary = own.map(Arc::new);
        Ok(Self {
            folder,
            limit,
            lock,
            temporary,
        })
    }

    /// Returns the image of this name, if it is stored, and marks it as used.
    pub(super) fn find(&self, name: &str) -> Option<UnpackedImage> {
        self.lock.lock_shared().ok()?;
        let found = self.held(name);
        self.lock.unlock().ok()?;
        found
    }

    /// Like [`ImageStore::find`], for callers that hold the lock.
    fn held(&self, name: &str) -> Option<UnpackedImage> {
        let place = self.folder.join(name);
        let mut file = File::open(place.join(NOTE)).ok()?;
        let note = read(&mut file)?;
        let content = place.join(CONTENT);
        let root = content.join(&*note.folder);
        // An image that a crash has truncated is not complete.
        if !root.is_dir() || size(&content).ok()? != note.bytes {
            return None;
        }
        file.try_lock_shared().ok()?;
        // If this fails, the image is at worst the first to be evicted.
        let _gone_first = touch(&file);
        Some(UnpackedImage {
            root,
            _note: file,
            _store: self.temporary.clone(),
        })
    }

    /// Creates a directory to unpack an image into.
    pub(super) fn begin(&self) -> io::Result<PartialImage> {
        self.shrink();
        let partial = self.partial()?;
        make(&partial.path().join(CONTENT))?;
        make(&partial.path().join(PIECES))?;
        Ok(PartialImage(partial))
    }

    fn partial(&self) -> io::Result<TempDir> {
        tempfile::Builder::new()
            .prefix(PARTIAL)
            .tempdir_in(&self.folder)
    }

    /// Gives an image its name. If another process was faster, its image is used, because both are equal.
    pub(super) fn finish(
        &self,
        partial: &PartialImage,
        name: &str,
        folder: &str,
    ) -> io::Result<UnpackedImage> {
        let path = partial.0.path();
        fs::remove_dir_all(path.join(PIECES))?;
        let note = Note {
            bytes: size(&path.join(CONTENT))?,
            folder: folder.into(),
        };
        fs::write(path.join(NOTE), serde_json::to_vec(&note)?)?;
        self.lock.lock()?;
        let named = self.named(path, name);
        self.lock.unlock()?;
        let image = named?;
        self.shrink();
        Ok(image)
    }

    fn named(&self, path: &Path, name: &str) -> io::Result<UnpackedImage> {
        if let Some(image) = self.held(name) {
            return Ok(image);
        }
        let place = self.folder.join(name);
        if place.exists() {
            // The remains of an incomplete image, which no one reads.
            self.withdraw(&place)?;
        }
        fs::rename(path, place)?;
        let image = self.held(name);
        image.ok_or_else(|| io::Error::other("it is not as it was written"))
    }

    /// Removes an image, after moving it to a temporary directory.
    fn withdraw(&self, place: &Path) -> io::Result<()> {
        let gone = self.partial()?;
        fs::rename(place, gone.path().join(CONTENT))
    }

    /// Evicts the least recently used images until the rest fits, and removes the remains of killed processes. If this
    /// fails, the next process does it.
    fn shrink(&self) {
        if self.lock.lock().is_ok() {
            drop(self.shrink_alone());
            drop(self.lock.unlock());
        }
    }

    fn shrink_alone(&self) -> io::Result<()> {
        let mut images = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            match StoredImage::of(&path) {
                Some(image) => images.push(image),
                None if path.is_dir() && is_old(&path) => drop(fs::remove_dir_all(&path)),
                None => {}
            }
        }
        images.sort_by_key(|image| image.used);
        let mut total: u64 = images.iter().map(|image| image.bytes).sum();
        for image in images {
            if total > self.limit && image.note.try_lock().is_ok() {
                self.withdraw(&image.path)?;
                total = total.saturating_sub(image.bytes);
            }
        }
        Ok(())
    }
}

impl PartialImage {
    /// The directory for the files of the image.
    pub(super) fn content(&self) -> PathBuf {
        self.0.path().join(CONTENT)
    }

    /// The directory for contents whose names are not known yet.
    pub(super) fn pieces(&self) -> PathBuf {
        self.0.path().join(PIECES)
    }
}

/// An image that can be evicted.
struct StoredImage {
    path: PathBuf,
    note: File,
    bytes: u64,
    used: SystemTime,
}

impl StoredImage {
    /// Returns `None` for an image that is being unpacked, and for anything that is not an image.
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy();
        if name.starts_with(PARTIAL) {
            return None;
        }
        let mut note = File::open(path.join(NOTE)).ok()?;
        let used = note.metadata().ok()?.modified().ok()?;
        let bytes = read(&mut note)?.bytes;
        Some(Self {
            path: path.to_owned(),
            note,
            bytes,
            used,
        })
    }
}

fn read(file: &mut File) -> Option<Note> {
    let mut text = Vec::new();
    file.take(NOTE_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Returns the size in bytes of all files below a directory.
fn size(folder: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        total += if metadata.is_dir() {
            size(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(total)
}

fn is_old(path: &Path) -> bool {
    let modified = path.metadata().and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > ABANDONED)
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

const LOCK: &str = ".lock";
const NOTE: &str = "note";
const CONTENT: &str = "content";
const PIECES: &str = "pieces";
const PARTIAL: &str = ".partial-";

const NOTE_BYTES: u64 = 64 << 10;

/// The size limit: some catalogs and some hundred bundles.
const LIMIT: u64 = 4 << 30;

/// The age of an abandoned image. Unpacking never takes that long.
const ABANDONED: Duration = Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use super::*;

    fn store(folder: &TempDir, limit: u64) -> ImageStore {
        ImageStore::at(folder.path().join("images"), limit, None).unwrap()
    }

    fn put(folder: &TempDir, limit: u64, name: &str, bytes: usize) -> UnpackedImage {
        let store = store(folder, limit);
        let partial = store.begin().unwrap();
        fs::create_dir(partial.content().join("configs")).unwrap();
        fs::write(partial.content().join("configs/c.json"), vec![b' '; bytes]).unwrap();
        store.finish(&partial, name, "configs").unwrap()
    }

    fn names(folder: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path().join("images")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name != LOCK).collect();
        names.sort();
        names
    }

    fn unused_since(image: &UnpackedImage, seconds: u64) {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - seconds);
        let note = File::open(image.root().join("../../note")).unwrap();
        note.set_modified(at).unwrap();
    }

    #[test]
    fn an_image_is_found_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        assert!(store(&folder, LIMIT).find("a").is_none());
        put(&folder, LIMIT, "a", 10);
        let found = store(&folder, LIMIT).find("a").unwrap();
        assert!(found.root().ends_with("images/a/content/configs"));
        assert_eq!(fs::read(found.root().join("c.json")).unwrap().len(), 10);
    }

    #[test]
    fn the_second_of_two_takes_what_the_first_has_made() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (store(&folder, LIMIT), store(&folder, LIMIT));
        let partial = [one.begin().unwrap(), two.begin().unwrap()];
        let first = one.finish(&partial[0], "a", "").unwrap();
        let second = two.finish(&partial[1], "a", "").unwrap();
        drop(partial);
        assert_eq!(first.root(), second.root());
        assert_eq!(names(&folder), ["a"]);
    }

    #[test]
    fn the_longest_unused_goes_first_and_nothing_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let read = put(&folder, 5000, "read", 2000);
        unused_since(&read, 300);
        let old = put(&folder, 5000, "old", 2000);
        unused_since(&old, 200);
        drop(old);
        let new = put(&folder, 5000, "new", 2000);
        assert_eq!(names(&folder), ["new", "read"]);
        drop((read, new));
    }

    #[test]
    fn what_was_abandoned_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder, LIMIT);
        let (fresh, dead) = (store.begin().unwrap(), store.begin().unwrap());
        let long_ago = SystemTime::UNIX_EPOCH;
        File::open(dead.0.path())
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        store.shrink();
        assert!(fresh.0.path().exists() && !dead.0.path().exists());
    }

    #[test]
    fn what_a_crash_has_cut_short_is_no_image() {
        let folder = tempfile::tempdir().unwrap();
        let image = put(&folder, LIMIT, "a", 10);
        fs::write(image.root().join("c.json"), "").unwrap();
        assert!(store(&folder, LIMIT).find("a").is_none());
        drop(image);
        let again = put(&folder, LIMIT, "a", 10);
        assert_eq!(fs::read(again.root().join("c.json")).unwrap().len(), 10);
    }

    #[test]
    fn what_has_no_note_is_no_image() {
        let folder = tempfile::tempdir().unwrap();
        let image = put(&folder, LIMIT, "a", 1);
        let place = folder.path().join("images/a");
        drop(image);
        fs::write(place.join(NOTE), "{").unwrap();
        assert!(store(&folder, LIMIT).find("a").is_none());
        fs::remove_file(place.join(NOTE)).unwrap();
        assert!(store(&folder, LIMIT).find("a").is_none());
        assert!(put(&folder, LIMIT, "a", 1).root().exists());
    }
}
