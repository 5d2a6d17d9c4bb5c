//! Where the versions of a range begin and where they end.

use super::SkipRange;
use crate::heap::Heap;
use crate::version::Version;
use crate::version::interval::VersionCut;
use crate::version::meaning;

/// The stretch from the lowest to the highest version of a range, gaps included.
///
/// That of a range without versions lies above and below every version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Extent(Option<(VersionCut, VersionCut)>);

impl SkipRange {
    /// From the lowest version of the range to the highest. `None`: it has too many comparators to be
    /// worked out.
    pub fn extent(&self) -> Option<Extent> {
        let mut intervals = meaning::skip_range(self).ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_below_and_above_a_range() {
        for (range, version, above, below) in [
            (">=1.3.0 <1.4.0", "1.2.9", true, false),
            (">=1.3.0 <1.4.0", "1.3.0", false, false),
            (">=1.3.0 <1.4.0", "1.4.0-rc.1", false, false),
            (">=1.3.0 <1.4.0", "1.4.0", false, true),
            (">1.3.0 <=1.4.0", "1.3.0", true, false),
            (">1.3.0 <=1.4.0", "1.3.1-0", false, false),
            (">1.3.0 <=1.4.0", "1.4.0", false, false),
            (">1.3.0 <=1.4.0", "1.4.1-0", false, true),
            ("1.1.5", "1.1.4", true, false),
            ("1.1.5", "1.1.5+build", false, false),
            ("1.1.5", "1.1.6", false, true),
            ("1.1.5 || 2.0.0", "1.5.0", false, false),
            ("1.1.5 || 2.0.0", "2.0.1", false, true),
            (">=1.0.0", "9.9.9", false, false),
            (">=1.0.0 !=1.0.0", "1.0.0", true, false),
            (">2.0.0 <1.0.0", "1.5.0", true, true),
        ] {
            let extent = SkipRange::parse(range).expect("a range").extent();
            let extent = extent.expect("few comparators");
            let version = Version::parse(version).expect("a version");
            let found = (extent.is_above(&version), extent.is_below(&version));
            assert_eq!(found, (above, below), "{range} {version}");
        }
    }
}
