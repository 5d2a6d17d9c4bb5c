//! Rows 17 and 17a: what upgrade policies forbid of the steps that OLM takes under an edit.
//!
//! The first step, which is the edit itself, is compared with all of their rules. Each step that OLM takes
//! automatically after it is compared with the rules about a bundle: no admission sees it.

use std::collections::BTreeSet;

use crate::extension::InstalledBundle;
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::walk::{StepsAhead, most_steps};
use crate::judge::{
    AllowedChange, Basis, PolicyRefusal, Request, RuledEdit, Ruling, UnknownPolicies,
};
use crate::resolve::{Choice, EditContext, MatchingPolicies, Origin, PolicyFinding, PolicyStep};
use olmguard_policy::{Maker, Operation};

/// Compares an edit that OLM applies, and that guardrails allow, with upgrade policies.
pub(super) fn put<'s>(
    ruled: &mut RuledEdit<'s>,
    ahead: &mut StepsAhead<'_, 's>,
    context: EditContext<'_>,
) {
    let Ruling::Allowed(change, resolved) = ruled.ruling else {
        return;
    };
    let Some(matching) = matching(ahead.question, context) else {
        return;
    };
    let mut walk = PolicyWalk {
        policies: PoliciesAhead::of(matching),
        operation: ahead.installed.operation(context.is_update),
        findings: Vec::new(),
        warned: BTreeSet::new(),
        looked_at: None,
    };
    walk.at_edit(ahead, change, resolved);
    if !walk.denies_step() {
        walk.at_later_steps(ahead);
    }
    let (denials, warnings): (Vec<_>, Vec<_>) =
        walk.findings.into_iter().partition(PolicyFinding::denies);
    ruled.policy_warnings = warnings;
    ruled.policies_not_applied = walk.looked_at;
    if !denials.is_empty() {
        ruled.ruling = Ruling::Policy(Box::new(PolicyRefusal {
            change,
            resolved,
            findings: denials,
        }));
    }
}

/// The steps that OLM takes automatically from an installed bundle and that upgrade policies deny, in their order: for
/// each step the first rule about the bundle alone. No user makes these steps, so a condition that also reads the user
/// denies none.
pub fn denied_steps<'s>(
    basis: Basis<'s>,
    request: &Request<'_>,
    installed: &InstalledBundle,
) -> Vec<PolicyFinding<'s>> {
    let Ok(question) = FilterQuestion::of(basis, request.filter) else {
        return Vec::new();
    };
    let Some(matching) = matching(&question, request.context) else {
        return Vec::new();
    };
    let policies = PoliciesAhead::of(matching);
    let start = ReadInstalled::Bundle(Origin::read(installed, basis.snapshot.rules()));
    let mut ahead = StepsAhead::of(&question, &start).installed_as(request.context.install);
    let findings = (0..).map_while(|place| policies.at_step(&mut ahead, place));
    let denies = |found: &PolicyFinding<'_>| found.denies() && found.violation.rule.is_of_bundle();
    let denials = findings.filter_map(|found| found.into_iter().find(denies));
    denials.collect()
}

/// The policies that match the extension, if there are any.
fn matching<'q, 's>(
    question: &'q FilterQuestion<'q, 's>,
    context: EditContext<'q>,
) -> Option<MatchingPolicies<'q, 's>> {
    let upgrades = &question.basis.policies.upgrades;
    if upgrades.is_empty() {
        return None;
    }
    let masterminds = question.basis.snapshot.rules().masterminds;
    let matching = MatchingPolicies::of(upgrades, question.filter, context, masterminds);
    (!matching.is_empty()).then_some(matching)
}

/// Row 17a, for an edit that the rows before it allow: policies that could not be listed can forbid it.
pub(super) fn put_unlisted<'s>(ruled: &mut RuledEdit<'s>, basis: Basis<'s>) {
    if let (Ruling::Allowed(change, resolved), Some(why)) =
        (&ruled.ruling, &basis.policies.unlisted)
    {
        ruled.ruling = Ruling::PoliciesUnknown(UnknownPolicies {
            change: *change,
            resolved: *resolved,
            why,
        });
    }
}

/// The results of upgrade policies for a walk.
struct PolicyWalk<'a, 's> {
    policies: PoliciesAhead<'a, 's>,
    /// The operation of the edit itself.
    operation: Operation,
    findings: Vec<PolicyFinding<'s>>,
    /// The rules that some step was warned of, by policy and field: one warning is enough for a walk.
    warned: BTreeSet<(&'s str, String)>,
    /// How many steps were compared with them, if not all.
    looked_at: Option<usize>,
}

impl<'s> PolicyWalk<'_, 's> {
    fn at_edit(&mut self, ahead: &StepsAhead<'_, 's>, change: AllowedChange, resolved: Choice<'s>) {
        self.findings = self.policies.matching.findings(&PolicyStep {
            maker: Maker::User,
            after: None,
            from: ahead.installed.start(),
            to: resolved,
            is_move: change != AllowedChange::Unchanged,
            operation: self.operation,
            range: ahead.question.query.range(),
        });
        let warnings = self.findings.iter().filter(|found| !found.denies());
        self.warned = warnings.map(rule_of).collect();
    }

    /// Whether the step itself is denied, and not only the edit: for its time, its range or its user.
    fn denies_step(&self) -> bool {
        let mut denials = self.findings.iter().filter(|found| found.denies());
        denials.any(|found| found.violation.rule.is_of_each_step())
    }

    /// Checks one step after another, up to the first that is denied.
    fn at_later_steps(&mut self, ahead: &mut StepsAhead<'_, 's>) {
        for place in 1.. {
            if ahead.step(place).is_none() {
                return;
            }
            if self.policies.is_partial(place) {
                self.looked_at.get_or_insert(place);
            }
            let Some(found) = self.policies.at_step(ahead, place) else {
                return;
            };
            let is_denied = found.iter().any(PolicyFinding::denies);
            for found in found {
                if found.denies() || self.warned.insert(rule_of(&found)) {
                    self.findings.push(found);
                }
            }
            if is_denied {
                return;
            }
        }
    }
}

/// The policies that match an extension, for the steps that OLM takes automatically. Conditions can cost so much that
/// only the first steps are compared with them. The other rules are compared with all steps of any walk that was not
/// made to cost time.
struct PoliciesAhead<'a, 's> {
    matching: MatchingPolicies<'a, 's>,
    without_conditions: MatchingPolicies<'a, 's>,
    /// How many steps are compared with them.
    most: usize,
    /// How many steps are compared with their conditions.
    most_conditions: usize,
}

impl<'a, 's> PoliciesAhead<'a, 's> {
    fn of(matching: MatchingPolicies<'a, 's>) -> Self {
        let most = most_steps(matching.weight_of_rules());
        let most_conditions = match matching.weight_of_conditions() {
            0 => most,
            weight => most_steps(weight).min(most),
        };
        Self {
            without_conditions: matching.without_conditions(),
            matching,
            most,
            most_conditions,
        }
    }

    /// Whether the conditions are no longer evaluated for this step.
    fn is_partial(&self, place: usize) -> bool {
        place >= self.most_conditions
    }

    /// The rules that a step violates; `None` if the walk has ended, or there is no time for more.
    fn at_step(
        &self,
        ahead: &mut StepsAhead<'_, 's>,
        place: usize,
    ) -> Option<Vec<PolicyFinding<'s>>> {
        let to = ahead.step(place).filter(|_| place < self.most)?;
        let matching = if self.is_partial(place) {
            &self.without_conditions
        } else {
            &self.matching
        };
        Some(matching.findings(&PolicyStep {
            maker: Maker::Olm,
            after: ahead.before(place),
            from: ahead.start(place),
            to,
            is_move: true,
            operation: Operation::Update,
            range: ahead.question.query.range(),
        }))
    }
}

/// A rule by its policy and field.
fn rule_of<'s>(found: &PolicyFinding<'s>) -> (&'s str, String) {
    (found.policy.name(), found.violation.rule.path())
}
