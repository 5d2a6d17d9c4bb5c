//! Reproducible archives: entries in the given order, owned by root, with a given date, and gzip without a date or a
//! system.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// An archive that is built in memory.
pub(crate) struct Archive {
    builder: Builder<Vec<u8>>,
    /// The date of every entry, in seconds since 1970.
    seconds: u64,
}

impl Archive {
    pub(crate) fn new(seconds: u64) -> Self {
        Self {
            builder: Builder::new(Vec::new()),
            seconds,
        }
    }

    pub(crate) fn folder(self, path: &str, mode: u32) -> Self {
        self.append(EntryType::Directory, path, mode, b"")
    }

    pub(crate) fn file(self, path: &str, mode: u32, content: &[u8]) -> Self {
        self.append(EntryType::Regular, path, mode, content)
    }

    /// Appends an entry. Sets every field that could otherwise differ between builds.
    fn append(mut self, kind: EntryType, path: &str, mode: u32, content: &[u8]) -> Self {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(self.seconds);
        header.set_size(content.len() as u64);
        let appended = self.builder.append_data(&mut header, path, content);
        appended.expect("memory takes what is written, and every path is relative");
        self
    }

    /// The bytes of the archive, uncompressed.
    pub(crate) fn finish(self) -> Vec<u8> {
        let archive = self.builder.into_inner();
        archive.expect("memory takes what is written")
    }
}

/// Compresses with gzip, which every registry, container engine and shell can read.
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    write_gzip(content).expect("memory takes what is written")
}

fn write_gzip(content: &[u8]) -> io::Result<Vec<u8>> {
    let gzip = GzBuilder::new().mtime(0).operating_system(UNKNOWN_SYSTEM);
    let mut gzip = gzip.write(Vec::new(), Compression::best());
    gzip.write_all(content)?;
    gzip.finish()
}

const UNKNOWN_SYSTEM: u8 = 255;
