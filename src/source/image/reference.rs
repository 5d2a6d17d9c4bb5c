//! Names of images: `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:HEX` in registries, and names with a scheme in
//! flags and files.
//!
//! The grammar is the one that operator-controller uses, in [`olmguard_catalog::image_reference`]. A name without a
//! registry is refused, because its registry would depend on the machine. A name without a tag or digest is refused,
//! too: Docker assumes `latest`, but OLM assumes nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::foreign_text::one_line;
use crate::source::digest::{DigestError, Sha256};
use olmguard_catalog::image_reference::ImageFault;

/// An image in a registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ImageReference {
    /// The host, with a port if the name has one.
    pub(super) host: Box<str>,
    /// The path of the repository.
    pub(super) repository: Box<str>,
    /// The image in the repository.
    pub(super) version: ImageVersion,
}

/// One image of a repository.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum ImageVersion {
    /// The image that this tag currently refers to.
    Tag(Box<str>),
    /// The image with this digest, whatever its tag.
    Digest(Sha256),
}

impl ImageVersion {
    pub(super) fn digest(&self) -> Option<Sha256> {
        match self {
            Self::Tag(_) => None,
            Self::Digest(digest) => Some(*digest),
        }
    }
}

/// Why a text does not name an image in a registry.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReferenceFault {
    /// The text is not a reference.
    #[error("image {found:?}: {fault}: expected HOST/REPOSITORY:TAG or HOST/REPOSITORY@sha256:HEX")]
    Form {
        /// The text.
        found: Box<str>,
        /// The fault of the grammar.
        fault: ImageFault,
    },
    /// The text does not name a registry.
    #[error(
        "image {found:?} names no registry: write the host too, for example quay.io/{found} or \
         docker.io/library/{found}"
    )]
    Unqualified {
        /// The text.
        found: Box<str>,
    },
    /// The text has neither a tag nor a digest.
    #[error("image {found:?} has neither a tag nor a digest: add one, for example :latest")]
    NoVersion {
        /// The text.
        found: Box<str>,
    },
    /// The digest is not a SHA-256.
    #[error(transparent)]
    Digest(#[from] DigestError),
}

impl FromStr for ImageReference {
    type Err = ReferenceFault;

    fn from_str(text: &str) -> Result<Self, ReferenceFault> {
        let found = || text.chars().take(SHOWN).collect::<String>().into();
        if text.is_empty() {
            return Err(ReferenceFault::Form {
                found: found(),
                fault: ImageFault::Format,
            });
        }
        if let Some(fault) = ImageFault::of(text) {
            return Err(ReferenceFault::Form {
                found: found(),
                fault,
            });
        }
        let (host, path) =
            qualified(text).ok_or_else(|| ReferenceFault::Unqualified { found: found() })?;
        let (repository, version) = split(path)?;
        Ok(Self {
            repository: completed(host, repository).into(),
            host: if is_docker(host) { "docker.io" } else { host }.into(),
            version: version.ok_or_else(|| ReferenceFault::NoVersion { found: found() })?,
        })
    }
}

/// Splits off the registry. Its host contains a dot or a valid port, or is `localhost`.
fn qualified(text: &str) -> Option<(&str, &str)> {
    let (host, path) = text.split_once('/')?;
    let is_host = host.contains(['.', ':']) || host == "localhost";
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    (is_host && is_port).then_some((host, path))
}

/// Splits a path into repository and version. A digest takes precedence over a tag.
fn split(path: &str) -> Result<(&str, Option<ImageVersion>), DigestError> {
    let (named, digest) = match path.split_once('@') {
        Some((named, digest)) => (named, Some(digest.parse().map(ImageVersion::Digest)?)),
        None => (path, None),
    };
    let (repository, tag) = match named.split_once(':') {
        Some((repository, tag)) => (repository, Some(ImageVersion::Tag(tag.into()))),
        None => (named, None),
    };
    Ok((repository, digest.or(tag)))
}

/// Adds `library/`, which the short names of Docker's own images omit.
fn completed(host: &str, repository: &str) -> String {
    if is_docker(host) && !repository.contains('/') {
        return format!("library/{repository}");
    }
    repository.to_owned()
}

/// Whether the host is a name of Docker's registry.
pub(super) fn is_docker(host: &str) -> bool {
    matches!(host, "docker.io" | "index.docker.io")
}

impl ImageReference {
    /// Returns host and repository, the key of credentials and mirrors.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.host, self.repository)
    }
}

impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            repository,
            version,
        } = self;
        match version {
            ImageVersion::Tag(tag) => write!(f, "{host}/{repository}:{tag}"),
            ImageVersion::Digest(digest) => write!(f, "{host}/{repository}@{digest}"),
        }
    }
}

const SHOWN: usize = 200;

// === The names of images in flags and files: `oci:`, `oci-layout:`, `oci-archive:` ===

/// An image, as a flag or a file names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ImagePlace {
    /// An image in a registry: `oci:HOST/REPOSITORY:TAG`, or with `@sha256:HEX`.
    Registry(ImageReference),
    /// An image in a directory with the layout of the image spec: `oci-layout:DIRECTORY`, or with `:NAME` if it has
    /// several.
    Layout(PathBuf, Option<Box<str>>),
    /// An image in a tar archive of such a directory: `oci-archive:FILE`, or with `:NAME`.
    Archive(PathBuf, Option<Box<str>>),
}

/// Why a text does not name an image.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ImagePlaceError {
    /// A fault in the reference of an image in a registry.
    #[error(transparent)]
    Reference(#[from] ReferenceFault),
    /// The text has no path.
    #[error("{text:?} names no path: expected oci-layout:DIRECTORY or oci-archive:FILE")]
    NoPath {
        /// The text.
        text: Box<str>,
    },
}

impl ImagePlace {
    /// Whether a text is meant as the name of an image.
    pub fn is_meant_by(text: &str) -> bool {
        let schemes = [REGISTRY, LAYOUT, ARCHIVE];
        schemes.into_iter().any(|scheme| text.starts_with(scheme))
    }

    /// Parses an image in a registry from its bare reference, so a catalog cannot name a file of this machine.
    ///
    /// # Errors
    /// Fails if the text is not a reference.
    pub(crate) fn of_registry(reference: &str) -> Result<Self, ImagePlaceError> {
        Ok(Self::Registry(reference.parse()?))
    }

    /// Returns the image with a relative path resolved against this directory.
    pub fn within(self, folder: &Path) -> Self {
        match self {
            Self::Registry(image) => Self::Registry(image),
            Self::Layout(path, name) => Self::Layout(folder.join(path), name),
            Self::Archive(path, name) => Self::Archive(folder.join(path), name),
        }
    }

    /// The digest of the manifest, if the name has one.
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
            // Helm and Flux write `oci://`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_registry_repository_and_version() {
        let digest = Sha256::of(b"x");
        for (text, expected) in [
            ("quay.io/x/catalog:v4.20", "quay.io/x/catalog:v4.20"),
            ("localhost:5000/c:1", "localhost:5000/c:1"),
            ("docker.io/busybox:1", "docker.io/library/busybox:1"),
            ("index.docker.io/busybox:1", "docker.io/library/busybox:1"),
            (&format!("r.io/a/b@{digest}"), &format!("r.io/a/b@{digest}")),
            (
                &format!("r.io/a/b:t@{digest}"),
                &format!("r.io/a/b@{digest}"),
            ),
        ] {
            let reference: ImageReference = text.parse().unwrap();
            assert_eq!(reference.to_string(), expected);
        }
    }

    #[test]
    fn what_is_not_whole_is_refused_with_a_way_out() {
        for (text, expected) in [
            ("", "invalid reference format"),
            ("catalog:v1", "names no registry"),
            ("x/catalog:v1", "names no registry"),
            ("x.io:99999/catalog:v1", "names no registry"),
            ("quay.io/x/catalog", "add one, for example :latest"),
            ("quay.io/X/catalog:1", "must be lowercase"),
            ("quay.io/x/catalog:", "invalid reference format"),
            ("quay.io/x/c@sha256:00", "invalid reference format"),
            (
                &format!("quay.io/x/c@sha512:{}", "0".repeat(128)),
                "expected sha256:",
            ),
        ] {
            let error = text.parse::<ImageReference>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
