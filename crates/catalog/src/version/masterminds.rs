//! The releases of Masterminds/semver v3 that OLM was built with, and the library's tolerant
//! version parser.
//!
//! This library reads `spec.source.catalog.version`, and the installed version in OLM 1.0 to 1.7.
//! The differences between its releases are data here ([`ParserRules`]); the parsers are shared.

use std::fmt;

use crate::version::RangeCursor;
use crate::version::comparator::{Core, Prerelease, VersionPoint};
use crate::version::go::{self, NumberError};
use crate::version::identifier::{
    Identifier, Identifiers, has_leading_zero, is_identifier_byte, pieces,
};
use crate::version::semantic::Version;

/// Releases of Masterminds/semver v3 with different answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Masterminds {
    /// v3.3.0: OLM 1.0.
    V3_3_0,
    /// v3.3.1: OLM 1.1 to 1.3. Rejects leading zeros.
    V3_3_1,
    /// v3.4.0: OLM 1.4 to 1.8. Decides about prereleases per group.
    V3_4,
    /// v3.5.0: OLM 1.9 and later. Limits lengths and counts.
    V3_5,
}

impl Masterminds {
    pub(crate) const fn rules(self) -> &'static ParserRules {
        match self {
            Self::V3_3_0 => &V3_3_0,
            Self::V3_3_1 => &V3_3_1,
            Self::V3_4 => &V3_4,
            Self::V3_5 => &V3_5,
        }
    }
}

/// Parser rules of one release.
#[derive(Debug)]
pub(crate) struct ParserRules {
    /// Maximum length of a constraint, in bytes.
    pub(crate) constraint_bytes: usize,
    /// Maximum number of OR groups.
    pub(crate) groups: usize,
    /// Maximum length of a version, in bytes.
    pub(crate) version_bytes: usize,
    pub(crate) leading_zeros: LeadingZeros,
    pub(crate) gate: PrereleaseGate,
    pub(crate) texts: &'static Texts,
    pub(crate) improper: ImproperText,
}

/// Handling of leading zeros in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeadingZeros {
    Dropped,
    /// Leading zeros, also in prerelease identifiers, make the version invalid.
    Refused,
}

/// The part of a constraint that must name a prerelease to admit versions with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrereleaseGate {
    /// The comparator itself; `!=` with a full version always admits prereleases.
    Comparator,
    /// Any comparator of the AND group.
    Group,
}

/// The wording of the release's messages.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) invalid: &'static str,
    pub(crate) segment: &'static str,
    pub(crate) leading_zero: &'static str,
    pub(crate) operand: &'static str,
}

/// The form of the group in an `improper constraint:` message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImproperText {
    AsWritten,
    Quoted,
}

/// Our own limit for releases without one, because the search for hyphen ranges takes quadratic
/// time. The API server accepts at most 64 characters.
const OWN_CONSTRAINT_BYTES: usize = 16 * 1024;

const CAPITAL: Texts = Texts {
    invalid: "Invalid Semantic Version",
    segment: "Error parsing version segment",
    leading_zero: "Version segment starts with 0",
    operand: "constraint Parser Error",
};

const LOWER: Texts = Texts {
    invalid: "invalid semantic version",
    segment: "error parsing version segment",
    leading_zero: "version segment starts with 0",
    operand: "constraint parser error",
};

static V3_3_0: ParserRules = ParserRules {
    constraint_bytes: OWN_CONSTRAINT_BYTES,
    groups: usize::MAX,
    version_bytes: usize::MAX,
    leading_zeros: LeadingZeros::Dropped,
    gate: PrereleaseGate::Comparator,
    texts: &CAPITAL,
    improper: ImproperText::AsWritten,
};

static V3_3_1: ParserRules = ParserRules {
    leading_zeros: LeadingZeros::Refused,
    ..V3_3_0
};

static V3_4: ParserRules = ParserRules {
    gate: PrereleaseGate::Group,
    texts: &LOWER,
    ..V3_3_0
};

static V3_5: ParserRules = ParserRules {
    constraint_bytes: 512,
    groups: 32,
    version_bytes: 256,
    improper: ImproperText::Quoted,
    ..V3_4
};

// === Masterminds' tolerant version parser, `NewVersion` ([`version.go`]) ===
//
// Unlike blang, the parser accepts `v1.2` and `01.2.3`. Constraints read their operands with it,
// and OLM 1.0 to 1.7 the installed version.
//
// [`version.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/version.go

/// A version as Masterminds reads it; displayed in full and without leading zeros.
///
/// A numeric prerelease identifier may exceed 64 bits; it then counts as text.
#[derive(Clone, Debug)]
pub struct MastermindsVersion {
    point: VersionPoint,
    build: Option<Box<str>>,
}

impl MastermindsVersion {
    /// Parses `text` as `NewVersion` of that release.
    ///
    /// # Errors
    ///
    /// The first fault in upstream's order: length, grammar, numbers, prerelease.
    pub fn parse(text: &str, release: Masterminds) -> Result<Self, MastermindsError> {
        Self::read(text, release).map_err(|kind| MastermindsError { kind, release })
    }

    /// Whether a bundle's version has the same precedence. Build metadata is ignored.
    pub fn is_same(&self, version: &Version) -> bool {
        self.point == *version.point()
    }

    /// Compares by semantic precedence. Build metadata is ignored.
    pub fn cmp_precedence(&self, other: &Self) -> std::cmp::Ordering {
        self.point.cmp(&other.point)
    }

    pub(crate) fn into_point(self) -> VersionPoint {
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
            point: VersionPoint { core, prerelease },
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

/// The reason why Masterminds rejects a version, displayed in the wording of its release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MastermindsError {
    kind: MastermindsErrorKind,
    release: Masterminds,
}

impl MastermindsError {
    /// The kind of fault.
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

/// Faults that Masterminds finds in a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MastermindsErrorKind {
    /// The text has more bytes than this limit.
    TooLong(usize),
    /// The text does not have the form of a version.
    Invalid,
    /// A number is too large.
    Segment(NumberError),
    /// A numeric prerelease identifier has a leading zero.
    LeadingZero,
}

fn scan_all(text: &str) -> Option<ScannedVersion<'_>> {
    let mut cursor = RangeCursor::new(text);
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

// === The scanner of complete and short versions, shared by Masterminds' parsers ===
//
// Mirrors the patterns `semVerRegex` ([`version.go`]) and `cvRegex` ([`constraints.go`]): greedy,
// one to three components. A short version can also have a prerelease and metadata.
//
// [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go
// [`version.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/version.go

/// The parts of a scanned version. A component can still be anything that `component` accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScannedVersion<'t> {
    /// The complete version as written.
    pub(crate) text: &'t str,
    pub(crate) major: &'t str,
    pub(crate) minor: Option<&'t str>,
    pub(crate) patch: Option<&'t str>,
    pub(crate) prerelease: Option<&'t str>,
    pub(crate) build: Option<&'t str>,
}

impl ScannedVersion<'_> {
    /// Byte offset in the text of the first numeric prerelease identifier with a leading zero.
    pub(crate) fn leading_zero(&self) -> Option<usize> {
        let prerelease = self.prerelease?;
        let behind = self.build.map_or(0, |build| build.len() + 1);
        let start = self.text.len().checked_sub(behind + prerelease.len())?;
        let mut faulty = pieces(prerelease).filter(|(_, piece)| has_leading_zero(piece));
        faulty.next().map(|(at, _)| start + at)
    }
}

/// Scans the longest version at the cursor. If there is none, the position of the cursor is
/// unspecified.
pub(crate) fn scan<'t>(
    cursor: &mut RangeCursor<'t>,
    component: impl Fn(u8) -> bool + Copy,
) -> Option<ScannedVersion<'t>> {
    let start = cursor.at();
    cursor.eat("v");
    let major = some(cursor.eat_while(component))?;
    let minor = dotted(cursor, component);
    let patch = minor.and_then(|_| dotted(cursor, component));
    let prerelease = identifiers(cursor, "-");
    let build = identifiers(cursor, "+");
    Some(ScannedVersion {
        text: cursor.since(start),
        major,
        minor,
        patch,
        prerelease,
        build,
    })
}

/// Whether a byte can be part of a component of a constraint's operand. The bar is a typo in
/// upstream's pattern.
pub(crate) fn is_component_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'x' | b'X' | b'*' | b'|')
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn dotted<'t>(cursor: &mut RangeCursor<'t>, belongs: impl Fn(u8) -> bool) -> Option<&'t str> {
    let mut ahead = cursor.clone();
    if !ahead.eat(".") {
        return None;
    }
    let piece = some(ahead.eat_while(belongs))?;
    *cursor = ahead;
    Some(piece)
}

fn identifiers<'t>(cursor: &mut RangeCursor<'t>, sign: &str) -> Option<&'t str> {
    let mut ahead = cursor.clone();
    if !ahead.eat(sign) {
        return None;
    }
    let start = ahead.at();
    some(ahead.eat_while(is_identifier_byte))?;
    while dotted(&mut ahead, is_identifier_byte).is_some() {}
    *cursor = ahead;
    Some(cursor.since(start))
}
