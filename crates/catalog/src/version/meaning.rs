//! What a range means: the versions it takes, as disjoint intervals in ascending order.
//!
//! Computed from the comparators that also do the matching. Between two neighbouring cuts of a
//! range its answer cannot change within one [`Class`] of versions, so each such cell is asked once
//! and neighbours are joined. The one set that is no interval, Masterminds' `!=1.2.x-alpha` among
//! prereleases, is kept as [`PatchLine`]s missing from an interval.
//!
//! Releases and prereleases are apart because Masterminds lets prereleases pass only where a range
//! names one.

use super::comparator::{Comparator, PatchLine};
use super::constraint::Constraint;
use super::skip_range::SkipRange;
use crate::memory::Heap;
use crate::version::Version;
use crate::version::comparator::{Core, Side, Span, VersionCut, VersionPoint};

/// Which versions an interval speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Versions without a prerelease.
    Releases,
    /// Versions with one.
    Prereleases,
    /// Both.
    All,
}

/// A stretch of versions, but for some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// From where to where.
    pub span: Span,
    /// What is not in it all the same.
    pub missing: Vec<PatchLine>,
}

/// A range with more comparators than this is not worked out: the time grows with their square, and
/// nobody would read the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyComparators(pub usize);

/// The versions of `class` that a constraint takes; `class` is not [`Class::All`].
pub fn constraint(
    constraint: &Constraint,
    class: Class,
) -> Result<Vec<Interval>, TooManyComparators> {
    let groups = constraint.groups().iter();
    let groups = groups.filter(|group| class == Class::Releases || group.admits_prereleases());
    intervals(groups.map(|group| group.comparators().collect()), class)
}

/// All versions that a `skipRange` takes.
pub fn skip_range(range: &SkipRange) -> Result<Vec<Interval>, TooManyComparators> {
    intervals(
        range.groups().iter().map(|group| group.iter().collect()),
        Class::All,
    )
}

/// The stretch from the lowest to the highest version of a range, gaps included.
///
/// That of a range without versions lies above and below every version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Extent(Option<(VersionCut, VersionCut)>);

impl SkipRange {
    /// From the lowest version of the range to the highest. `None`: it has too many comparators to be
    /// worked out.
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
    /// Whether every version of the range is higher than this one.
    pub fn is_above(&self, version: &Version) -> bool {
        let ends = self.0.as_ref();
        ends.is_none_or(|(lower, _)| !lower.is_below(version.point()))
    }

    /// Whether every version of the range is lower than this one.
    pub fn is_below(&self, version: &Version) -> bool {
        let ends = self.0.as_ref();
        ends.is_none_or(|(_, upper)| upper.is_below(version.point()))
    }
}

impl Heap for Extent {
    fn heap_bytes(&self) -> usize {
        let ends = self.0.as_ref();
        ends.map_or(0, |(lower, upper)| lower.heap_bytes() + upper.heap_bytes())
    }
}

impl Class {
    /// The least version of this class above the cut, if there is one.
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

    /// Whether no version of this class lies between the two cuts.
    pub fn is_same_place(self, one: &VersionCut, other: &VersionCut) -> bool {
        self.least_above(one) == self.least_above(other)
    }

    /// What intervals say of this class: their ends, neighbours joined, whatever is missing.
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

    /// The only version of this class in the span, if it is the only one.
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

/// What one group asks of the versions of a class.
struct MeaningGroup {
    within: Vec<Span>,
    outside: Vec<Span>,
    lines: Vec<PatchLine>,
}

impl MeaningGroup {
    /// A patch line of releases is a stretch among releases; lines of the other class ask nothing.
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

/// The stretches between neighbouring cuts that have versions of the class.
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

/// The patch lines that no group takes from the cell; nothing if no group takes the cell at all.
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

/// Whether some version of the line lies in the span.
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

/// The lowest patch of the line that is not below `least`, given that it is in this major.minor.
fn patch_from(line: &PatchLine, least: &VersionPoint) -> Option<u64> {
    let patch = least.core.patch;
    if line.at(patch) >= *least {
        Some(patch)
    } else {
        patch.checked_add(1)
    }
}

const MAX_COMPARATORS: usize = 1024;
