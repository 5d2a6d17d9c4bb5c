//! A bundle's version: strict semantic versioning, as `Parse` of blang/semver v4 ([`semver.go`])
//! reads it, and the identifiers that its prerelease is made of.
//!
//! No `v`, no blanks, no short forms, no leading zeros; numbers and numeric prerelease identifiers
//! fit 64 bits. Any accepted text is already in normal form, so printing gives it back.
//!
//! [`semver.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/semver.go

use std::cmp::Ordering;
use std::fmt;

use crate::memory::heap_of;
use crate::version::comparator::{Core, Prerelease, VersionPoint};
use crate::version::go::{self, NumberError};

/// A version of a bundle, e.g. `1.2.3-rc.1+build`.
///
/// There is no `==` and no `<`: precedence ignores build metadata, texts do not, and a caller has
/// to say which it means ([`Version::cmp_precedence`], or the printed text).
#[derive(Clone, Debug)]
pub struct Version {
    point: VersionPoint,
    build: Option<Box<str>>,
}

heap_of!(Version: point, build);

impl Version {
    /// Reads `text` as blang's `Parse`.
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

    /// `0.0.0`, which OLM v0 takes for the version of what has none.
    pub fn zero() -> Self {
        let core = Core {
            major: 0,
            minor: 0,
            patch: 0,
        };
        let prerelease = Prerelease::NONE;
        Self {
            point: VersionPoint { core, prerelease },
            build: None,
        }
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.point.core.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.point.core.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.point.core.patch
    }

    /// The prerelease, dots and all, without its hyphen; `""` when there is none.
    pub fn prerelease(&self) -> &str {
        self.point.prerelease.as_str()
    }

    /// Whether there is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        !self.point.prerelease.is_none()
    }

    /// The build metadata without its plus sign; `""` when there is none.
    pub fn build(&self) -> &str {
        self.build.as_deref().unwrap_or("")
    }

    /// Semantic precedence, which ignores build metadata. Allocates nothing.
    pub fn cmp_precedence(&self, other: &Self) -> Ordering {
        self.point.cmp(&other.point)
    }

    /// The same version without build metadata.
    pub fn without_build(&self) -> Self {
        Self {
            point: self.point.clone(),
            build: None,
        }
    }

    /// The length of its text without build metadata, in bytes: all of it is ASCII.
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

/// Why blang refuses a version, and where; printed as blang prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct VersionError {
    kind: VersionErrorKind,
    at: usize,
}

impl VersionError {
    /// What is wrong.
    pub fn kind(&self) -> &VersionErrorKind {
        &self.kind
    }

    /// The byte offset at which the faulty piece starts; the text's length where something is
    /// missing.
    pub fn at(&self) -> usize {
        self.at
    }
}

/// What blang finds wrong with a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionErrorKind {
    /// The text is empty.
    #[error("Version string empty")]
    EmptyVersion,
    /// Fewer than three dot-separated pieces.
    #[error("No Major.Minor.Patch elements found")]
    TooFewComponents,
    /// A component has a character that is no digit.
    #[error("Invalid character(s) found in {} number {}", .0.lower(), go::quote(.1))]
    Character(Component, Box<str>),
    /// A component has a leading zero.
    #[error("{} number must not contain leading zeroes {}", .0.capital(), go::quote(.1))]
    LeadingZero(Component, Box<str>),
    /// A component is empty or too large.
    #[error(transparent)]
    Number(NumberError),
    /// A prerelease identifier is wrong.
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

/// One of the three numbers of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// The first.
    Major,
    /// The second.
    Minor,
    /// The third.
    Patch,
}

impl Component {
    fn lower(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Minor => "minor",
            Self::Patch => "patch",
        }
    }

    fn capital(self) -> &'static str {
        match self {
            Self::Major => "Major",
            Self::Minor => "Minor",
            Self::Patch => "Patch",
        }
    }
}

/// What is before and after the first of these ASCII characters. Plain, because the texts are short: the search of
/// `split_once` takes longer to set up.
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

// === Dot-separated identifiers: what a prerelease, and a release, is made of ===
//
// Mirrors `NewPRVersion` of blang/semver ([`semver.go`]) and, for the operands of a range, the
// prerelease checks of Masterminds/semver ([`version.go`]). Identifiers are parsed once; comparing
// two lists allocates nothing.
//
// Invariant: no numeric identifier has a leading zero, so equal lists have equal texts.
//
// [`semver.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/semver.go
// [`version.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/version.go

/// Why blang refuses a prerelease or release identifier; printed as blang prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentifierError {
    /// Nothing between two dots.
    #[error("Prerelease is empty")]
    Empty,
    /// Digits only, the first of several being 0.
    #[error("Numeric PreRelease version must not contain leading zeroes {}", go::quote(.0))]
    LeadingZero(Box<str>),
    /// Digits only, and too large.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// A character other than an ASCII letter, a digit or `-`.
    #[error("Invalid character(s) found in prerelease {}", go::quote(.0))]
    Character(Box<str>),
}

/// One identifier. The derived order is that of `SemVer`: numbers by value, below all text; text by
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Identifier {
    Numeric(u64),
    Text(Box<str>),
}

impl Identifier {
    /// Reads an identifier of a bundle's version or release.
    pub(crate) fn blang(text: &str) -> Result<Self, IdentifierError> {
        if text.is_empty() {
            Err(IdentifierError::Empty)
        } else if has_leading_zero(text) {
            Err(IdentifierError::LeadingZero(text.into()))
        } else if go::is_digits(text) {
            Ok(Self::Numeric(go::parse_digits(text)?))
        } else if text.bytes().all(is_identifier_byte) {
            Ok(Self::Text(text.into()))
        } else {
            Err(IdentifierError::Character(text.into()))
        }
    }

    /// Reads an identifier of a Masterminds operand, whose characters the scanner has checked.
    ///
    /// Masterminds compares digits beyond 64 bits as text.
    pub(crate) fn masterminds(text: &str) -> Result<Self, LeadingZero> {
        if has_leading_zero(text) {
            return Err(LeadingZero);
        }
        Ok(match go::is_digits(text).then(|| go::parse_digits(text)) {
            Some(Ok(number)) => Self::Numeric(number),
            _ => Self::Text(text.into()),
        })
    }
}

heap_of!(enum Identifier: Text(text); Numeric);

/// A numeric identifier with a leading zero: the only fault of a scanned Masterminds identifier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeadingZero;

/// A list of identifiers with the text it was read from. Ordered as `SemVer` orders prereleases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identifiers {
    text: Box<str>,
    list: Box<[Identifier]>,
}

heap_of!(Identifiers: text, list);

impl Identifiers {
    /// Reads the dot-separated `text`; the first fault comes with its byte offset in `text`.
    pub(crate) fn read<E>(
        text: &str,
        identifier: impl Fn(&str) -> Result<Identifier, E>,
    ) -> Result<Self, (usize, E)> {
        let list = pieces(text)
            .map(|(at, piece)| identifier(piece).map_err(|error| (at, error)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            text: text.into(),
            list,
        })
    }

    /// The single identifier `0`, the least of all lists.
    pub(crate) fn zero() -> Self {
        Self {
            text: "0".into(),
            list: Box::new([Identifier::Numeric(0)]),
        }
    }

    /// The next list in the order: nothing lies between `alpha` and `alpha.0`.
    pub(crate) fn successor(&self) -> Self {
        let list = self
            .list
            .iter()
            .cloned()
            .chain([Identifier::Numeric(0)])
            .collect();
        Self {
            text: format!("{}.0", self.text).into(),
            list,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl Ord for Identifiers {
    fn cmp(&self, other: &Self) -> Ordering {
        self.list.cmp(&other.list)
    }
}

impl PartialOrd for Identifiers {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The pieces between the dots of `text`, each with its byte offset.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split('.').scan(0, |next, piece| {
        let at = *next;
        *next += piece.len() + 1;
        Some((at, piece))
    })
}

/// Whether `SemVer` allows the byte in an identifier.
pub(crate) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// Whether `text` is a number of several digits whose first is 0.
pub(crate) fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && go::is_digits(text)
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
