//! The only layer: the program, and the name of its user.

use crate::archive::{Archive, gzip};
use crate::digest::sha256;

/// The files of an image.
pub(super) struct Layer {
    /// The archive, compressed.
    pub(super) content: Vec<u8>,
    /// The digest of the archive before it was compressed.
    pub(super) diff_id: String,
}

/// The root of the image. Its user cannot change anything in it, and its files have no date.
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

/// The user `nonroot`, as in other minimal images, so that tools can show a user name.
const PASSWD: &[u8] = include_bytes!("root/etc/passwd");
const GROUP: &[u8] = include_bytes!("root/etc/group");
