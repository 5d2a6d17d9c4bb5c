//! Bundle versions: strict semantic versioning, read as `Parse` of blang/semver v4 ([`semver.go`])
//! does.
//!
//! No `v`, no spaces, no short forms, no leading zeros. Numbers and numeric prerelease identifiers
//! fit 64 bits. Every accepted text is in normal form, so displaying a version returns it.
//!
//! [`semver.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/semver.go

use std::cmp::Ordering;
use std::fmt;

use crate::memory::heap_of;
use crate::version::comparator::{Core, Prerelease, VersionPoint};
use crate::version::go;
use crate::version::go::NumberError;
use crate::version::identifier::{
    Identifier, IdentifierError, Identifiers, has_leading_zero, is_identifier_byte, pieces,
};

/// A version of a bundle, e.g. `1.2.3-rc.1+build`.
///
/// `==` and `<` are not defined, because precedence ignores build metadata and texts do not.
/// Callers choose [`Version::cmp_precedence`] or the displayed text.
#[derive(Clone, Debug)]
pub struct Version {
    point: VersionPoint,
    build: Option<Box<str>>,
}

heap_of!(Version: point, build);

impl Version {
    /// Parses `text` as blang's `Parse` does.
    ///
    /// # Errors
    ///
    /// The first fault in blang's own order: numbers from left to right, prerelease, build.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        use VersionErrorKind as Kind;
        let (major, rest) = cut(text, b'.');
        let (minor, rest) = rest.map_or(("", None), |rest| cut(rest, b'.'));
        let rest = match rest {
            Some(rest) => rest,
            None if text.is_empty() => return Err(Kind::EmptyVersion.at(0)),
            None => return Err(Kind::TooFewComponents.at(text.len())),
        };
        let patch_at = major.len() + minor.len() + 2;
        let (rest, build) = cut(rest, b'+');
        let (patch, prerelease) = cut(rest, b'-');
        let core = Core {
            major: number(major, Component::Major, 0)?,
            minor: number(minor, Component::Minor, major.len() + 1)?,
            patch: number(patch, Component::Patch, patch_at)?,
        };
        let prerelease = match prerelease {
            None => Prerelease::NONE,
            Some(text) => read_prerelease(text, patch_at + patch.len() + 1)?,
        };
        if let Some(build) = build {
            check_build(build, patch_at + rest.len() + 1)?;
        }
        Ok(Self {
            point: VersionPoint { core, prerelease },
            build: build.map(Into::into),
        })
    }

    /// The version `0.0.0`, which OLM v0 uses for a bundle without a version.
    pub fn zero() -> Self {
        Self {
            point: VersionPoint::release(Core::ZERO),
            build: None,
        }
    }

    /// The major version.
    pub fn major(&self) -> u64 {
        self.point.core.major
    }

    /// The minor version.
    pub fn minor(&self) -> u64 {
        self.point.core.minor
    }

    /// The patch version.
    pub fn patch(&self) -> u64 {
        self.point.core.patch
    }

    /// The prerelease with its dots, without its hyphen; `""` if there is none.
    pub fn prerelease(&self) -> &str {
        self.point.prerelease.as_str()
    }

    /// Whether the version has a prerelease.
    pub fn is_prerelease(&self) -> bool {
        !self.point.prerelease.is_none()
    }

    /// The build metadata without its plus sign; `""` if there is none.
    pub fn build(&self) -> &str {
        self.build.as_deref().unwrap_or("")
    }

    /// Compares by semantic precedence, which ignores build metadata. Does not allocate.
    pub fn cmp_precedence(&self, other: &Self) -> Ordering {
        self.point.cmp(&other.point)
    }

    /// Returns the version without its build metadata.
    pub fn without_build(&self) -> Self {
        Self {
            point: self.point.clone(),
            build: None,
        }
    }

    /// The length of the text without build metadata, in bytes. All of the text is ASCII.
    pub fn len_without_build(&self) -> usize {
        self.point.text_len()
    }

    pub(crate) fn point(&self) -> &VersionPoint {
        &self.point
    }

    pub(crate) fn into_point(self) -> VersionPoint {
        self.point
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.point.fmt(f)?;
        match &self.build {
            None => Ok(()),
            Some(build) => write!(f, "+{build}"),
        }
    }
}

/// The reason why blang rejects a version, and where; displayed as blang prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct VersionError {
    kind: VersionErrorKind,
    at: usize,
}

impl VersionError {
    /// The kind of fault.
    pub fn kind(&self) -> &VersionErrorKind {
        &self.kind
    }

    /// The byte offset where the invalid part starts, or the length of the text if something is
    /// missing.
    pub fn at(&self) -> usize {
        self.at
    }
}

/// Faults that blang finds in a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionErrorKind {
    /// The text is empty.
    #[error("Version string empty")]
    EmptyVersion,
    /// The text has fewer than three dot-separated parts.
    #[error("No Major.Minor.Patch elements found")]
    TooFewComponents,
    /// A component has a character that is not a digit.
    #[error("Invalid character(s) found in {} number {}", .0.as_str(), go::quote(.1))]
    Character(Component, Box<str>),
    /// A component has a leading zero.
    #[error("{} number must not contain leading zeroes {}", .0.capital(), go::quote(.1))]
    LeadingZero(Component, Box<str>),
    /// A component is empty or too large.
    #[error(transparent)]
    Number(NumberError),
    /// A prerelease identifier is invalid.
    #[error(transparent)]
    Prerelease(IdentifierError),
    /// A build identifier is empty.
    #[error("Build meta data is empty")]
    EmptyBuild,
    /// A build identifier has a character other than an ASCII letter, a digit or `-`.
    #[error("Invalid character(s) found in build meta data {}", go::quote(.0))]
    BuildCharacter(Box<str>),
}

impl VersionErrorKind {
    fn at(self, at: usize) -> VersionError {
        VersionError { kind: self, at }
    }
}

word_set! {
    /// One of the three numbers of a version.
    pub enum Component {
        /// The first number.
        Major => "major",
        /// The second number.
        Minor => "minor",
        /// The third number.
        Patch => "patch",
    }
}

impl Component {
    fn capital(self) -> &'static str {
        match self {
            Self::Major => "Major",
            Self::Minor => "Minor",
            Self::Patch => "Patch",
        }
    }
}

/// Splits at the first occurrence of an ASCII character. A plain loop, because the texts are short
/// and the search of `split_once` takes longer to set up.
fn cut(text: &str, separator: u8) -> (&str, Option<&str>) {
    match text.bytes().position(|byte| byte == separator) {
        Some(at) => (text.get(..at).unwrap_or(text), text.get(at + 1..)),
        None => (text, None),
    }
}

fn number(text: &str, component: Component, at: usize) -> Result<u64, VersionError> {
    if !go::is_digits(text) {
        return Err(VersionErrorKind::Character(component, text.into()).at(at));
    }
    if has_leading_zero(text) {
        return Err(VersionErrorKind::LeadingZero(component, text.into()).at(at));
    }
    go::parse_digits(text).map_err(|error| VersionErrorKind::Number(error).at(at))
}

fn read_prerelease(text: &str, at: usize) -> Result<Prerelease, VersionError> {
    Identifiers::read(text, Identifier::blang)
        .map(Prerelease::new)
        .map_err(|(offset, error)| VersionErrorKind::Prerelease(error).at(at + offset))
}

fn check_build(text: &str, at: usize) -> Result<(), VersionError> {
    for (offset, piece) in pieces(text) {
        if piece.is_empty() {
            return Err(VersionErrorKind::EmptyBuild.at(at + offset));
        }
        if !piece.bytes().all(is_identifier_byte) {
            return Err(VersionErrorKind::BuildCharacter(piece.into()).at(at + offset));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_long_as_it_says() {
        for core in ["0.0.0", "9.10.99", "100.0.18446744073709551615"] {
            for (prerelease, build) in [("", ""), ("-0", ""), ("-rc.10", "+b"), ("", "+b.7")] {
                let text = format!("{core}{prerelease}{build}");
                let version = Version::parse(&text).expect("a version");
                assert_eq!(version.to_string(), text);
                assert_eq!(version.len_without_build(), core.len() + prerelease.len());
            }
        }
    }
}
