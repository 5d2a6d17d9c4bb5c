//! Row 17: what upgrade policies forbid of the steps that OLM takes under an edit.
//!
//! The first step, which is the edit's own, is put to all of their rules. Each step that OLM takes automatically after
//! it is put to the rules about a bundle: OLM asks nobody before it.

use crate::judge::forbidden::most_steps;
use crate::judge::walk::StepsAhead;
use crate::judge::{AllowedChange, RuledEdit, Ruling};
use crate::resolve::{Choice, EditContext, MatchingPolicies, PolicyFinding, PolicyStep};
use olmguard_policy::Operation;

/// An edit that upgrade policies deny.
#[derive(Debug)]
pub struct PolicyRefusal<'s> {
    /// How what the edit resolves to relates to what is installed.
    pub change: AllowedChange,
    /// What the edit resolves to.
    pub resolved: Choice<'s>,
    /// Every rule that denies the edit or the first forbidden step: one or more, those of the edit first, in the order
    /// of the policies' names.
    pub findings: Vec<PolicyFinding<'s>>,
}

/// Puts upgrade policies to an edit that OLM carries out and guardrails allow.
pub(super) fn put<'s>(
    ruled: &mut RuledEdit<'s>,
    ahead: &mut StepsAhead<'_, 's>,
    context: EditContext<'_>,
) {
    let Ruling::Allowed(change, resolved) = ruled.ruling else {
        return;
    };
    let question = ahead.question;
    let upgrades = &question.basis.policies.upgrades;
    if upgrades.is_empty() {
        return;
    }
    let masterminds = question.basis.snapshot.rules().masterminds;
    let matching = MatchingPolicies::of(upgrades, question.filter, context, masterminds);
    if matching.is_empty() {
        return;
    }
    let mut policed = PolicedWalk {
        matching,
        findings: Vec::new(),
        looked_at: None,
    };
    policed.at_edit(ahead, change, resolved);
    if !policed.denies_step() {
        policed.at_later_steps(ahead);
    }
    let (denials, warnings): (Vec<_>, Vec<_>) = policed
        .findings
        .into_iter()
        .partition(PolicyFinding::denies);
    ruled.policy_warnings = warnings;
    ruled.unpoliced = policed.looked_at;
    if !denials.is_empty() {
        ruled.ruling = Ruling::Policy(Box::new(PolicyRefusal {
            change,
            resolved,
            findings: denials,
        }));
    }
}

/// What upgrade policies say of a walk.
struct PolicedWalk<'a, 's> {
    matching: MatchingPolicies<'a, 's>,
    findings: Vec<PolicyFinding<'s>>,
    /// How many steps they were put to, if not to all.
    looked_at: Option<usize>,
}

impl<'s> PolicedWalk<'_, 's> {
    fn at_edit(&mut self, ahead: &StepsAhead<'_, 's>, change: AllowedChange, resolved: Choice<'s>) {
        self.findings = self.matching.findings(&PolicyStep {
            after: None,
            from: ahead.installed.start(),
            to: resolved,
            is_move: change != AllowedChange::Unchanged,
            operation: ahead.installed.operation(),
            range: ahead.question.query.range(),
        });
    }

    /// Whether the step itself is denied, and not only the edit: for its time, its range or its user.
    fn denies_step(&self) -> bool {
        let mut denials = self.findings.iter().filter(|found| found.denies());
        denials.any(|found| found.violation.rule.is_of_each_step())
    }

    /// Looks at one step after another, up to the first that is denied.
    fn at_later_steps(&mut self, ahead: &mut StepsAhead<'_, 's>) {
        let most = most_steps(self.matching.weight());
        for place in 1.. {
            let Some(to) = ahead.step(place) else { return };
            if place == most {
                self.looked_at = Some(place);
                return;
            }
            let found = self.matching.findings(&PolicyStep {
                after: ahead.before(place),
                from: ahead.start(place),
                to,
                is_move: true,
                operation: Operation::Update,
                range: ahead.question.query.range(),
            });
            let is_denied = found.iter().any(PolicyFinding::denies);
            let new = found.into_iter().filter(|found| self.is_new(found));
            let new: Vec<_> = new.collect();
            self.findings.extend(new);
            if is_denied {
                return;
            }
        }
    }

    /// Whether it denies, or warns of what no step before it was warned of: one warning is enough for a walk.
    fn is_new(&self, found: &PolicyFinding<'_>) -> bool {
        let is_same = |before: &PolicyFinding<'_>| {
            before.policy.name() == found.policy.name()
                && before.violation.rule.path() == found.violation.rule.path()
        };
        found.denies() || !self.findings.iter().any(is_same)
    }
}
