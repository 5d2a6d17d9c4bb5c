//! The names of images in flags and files: `oci:`, `oci-layout:`, `oci-archive:`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::reference::{ImageReference, ReferenceFault};
use crate::foreign_text::one_line;
use crate::source::digest::Sha256;

/// An image, as a flag or a file names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ImagePlace {
    /// In a registry: `oci:HOST/REPOSITORY:TAG` or with `@sha256:HEX`.
    Registry(ImageReference),
    /// In a directory with the layout of the image spec: `oci-layout:DIRECTORY`, or with `:NAME` of one of its images.
    Layout(PathBuf, Option<Box<str>>),
    /// In a tar archive of such a directory: `oci-archive:FILE`.
    Archive(PathBuf, Option<Box<str>>),
}

/// Why a text does not name an image.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ImagePlaceError {
    /// The name of an image in a registry.
    #[error(transparent)]
    Reference(#[from] ReferenceFault),
    /// Nothing follows.
    #[error("{text:?} names no path: expected oci-layout:DIRECTORY or oci-archive:FILE")]
    NoPath {
        /// The text.
        text: Box<str>,
    },
}

impl ImagePlace {
    /// Whether a text is to be read as the name of an image.
    pub fn is_meant_by(text: &str) -> bool {
        let schemes = [REGISTRY, LAYOUT, ARCHIVE];
        schemes.into_iter().any(|scheme| text.starts_with(scheme))
    }

    /// An image in a registry, by its reference alone, so that a catalog cannot name a file of this machine.
    ///
    /// # Errors
    /// If it is no reference.
    pub(crate) fn of_registry(reference: &str) -> Result<Self, ImagePlaceError> {
        Ok(Self::Registry(reference.parse()?))
    }

    /// The same image, where a path begins in this directory.
    pub fn within(self, folder: &Path) -> Self {
        match self {
            Self::Registry(image) => Self::Registry(image),
            Self::Layout(path, name) => Self::Layout(folder.join(path), name),
            Self::Archive(path, name) => Self::Archive(folder.join(path), name),
        }
    }

    /// The digest of its manifest, if its name has it.
    pub(super) fn digest(&self) -> Option<Sha256> {
        match self {
            Self::Registry(image) => image.version.digest(),
            Self::Layout(..) | Self::Archive(..) => None,
        }
    }
}

impl FromStr for ImagePlace {
    type Err = ImagePlaceError;

    fn from_str(text: &str) -> Result<Self, ImagePlaceError> {
        let named = |rest: &str| {
            let (path, name) = match rest.split_once(':') {
                Some((path, name)) => (path, Some(name.into())),
                None => (rest, None),
            };
            if path.is_empty() {
                let text = one_line(text).into();
                return Err(ImagePlaceError::NoPath { text });
            }
            Ok((PathBuf::from(path), name))
        };
        if let Some(rest) = text.strip_prefix(LAYOUT) {
            named(rest).map(|(path, name)| Self::Layout(path, name))
        } else if let Some(rest) = text.strip_prefix(ARCHIVE) {
            named(rest).map(|(path, name)| Self::Archive(path, name))
        } else {
            let image = text.strip_prefix(REGISTRY).unwrap_or(text);
            // As helm and flux write it.
            let image = image.strip_prefix("//").unwrap_or(image);
            Ok(Self::Registry(image.parse()?))
        }
    }
}

impl fmt::Display for ImagePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, path, name) = match self {
            Self::Registry(image) => return write!(f, "{REGISTRY}{image}"),
            Self::Layout(path, name) => (LAYOUT, path, name),
            Self::Archive(path, name) => (ARCHIVE, path, name),
        };
        write!(f, "{scheme}{}", path.display())?;
        name.as_ref().map_or(Ok(()), |name| write!(f, ":{name}"))
    }
}

const REGISTRY: &str = "oci:";
const LAYOUT: &str = "oci-layout:";
const ARCHIVE: &str = "oci-archive:";
