//! A bundle of a package: the facts that decide, and how its version is read.
//!
//! Upstream: operator-controller, [`internal/operator-controller/bundleutil/bundle.go`] (the version),
//! [`internal/operator-controller/resolve/validation.go`] (dependencies).
//!
//! [`internal/operator-controller/bundleutil/bundle.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/bundleutil/bundle.go
//! [`internal/operator-controller/resolve/validation.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/validation.go

use std::cmp::Ordering;

use crate::blob::{self, DependencyKind, Fault, PackageProperty, ReleaseField};
use crate::image_reference::{self, ReferenceError};
use crate::install_facts::InstallFacts;
use crate::memory::{Heap, allocated, heap_of};
use crate::olm::{ReleaseKey, Rules};
use crate::version::{VersionError, VersionRelease, VersionReleaseError, go};

/// A bundle of one package, as an `olm.bundle` blob describes it.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Name, compared byte for byte. No version is derived from it.
    pub name: Box<str>,
    /// Reference of the bundle image; empty if absent.
    pub image: Box<str>,
    /// Reason why operator-controller rejects the image reference, if it does.
    pub image_fault: Option<Box<ReferenceError>>,
    /// Version and release, or the reason why they cannot be read.
    pub version: Result<VersionRelease, BundleVersionError>,
    /// The first dependency that the bundle declares. OLM v1 does not support dependencies.
    pub dependency: Option<DependencyKind>,
    /// Facts from the catalog about the installation, if the catalog has any.
    pub install: Option<InstallFacts>,
    /// The message of the bundle's `olm.bundle` entry in the package's deprecations; may be empty.
    pub deprecated: Option<Box<str>>,
}

/// Reason why a bundle has no valid version.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BundleVersionError {
    /// The bundle has no property of type `olm.package`.
    #[error("no package property found in bundle {}", go::quote(bundle))]
    NoProperty {
        /// Name of the bundle.
        bundle: Box<str>,
    },
    /// The `olm.package` property is not an object of strings.
    #[error("{0}")]
    Undecodable(Fault),
    /// The release in the `olm.package` property is not a string.
    #[error("release of its olm.package property: expected a string")]
    ReleaseNotAString,
    /// The version is not a semantic version.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// The version, or the explicit release next to it, is not valid.
    #[error(transparent)]
    Explicit(#[from] VersionReleaseError),
}

heap_of!(Bundle: name, image, image_fault, version, install, deprecated; dependency);

/// Estimates the heap memory of an error as the length of its text.
macro_rules! heap_of_text {
    ($($error:ty),+) => {
        $(impl Heap for $error {
            fn heap_bytes(&self) -> usize {
                allocated(self.to_string().len())
            }
        })+
    };
}

heap_of_text!(BundleVersionError, ReferenceError);

impl BundleVersionError {
    /// Whether OLM itself words this error, so that users can search for the text. Go's JSON
    /// decoder words the other errors.
    pub fn is_olms_own(&self) -> bool {
        !matches!(self, Self::Undecodable(_) | Self::ReleaseNotAString)
    }
}

impl Bundle {
    /// Compares by preference, without regard to deprecation: the better bundle is less. Among
    /// equal bundles, OLM prefers the one whose file it reads first.
    pub fn cmp_preference(&self, other: &Self) -> Ordering {
        match (&self.version, &other.version) {
            (Ok(here), Ok(there)) => there.cmp_precedence(here),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => Ordering::Equal,
        }
    }

    /// Whether the version is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        let version = self.version.as_ref();
        version.is_ok_and(|read| read.version.is_prerelease())
    }

    /// Reads the facts that decide, by the rules of the OLM release in the cluster.
    pub(super) fn read(blob: blob::BundleBlob<'_>, rules: &Rules) -> Self {
        Self {
            version: read_version(&blob.name, blob.package_property, rules),
            name: blob.name.as_ref().into(),
            image_fault: image_fault(&blob.image),
            image: blob.image.as_ref().into(),
            dependency: blob.dependency,
            install: blob.install,
            deprecated: None,
        }
    }
}

/// Checks an image reference. An empty one is not a fault: such a bundle is not from a catalog of
/// images, so nothing is known about its image.
fn image_fault(image: &str) -> Option<Box<ReferenceError>> {
    if image.is_empty() {
        return None;
    }
    image_reference::check(image).err().map(Box::new)
}

fn read_version(
    bundle: &str,
    property: PackageProperty<'_>,
    rules: &Rules,
) -> Result<VersionRelease, BundleVersionError> {
    let (version, release) = match property {
        PackageProperty::Absent => {
            return Err(BundleVersionError::NoProperty {
                bundle: bundle.into(),
            });
        }
        PackageProperty::Undecodable(fault) => return Err(BundleVersionError::Undecodable(fault)),
        PackageProperty::Present { version, release } => (version, release),
    };
    match (rules.release_key, release) {
        (ReleaseKey::Typed | ReleaseKey::Honoured, ReleaseField::NotAString) => {
            Err(BundleVersionError::ReleaseNotAString)
        }
        (ReleaseKey::Honoured, ReleaseField::Text(release)) => Ok(VersionRelease::parse_explicit(
            &version,
            &release,
            rules.release_limit,
        )?),
        _ => Ok(VersionRelease::parse_legacy(
            &version,
            rules.legacy_release,
        )?),
    }
}
