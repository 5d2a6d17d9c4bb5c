//! What can be told of ranges that hardly anybody means as they are written, whatever versions there are.
//!
//! Between two neighbouring ends of its ranges a rule treats all versions alike, so that the lowest
//! version above each end speaks for all of them.

use super::{Guardrails, Passage, Range};
use crate::version::Version;
use crate::version::comparator::VersionCut;
use crate::version::meaning::{self, Class};

impl Passage {
    /// Whether any step at all could pass by.
    pub fn can_be_passed_by(&self) -> bool {
        let ends = self.ranges().flat_map(Range::ends);
        let ends: Vec<_> = ends.chain([VersionCut::bottom()]).collect();
        let versions: Vec<_> = ends.iter().filter_map(least_above).collect();
        self.can_be_passed_by_among(&versions, &versions)
    }

    /// Whether a step from one of these versions to one of those could pass by. One to the version that
    /// it starts from counts, since each may stand for others.
    pub fn can_be_passed_by_among<'v>(
        &self,
        from: impl IntoIterator<Item = &'v Version>,
        to: impl IntoIterator<Item = &'v Version>,
    ) -> bool {
        let starts = from.into_iter().filter(|from| self.is_left_by(from));
        let ends = to.into_iter().filter(|to| self.is_overtaken_by(to));
        let lowest = starts.min_by(|a, b| a.cmp_precedence(b));
        let highest = ends.max_by(|a, b| a.cmp_precedence(b));
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            return false;
        };
        lowest.cmp_precedence(highest).is_le()
    }
}

impl Guardrails {
    /// How much is compared by [`Passage::can_be_passed_by`] of every passage: each comparator makes at
    /// most two ends, which are asked for where they start and where they end, two ranges each.
    pub fn hint_comparisons(&self) -> usize {
        let passages = self.rules.iter().flat_map(|rule| rule.kind.passages());
        let work = passages.map(|passage| {
            let comparators: usize = passage.ranges().map(Range::comparators).sum();
            8_usize.saturating_mul(comparators.saturating_mul(comparators))
        });
        work.fold(0, usize::saturating_add)
    }
}

impl Range {
    /// Whether no version at all is in it.
    pub fn is_empty(&self) -> bool {
        self.least().is_none()
    }

    /// Whether no version is higher than all of it.
    pub fn is_open_above(&self) -> bool {
        let ends = self.ends();
        ends.last().is_some_and(|end| least_above(end).is_none())
    }

    /// Whether no version is lower than all of it.
    pub fn is_open_below(&self) -> bool {
        let ends = self.ends();
        ends.first()
            .is_some_and(|begin| *begin <= VersionCut::bottom())
    }

    /// Whether it takes a prerelease though it begins at versions before and ends below the release
    /// that the prerelease is of, as `>=1.3.0 <1.4.0` takes `1.4.0-rc.1`.
    pub fn ends_among_prereleases_like(&self, version: &Version) -> bool {
        let begins_before = || {
            let least = self.least();
            least.is_some_and(|least| core(&least) < core(version))
        };
        let ends_below = || {
            let release = release_of(version);
            release.is_some_and(|release| self.is_below(&release))
        };
        version.is_prerelease() && self.holds(version) && ends_below() && begins_before()
    }

    /// The lowest version in it.
    fn least(&self) -> Option<Version> {
        let ends = self.ends();
        ends.first().and_then(least_above)
    }

    /// Where it begins and ends, and where its gaps do, in ascending order.
    fn ends(&self) -> Vec<VersionCut> {
        let intervals = meaning::skip_range(self.versions()).unwrap_or_default();
        let ends = intervals.into_iter();
        let ends = ends.flat_map(|interval| [interval.span.lower, interval.span.upper]);
        ends.collect()
    }
}

fn least_above(cut: &VersionCut) -> Option<Version> {
    let point = Class::All.least_above(cut)?;
    Version::parse(&point.to_string()).ok()
}

/// The release that a prerelease is of.
fn release_of(version: &Version) -> Option<Version> {
    let (major, minor, patch) = core(version);
    Version::parse(&format!("{major}.{minor}.{patch}")).ok()
}

fn core(version: &Version) -> (u64, u64, u64) {
    (version.major(), version.minor(), version.patch())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Range {
        Range::parse(text).expect("a range")
    }

    #[test]
    fn a_rule_that_nothing_can_pass_by_is_known() {
        for (via, from, to, can) in [
            (">=1.3.0 <1.4.0", None, None, true),
            (">=1.3.0", None, None, false),
            ("<1.4.0", None, None, false),
            (">=1.3.0", None, Some(">=1.4.0"), false),
            (">=1.3.0 !=1.5.0", None, Some(">=1.4.0"), true),
            ("1.3.0", Some(">=2.0.0"), None, true),
            ("1.3.0", Some(">=2.0.0"), Some("<2.0.0"), false),
            ("1.3.0", Some(">2.0.0 <1.0.0"), None, false),
            ("1.3.0", Some("1.3.0"), None, false),
            (">2.0.0 <1.0.0", None, None, true),
            ("1.3.0", Some(">1.0.0-a <1.0.0-b"), None, true),
        ] {
            let passage = Passage {
                via: range(via),
                from: from.map(range),
                to: to.map(range),
            };
            assert_eq!(passage.can_be_passed_by(), can, "{via} {from:?} {to:?}");
        }
    }

    #[test]
    fn a_range_that_takes_prereleases_of_the_version_that_it_ends_below() {
        for (text, version, is) in [
            (">=1.3.0 <1.4.0", "1.4.0-rc.1", true),
            (">=1.3.0 <1.4.0-0", "1.4.0-rc.1", false),
            (">=1.3.0 <1.4.0", "1.3.5-rc.1", false),
            (">=1.3.0 <1.4.0", "1.4.0", false),
            (">=1.3.0 <=1.4.0", "1.4.0-rc.1", false),
            (">=1.4.0-0 <1.4.0", "1.4.0-rc.1", false),
            ("1.4.0-rc.1", "1.4.0-rc.1", false),
            (">2.0.0 <1.0.0", "1.0.0-rc.1", false),
        ] {
            let version = Version::parse(version).expect("a version");
            let range = range(text);
            assert_eq!(
                range.ends_among_prereleases_like(&version),
                is,
                "{text} {version}"
            );
        }
    }

    #[test]
    fn a_range_is_open_on_either_side() {
        for (text, below, above) in [
            (">=1.3.0 <1.4.0", false, false),
            (">=1.3.0", false, true),
            ("<1.4.0 || >=2.0.0", true, true),
            (">=0.0.0", false, true),
            (">2.0.0 <1.0.0", false, false),
        ] {
            let range = range(text);
            let found = (range.is_open_below(), range.is_open_above());
            assert_eq!(found, (below, above), "{text}");
        }
    }

    #[test]
    fn a_range_without_versions_is_empty() {
        assert!(range(">2.0.0 <1.0.0").is_empty());
        assert!(!range("1.0.0").is_empty());
    }
}
