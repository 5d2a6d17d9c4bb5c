//! One comparator of a range, compiled onto the version order.
//!
//! Every operator of both grammars is a stretch of the order or its complement, with one exception:
//! Masterminds' `!=` on a major.minor (`!=1.2`, `!=1.2.x-alpha`; [`constraints.go`]).
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

use super::interval::{Span, VersionCut};
use super::point::{Core, Point, Prerelease};
use crate::heap::Heap;

/// What a version has to satisfy.
#[derive(Clone, Debug)]
pub(crate) enum Comparator {
    /// Lies in the span.
    Within(Span),
    /// Lies outside the span.
    Outside(Span),
    /// Is no version of this major.minor with just this prerelease.
    Unlike(PatchLine),
}

impl Comparator {
    pub(crate) fn admits(&self, point: &Point) -> bool {
        match self {
            Self::Within(span) => span.contains(point),
            Self::Outside(span) => !span.contains(point),
            Self::Unlike(line) => !line.contains(point),
        }
    }

    /// The only version that it admits, if that is what it says.
    pub(crate) fn only(&self) -> Option<&Point> {
        match self {
            Self::Within(span) => span.only(),
            Self::Outside(_) | Self::Unlike(_) => None,
        }
    }

    /// Whether every version above some version is admitted.
    pub(crate) fn is_open_above(&self) -> bool {
        match self {
            Self::Within(span) => span.upper == VersionCut::Unlimited && !span.lower.is_top(),
            Self::Outside(span) => !span.upper.is_top(),
            Self::Unlike(_) => true,
        }
    }
}

impl Heap for Comparator {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Within(span) | Self::Outside(span) => {
                span.lower.heap_bytes() + span.upper.heap_bytes()
            }
            Self::Unlike(line) => line.prerelease.heap_bytes(),
        }
    }
}

/// The versions of one major.minor that share a prerelease, e.g. `1.2.*-alpha`; the patch is free.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatchLine {
    /// The major version.
    pub major: u64,
    /// The minor version.
    pub minor: u64,
    /// The prerelease that they share.
    pub prerelease: Prerelease,
}

impl PatchLine {
    pub(crate) fn contains(&self, point: &Point) -> bool {
        (point.core.major, point.core.minor) == (self.major, self.minor)
            && point.prerelease == self.prerelease
    }

    /// The version of this line with the given patch.
    pub(crate) fn at(&self, patch: u64) -> Point {
        let core = Core::new(self.major, self.minor, patch);
        Point {
            core,
            prerelease: self.prerelease.clone(),
        }
    }
}
