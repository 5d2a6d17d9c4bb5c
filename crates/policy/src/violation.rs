//! The rules of a policy that a change violates, as data. Their text is written elsewhere.

use crate::change::Moment;
use crate::fault::PolicyFault;
use olmguard_catalog::version::{Constraint, Version};
use olmguard_catalog::word_set;

/// A rule that a change violates, and the consequence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyViolation {
    /// The rule, with the evidence.
    pub rule: PolicyRule,
    /// The consequence. `Warn` if the policy or the rule only warns.
    pub enforcement: Enforcement,
}

/// A violated rule, with its evidence and what the policy allows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PolicyRule {
    /// The policy cannot be read; the fault is the first one. Reported only for a change that moves the extension.
    Unreadable(PolicyFault),
    /// The version is not in `versions.allow`.
    VersionNotAllowed {
        /// The range as written.
        allow: String,
    },
    /// The version is in `versions.deny`.
    VersionDenied {
        /// The range as written.
        deny: String,
    },
    /// The step is too large.
    Step {
        /// The step of the change.
        found: Step,
        /// The largest step that the policy allows.
        largest: Step,
    },
    /// The step is limited but cannot be measured, because the installed version is unknown or cannot be read.
    StepUnknown {
        /// The largest step that the policy allows.
        largest: Step,
    },
    /// The version is a prerelease.
    Prerelease,
    /// The bundle, channel or package is deprecated.
    Deprecated,
    /// The version range of the extension leaves too much choice to OLM.
    Range {
        /// The shape of the range.
        found: RangeShape,
        /// The widest shape that the policy allows.
        needed: RangeShape,
    },
    /// The change resolves from a catalog that the policy does not allow.
    Catalog {
        /// The catalogs that the policy allows, as written.
        allowed: Vec<String>,
    },
    /// The upgrade edges are bypassed, which the policy forbids.
    Bypass,
    /// The upgrade edges are bypassed, and the permission to bypass was not checked.
    BypassPermission,
    /// No window is open.
    Window {
        /// The next opening of any window; `None` if none is known.
        opens: Option<Opening>,
        /// Whether the range has no upper bound: then OLM upgrades automatically at any time, and the window cannot
        /// prevent that.
        is_unbounded: bool,
    },
    /// A condition is not met.
    Condition {
        /// The place in `conditions`, from 0.
        index: usize,
        /// The expression as written.
        expression: String,
        /// The facts that the result of the condition depends on.
        about: ConditionSubject,
        /// The outcome of the evaluation.
        outcome: ConditionOutcome,
    },
}

impl PolicyRule {
    /// The field of the policy, e.g. `spec.rules.step`; empty if the policy as a whole is invalid.
    pub fn path(&self) -> String {
        let field = match self {
            Self::Unreadable(fault) => return fault.path.clone(),
            Self::Condition { index, .. } => return format!("spec.rules.conditions[{index}]"),
            Self::VersionNotAllowed { .. } => "versions.allow",
            Self::VersionDenied { .. } => "versions.deny",
            Self::Step { .. } | Self::StepUnknown { .. } => "step",
            Self::Prerelease => "prereleases",
            Self::Deprecated => "deprecated",
            Self::Range { .. } => "range",
            Self::Catalog { .. } => "catalogs",
            Self::Bypass | Self::BypassPermission => "bypass",
            Self::Window { .. } => "windows",
        };
        format!("spec.rules.{field}")
    }

    /// Whether the rule is about the new bundle itself, and not about the time, the user or the range of the edit.
    pub fn is_of_bundle(&self) -> bool {
        match self {
            Self::VersionNotAllowed { .. }
            | Self::VersionDenied { .. }
            | Self::Step { .. }
            | Self::StepUnknown { .. }
            | Self::Prerelease
            | Self::Deprecated
            | Self::Catalog { .. } => true,
            Self::Condition { about, .. } => *about == ConditionSubject::Bundle,
            Self::Unreadable(_)
            | Self::Range { .. }
            | Self::Bypass
            | Self::BypassPermission
            | Self::Window { .. } => false,
        }
    }

    /// Whether the rule is checked for each automatic upgrade, and not only for the edit itself.
    pub fn is_of_each_step(&self) -> bool {
        match self {
            Self::Condition { about, .. } => *about != ConditionSubject::Edit,
            _ => self.is_of_bundle(),
        }
    }
}

/// The facts that the result of a condition depends on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConditionSubject {
    /// The step: `from`, `to`, `catalog` or `deprecated`.
    Bundle,
    /// Only the edit: the user, the range, the labels.
    Edit,
    /// The step, and the user or the request.
    Both,
}

/// The reason why a condition is not met.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ConditionOutcome {
    /// The expression is false.
    False {
        /// The message that the policy gives for this case.
        message: Option<String>,
    },
    /// The expression could not be evaluated.
    Failed {
        /// The error.
        error: String,
    },
}

/// The next opening of a window.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Opening {
    /// The moment.
    pub at: Moment,
    /// The time zone of the window, as written, e.g. `Europe/Berlin`.
    pub zone: String,
    /// The same moment in that zone, e.g. `2026-11-23T22:00:00+01:00`.
    pub local: String,
}

// === Words of rules that have an order or a consequence ===

word_set! {
    /// The consequence of a violated rule.
    #[derive(Default)]
    pub enum Enforcement {
        /// The edit is denied.
        #[default]
        Deny => "Deny",
        /// The edit is allowed with a warning.
        Warn => "Warn",
    }
}

word_set! {
    /// The highest part of a version that differs; ordered by size.
    pub enum Step {
        /// The third number, or less: only the prerelease, build, release or bundle name.
        Patch => "Patch",
        /// The second number.
        Minor => "Minor",
        /// The first number.
        Major => "Major",
    }
}

impl Step {
    /// Returns the step from one version to another, up or down.
    ///
    /// Versions with equal numbers are a patch apart, because the bundle changes nevertheless.
    pub fn between(from: &Version, to: &Version) -> Self {
        if from.major() != to.major() {
            Self::Major
        } else if from.minor() != to.minor() {
            Self::Minor
        } else {
            Self::Patch
        }
    }
}

word_set! {
    /// How much choice a version range leaves to OLM; the strictest shape is the least.
    pub enum RangeShape {
        /// One version.
        Pinned => "Pinned",
        /// An upper bound.
        Bounded => "Bounded",
        /// No upper bound, or no range.
        Any => "Any",
    }
}

impl RangeShape {
    /// Returns the shape of `spec.source.catalog.version`; `None` means no range.
    pub fn of(range: Option<&Constraint>) -> Self {
        match range {
            Some(range) if range.only().is_some() => Self::Pinned,
            Some(range) if !range.is_open_above() => Self::Bounded,
            _ => Self::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use olmguard_catalog::version::Masterminds;

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
