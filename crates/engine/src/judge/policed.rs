//! Row 17: what upgrade policies forbid of an edit that the resolver and the guardrails allow.

use crate::judge::filter_question::FilterQuestion;
use crate::judge::guarded::guarded;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::{AllowedChange, RuledEdit, Ruling};
use crate::resolve::{Choice, EditContext, MatchingPolicies, PolicyFinding, PolicyStep};

/// An edit that upgrade policies deny.
#[derive(Debug)]
pub struct PolicyRefusal<'s> {
    /// What the edit resolves to.
    pub resolved: Choice<'s>,
    /// Every rule that denies it: one or more, in the order of the policies' names.
    pub findings: Vec<PolicyFinding<'s>>,
}

/// Rows 4 to 18, 17 among them.
pub(super) fn policed<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
    context: EditContext<'_>,
) -> RuledEdit<'s> {
    let mut ruled = guarded(question, installed);
    let upgrades = &question.basis.policies.upgrades;
    let Ruling::Allowed(change, resolved) = ruled.ruling else {
        return ruled;
    };
    if upgrades.is_empty() {
        return ruled;
    }
    let masterminds = question.basis.snapshot.rules().masterminds;
    let matching = MatchingPolicies::of(upgrades, question.filter, context, masterminds);
    let findings = matching.findings(&PolicyStep {
        from: installed.origin(),
        to: resolved,
        is_move: change != AllowedChange::Unchanged,
        operation: installed.operation(),
        range: question.query.range(),
    });
    let (denials, warnings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(PolicyFinding::denies);
    ruled.policy_warnings = warnings;
    if !denials.is_empty() {
        ruled.ruling = Ruling::Policy(Box::new(PolicyRefusal {
            resolved,
            findings: denials,
        }));
    }
    ruled
}
