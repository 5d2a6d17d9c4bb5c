//! Row 16: what guardrails forbid of the steps that OLM would take by itself under an edit.
//!
//! OLM knows no guardrails: it takes the best candidate that an edge leads to, installs it, and asks
//! again. So the first step decides as little as any other: the whole walk is looked at, until it
//! stays or stops.

use crate::extension::{Installed, InstalledBundle};
use crate::judge::rows::Asking;
use crate::judge::walk::{WalkStep, steps};
use crate::judge::{Allowed, Ruled, Ruling};
use crate::resolve::{CatalogEdge, Choice, Guards, Origin, Violation};
use olmguard_catalog::version::Version;

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

impl ForbiddenStep<'_> {
    /// Whether it is the step that the edit itself asks for, not one that follows by itself.
    pub fn is_first_step(&self) -> bool {
        self.resolved == self.to
    }
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

/// Rows 4 to 18, 16 among them.
pub(super) fn guarded<'s>(asking: &Asking<'_, 's>, installed: &Installed) -> Ruled<'s> {
    let mut ruled = asking.resolve(installed);
    let Ruling::Allowed(Allowed::Resolved | Allowed::Bypassed(_), resolved) = ruled.ruling else {
        return ruled;
    };
    let imposed = &asking.basis.policies.guardrails;
    let guards = Guards::of(imposed, &asking.filter.package, asking.offers());
    let guards = guards.with_bypass(asking.filter.bypasses());
    if guards.is_empty() {
        return ruled;
    }
    let mut look = GuardedWalk {
        asking,
        guards: &guards,
        resolved,
        refusal: None,
        lifted: Vec::new(),
        unjudged: None,
    };
    look.at_walk(installed);
    if let Some(forbidden) = look.refusal {
        ruled.ruling = Ruling::Guardrail(forbidden);
    } else {
        (ruled.lifted, ruled.unjudged) = (look.lifted, look.unjudged);
    }
    ruled
}

/// What guardrails say of a walk.
struct GuardedWalk<'a, 'f, 's> {
    asking: &'a Asking<'f, 's>,
    guards: &'a Guards<'s>,
    resolved: Choice<'s>,
    /// The first step that they forbid.
    refusal: Option<ForbiddenStep<'s>>,
    /// Those before it that only the bypass makes free.
    lifted: Vec<ForbiddenStep<'s>>,
    unjudged: Option<UnjudgedSteps>,
}

impl<'s> GuardedWalk<'_, '_, 's> {
    fn at_walk(&mut self, installed: &Installed) {
        match installed {
            Installed::Nothing => {}
            Installed::Unknown(_) => self.cannot_judge(self.resolved),
            Installed::Bundle(bundle) => self.at_steps(bundle),
        }
    }

    /// Looks at one step after another, up to the first that is forbidden.
    fn at_steps(&mut self, from: &InstalledBundle) {
        let most = most_steps(self.guards);
        for (looked_at, step) in steps(self.asking, from).enumerate() {
            if looked_at == most {
                self.unjudged
                    .get_or_insert(UnjudgedSteps::Later { looked_at });
                return;
            }
            self.at_step(&step);
            if self.refusal.is_some() {
                return;
            }
        }
    }

    fn at_step(&mut self, step: &WalkStep<'s>) {
        let Some((from, violations)) = violations(self.asking, self.guards, step) else {
            return self.cannot_judge(step.to);
        };
        let is_lifted = |violation: &Violation<'_>| self.guards.lift(violation);
        let (lifted, holding): (Vec<_>, Vec<_>) = violations.into_iter().partition(is_lifted);
        self.refusal = self.forbidden(step, &from, holding);
        let lifted = self.forbidden(step, &from, lifted);
        self.lifted.extend(lifted);
    }

    fn forbidden(
        &self,
        step: &WalkStep<'s>,
        from: &Version,
        violations: Vec<Violation<'s>>,
    ) -> Option<ForbiddenStep<'s>> {
        (!violations.is_empty()).then(|| ForbiddenStep {
            resolved: self.resolved,
            from: from.clone(),
            to: step.to,
            violations,
        })
    }

    /// A step from nobody knows where is let through: an edit is denied on evidence. That matters
    /// where something could have forbidden it.
    fn cannot_judge(&mut self, to: Choice<'s>) {
        if self.guards.bind(&to) {
            self.unjudged.get_or_insert(UnjudgedSteps::First);
        }
    }
}

/// How many steps of a walk these guardrails are put to, one at least.
pub fn most_steps(guards: &Guards<'_>) -> usize {
    guards.affordable_steps().clamp(1, MOST_STEPS)
}

/// Why a step is forbidden, and the version that it starts from, if that can be read.
pub(super) fn violations<'s>(
    asking: &Asking<'_, 's>,
    guards: &Guards<'s>,
    step: &WalkStep<'s>,
) -> Option<(Version, Vec<Violation<'s>>)> {
    let origin = Origin::read(&step.from, asking.basis.snapshot.rules()).ok()?;
    let from = &origin.version()?.version;
    let edge = match step.allowed {
        Allowed::Bypassed(_) => CatalogEdge::Absent,
        Allowed::Resolved | Allowed::Unchanged => CatalogEdge::Present,
    };
    Some((from.clone(), guards.violations(from, &step.to, edge)))
}

/// How many steps of a walk are looked at: far more than any package has, few enough for one that was
/// made to hurt.
const MOST_STEPS: usize = 4096;

/// How many forbidden steps of one walk are kept: more than anybody reads, and each may have hundreds of
/// reasons.
pub const MOST_FORBIDDEN: usize = 32;
