//! Row 16: what guardrails forbid of the steps that OLM would take by itself under an edit.
//!
//! OLM knows no guardrails: it takes the best candidate that an edge leads to, installs it, and asks
//! again. So the first step decides as little as any other: the whole walk is looked at, until it
//! stays or stops.

use crate::judge::filter_question::FilterQuestion;
use crate::judge::forbidden::{ForbiddenStep, UnjudgedSteps, most_steps};
use crate::judge::read_installed::ReadInstalled;
use crate::judge::rows::resolve;
use crate::judge::walk::{WalkStep, steps, violations};
use crate::judge::{AllowedChange, RuledEdit, Ruling};
use crate::resolve::{Choice, Guards, Violation};

/// Rows 4 to 18, 16 among them.
pub(super) fn guarded<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
) -> RuledEdit<'s> {
    let mut ruled = resolve(question, installed);
    let Ruling::Allowed(AllowedChange::Resolved | AllowedChange::Bypassed(_), resolved) =
        ruled.ruling
    else {
        return ruled;
    };
    let imposed = &question.basis.policies.guardrails;
    let guards = Guards::of(imposed, &question.filter.package, question.offers());
    let guards = guards.with_bypass(question.filter.bypasses());
    if guards.is_empty() {
        return ruled;
    }
    let mut look = GuardedWalk {
        question,
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
    question: &'a FilterQuestion<'f, 's>,
    guards: &'a Guards<'s>,
    resolved: Choice<'s>,
    /// The first step that they forbid.
    refusal: Option<ForbiddenStep<'s>>,
    /// Those before it that only the bypass makes free.
    lifted: Vec<ForbiddenStep<'s>>,
    unjudged: Option<UnjudgedSteps>,
}

impl<'s> GuardedWalk<'_, '_, 's> {
    fn at_walk(&mut self, installed: &ReadInstalled<'_>) {
        match installed {
            ReadInstalled::Nothing => {}
            ReadInstalled::Unknown(_) => self.cannot_judge(self.resolved),
            ReadInstalled::Bundle(_) => self.at_steps(installed),
        }
    }

    /// Looks at one step after another, up to the first that is forbidden.
    fn at_steps(&mut self, installed: &ReadInstalled<'_>) {
        let most = most_steps(self.guards);
        for (looked_at, step) in steps(self.question, installed).enumerate() {
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
        let Some((from, violations)) = violations(self.guards, step) else {
            return self.cannot_judge(step.to);
        };
        let is_lifted = |violation: &Violation<'_>| self.guards.lift(violation);
        let (lifted, holding): (Vec<_>, Vec<_>) = violations.into_iter().partition(is_lifted);
        let forbidden = |found| ForbiddenStep::of(self.resolved, from, step.to, found);
        let (holding, lifted) = (forbidden(holding), forbidden(lifted));
        self.refusal = holding;
        self.lifted.extend(lifted);
    }

    /// A step from nobody knows where is let through: an edit is denied on evidence. That matters
    /// where something could have forbidden it.
    fn cannot_judge(&mut self, to: Choice<'s>) {
        if self.guards.bind(&to) {
            self.unjudged.get_or_insert(UnjudgedSteps::First);
        }
    }
}
