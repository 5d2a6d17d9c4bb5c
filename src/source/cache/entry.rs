//! One content, as it is written and read.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::source::cache::digest::Digest;
use crate::source::cache::room::BoundedFolder;
use crate::source::cache::{CacheError, Reason};
use crate::source::framed;
use crate::source::record::{self, Recorder};
use crate::source::sealed::{self, SealError, SealedContent, SealedKind, Sealer};
use olmguard_catalog::blob::{BlobFault, Content, Key, Sink};

/// A content that is being written. Dropped without [`CacheEntry::commit`] it leaves nothing.
#[derive(Debug)]
pub struct CacheEntry {
    shared: Arc<BoundedFolder>,
    digest: Digest,
    recorder: Recorder<Sealer<File>>,
    partial: Partial,
}

/// A file that is removed, unless it bears another name by then.
#[derive(Debug)]
struct Partial(PathBuf);

/// What stands before the record.
#[derive(Deserialize, Serialize)]
struct Head<'a> {
    /// The version of the program that reduced the blobs.
    program: &'a str,
    /// The stem of the name, so that no file is taken for another one.
    stem: &'a str,
}

impl CacheEntry {
    pub(super) fn begin(shared: Arc<BoundedFolder>, digest: Digest) -> Result<Self, CacheError> {
        let (path, file) = shared.folder.create(&digest)?;
        let partial = Partial(path);
        let recorder = begin(file, &digest).map_err(partial.failed())?;
        Ok(Self {
            shared,
            digest,
            recorder,
            partial,
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
            recorder,
            partial,
        } = self;
        let bytes = finish(recorder).map_err(partial.failed())?;
        shared.place(&partial.0, &digest, bytes)
    }
}

impl Sink for CacheEntry {
    fn blob(&mut self, key: Key<'_>, content: Result<Content<'_>, BlobFault>) {
        self.recorder.blob(key, content);
    }
}

impl Partial {
    fn failed(&self) -> impl FnOnce(io::Error) -> CacheError + use<> {
        CacheError::io(&self.0, "write")
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // It bears another name now, or the folder is gone: either way there is nothing to remove.
        drop(fs::remove_file(&self.0));
    }
}

/// Opens a file of the cache, checks all of it, and leaves it where its record begins.
pub(super) fn open(file: File, digest: &Digest) -> Result<BufReader<SealedContent>, Reason> {
    headed(sealed::open(file, KIND)?, digest)
}

/// Looks whether a file of the cache is one that [`open`] may take, without reading what it holds.
pub(super) fn look(file: File, digest: &Digest) -> Result<(), Reason> {
    headed(sealed::look(file, KIND)?, digest).map(drop)
}

/// What comes after the head, if that is the one of this content.
fn headed(file: SealedContent, digest: &Digest) -> Result<BufReader<SealedContent>, Reason> {
    let mut rest = BufReader::new(file);
    let mut buffer = Vec::new();
    let read = framed::read::<Head<'_>>(&mut rest, HEAD_LIMIT, &mut buffer);
    let Head { program, stem } = match read {
        Ok(Some(head)) => head,
        Ok(None) => return Err(SealError::Checksum.into()),
        Err(error) => return Err(SealError::Io(error.into()).into()),
    };
    if program != PROGRAM {
        let found = program.into();
        return Err(Reason::Program { found });
    }
    if stem != digest.stem() {
        let found = stem.into();
        return Err(Reason::Digest { found });
    }
    Ok(rest)
}

fn begin(file: File, digest: &Digest) -> io::Result<Recorder<Sealer<File>>> {
    let mut sealer = Sealer::begin(file, KIND)?;
    let stem = digest.stem();
    let head = Head {
        program: PROGRAM,
        stem: &stem,
    };
    framed::write(&head, HEAD_LIMIT, &mut Vec::new(), &mut sealer)?;
    Recorder::new(sealer)
}

/// Ends the file, lets it lie on the disk, and says how large it is.
fn finish(recorder: Recorder<Sealer<File>>) -> io::Result<u64> {
    let file = recorder.finish()?.finish()?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

/// The version is that of the record; whoever changes the head, or what of a catalog is recorded,
/// changes it as well: two builds of one version are not told apart.
const KIND: SealedKind = SealedKind {
    name: b"olmguard catalog",
    version: VERSION,
};

pub(super) const VERSION: u32 = CONFIRMED + record::VERSION;

/// Files of a version below were written after a single fetch, which may have given anything.
const CONFIRMED: u32 = 1_000;

const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// A version and a digest are far shorter.
const HEAD_LIMIT: usize = 4 << 10;
