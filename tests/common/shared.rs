//! Where the shared specifications and vectors lie, if they are on this machine.

use std::path::{Path, PathBuf};

/// The shared folder: `OLMGUARD_SHARED`, else `../shared` beside the repository.
pub(crate) fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("OLMGUARD_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}
