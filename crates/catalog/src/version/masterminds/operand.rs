//! How Masterminds spells a version, complete or not: the scanner that its parsers share.
//!
//! Mirrors the patterns `semVerRegex` ([`version.go`]) and `cvRegex` ([`constraints.go`]): greedy, one
//! to three components, a short form may have prerelease and metadata too.
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go
//! [`version.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/version.go

use crate::version::cursor::Cursor;
use crate::version::identifier::{has_leading_zero, is_identifier_byte, pieces};

/// The pieces of a scanned version; a component may still be anything that `component` accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScannedVersion<'t> {
    /// The whole, as written.
    pub(crate) text: &'t str,
    pub(crate) major: &'t str,
    pub(crate) minor: Option<&'t str>,
    pub(crate) patch: Option<&'t str>,
    pub(crate) prerelease: Option<&'t str>,
    pub(crate) build: Option<&'t str>,
}

impl ScannedVersion<'_> {
    /// Where the first numeric prerelease identifier with a leading zero starts in the text.
    pub(crate) fn leading_zero(&self) -> Option<usize> {
        let prerelease = self.prerelease?;
        let behind = self.build.map_or(0, |build| build.len() + 1);
        let start = self.text.len().checked_sub(behind + prerelease.len())?;
        let mut faulty = pieces(prerelease).filter(|(_, piece)| has_leading_zero(piece));
        faulty.next().map(|(at, _)| start + at)
    }
}

/// Scans one version as far as it goes; leaves the cursor anywhere if there is none.
pub(crate) fn scan<'t>(
    cursor: &mut Cursor<'t>,
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

/// What a component of a constraint's operand is made of. The bar is upstream's slip of the pen.
pub(crate) fn is_component_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'x' | b'X' | b'*' | b'|')
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn dotted<'t>(cursor: &mut Cursor<'t>, belongs: impl Fn(u8) -> bool) -> Option<&'t str> {
    let mut ahead = cursor.clone();
    if !ahead.eat(".") {
        return None;
    }
    let piece = some(ahead.eat_while(belongs))?;
    *cursor = ahead;
    Some(piece)
}

fn identifiers<'t>(cursor: &mut Cursor<'t>, sign: &str) -> Option<&'t str> {
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
