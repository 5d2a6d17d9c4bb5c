//! Masterminds' tolerant version parser, `NewVersion` ([`version.go`]).
//!
//! Reads `v1.2` and `01.2.3` too, where blang does not. Constraints read their operands with it,
//! and OLM 1.0 to 1.7 the installed version.
//!
//! [`version.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/version.go

use std::fmt;

use super::operand::{ScannedVersion, scan};
use super::{LeadingZeros, Masterminds};
use crate::version::cursor::Cursor;
use crate::version::go::{self, NumberError};
use crate::version::identifier::{Identifier, Identifiers, has_leading_zero, pieces};
use crate::version::point::{Core, Point, Prerelease};
use crate::version::semantic::Version;

/// A version as Masterminds reads one; printed in full and without leading zeros.
///
/// A numeric prerelease identifier may exceed 64 bits; it then counts as text.
#[derive(Clone, Debug)]
pub struct MastermindsVersion {
    point: Point,
    build: Option<Box<str>>,
}

impl MastermindsVersion {
    /// Reads `text` as `NewVersion` of that release.
    ///
    /// # Errors
    ///
    /// The first fault in upstream's order: length, grammar, numbers, prerelease.
    pub fn parse(text: &str, release: Masterminds) -> Result<Self, MastermindsError> {
        Self::read(text, release).map_err(|kind| MastermindsError { kind, release })
    }

    /// Whether a bundle's version has the same precedence; build metadata does not count.
    pub fn is_same(&self, version: &Version) -> bool {
        self.point == *version.point()
    }

    /// Semantic precedence, build metadata ignored.
    pub fn cmp_precedence(&self, other: &Self) -> std::cmp::Ordering {
        self.point.cmp(&other.point)
    }

    pub(crate) fn into_point(self) -> Point {
        self.point
    }

    fn read(text: &str, release: Masterminds) -> Result<Self, MastermindsErrorKind> {
        let rules = release.rules();
        if text.len() > rules.version_bytes {
            return Err(MastermindsErrorKind::TooLong(rules.version_bytes));
        }
        let scanned = scan_all(text).ok_or(MastermindsErrorKind::Invalid)?;
        if rules.leading_zeros == LeadingZeros::Refused && has_any_leading_zero(&scanned) {
            return Err(MastermindsErrorKind::Invalid);
        }
        let number = |digits: Option<&str>| {
            digits
                .map_or(Ok(0), go::parse_digits)
                .map_err(MastermindsErrorKind::Segment)
        };
        let core = Core {
            major: number(Some(scanned.major))?,
            minor: number(scanned.minor)?,
            patch: number(scanned.patch)?,
        };
        let prerelease = scanned
            .prerelease
            .map_or(Ok(Prerelease::NONE), prerelease)?;
        Ok(Self {
            point: Point { core, prerelease },
            build: scanned.build.map(Into::into),
        })
    }
}

impl fmt::Display for MastermindsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.point.fmt(f)?;
        match &self.build {
            None => Ok(()),
            Some(build) => write!(f, "+{build}"),
        }
    }
}

/// Why Masterminds refuses a version; printed in the words of its release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MastermindsError {
    kind: MastermindsErrorKind,
    release: Masterminds,
}

impl MastermindsError {
    /// What is wrong.
    pub fn kind(&self) -> &MastermindsErrorKind {
        &self.kind
    }
}

impl fmt::Display for MastermindsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.release.rules().texts;
        match &self.kind {
            MastermindsErrorKind::TooLong(most) => {
                write!(f, "version string is too long (max {most} bytes)")
            }
            MastermindsErrorKind::Invalid => f.write_str(texts.invalid),
            MastermindsErrorKind::Segment(error) => write!(f, "{}: {error}", texts.segment),
            MastermindsErrorKind::LeadingZero => f.write_str(texts.leading_zero),
        }
    }
}

impl std::error::Error for MastermindsError {}

/// What Masterminds finds wrong with a version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MastermindsErrorKind {
    /// More bytes than this.
    TooLong(usize),
    /// It does not have the form of a version.
    Invalid,
    /// A number is too large.
    Segment(NumberError),
    /// A numeric prerelease identifier has a leading zero.
    LeadingZero,
}

fn scan_all(text: &str) -> Option<ScannedVersion<'_>> {
    let mut cursor = Cursor::new(text);
    scan(&mut cursor, |byte| byte.is_ascii_digit()).filter(|_| cursor.is_at_end())
}

fn has_any_leading_zero(scanned: &ScannedVersion<'_>) -> bool {
    let numbers = [Some(scanned.major), scanned.minor, scanned.patch];
    let identifiers = scanned
        .prerelease
        .into_iter()
        .flat_map(pieces)
        .map(|(_, piece)| piece);
    numbers
        .into_iter()
        .flatten()
        .chain(identifiers)
        .any(has_leading_zero)
}

fn prerelease(text: &str) -> Result<Prerelease, MastermindsErrorKind> {
    Identifiers::read(text, Identifier::masterminds)
        .map(Prerelease::new)
        .map_err(|_| MastermindsErrorKind::LeadingZero)
}
