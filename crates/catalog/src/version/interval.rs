//! Stretches of the version order: cuts between versions, and spans from one cut to the next.
//!
//! Both range grammars compile onto these, so that matching, openness and the words of a range rest
//! on one reading. A number that overflows while a span is built ends at the highest version.

use super::point::{Core, Point};
use crate::heap::Heap;

/// On which side of a version a cut lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Just below it.
    Before,
    /// Just above it.
    After,
}

/// A place between versions. The derived order is the order of places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionCut {
    /// Beside a version.
    At(Point, Side),
    /// Above every version.
    Unlimited,
}

impl Heap for VersionCut {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::At(point, _) => point.heap_bytes(),
            Self::Unlimited => 0,
        }
    }
}

impl VersionCut {
    /// Just below a version.
    pub fn before(point: Point) -> Self {
        Self::At(point, Side::Before)
    }

    pub(crate) fn after(point: Point) -> Self {
        Self::At(point, Side::After)
    }

    /// Below every version: nothing is lower than `0.0.0-0`.
    pub fn bottom() -> Self {
        Self::before(Point::lowest(Core::ZERO))
    }

    /// Above all versions of `core`'s major, prereleases included.
    pub(crate) fn after_major(core: Core) -> Self {
        Self::before_core(core.next_major())
    }

    /// Above all versions of `core`'s major.minor, prereleases included.
    pub(crate) fn after_minor(core: Core) -> Self {
        Self::before_core(core.next_minor())
    }

    fn before_core(core: Option<Core>) -> Self {
        match core {
            Some(core) => Self::before(Point::lowest(core)),
            None => Self::after(Point::release(Core::new(u64::MAX, u64::MAX, u64::MAX))),
        }
    }

    /// Whether no version lies above this cut.
    pub(crate) fn is_top(&self) -> bool {
        match self {
            Self::At(_, Side::Before) => false,
            Self::At(point, Side::After) => point.successor().is_none(),
            Self::Unlimited => true,
        }
    }

    /// Whether `point` lies above this cut.
    pub(crate) fn is_below(&self, point: &Point) -> bool {
        match self {
            Self::At(at, Side::Before) => at <= point,
            Self::At(at, Side::After) => at < point,
            Self::Unlimited => false,
        }
    }
}

/// All versions between two cuts. Empty if they are the wrong way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The lower end.
    pub lower: VersionCut,
    /// The upper end.
    pub upper: VersionCut,
}

impl Span {
    /// The version that it holds, if it begins before it and ends behind it.
    pub(crate) fn only(&self) -> Option<&Point> {
        match (&self.lower, &self.upper) {
            (VersionCut::At(lower, Side::Before), VersionCut::At(upper, Side::After))
                if lower == upper =>
            {
                Some(lower)
            }
            _ => None,
        }
    }

    pub(crate) fn new(lower: VersionCut, upper: VersionCut) -> Self {
        Self { lower, upper }
    }

    pub(crate) fn above(lower: VersionCut) -> Self {
        Self::new(lower, VersionCut::Unlimited)
    }

    pub(crate) fn below(upper: VersionCut) -> Self {
        Self::new(VersionCut::bottom(), upper)
    }

    /// One version alone, whatever its build metadata.
    pub(crate) fn exactly(point: Point) -> Self {
        Self::new(VersionCut::before(point.clone()), VersionCut::after(point))
    }

    /// All versions of one major, prereleases included.
    pub(crate) fn major(core: Core) -> Self {
        let first = Core::new(core.major, 0, 0);
        Self::new(
            VersionCut::before(Point::lowest(first)),
            VersionCut::after_major(core),
        )
    }

    /// All versions of one major.minor, prereleases included.
    pub(crate) fn minor(core: Core) -> Self {
        let first = Core { patch: 0, ..core };
        Self::new(
            VersionCut::before(Point::lowest(first)),
            VersionCut::after_minor(core),
        )
    }

    pub(crate) fn contains(&self, point: &Point) -> bool {
        self.lower.is_below(point) && !self.upper.is_below(point)
    }

    /// Whether all of `other`, which is not empty, lies in here.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.lower <= other.lower && other.upper <= self.upper
    }
}
