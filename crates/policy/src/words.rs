//! The words of a policy that have an order or a consequence.

use olmguard_catalog::version::{Constraint, Version};

/// What happens if a rule is violated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Enforcement {
    /// The edit is denied.
    Deny,
    /// The edit is allowed with a warning.
    Warn,
}

impl Enforcement {
    /// The word in a policy.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "Deny",
            Self::Warn => "Warn",
        }
    }
}

/// The highest part of a version that differs; ordered by size.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Step {
    /// The third number, or less: only the prerelease, build, release or bundle.
    Patch,
    /// The second number.
    Minor,
    /// The first number.
    Major,
}

impl Step {
    /// The step from one version to another, up or down.
    ///
    /// Versions with equal numbers are a patch apart: a change of bundle is no less than that.
    pub fn between(from: &Version, to: &Version) -> Self {
        if from.major() != to.major() {
            Self::Major
        } else if from.minor() != to.minor() {
            Self::Minor
        } else {
            Self::Patch
        }
    }

    /// The word in a policy.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Patch => "Patch",
            Self::Minor => "Minor",
            Self::Major => "Major",
        }
    }
}

/// How much a version range leaves to OLM; the strictest is the least.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RangeShape {
    /// One version.
    Pinned,
    /// An upper bound.
    Bounded,
    /// No upper bound, or no range.
    Any,
}

impl RangeShape {
    /// The shape of `spec.source.catalog.version`, where `None` is no range.
    pub fn of(range: Option<&Constraint>) -> Self {
        match range {
            Some(range) if range.only().is_some() => Self::Pinned,
            Some(range) if !range.is_open_above() => Self::Bounded,
            _ => Self::Any,
        }
    }

    /// The word in a policy.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "Pinned",
            Self::Bounded => "Bounded",
            Self::Any => "Any",
        }
    }
}

#[cfg(test)]
mod tests {
    use olmguard_catalog::version::Masterminds;

    use super::*;

    #[test]
    fn a_step_is_the_highest_component_that_differs() {
        for (from, to, step) in [
            ("0.6.0", "0.6.1", Step::Patch),
            ("0.6.1", "0.6.0", Step::Patch),
            ("0.6.0", "0.7.0", Step::Minor),
            ("0.7.3", "0.6.3", Step::Minor),
            ("0.7.0", "1.0.0", Step::Major),
            ("2.7.1", "1.7.1", Step::Major),
            ("1.0.0-rc.1", "1.0.0", Step::Patch),
            ("1.0.0+1", "1.0.0+2", Step::Patch),
            ("1.0.0", "1.0.0", Step::Patch),
        ] {
            let [a, b] = [from, to].map(|text| Version::parse(text).unwrap());
            assert_eq!(Step::between(&a, &b), step, "{from} to {to}");
        }
        assert!(Step::Patch < Step::Minor && Step::Minor < Step::Major);
    }

    #[test]
    fn shapes_of_ranges() {
        for (range, shape) in [
            ("1.2.3", RangeShape::Pinned),
            ("=1.2.3", RangeShape::Pinned),
            (">=0.6.0 <0.7.0", RangeShape::Bounded),
            ("1.2.3 || 1.2.4", RangeShape::Bounded),
            ("~1.2", RangeShape::Bounded),
            ("1.x", RangeShape::Bounded),
            (">=0.6.0", RangeShape::Any),
            ("<1 || >2", RangeShape::Any),
            ("!=1.2.3", RangeShape::Any),
            ("*", RangeShape::Any),
        ] {
            let range = Constraint::parse(range, Masterminds::V3_5).unwrap();
            assert_eq!(RangeShape::of(Some(&range)), shape, "{}", range.as_str());
        }
        assert_eq!(RangeShape::of(None), RangeShape::Any);
        assert!(RangeShape::Pinned < RangeShape::Bounded && RangeShape::Bounded < RangeShape::Any);
    }
}
