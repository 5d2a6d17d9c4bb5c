//! A fetched content that is to be archived.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use zstd::stream::write::Encoder;

use super::super::decompress::compress;
use crate::source::decompress::{Tee, ZstdFrame};
use crate::source::{Progress, SourceError, read_fetched};
use olmguard_catalog::blob::{BlobContent, BlobFault, BlobKey, Sink};

/// A content as it was fetched, compressed, in a file without a name.
#[derive(Debug)]
pub struct FetchedContent {
    file: File,
    /// The length in bytes, decompressed.
    pub(super) length: u64,
}

impl FetchedContent {
    /// Takes the content of the catalog `name`, which is compared with nothing.
    ///
    /// # Errors
    /// As [`read_fetched`] does, and if there is no place for the file.
    pub fn read_from(
        name: &str,
        body: &mut dyn Read,
        progress: &Progress,
    ) -> Result<Self, SourceError> {
        let failed = |source| SourceError::Io {
            path: name.into(),
            action: "write a copy",
            source,
        };
        let mut spool = Spool::begin().map_err(failed)?;
        let tee = Tee {
            from: body,
            to: &mut spool,
        };
        read_fetched(name, tee, progress, &mut DiscardingSink)?;
        spool.finish().map_err(failed)
    }

    /// The content.
    pub(super) fn read(&self) -> io::Result<impl Read + use<'_>> {
        let mut file = &self.file;
        file.rewind()?;
        ZstdFrame::open(file)
    }
}

/// A content that is being written.
struct Spool {
    frame: Encoder<'static, File>,
    length: u64,
}

impl Spool {
    fn begin() -> io::Result<Self> {
        Ok(Self {
            frame: compress(tempfile::tempfile()?)?,
            length: 0,
        })
    }

    fn finish(self) -> io::Result<FetchedContent> {
        Ok(FetchedContent {
            file: self.frame.finish()?,
            length: self.length,
        })
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.frame.write(bytes)?;
        self.length += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.frame.flush()
    }
}

/// Only whether it can be read is asked.
struct DiscardingSink;

impl Sink for DiscardingSink {
    fn blob(&mut self, _: BlobKey<'_>, _: Result<BlobContent<'_>, BlobFault>) {}
}
