//! One comparator of a range: `buildVersionRange` and `parseComparator` (`range.go`).

use super::error::{ComparatorError, SkipRangeError, SkipRangeErrorKind};
use super::token::{Token, operator_and_version};
use crate::version::comparator::Comparator;
use crate::version::fault::{Expected, Fault};
use crate::version::interval::{Cut, Span};
use crate::version::point::Point;
use crate::version::semantic::Version;

/// Reads a token, wildcards expanded; `typed` is the whole range.
pub(super) fn read(typed: &str, token: &Token<'_>) -> Result<Comparator, SkipRangeError> {
    let fail = |kind, expected| SkipRangeError::new(kind, Fault::new(typed, token.at, expected));
    let (operator, version) = operator_and_version(&token.text).ok_or_else(|| {
        fail(
            SkipRangeErrorKind::NoVersion(token.text.as_ref().into()),
            Expected::Version,
        )
    })?;
    let refused = |fault, expected| {
        fail(
            SkipRangeErrorKind::Comparator {
                token: token.text.as_ref().into(),
                fault,
            },
            expected,
        )
    };
    let compile = compiler(operator).ok_or_else(|| {
        let error = ComparatorError::Operator {
            operator: operator.into(),
            version: version.into(),
        };
        refused(error, Expected::Operator)
    })?;
    let parsed = Version::parse(version).map_err(|source| {
        let error = ComparatorError::Version {
            operator: operator.into(),
            version: version.into(),
            source,
        };
        refused(error, Expected::Version)
    })?;
    Ok(compile(parsed.point().clone()))
}

fn compiler(operator: &str) -> Option<fn(Point) -> Comparator> {
    Some(match operator {
        "" | "=" | "==" => |point| Comparator::Within(Span::exactly(point)),
        "!" | "!=" => |point| Comparator::Outside(Span::exactly(point)),
        ">" => |point| Comparator::Within(Span::above(Cut::after(point))),
        ">=" => |point| Comparator::Within(Span::above(Cut::before(point))),
        "<" => |point| Comparator::Within(Span::below(Cut::before(point))),
        "<=" => |point| Comparator::Within(Span::below(Cut::after(point))),
        _ => return None,
    })
}
