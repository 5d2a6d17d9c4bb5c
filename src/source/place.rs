//! Where the content of a catalog is, apart from a cluster.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::source::Loader;
use crate::source::pinned::{PinnedUrl, PinnedUrlError};
use olmguard_engine::snapshot::Content;

/// Where the content of a catalog is: on this machine, or at a URL with the digest of what is there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CatalogPlace {
    /// A file, a folder, or `-` for standard input.
    Path(PathBuf),
    /// A file that is fetched.
    Pinned(PinnedUrl),
}

impl CatalogPlace {
    /// The same place, where a path begins in this folder.
    #[must_use]
    pub fn within(self, folder: &Path) -> Self {
        match self {
            Self::Path(path) => Self::Path(folder.join(path)),
            Self::Pinned(url) => Self::Pinned(url),
        }
    }

    /// The path, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Pinned(_) => None,
        }
    }

    /// The content, or why there is none.
    pub fn load(&self, loader: &mut Loader<'_>) -> Content {
        match self {
            Self::Path(path) => loader.load(path),
            Self::Pinned(url) => url.load(loader),
        }
    }
}

impl FromStr for CatalogPlace {
    type Err = PinnedUrlError;

    fn from_str(text: &str) -> Result<Self, PinnedUrlError> {
        if PinnedUrl::is_meant_by(text) {
            text.parse().map(Self::Pinned)
        } else {
            Ok(Self::Path(text.into()))
        }
    }
}
