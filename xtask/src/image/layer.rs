//! The one layer: the program, and who its user is.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::layout::sha256;

/// Files as an image carries them.
pub(super) struct Layer {
    /// The archive, compressed.
    pub(super) content: Vec<u8>,
    /// The digest of the archive before it was compressed.
    pub(super) diff_id: String,
}

/// The root of the image: its user may change nothing in it.
pub(super) fn of(program: &[u8]) -> Layer {
    let archive = archive(program).expect("memory takes what is written");
    Layer {
        diff_id: format!("sha256:{}", sha256(&archive)),
        content: compress(&archive).expect("memory takes what is written"),
    }
}

fn archive(program: &[u8]) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    append(&mut archive, EntryType::Directory, "etc/", 0o755, b"")?;
    append(&mut archive, EntryType::Regular, "etc/group", 0o444, GROUP)?;
    append(
        &mut archive,
        EntryType::Regular,
        "etc/passwd",
        0o444,
        PASSWD,
    )?;
    append(&mut archive, EntryType::Regular, "olmguard", 0o555, program)?;
    archive.into_inner()
}

/// All that could differ from build to build is told: owner root, no date.
fn append(
    archive: &mut Builder<Vec<u8>>,
    kind: EntryType,
    path: &str,
    mode: u32,
    content: &[u8],
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(content.len() as u64);
    archive.append_data(&mut header, path, content)
}

/// gzip, which every registry and every engine reads; its header names no system and no date.
fn compress(archive: &[u8]) -> io::Result<Vec<u8>> {
    let gzip = GzBuilder::new().mtime(0).operating_system(UNKNOWN_SYSTEM);
    let mut gzip = gzip.write(Vec::new(), Compression::best());
    gzip.write_all(archive)?;
    gzip.finish()
}

const UNKNOWN_SYSTEM: u8 = 255;

/// `nonroot` as other images without a system know it, so that tools that show users have a name.
const PASSWD: &[u8] = include_bytes!("root/etc/passwd");
const GROUP: &[u8] = include_bytes!("root/etc/group");
