//! The place of a catalog outside of a cluster.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::source::image::{ImageError, ImageKind, ImagePlace, ImagePlaceError, UnpackedImage};
use crate::source::pinned::{PinnedUrl, PinnedUrlError};
use crate::source::{Loader, Progress};
use olmguard_engine::snapshot::Content;

/// Where the content of a catalog is: on this machine, at a URL with the digest of what is there, or in an image.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
pub enum CatalogPlace {
    /// Files on this machine, or in an image.
    Files(FilesPlace),
    /// A file that is fetched.
    Pinned(Box<PinnedUrl>),
}

/// Why a text names no place.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CatalogPlaceError {
    /// Of a URL.
    #[error(transparent)]
    Url(#[from] PinnedUrlError),
    /// Of an image.
    #[error(transparent)]
    Image(#[from] ImagePlaceError),
}

/// A catalog by its name, and where its content is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CatalogSource {
    /// Its name.
    pub name: String,
    /// Where its content is.
    pub place: CatalogPlace,
}

impl CatalogSource {
    /// The catalog of this name at a place as it is written in a file of this directory.
    pub(crate) fn within(
        folder: &Path,
        name: &str,
        place: &str,
    ) -> Result<Self, CatalogPlaceError> {
        let place = place.parse::<CatalogPlace>()?.within(folder);
        let name = name.to_owned();
        Ok(Self { name, place })
    }
}

impl CatalogPlace {
    /// The same place, where a path begins in this folder.
    pub fn within(self, folder: &Path) -> Self {
        match self {
            Self::Files(files) => Self::Files(files.within(folder)),
            Self::Pinned(url) => Self::Pinned(url),
        }
    }

    /// The path, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Files(files) => files.path(),
            Self::Pinned(_) => None,
        }
    }

    /// The content, or why there is none.
    pub fn load(&self, loader: &mut Loader<'_>) -> Content {
        match self {
            Self::Files(files) => files.load(loader),
            Self::Pinned(url) => url.load(loader),
        }
    }
}

impl FromStr for CatalogPlace {
    type Err = CatalogPlaceError;

    fn from_str(text: &str) -> Result<Self, CatalogPlaceError> {
        if PinnedUrl::is_meant_by(text) && !ImagePlace::is_meant_by(text) {
            Ok(Self::Pinned(Box::new(text.parse()?)))
        } else {
            Ok(Self::Files(text.parse()?))
        }
    }
}

/// Where files are that are read as such: on this machine, or in an image.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
pub enum FilesPlace {
    /// A file, a folder, or `-` for standard input.
    #[display("{}", _0.display())]
    Path(PathBuf),
    /// An image, which is unpacked first.
    Image(ImagePlace),
}

/// Files on this machine, which stay there as long as this lives.
#[derive(Debug)]
pub struct LocalFiles {
    path: PathBuf,
    _image: Option<UnpackedImage>,
}

impl FilesPlace {
    /// The path, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Image(_) => None,
        }
    }

    fn within(self, folder: &Path) -> Self {
        match self {
            Self::Path(path) => Self::Path(folder.join(path)),
            Self::Image(image) => Self::Image(image.within(folder)),
        }
    }

    /// The content of a catalog. A fault in an image names the image, and the file in it.
    fn load(&self, loader: &mut Loader<'_>) -> Content {
        let files = match self.local(ImageKind::Catalog, loader.progress()) {
            Ok(files) => files,
            Err(error) => return Content::Unreadable(error.to_string()),
        };
        match (self, loader.load(files.path())) {
            (Self::Image(image), Content::Unreadable(why)) => {
                Content::Unreadable(format!("{image}: {why}"))
            }
            (_, content) => content,
        }
    }

    /// The files. It waits for a registry.
    ///
    /// # Errors
    /// Whatever is wrong with an image. A path is not looked at.
    pub fn local(&self, kind: ImageKind, progress: &Progress) -> Result<LocalFiles, ImageError> {
        match self {
            Self::Path(path) => Ok(LocalFiles {
                path: path.clone(),
                _image: None,
            }),
            Self::Image(image) => {
                let image = image.unpacked(kind, progress)?;
                Ok(LocalFiles {
                    path: image.root().to_owned(),
                    _image: Some(image),
                })
            }
        }
    }
}

impl LocalFiles {
    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl FromStr for FilesPlace {
    type Err = ImagePlaceError;

    fn from_str(text: &str) -> Result<Self, ImagePlaceError> {
        if ImagePlace::is_meant_by(text) {
            text.parse().map(Self::Image)
        } else {
            Ok(Self::Path(text.into()))
        }
    }
}
