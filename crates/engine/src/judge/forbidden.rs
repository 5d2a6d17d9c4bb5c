//! The steps that guardrails forbid, and how many they and policies are put to.

use olmguard_catalog::version::Version;

use crate::resolve::{Choice, MOST_COMPARISONS, Violation};

/// A step that OLM would take and that guardrails forbid.
#[derive(Debug)]
pub struct ForbiddenStep<'s> {
    /// What the edit resolves to: where the first step leads.
    pub resolved: Choice<'s>,
    /// The version that the step starts from.
    pub from: Version,
    /// Where it leads.
    pub to: Choice<'s>,
    /// Why it is forbidden: one reason or more.
    pub violations: Vec<Violation<'s>>,
}

impl<'s> ForbiddenStep<'s> {
    /// A step, if something forbids it; `resolved` is where the first step of its walk leads.
    pub fn of(
        resolved: Choice<'s>,
        from: &Version,
        to: Choice<'s>,
        violations: Vec<Violation<'s>>,
    ) -> Option<Self> {
        (!violations.is_empty()).then(|| Self {
            resolved,
            from: from.clone(),
            to,
            violations,
        })
    }

    /// Whether it is the step that the edit itself asks for, not one that follows by itself.
    pub fn is_first_step(&self) -> bool {
        self.resolved == self.to
    }
}

/// The steps of a path that start at a version that can be read, the first at this one.
pub fn steps_of<'p, 's>(
    start: Option<Version>,
    path: &'p [Choice<'s>],
) -> impl Iterator<Item = (Version, &'p Choice<'s>)> {
    let version = |choice: &Choice<'_>| {
        let read = choice.bundle().version.as_ref().ok();
        read.map(|read| read.version.clone())
    };
    let starts = std::iter::once(start).chain(path.iter().map(version));
    starts.zip(path).filter_map(|(from, to)| Some((from?, to)))
}

/// Why guardrails were not put to every step that OLM would take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnjudgedSteps {
    /// The version that the first step starts from is not known, or cannot be read.
    First,
    /// There are more steps than there is time for.
    Later {
        /// How many were looked at.
        looked_at: usize,
    },
}

/// How many steps of a walk guardrails or policies of this weight are put to, one at least.
pub fn most_steps(weight: usize) -> usize {
    affordable_steps(weight).clamp(1, MOST_STEPS)
}

/// How many steps there is time for, to answer one question.
pub fn affordable_steps(weight: usize) -> usize {
    MOST_COMPARISONS / weight.max(1)
}

/// How many steps of a walk are looked at: far more than any package has, few enough for one that was
/// made to hurt.
const MOST_STEPS: usize = 4096;

/// How many forbidden steps of one walk are kept: more than anybody reads, and each may have hundreds of
/// reasons.
pub const MOST_FORBIDDEN: usize = 32;
