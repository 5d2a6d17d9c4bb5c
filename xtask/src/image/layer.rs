//! The one layer: the program, and who its user is.

use crate::archive::{Archive, gzip};
use crate::digest::sha256;

/// Files as an image carries them.
pub(super) struct Layer {
    /// The archive, compressed.
    pub(super) content: Vec<u8>,
    /// The digest of the archive before it was compressed.
    pub(super) diff_id: String,
}

/// The root of the image: its user may change nothing in it, and nothing in it has a date.
pub(super) fn of(program: &[u8]) -> Layer {
    let archive = Archive::new(0)
        .folder("etc/", 0o755)
        .file("etc/group", 0o444, GROUP)
        .file("etc/passwd", 0o444, PASSWD)
        .file("olmguard", 0o555, program)
        .finish();
    Layer {
        diff_id: format!("sha256:{}", sha256(&archive)),
        content: gzip(&archive),
    }
}

/// `nonroot` as other images without a system know it, so that tools that show users have a name.
const PASSWD: &[u8] = include_bytes!("root/etc/passwd");
const GROUP: &[u8] = include_bytes!("root/etc/group");
