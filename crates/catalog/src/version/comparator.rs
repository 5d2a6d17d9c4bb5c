//! Comparators of a range, and the version order that they are compiled onto: points, cuts between
//! versions, and spans.
//!
//! Every operator of both grammars is a span of the order or its complement, with one exception:
//! Masterminds' `!=` on a major.minor (`!=1.2`, `!=1.2.x-alpha`; [`constraints.go`]).
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::sync::{Arc, LazyLock};

use crate::memory::{Heap, allocated, flat, heap_of};
use crate::version::identifier::Identifiers;

/// A condition on a version.
#[derive(Clone, Debug)]
pub(crate) enum Comparator {
    /// The version is in the span.
    Within(Span),
    /// The version is outside the span.
    Outside(Span),
    /// The version does not have both this major.minor and exactly this prerelease.
    Unlike(PatchLine),
}

impl Comparator {
    pub(crate) fn admits(&self, point: &VersionPoint) -> bool {
        match self {
            Self::Within(span) => span.contains(point),
            Self::Outside(span) => !span.contains(point),
            Self::Unlike(line) => !line.contains(point),
        }
    }

    /// The only version that the comparator admits, if it is an exact version.
    pub(crate) fn only(&self) -> Option<&VersionPoint> {
        match self {
            Self::Within(span) => span.only(),
            Self::Outside(_) | Self::Unlike(_) => None,
        }
    }

    /// Whether the comparator admits all versions above some version.
    pub(crate) fn is_open_above(&self) -> bool {
        match self {
            Self::Within(span) => span.upper == VersionCut::Unlimited && !span.lower.is_top(),
            Self::Outside(span) => !span.upper.is_top(),
            Self::Unlike(_) => true,
        }
    }
}

heap_of!(enum Comparator: Within(span), Outside(span), Unlike(line));

/// The versions of one major.minor with the same prerelease and any patch, e.g. `1.2.*-alpha`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatchLine {
    /// The major version.
    pub major: u64,
    /// The minor version.
    pub minor: u64,
    /// The prerelease of all these versions.
    pub prerelease: Prerelease,
}

heap_of!(PatchLine: prerelease; major, minor);

impl PatchLine {
    pub(crate) fn contains(&self, point: &VersionPoint) -> bool {
        (point.core.major, point.core.minor) == (self.major, self.minor)
            && point.prerelease == self.prerelease
    }

    /// Returns the version of this line with the given patch.
    pub(crate) fn at(&self, patch: u64) -> VersionPoint {
        let core = Core::new(self.major, self.minor, patch);
        VersionPoint {
            core,
            prerelease: self.prerelease.clone(),
        }
    }
}

// === Spans of the version order, from one cut between versions to another ===
//
// Both range grammars compile onto spans, so matching, openness and descriptions of a range share
// one model. If a number overflows while a span is built, the span ends at the highest version.

/// The side of a version that a cut is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Just below the version.
    Before,
    /// Just above the version.
    After,
}

/// A cut between versions. The derived order is the order of the positions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionCut {
    /// Next to a version, on one side.
    At(VersionPoint, Side),
    /// Above every version.
    Unlimited,
}

heap_of!(enum VersionCut: At(point, side); Unlimited);

flat!(Side, Core);

impl VersionCut {
    /// The cut just below a version.
    pub fn before(point: VersionPoint) -> Self {
        Self::At(point, Side::Before)
    }

    pub(crate) fn after(point: VersionPoint) -> Self {
        Self::At(point, Side::After)
    }

    /// The cut below every version: no version is lower than `0.0.0-0`.
    pub fn bottom() -> Self {
        Self::before(VersionPoint::lowest(Core::ZERO))
    }

    /// The cut above all versions of `core`'s major, prereleases included.
    pub(crate) fn after_major(core: Core) -> Self {
        Self::before_core(core.next_major())
    }

    /// The cut above all versions of `core`'s major.minor, prereleases included.
    pub(crate) fn after_minor(core: Core) -> Self {
        Self::before_core(core.next_minor())
    }

    fn before_core(core: Option<Core>) -> Self {
        match core {
            Some(core) => Self::before(VersionPoint::lowest(core)),
            None => Self::after(VersionPoint::release(Core::new(
                u64::MAX,
                u64::MAX,
                u64::MAX,
            ))),
        }
    }

    /// Whether no version is above this cut.
    pub(crate) fn is_top(&self) -> bool {
        match self {
            Self::At(_, Side::Before) => false,
            Self::At(point, Side::After) => point.successor().is_none(),
            Self::Unlimited => true,
        }
    }

    /// Whether `point` is above this cut.
    pub(crate) fn is_below(&self, point: &VersionPoint) -> bool {
        match self {
            Self::At(at, Side::Before) => at <= point,
            Self::At(at, Side::After) => at < point,
            Self::Unlimited => false,
        }
    }
}

/// All versions between two cuts. Empty if the upper cut is below the lower one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The lower end.
    pub lower: VersionCut,
    /// The upper end.
    pub upper: VersionCut,
}

heap_of!(Span: lower, upper);

impl Span {
    /// The version of the span, if its ends are just below and just above one version.
    pub(crate) fn only(&self) -> Option<&VersionPoint> {
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

    /// The span of one version, whatever its build metadata.
    pub(crate) fn exactly(point: VersionPoint) -> Self {
        Self::new(VersionCut::before(point.clone()), VersionCut::after(point))
    }

    /// The span of all versions of one major, prereleases included.
    pub(crate) fn major(core: Core) -> Self {
        let first = Core::new(core.major, 0, 0);
        Self::new(
            VersionCut::before(VersionPoint::lowest(first)),
            VersionCut::after_major(core),
        )
    }

    /// The span of all versions of one major.minor, prereleases included.
    pub(crate) fn minor(core: Core) -> Self {
        let first = Core { patch: 0, ..core };
        Self::new(
            VersionCut::before(VersionPoint::lowest(first)),
            VersionCut::after_minor(core),
        )
    }

    pub(crate) fn contains(&self, point: &VersionPoint) -> bool {
        self.lower.is_below(point) && !self.upper.is_below(point)
    }

    /// Whether `other`, which must not be empty, is entirely within this span.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.lower <= other.lower && other.upper <= self.upper
    }
}

// === Points of the version order: the numbers and the prerelease, without build metadata ===
//
// Semantic precedence, as in `Compare` of blang/semver and Masterminds/semver: numbers first; a
// prerelease is below its release; identifiers are compared from left to right.

/// The three numbers, ordered by significance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Core {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    pub(crate) patch: u64,
}

impl Core {
    /// `0.0.0`.
    pub const ZERO: Self = Self::new(0, 0, 0);

    pub(crate) const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// The next three numbers; `None` after the highest.
    pub(crate) fn successor(self) -> Option<Self> {
        match self.patch.checked_add(1) {
            Some(patch) => Some(Self { patch, ..self }),
            None => self.next_minor(),
        }
    }

    /// The first numbers above this major.minor.
    pub(crate) fn next_minor(self) -> Option<Self> {
        match self.minor.checked_add(1) {
            Some(minor) => Some(Self::new(self.major, minor, 0)),
            None => self.next_major(),
        }
    }

    /// The first numbers above this major.
    pub(crate) fn next_major(self) -> Option<Self> {
        self.major
            .checked_add(1)
            .map(|major| Self::new(major, 0, 0))
    }

    /// The length of the text in bytes.
    fn text_len(self) -> usize {
        let numbers = [self.major, self.minor, self.patch];
        numbers.map(digit_count).iter().sum::<usize>() + 2
    }
}

impl fmt::Display for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        number(f, self.major)?;
        f.write_char('.')?;
        number(f, self.minor)?;
        f.write_char('.')?;
        number(f, self.patch)
    }
}

/// Writes a number. Messages contain many versions, and `write!` takes several times longer.
fn number(f: &mut fmt::Formatter<'_>, number: u64) -> fmt::Result {
    let mut digits = [b'0'; MOST_DIGITS];
    let mut rest = number;
    let count = digit_count(number);
    for digit in digits.iter_mut().take(count).rev() {
        let [last, ..] = (rest % 10).to_le_bytes();
        *digit += last;
        rest /= 10;
    }
    let digits = digits.get(..count).unwrap_or_default();
    f.write_str(str::from_utf8(digits).unwrap_or_default())
}

/// Number of decimal digits.
fn digit_count(number: u64) -> usize {
    number
        .checked_ilog10()
        .map_or(1, |power| power as usize + 1)
}

/// Number of digits of the greatest number.
const MOST_DIGITS: usize = 20;

/// The prerelease of a version, if any. A version without one is the highest, because a release
/// follows all of its prereleases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prerelease(Option<Arc<Identifiers>>);

impl Prerelease {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn new(identifiers: Identifiers) -> Self {
        Self(Some(Arc::new(identifiers)))
    }

    fn lowest() -> Self {
        Self(Some(Arc::clone(&LOWEST)))
    }

    /// Whether the version is a release.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// The text; `""` if there is no prerelease.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().map_or("", Identifiers::as_str)
    }
}

impl Heap for Prerelease {
    fn heap_bytes(&self) -> usize {
        let counters = 2 * size_of::<usize>();
        let own = self.0.as_ref().filter(|one| !Arc::ptr_eq(one, &LOWEST));
        own.map_or(0, |own| {
            allocated(counters + size_of::<Identifiers>()) + own.heap_bytes()
        })
    }
}

impl Ord for Prerelease {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(one), Some(other)) => one.cmp(other),
        }
    }
}

impl PartialOrd for Prerelease {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Numbers and prerelease. The derived order is semantic precedence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionPoint {
    /// Major, minor and patch.
    pub core: Core,
    /// The prerelease, if any.
    pub prerelease: Prerelease,
}

heap_of!(VersionPoint: core, prerelease);

impl VersionPoint {
    /// The release with these numbers.
    pub const fn release(core: Core) -> Self {
        Self {
            core,
            prerelease: Prerelease::NONE,
        }
    }

    /// The lowest prerelease with these numbers, e.g. `1.2.3-0`.
    pub fn lowest(core: Core) -> Self {
        Self {
            core,
            prerelease: Prerelease::lowest(),
        }
    }

    /// The length of the text in bytes.
    pub(crate) fn text_len(&self) -> usize {
        let prerelease = match self.prerelease.as_str() {
            "" => 0,
            prerelease => prerelease.len() + 1,
        };
        self.core.text_len() + prerelease
    }

    /// The next point in the order; `None` after the highest release.
    pub(crate) fn successor(&self) -> Option<Self> {
        match &self.prerelease.0 {
            None => self.core.successor().map(Self::lowest),
            Some(identifiers) => Some(Self {
                core: self.core,
                prerelease: Prerelease::new(identifiers.successor()),
            }),
        }
    }
}

impl fmt::Display for VersionPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)?;
        match self.prerelease.as_str() {
            "" => Ok(()),
            prerelease => {
                f.write_char('-')?;
                f.write_str(prerelease)
            }
        }
    }
}

/// The identifier `0`, the lowest one. All ranges without a lower end start at it, so they share
/// it.
static LOWEST: LazyLock<Arc<Identifiers>> = LazyLock::new(|| Arc::new(Identifiers::zero()));

/// An interval that includes every version of a range, and perhaps others: cheap bounds of the
/// range. [`Extent`](super::Extent) is exact, but takes memory and time to compute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hull<'a> {
    /// Absent: the interval has no lower end.
    lower: Option<&'a VersionCut>,
    upper: &'a VersionCut,
}

impl<'a> Hull<'a> {
    /// The hull of comparators that must all match.
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

    /// The lower end, if any. Ends compare by their position in the version order.
    pub(crate) fn lower(&self) -> Option<&'a VersionCut> {
        self.lower
    }

    /// The upper end.
    pub(crate) fn upper(&self) -> &'a VersionCut {
        self.upper
    }

    /// Whether the whole interval is above this version.
    pub(crate) fn is_above(&self, point: &VersionPoint) -> bool {
        let lower = self.lower;
        lower.is_some_and(|lower| !lower.is_below(point))
    }

    /// Whether the whole interval is below this version.
    pub(crate) fn is_below(&self, point: &VersionPoint) -> bool {
        self.upper.is_below(point)
    }
}
