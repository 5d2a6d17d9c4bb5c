//! What a policy says against a change: data, to be worded elsewhere.

use crate::fault::PolicyFault;
use crate::moment::Moment;
use crate::words::{Enforcement, RangeShape, Step};

/// A rule that a change violates, and what follows from that.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyViolation {
    /// The rule, with the evidence.
    pub rule: PolicyRule,
    /// What follows. `Warn` in a policy that warns, and for a rule that only warns.
    pub enforcement: Enforcement,
}

/// A violated rule, with what was found and what the policy allows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PolicyRule {
    /// The policy cannot be read, for this first reason; only of a change that moves the extension.
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
    /// The step is limited, and cannot be measured: the installed version is not known or cannot be read.
    StepUnknown {
        /// The largest step that the policy allows.
        largest: Step,
    },
    /// The version is a prerelease.
    Prerelease,
    /// The bundle, channel or package is deprecated.
    Deprecated,
    /// The range of the extension leaves too much to OLM.
    Range {
        /// The shape of the range.
        found: RangeShape,
        /// The widest shape that the policy allows.
        needed: RangeShape,
    },
    /// It resolves from another catalog than these.
    Catalog {
        /// The catalogs that the policy allows, as written.
        allowed: Vec<String>,
    },
    /// The upgrade edges are bypassed, which the policy forbids.
    Bypass,
    /// The upgrade edges are bypassed, and no one checked the permission for that.
    BypassPermission,
    /// No window is open.
    Window {
        /// The next opening of any window; `None` if none is known.
        opens: Option<Opening>,
        /// Whether the range has no upper bound: then OLM upgrades automatically at any time, and
        /// the window cannot prevent that.
        is_unbounded: bool,
    },
    /// A condition is not met.
    Condition {
        /// The place in `conditions`, from 0.
        index: usize,
        /// The expression as written.
        expression: String,
        /// What its answer depends on.
        about: ConditionSubject,
        /// What became of it.
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

    /// Whether it is about the new bundle itself, and not about the time of an edit, its user or its range.
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

    /// Whether it is put to each step that OLM makes automatically, and not only to the edit before them.
    pub fn is_of_each_step(&self) -> bool {
        match self {
            Self::Condition { about, .. } => *about != ConditionSubject::Edit,
            _ => self.is_of_bundle(),
        }
    }
}

/// What the answer of a condition depends on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConditionSubject {
    /// On the step: `from`, `to`, `catalog` or `deprecated`.
    Bundle,
    /// On nothing of the step: the user, the range, the labels.
    Edit,
    /// On the step, and on the user or on what is requested.
    Both,
}

/// Why a condition is not met.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ConditionOutcome {
    /// The expression is false.
    False {
        /// The message of the policy for that.
        message: Option<String>,
    },
    /// The expression could not be evaluated.
    Failed {
        /// Why.
        error: String,
    },
}

/// When a window opens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Opening {
    /// The moment.
    pub at: Moment,
    /// The time zone of the window, as written, e.g. `Europe/Berlin`.
    pub zone: String,
    /// The same moment in that zone, e.g. `2026-11-23T22:00:00+01:00`.
    pub local: String,
}
