//! A version together with its release: what OLM sorts bundles by and compares the installed one
//! with.
//!
//! Mirrors `VersionRelease` of operator-registry (`alpha/model`) and operator-controller's
//! `internal/operator-controller/bundleutil`. There are two readings. *Legacy*: build metadata that
//! is a valid release becomes the release and leaves the version. *Explicit*: version and release
//! come apart, and build metadata stays where it is, without effect.

use std::cmp::Ordering;
use std::fmt;

use crate::memory::{Heap, heap_of};
use crate::version::go;
use crate::version::identifier::{Identifier, IdentifierError, Identifiers, pieces};
use crate::version::semantic::{Version, VersionError};

/// What the legacy reading does with build metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyRelease {
    /// It stays in the version, and nothing has a release: OLM before 1.8.
    Ignored,
    /// It becomes the release where it is a valid one within the limit.
    Read(ReleaseLimit),
}

/// The feature gate `BundleReleaseSupport` of operator-controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleReleaseSupport {
    /// The default.
    Disabled,
    /// On in the experimental manifests.
    Enabled,
}

/// A version and, perhaps, a release.
#[derive(Clone, Debug)]
pub struct VersionRelease {
    /// The version; after a legacy reading without the build metadata that became the release.
    pub version: Version,
    /// The release. None is absent, an empty one was given explicitly; they compare the same.
    pub release: Option<Release>,
}

heap_of!(VersionRelease: version, release);

impl VersionRelease {
    /// Reads one text in which a release may stand as build metadata.
    ///
    /// # Errors
    ///
    /// The version's own. Build metadata that is no release is none.
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

    /// Reads a version and a release given apart; an empty release is kept as such.
    ///
    /// # Errors
    ///
    /// The version's, then the release's.
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

    /// Version first, build metadata ignored, then release; no release counts as the empty one.
    pub fn cmp_precedence(&self, other: &Self) -> Ordering {
        self.version
            .cmp_precedence(&other.version)
            .then_with(|| Release::cmp_optional(self.release.as_ref(), other.release.as_ref()))
    }

    /// What the controller writes down for an installed bundle.
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

/// Version and release as the controller stores them and shows them in the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedVersion {
    /// With the gate off the release stands in here as build metadata.
    pub version: String,
    /// None where the field is left out.
    pub release: Option<String>,
}

/// Why an explicit version and release are refused; printed as upstream prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionReleaseError {
    /// The version.
    #[error("error parsing version {}: {source}", go::quote(version))]
    Version {
        /// As given.
        version: Box<str>,
        /// Why.
        source: VersionError,
    },
    /// The release.
    #[error("error parsing release {}: {source}", go::quote(release))]
    Release {
        /// As given.
        release: Box<str>,
        /// Why.
        source: ReleaseError,
    },
}

// === A release: what tells two builds of one version apart ===
//
// Mirrors `Release` of operator-registry (`alpha/model`) and the helper of operator-controller's
// `bundleutil` that came before it. A dot-separated list with the syntax and order of prerelease
// identifiers; an empty one is below all others.

/// How long a release may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseLimit {
    /// As long as it likes: OLM 1.8 to 1.10.
    Unlimited,
    /// At most 20 bytes: OLM 1.11 and later.
    Bytes20,
}

/// A release, e.g. `2` or `20260101.rc-1`; perhaps empty.
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

    /// Reads a release; the empty text is the empty release.
    ///
    /// # Errors
    ///
    /// Over the limit, or some identifier is refused; all of those are reported.
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

    /// Whether it is the empty release.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The text; `""` for the empty release.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().map_or("", Identifiers::as_str)
    }

    /// The order of releases, in which none at all and the empty one are the same.
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

/// Why a release is refused; printed as upstream prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// Over the limit, which upstream counts in bytes whatever it says.
    #[error("invalid release {}: exceeds maximum length of {MAX_BYTES} characters", go::quote(.0))]
    TooLong(Box<str>),
    /// Some identifiers are refused.
    #[error("invalid release {}: {}", go::quote(release), segments(faults))]
    Segments {
        /// The text as given.
        release: Box<str>,
        /// The index of each refused identifier, from 0, and why.
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
