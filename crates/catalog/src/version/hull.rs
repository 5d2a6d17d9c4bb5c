//! Cheap bounds of a range. [`Extent`](super::Extent) is exact, and takes memory and time to work out.

use super::comparator::Comparator;
use super::interval::VersionCut;
use super::semantic::Version;

/// An interval that includes every version of a range, and perhaps others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hull<'a> {
    /// Absent: the interval has no lower end.
    lower: Option<&'a VersionCut>,
    upper: &'a VersionCut,
}

impl<'a> Hull<'a> {
    /// Of comparators that must all hold.
    pub(crate) fn of_group(comparators: impl Iterator<Item = &'a Comparator>) -> Self {
        let all = Self {
            lower: None,
            upper: &VersionCut::Unlimited,
        };
        comparators.fold(all, |hull, comparator| match comparator {
            Comparator::Within(span) => Self {
                lower: hull.lower.max(Some(&span.lower)),
                upper: hull.upper.min(&span.upper),
            },
            Comparator::Outside(_) | Comparator::Unlike(_) => hull,
        })
    }

    /// The interval that includes both.
    pub(crate) fn unite(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    /// The lower end, if there is one. Ends compare by their place in the version order.
    pub(crate) fn lower(&self) -> Option<&'a VersionCut> {
        self.lower
    }

    /// The upper end.
    pub(crate) fn upper(&self) -> &'a VersionCut {
        self.upper
    }

    /// Whether all of it is higher than this version.
    pub(crate) fn is_above(&self, version: &Version) -> bool {
        let lower = self.lower;
        lower.is_some_and(|lower| !lower.is_below(version.point()))
    }

    /// Whether all of it is lower than this version.
    pub(crate) fn is_below(&self, version: &Version) -> bool {
        self.upper.is_below(version.point())
    }
}
