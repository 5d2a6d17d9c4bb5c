//! One content that is being written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use zstd::stream::write::Encoder;

use crate::source::cache::CacheError;
use crate::source::cache::digest::Digest;
use crate::source::cache::room::BoundedFolder;
use crate::source::frame;

/// A content that is being written. Dropped without [`CacheEntry::commit`] it leaves nothing.
///
/// Writing to it never fails: the cache is a help to whoever fetches, never a must. What went wrong is
/// the answer of [`CacheEntry::commit`].
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
        let frame = frame::compress(Partial { path, file, left }).map_err(failed)?;
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

impl std::fmt::Debug for CacheEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CacheEntry")
            .field("digest", &self.digest)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
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
