//! A version together with its release. OLM sorts bundles by this pair, and compares it with the
//! installed bundle's.
//!
//! Mirrors `VersionRelease` of operator-registry (`alpha/model`) and operator-controller's
//! `internal/operator-controller/bundleutil`. There are two ways to read it. *Legacy*: build
//! metadata that is a valid release becomes the release, and is removed from the version.
//! *Explicit*: version and release are separate fields, and build metadata stays in the version
//! without effect.

use std::cmp::Ordering;
use std::fmt;

use crate::memory::{Heap, heap_of};
use crate::version::go;
use crate::version::identifier::{Identifier, IdentifierError, Identifiers, pieces};
use crate::version::semantic::{Version, VersionError};

/// Handling of build metadata in the legacy form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyRelease {
    /// Build metadata stays in the version, and bundles have no release: OLM before 1.8.
    Ignored,
    /// Build metadata becomes the release if it is a valid release within the limit.
    Read(ReleaseLimit),
}

/// The feature gate `BundleReleaseSupport` of operator-controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleReleaseSupport {
    /// Disabled, which is the default.
    Disabled,
    /// Enabled, as in the experimental manifests.
    Enabled,
}

/// A version and an optional release.
#[derive(Clone, Debug)]
pub struct VersionRelease {
    /// The version, without build metadata that became the release.
    pub version: Version,
    /// The release. `None` means absent; an empty release was given explicitly. Both compare equal.
    pub release: Option<Release>,
}

heap_of!(VersionRelease: version, release);

impl VersionRelease {
    /// Reads a text in which build metadata can be a release.
    ///
    /// # Errors
    ///
    /// The text is not a valid version. Build metadata that is not a valid release is not an error.
    pub fn parse_legacy(text: &str, legacy: LegacyRelease) -> Result<Self, VersionError> {
        let version = Version::parse(text)?;
        let LegacyRelease::Read(limit) = legacy else {
            return Ok(Self {
                version,
                release: None,
            });
        };
        Ok(match Release::parse(version.build(), limit) {
            Ok(release) if !release.is_empty() => Self {
                version: version.without_build(),
                release: Some(release),
            },
            _ => Self {
                version,
                release: None,
            },
        })
    }

    /// Reads a version and a release from separate fields. An empty release is kept as such.
    ///
    /// # Errors
    ///
    /// The version is invalid, or the version is valid and the release is not.
    pub fn parse_explicit(
        version: &str,
        release: &str,
        limit: ReleaseLimit,
    ) -> Result<Self, VersionReleaseError> {
        let parsed = Version::parse(version).map_err(|source| VersionReleaseError::Version {
            version: version.into(),
            source,
        })?;
        let release =
            Release::parse(release, limit).map_err(|source| VersionReleaseError::Release {
                release: release.into(),
                source,
            })?;
        Ok(Self {
            version: parsed,
            release: Some(release),
        })
    }

    /// Compares the versions, without build metadata, and then the releases. A missing release
    /// counts as the empty one.
    pub fn cmp_precedence(&self, other: &Self) -> Ordering {
        self.version
            .cmp_precedence(&other.version)
            .then_with(|| Release::cmp_optional(self.release.as_ref(), other.release.as_ref()))
    }

    /// Returns the version and release that the controller records for an installed bundle.
    pub fn recorded(&self, gate: BundleReleaseSupport) -> RecordedVersion {
        let release = self.release.as_ref();
        match gate {
            BundleReleaseSupport::Enabled => RecordedVersion {
                version: self.version.to_string(),
                release: release.map(Release::to_string),
            },
            BundleReleaseSupport::Disabled => RecordedVersion {
                version: match release.filter(|release| !release.is_empty()) {
                    Some(release) => format!("{}+{release}", self.version.point()),
                    None => self.version.to_string(),
                },
                release: None,
            },
        }
    }
}

/// Version and release, as the controller stores them and shows them in the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedVersion {
    /// The version. If the gate is disabled, it contains the release as build metadata.
    pub version: String,
    /// The release; `None` if the field is omitted.
    pub release: Option<String>,
}

/// The reason why an explicit version or release is rejected, displayed as upstream prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionReleaseError {
    /// The version is invalid.
    #[error("error parsing version {}: {source}", go::quote(version))]
    Version {
        /// The version as given.
        version: Box<str>,
        /// The reason why it is invalid.
        source: VersionError,
    },
    /// The release is invalid.
    #[error("error parsing release {}: {source}", go::quote(release))]
    Release {
        /// The release as given.
        release: Box<str>,
        /// The reason why it is invalid.
        source: ReleaseError,
    },
}

// === Releases, which distinguish builds of one version ===
//
// Mirrors `Release` of operator-registry (`alpha/model`) and its predecessor, the helper in
// operator-controller's `bundleutil`. A release is a dot-separated list with the syntax and order
// of prerelease identifiers. An empty release is below all others.

/// Maximum length of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseLimit {
    /// No limit: OLM 1.8 to 1.10.
    Unlimited,
    /// At most 20 bytes: OLM 1.11 and later.
    Bytes20,
}

/// A release, e.g. `2` or `20260101.rc-1`; may be empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(Option<Box<Identifiers>>);

impl Heap for Release {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl Release {
    /// The empty release, the lowest.
    pub const EMPTY: Self = Self(None);

    /// Parses a release. An empty text is the empty release.
    ///
    /// # Errors
    ///
    /// The text is too long, or identifiers are invalid; all invalid identifiers are reported.
    pub fn parse(text: &str, limit: ReleaseLimit) -> Result<Self, ReleaseError> {
        if text.is_empty() {
            return Ok(Self::EMPTY);
        }
        if limit == ReleaseLimit::Bytes20 && text.len() > MAX_BYTES {
            return Err(ReleaseError::TooLong(text.into()));
        }
        Identifiers::read(text, Identifier::blang)
            .map(|list| Self(Some(Box::new(list))))
            .map_err(|_| ReleaseError::Segments {
                release: text.into(),
                faults: faults(text),
            })
    }

    /// Whether the release is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The text; `""` for the empty release.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().map_or("", Identifiers::as_str)
    }

    /// Compares two optional releases. A missing release equals the empty one.
    pub(crate) fn cmp_optional(one: Option<&Self>, other: Option<&Self>) -> Ordering {
        one.unwrap_or(&Self::EMPTY)
            .cmp(other.unwrap_or(&Self::EMPTY))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The reason why a release is rejected, displayed as upstream prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// The release is too long. Upstream counts bytes, although its message says characters.
    #[error("invalid release {}: exceeds maximum length of {MAX_BYTES} characters", go::quote(.0))]
    TooLong(Box<str>),
    /// Some identifiers are invalid.
    #[error("invalid release {}: {}", go::quote(release), segments(faults))]
    Segments {
        /// The text as given.
        release: Box<str>,
        /// Index of each invalid identifier, from 0, and the reason.
        faults: Box<[(usize, IdentifierError)]>,
    },
}

fn faults(text: &str) -> Box<[(usize, IdentifierError)]> {
    pieces(text)
        .enumerate()
        .filter_map(|(index, (_, piece))| Some((index, Identifier::blang(piece).err()?)))
        .collect()
}

fn segments(faults: &[(usize, IdentifierError)]) -> String {
    let lines: Vec<_> = faults
        .iter()
        .map(|(index, error)| format!("segment {index}: {error}"))
        .collect();
    lines.join("\n")
}

const MAX_BYTES: usize = 20;
