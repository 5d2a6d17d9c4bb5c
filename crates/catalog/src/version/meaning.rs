//! The meaning of a range: the versions that it matches, as disjoint intervals in ascending order.
//!
//! The intervals are computed from the comparators that also do the matching. Between two
//! neighbouring cuts of a range, the answer is the same for all versions of one [`Class`]. So each
//! such cell is evaluated once, and neighbours are joined. One set is not an interval, Masterminds'
//! `!=1.2.x-alpha` among prereleases. It is kept as [`PatchLine`]s that are missing from an
//! interval.
//!
//! Releases and prereleases are separate because Masterminds admits prereleases only if a range
//! names one.

use super::comparator::{Comparator, PatchLine};
use super::constraint::Constraint;
use super::skip_range::SkipRange;
use crate::memory::Heap;
use crate::version::Version;
use crate::version::comparator::{Core, Side, Span, VersionCut, VersionPoint};

/// The class of versions that an interval describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Versions without a prerelease.
    Releases,
    /// Versions with a prerelease.
    Prereleases,
    /// All versions.
    All,
}

/// A contiguous set of versions, except for some patch lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The ends of the interval.
    pub span: Span,
    /// The patch lines within the span that do not match.
    pub missing: Vec<PatchLine>,
}

/// The error for a range with more than `MAX_COMPARATORS`. The time to compute its intervals
/// grows with the square of their number, and the result would be unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyComparators(pub usize);

/// Returns the versions of `class` that a constraint matches. `class` must not be [`Class::All`].
pub fn constraint(
    constraint: &Constraint,
    class: Class,
) -> Result<Vec<Interval>, TooManyComparators> {
    let groups = constraint.groups().iter();
    let groups = groups.filter(|group| class == Class::Releases || group.admits_prereleases());
    intervals(groups.map(|group| group.comparators().collect()), class)
}

/// Returns all versions that a `skipRange` matches.
pub fn skip_range(range: &SkipRange) -> Result<Vec<Interval>, TooManyComparators> {
    intervals(
        range.groups().iter().map(|group| group.iter().collect()),
        Class::All,
    )
}

/// The span from the lowest to the highest version of a range, gaps included.
///
/// The extent of a range without versions counts as above and as below every version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Extent(Option<(VersionCut, VersionCut)>);

impl SkipRange {
    /// Returns the span from the lowest to the highest version of the range; `None` if the range
    /// has too many comparators.
    pub fn extent(&self) -> Option<Extent> {
        let mut intervals = skip_range(self).ok()?;
        let last = intervals.pop();
        let Some(last) = last else {
            return Some(Extent(None));
        };
        let lower = match intervals.into_iter().next() {
            Some(first) => first.span.lower,
            None => last.span.lower,
        };
        Some(Extent(Some((lower, last.span.upper))))
    }
}

impl Extent {
    /// Whether every version of the range is higher than `version`.
    pub fn is_above(&self, version: &Version) -> bool {
        let ends = self.0.as_ref();
        ends.is_none_or(|(lower, _)| !lower.is_below(version.point()))
    }

    /// Whether every version of the range is lower than `version`.
    pub fn is_below(&self, version: &Version) -> bool {
        let ends = self.0.as_ref();
        ends.is_none_or(|(_, upper)| upper.is_below(version.point()))
    }
}

impl Heap for Extent {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl Class {
    /// Returns the lowest version of this class above the cut, if any.
    pub(crate) fn least_above(self, cut: &VersionCut) -> Option<VersionPoint> {
        let VersionCut::At(point, side) = cut else {
            return None;
        };
        let next = match side {
            Side::Before => point.clone(),
            Side::After => point.successor()?,
        };
        match self {
            Self::Releases => Some(VersionPoint::release(next.core)),
            Self::Prereleases if next.prerelease.is_none() => {
                next.core.successor().map(VersionPoint::lowest)
            }
            Self::Prereleases | Self::All => Some(next),
        }
    }

    /// Whether no version of this class is between the two cuts.
    pub fn is_same_place(self, one: &VersionCut, other: &VersionCut) -> bool {
        self.least_above(one) == self.least_above(other)
    }

    /// Returns the ends of intervals in terms of this class. Neighbours are joined, and missing
    /// patch lines are ignored.
    pub fn places(
        self,
        intervals: &[Interval],
    ) -> Vec<(Option<VersionPoint>, Option<VersionPoint>)> {
        let mut places: Vec<(Option<VersionPoint>, Option<VersionPoint>)> = Vec::new();
        for Interval { span, .. } in intervals {
            let (lower, upper) = (self.least_above(&span.lower), self.least_above(&span.upper));
            match places.last_mut() {
                _ if lower == upper => {}
                Some((_, last)) if *last == lower => *last = upper,
                _ => places.push((lower, upper)),
            }
        }
        places
    }

    /// Returns the version of this class in the span, if there is exactly one.
    pub fn only(self, span: &Span) -> Option<VersionPoint> {
        let least = self.least_above(&span.lower)?;
        let is_only = self.is_same_place(&VersionCut::after(least.clone()), &span.upper);
        is_only.then_some(least)
    }
}

fn intervals<'r>(
    groups: impl Iterator<Item = Vec<&'r Comparator>>,
    class: Class,
) -> Result<Vec<Interval>, TooManyComparators> {
    let groups: Vec<_> = groups
        .map(|comparators| MeaningGroup::new(&comparators, class))
        .collect();
    let count = groups.iter().map(MeaningGroup::comparators).sum();
    if count > MAX_COMPARATORS {
        return Err(TooManyComparators(count));
    }
    let mut intervals: Vec<Interval> = Vec::new();
    for cell in cells(&groups, class) {
        let Some(missing) = missing(&groups, &cell, class) else {
            continue;
        };
        match intervals.last_mut() {
            Some(last)
                if last.missing == missing
                    && class.is_same_place(&last.span.upper, &cell.lower) =>
            {
                last.span.upper = cell.upper;
            }
            _ => intervals.push(Interval {
                span: cell,
                missing,
            }),
        }
    }
    Ok(intervals)
}

/// The conditions of one group on the versions of a class.
struct MeaningGroup {
    within: Vec<Span>,
    outside: Vec<Span>,
    lines: Vec<PatchLine>,
}

impl MeaningGroup {
    /// Collects the conditions. Among releases, a patch line without a prerelease is a span. Patch
    /// lines of the other class add no condition.
    fn new(comparators: &[&Comparator], class: Class) -> Self {
        let mut group = Self {
            within: Vec::new(),
            outside: Vec::new(),
            lines: Vec::new(),
        };
        for comparator in comparators {
            match comparator {
                Comparator::Within(span) => group.within.push(span.clone()),
                Comparator::Outside(span) => group.outside.push(span.clone()),
                Comparator::Unlike(line) if line.prerelease.is_none() => {
                    if class == Class::Releases {
                        group
                            .outside
                            .push(Span::minor(Core::new(line.major, line.minor, 0)));
                    }
                }
                Comparator::Unlike(line) => {
                    if class != Class::Releases {
                        group.lines.push(line.clone());
                    }
                }
            }
        }
        group
    }

    fn comparators(&self) -> usize {
        self.within.len() + self.outside.len() + self.lines.len()
    }

    fn covers(&self, cell: &Span) -> bool {
        self.within.iter().all(|span| span.covers(cell))
            && !self.outside.iter().any(|span| span.covers(cell))
    }
}

/// The spans between neighbouring cuts that have versions of the class.
fn cells(groups: &[MeaningGroup], class: Class) -> Vec<Span> {
    let spans = groups
        .iter()
        .flat_map(|group| group.within.iter().chain(&group.outside));
    let mut cuts: Vec<_> = spans
        .flat_map(|span| [span.lower.clone(), span.upper.clone()])
        .collect();
    cuts.extend([VersionCut::bottom(), VersionCut::Unlimited]);
    cuts.sort();
    let mut cells = Vec::new();
    let mut lower = VersionCut::bottom();
    for cut in cuts {
        if !class.is_same_place(&lower, &cut) {
            cells.push(Span::new(lower, cut.clone()));
        }
        lower = cut;
    }
    cells
}

/// Returns the patch lines of the cell that no group matches, or `None` if no group matches any
/// part of the cell.
fn missing(groups: &[MeaningGroup], cell: &Span, class: Class) -> Option<Vec<PatchLine>> {
    let mut covering = groups.iter().filter(|group| group.covers(cell));
    let mut missing = covering.next()?.lines.clone();
    missing.retain(|line| reaches(line, cell));
    for group in covering {
        missing.retain(|line| group.lines.contains(line));
    }
    missing.sort();
    missing.dedup();
    let is_missing = |point: VersionPoint| missing.iter().any(|line| line.contains(&point));
    (!class.only(cell).is_some_and(is_missing)).then_some(missing)
}

/// Whether the span has a version of the line.
fn reaches(line: &PatchLine, span: &Span) -> bool {
    let Some(least) = Class::All.least_above(&span.lower) else {
        return false;
    };
    let first = if least <= line.at(0) {
        Some(0)
    } else {
        patch_from(line, &least)
    };
    first.is_some_and(|patch| span.contains(&line.at(patch)))
}

/// The lowest patch of the line that is not below `least`, which must be in the same major.minor.
fn patch_from(line: &PatchLine, least: &VersionPoint) -> Option<u64> {
    let patch = least.core.patch;
    if line.at(patch) >= *least {
        Some(patch)
    } else {
        patch.checked_add(1)
    }
}

const MAX_COMPARATORS: usize = 1024;
