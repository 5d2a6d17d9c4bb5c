//! Row 17: what upgrade policies forbid of an edit that the resolver and the guardrails allow.

use crate::judge::filter_question::FilterQuestion;
use crate::judge::guarded::guarded;
use crate::judge::{AllowedChange, Request, RuledEdit, Ruling};
use crate::resolve::{
    Choice, MatchingPolicies, Origin, PolicyFinding, PolicyStep, UpgradePolicies, operation,
};

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
    request: &Request<'_>,
) -> RuledEdit<'s> {
    let mut ruled = guarded(question, request.installed);
    let upgrades = &question.basis.policies.upgrades;
    let Ruling::Allowed(change, resolved) = ruled.ruling else {
        return ruled;
    };
    if upgrades.is_empty() {
        return ruled;
    }
    let findings = findings(question, request, upgrades, change, resolved);
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

fn findings<'s>(
    question: &FilterQuestion<'_, 's>,
    request: &Request<'_>,
    upgrades: &'s UpgradePolicies,
    change: AllowedChange,
    resolved: Choice<'s>,
) -> Vec<PolicyFinding<'s>> {
    let rules = question.basis.snapshot.rules();
    let matching =
        MatchingPolicies::of(upgrades, request.filter, request.context, rules.masterminds);
    let origin = request.installed.bundle();
    let origin = origin.and_then(|bundle| Origin::read(bundle, rules).ok());
    matching.findings(&PolicyStep {
        from: origin.as_ref(),
        to: resolved,
        is_move: change != AllowedChange::Unchanged,
        operation: operation(request.installed),
        range: question.query.range(),
    })
}
