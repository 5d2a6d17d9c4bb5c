//! One comparator of a range: `buildVersionRange` and `parseComparator` ([`range.go`]).
//!
//! [`range.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/range.go

use super::error::{ComparatorError, SkipRangeError, SkipRangeErrorKind};
use super::token::{Token, operator_and_version};
use crate::version::comparator::Comparator;
use crate::version::fault::{ExpectedPart, Fault};
use crate::version::identifier::IdentifierError;
use crate::version::interval::{Span, VersionCut};
use crate::version::point::Point;
use crate::version::semantic::{Version, VersionErrorKind};

/// Reads a token, wildcards expanded; `typed` is the whole range.
pub(super) fn read(typed: &str, token: &Token<'_>) -> Result<Comparator, SkipRangeError> {
    let Some((operator, version)) = operator_and_version(&token.text) else {
        return Err(SkipRangeError::no_version(typed, token));
    };
    let Some(compile) = compiler(operator) else {
        let (operator, version) = (operator.into(), version.into());
        let error = ComparatorError::Operator { operator, version };
        return Err(refused(
            token,
            error,
            Fault::new(typed, token.at, ExpectedPart::Operator),
        ));
    };
    let parsed = Version::parse(version).map_err(|source| {
        let at = token.typed_position(typed, token.text.len() - version.len() + source.at());
        let expected = match source.kind() {
            VersionErrorKind::Prerelease(IdentifierError::LeadingZero(_)) => {
                ExpectedPart::NoLeadingZero
            }
            _ => ExpectedPart::Version,
        };
        let (operator, version) = (operator.into(), version.into());
        let error = ComparatorError::Version {
            operator,
            version,
            source,
        };
        refused(token, error, Fault::new(typed, at, expected))
    })?;
    Ok(compile(parsed.into_point()))
}

fn refused(token: &Token<'_>, error: ComparatorError, fault: Fault) -> SkipRangeError {
    let token = token.text.as_ref().into();
    SkipRangeError::new(SkipRangeErrorKind::Comparator { token, error }, fault)
}

fn compiler(operator: &str) -> Option<fn(Point) -> Comparator> {
    Some(match operator {
        "" | "=" | "==" => |point| Comparator::Within(Span::exactly(point)),
        "!" | "!=" => |point| Comparator::Outside(Span::exactly(point)),
        ">" => |point| Comparator::Within(Span::above(VersionCut::after(point))),
        ">=" => |point| Comparator::Within(Span::above(VersionCut::before(point))),
        "<" => |point| Comparator::Within(Span::below(VersionCut::before(point))),
        "<=" => |point| Comparator::Within(Span::below(VersionCut::after(point))),
        _ => return None,
    })
}
