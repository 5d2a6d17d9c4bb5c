//! Rows 17 and 17a: what upgrade policies forbid of the steps that OLM takes under an edit.
//!
//! The first step, which is the edit's own, is put to all of their rules. Each step that OLM takes automatically after
//! it is put to the rules about a bundle: it passes no admission of its own.

use std::collections::BTreeSet;

use crate::extension::InstalledBundle;
use crate::judge::filter_question::FilterQuestion;
use crate::judge::forbidden::most_steps;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::walk::StepsAhead;
use crate::judge::{AllowedChange, Basis, Request, RuledEdit, Ruling};
use crate::resolve::{Choice, EditContext, MatchingPolicies, Origin, PolicyFinding, PolicyStep};
use olmguard_policy::{Maker, Operation};

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

/// An edit that every known rule allows, while the cluster can have rules that are not known.
#[derive(Debug)]
pub struct UnlistedPolicies<'s> {
    /// How what the edit resolves to relates to what is installed.
    pub change: AllowedChange,
    /// What the edit resolves to.
    pub resolved: Choice<'s>,
    /// Why the policies are not known, in one line.
    pub why: &'s str,
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
    let Some(matching) = matching(ahead.question, context) else {
        return;
    };
    let mut policed = PolicedWalk {
        policies: PoliciesAhead::of(matching),
        findings: Vec::new(),
        warned: BTreeSet::new(),
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

/// What upgrade policies deny of the steps that OLM takes automatically from an installed bundle, in their order: of
/// each step the first rule about the bundle alone. No edit makes any of them and no user: a condition that reads the
/// user as well denies none.
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
    let mut ahead = StepsAhead::of(&question, &start);
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

/// Row 17a, put to what the rows before it allow: policies that could not be listed can forbid it.
pub(super) fn put_unlisted<'s>(ruled: &mut RuledEdit<'s>, basis: Basis<'s>) {
    if let (Ruling::Allowed(change, resolved), Some(why)) =
        (&ruled.ruling, &basis.policies.unlisted)
    {
        ruled.ruling = Ruling::PoliciesUnknown(UnlistedPolicies {
            change: *change,
            resolved: *resolved,
            why,
        });
    }
}

/// What upgrade policies say of a walk.
struct PolicedWalk<'a, 's> {
    policies: PoliciesAhead<'a, 's>,
    findings: Vec<PolicyFinding<'s>>,
    /// The rules that some step was warned of, by policy and field: one warning is enough for a walk.
    warned: BTreeSet<(&'s str, String)>,
    /// How many steps they were put to, if not to all.
    looked_at: Option<usize>,
}

impl<'s> PolicedWalk<'_, 's> {
    fn at_edit(&mut self, ahead: &StepsAhead<'_, 's>, change: AllowedChange, resolved: Choice<'s>) {
        self.findings = self.policies.matching.findings(&PolicyStep {
            maker: Maker::User,
            after: None,
            from: ahead.installed.start(),
            to: resolved,
            is_move: change != AllowedChange::Unchanged,
            operation: ahead.installed.operation(),
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

    /// Looks at one step after another, up to the first that is denied.
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

/// The policies that match an extension, as they are put to the steps that OLM takes automatically. Conditions can cost
/// so much that they are put to the first steps only; the other rules are put to all of a walk that is not made to hurt.
struct PoliciesAhead<'a, 's> {
    matching: MatchingPolicies<'a, 's>,
    without_conditions: MatchingPolicies<'a, 's>,
    /// How many steps they are put to.
    most: usize,
    /// How many steps their conditions are put to.
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

    /// Whether something of them is not put to this step any more.
    fn is_partial(&self, place: usize) -> bool {
        place >= self.most_conditions
    }

    /// What a step violates; absent where the walk has ended, or there is no time for more.
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
