//! The real catalogs, if they are on this machine.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Whole catalogs, 68 MB in all.
pub(crate) const NAMES: [&str; 5] = ["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"];

/// Where they lie.
pub(crate) fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("OLMGUARD_SHARED").map_or_else(beside, PathBuf::from);
    let folder = shared.join("catalogs");
    folder.is_dir().then_some(folder)
}

/// One of them, as catalogd sends it.
pub(crate) fn content(name: &str) -> Vec<u8> {
    let folder = folder().expect("looked for at the start");
    let file = File::open(folder.join(format!("community-{name}.jsonl.zst"))).unwrap();
    let mut content = Vec::new();
    zstd::Decoder::new(file)
        .unwrap()
        .read_to_end(&mut content)
        .unwrap();
    content
}
