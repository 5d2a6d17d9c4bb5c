//! Row 16: what guardrails forbid of the steps that OLM takes under an edit.
//!
//! OLM does not know guardrails: it installs the best successor, and then the best successor of that. So each step up
//! to the end of the walk is compared with them.

use crate::judge::question::ReadInstalled;
use crate::judge::walk::{StepsAhead, most_steps};
use crate::judge::{AllowedChange, ForbiddenStep, RuledEdit, Ruling, UnjudgedSteps};
use crate::resolve::{Choice, Guards, Violation};

/// Compares an edit that OLM applies with guardrails.
pub(super) fn put<'s>(ruled: &mut RuledEdit<'s>, ahead: &mut StepsAhead<'_, 's>) {
    let Ruling::Allowed(AllowedChange::Resolved | AllowedChange::Bypassed(_), resolved) =
        ruled.ruling
    else {
        return;
    };
    let guards = ahead.guards();
    let guards = guards.with_bypass(ahead.question.filter.bypasses());
    if guards.is_empty() {
        return;
    }
    let mut walk = GuardedWalk {
        guards: &guards,
        resolved,
        refusal: None,
        lifted: Vec::new(),
        not_applied: None,
    };
    match ahead.installed {
        ReadInstalled::Nothing => {}
        ReadInstalled::Unknown(_) => walk.not_compared(resolved),
        ReadInstalled::Bundle(_) => walk.at_steps(ahead),
    }
    if let Some(forbidden) = walk.refusal {
        ruled.ruling = Ruling::Guardrail(forbidden);
    } else {
        (ruled.lifted, ruled.guardrails_not_applied) = (walk.lifted, walk.not_applied);
    }
}

/// The results of guardrails for a walk.
struct GuardedWalk<'a, 's> {
    guards: &'a Guards<'s>,
    resolved: Choice<'s>,
    /// The first step that they forbid.
    refusal: Option<ForbiddenStep<'s>>,
    /// The steps before it that are allowed only because the bypass lifts a guardrail.
    lifted: Vec<ForbiddenStep<'s>>,
    not_applied: Option<UnjudgedSteps>,
}

impl<'s> GuardedWalk<'_, 's> {
    /// Checks one step after another, up to the first forbidden one.
    fn at_steps(&mut self, ahead: &mut StepsAhead<'_, 's>) {
        let most = most_steps(self.guards.weight());
        for place in 0.. {
            let Some(to) = ahead.step(place) else { return };
            if place == most {
                self.not_applied
                    .get_or_insert(UnjudgedSteps::Later { looked_at: place });
                return;
            }
            self.at_step(ahead, place, to);
            if self.refusal.is_some() {
                return;
            }
        }
    }

    fn at_step(&mut self, ahead: &StepsAhead<'_, 's>, place: usize, to: Choice<'s>) {
        let Some((from, violations)) = ahead.violations(self.guards, place) else {
            return self.not_compared(to);
        };
        let is_lifted = |violation: &Violation<'_>| self.guards.lift(violation);
        let (lifted, holding): (Vec<_>, Vec<_>) = violations.into_iter().partition(is_lifted);
        let forbidden = |found| ForbiddenStep::of(self.resolved, from, to, found);
        let (holding, lifted) = (forbidden(holding), forbidden(lifted));
        self.refusal = holding;
        self.lifted.extend(lifted);
    }

    /// Allows a step from an unknown version, because an edit is denied on evidence only, and notes it if a guardrail
    /// could have forbidden it.
    fn not_compared(&mut self, to: Choice<'s>) {
        if self.guards.bind(&to) {
            self.not_applied.get_or_insert(UnjudgedSteps::First);
        }
    }
}
