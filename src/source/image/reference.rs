//! Names of images in registries: `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:HEX`.
//!
//! The grammar is the one that operator-controller uses, in [`olmguard_catalog::image_reference`]. A name without a
//! registry is refused: which one it means depends on the machine. A name without tag and digest is refused, too:
//! Docker takes `latest`, OLM takes nothing.

use std::fmt;
use std::str::FromStr;

use olmguard_catalog::image_reference::ImageFault;

use crate::source::digest::{DigestError, Sha256};

/// An image in a registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ImageReference {
    /// Host, with a port if the name has one.
    pub(super) host: Box<str>,
    /// Path of the repository.
    pub(super) repository: Box<str>,
    /// Which of the images there.
    pub(super) version: ImageVersion,
}

/// One image of a repository.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum ImageVersion {
    /// The image that has this tag now.
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
    /// It is not a reference at all.
    #[error("image {found:?}: {fault}: expected HOST/REPOSITORY:TAG or HOST/REPOSITORY@sha256:HEX")]
    Form {
        /// The text.
        found: Box<str>,
        /// What is wrong.
        fault: ImageFault,
    },
    /// It names no registry.
    #[error(
        "image {found:?} names no registry: write the host too, for example quay.io/{found} or \
         docker.io/library/{found}"
    )]
    Unqualified {
        /// The text.
        found: Box<str>,
    },
    /// It has neither a tag nor a digest.
    #[error("image {found:?} has neither a tag nor a digest: add one, for example :latest")]
    NoVersion {
        /// The text.
        found: Box<str>,
    },
    /// Its digest is not a SHA-256.
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

/// The registry and what follows it. A host has a dot or a port that can be one, or is this machine.
fn qualified(text: &str) -> Option<(&str, &str)> {
    let (host, path) = text.split_once('/')?;
    let is_host = host.contains(['.', ':']) || host == "localhost";
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    (is_host && is_port).then_some((host, path))
}

/// A digest says more than a tag in front of it.
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

/// Docker's own images have a short name.
fn completed(host: &str, repository: &str) -> String {
    if is_docker(host) && !repository.contains('/') {
        return format!("library/{repository}");
    }
    repository.to_owned()
}

/// Whether these are names of Docker's registry.
pub(super) fn is_docker(host: &str) -> bool {
    matches!(host, "docker.io" | "index.docker.io")
}

impl ImageReference {
    /// Registry and repository, as credentials and mirrors are found by it.
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
