//! Rows 15a to 17a: the rules that forbid steps that OLM takes under an edit which the catalogs allow.
//!
//! The resolved bundle is checked as operator-controller checks it (15a). Then guardrails (16) and upgrade policies
//! (17, 17a) are checked for each step.

use std::collections::BTreeSet;

use crate::extension::{Filter, InstalledBundle};
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::rows::superseded;
use crate::judge::walk::{StepsAhead, recorded};
use crate::judge::{
    AllowedChange, Basis, ForbiddenStep, PolicyRefusal, PreflightRefusal, Request, RuledEdit,
    Ruling, UnjudgedSteps, UnknownPolicies,
};
use crate::resolve::{
    Choice, EditContext, Guards, ImageFacts, InstallContext, InstallFaults, MatchingPolicies,
    Offer, Origin, PolicyFinding, PolicyStep, Violation,
};
use crate::snapshot::Snapshot;
use olmguard_catalog::olm::{PreflightMode, Rules};
use olmguard_policy::{Conditions, Maker, Operation};
use olmguard_preflight::content::InstallTarget;

// === Row 15a: what operator-controller checks about the bundle that it has chosen ===
//
// Some checks run before operator-controller pulls the image. The image is checked too if its content is known.
//
// Only the bundle of the edit itself is checked, not the steps that OLM takes automatically afterwards. A bundle that
// cannot be installed stops the extension until an edit or a catalog changes, and the next edit is checked again.

/// Checks the bundle that an edit resolves to. Like rows 6 to 15, this row denies only if the content is current.
pub(super) fn put_preflight<'s>(
    ruled: &mut RuledEdit<'s>,
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
    context: EditContext<'_>,
) {
    let Ruling::Allowed(change, resolved) = ruled.ruling else {
        return;
    };
    let Some(install) = context.install else {
        return;
    };
    let olm = question.basis.snapshot.rules();
    let is_installed = change == AllowedChange::Unchanged;
    let is_as_before = is_installed && !install.occasion.reconfigures();
    if is_as_before || olm.preflight == PreflightMode::Off {
        return;
    }
    let image = image_facts(question, &resolved, installed.name(), install);
    let faults = install.faults(&resolved, olm, image);
    let is_refused = faults.as_ref().is_some_and(InstallFaults::refuse_image);
    ruled.pulled = (!is_refused).then_some(resolved);
    let Some(faults) = faults else {
        return;
    };
    let refusal = refusal(resolved, faults, olm);
    let is_newest = superseded(&question.in_play).is_empty();
    let denies = olm.preflight == PreflightMode::Deny
        && install
            .occasion
            .is_denied_for(&refusal.faults, is_installed);
    if refusal.faults.is_certain && is_newest && denies {
        ruled.ruling = Ruling::Preflight(Box::new(refusal));
    } else {
        ruled.preflight = Some(refusal);
    }
}

fn refusal<'s>(resolved: Choice<'s>, faults: InstallFaults, rules: &Rules) -> PreflightRefusal<'s> {
    PreflightRefusal {
        resolved,
        version: recorded(resolved, rules).map(|it| it.version),
        faults,
    }
}

/// The known facts about the image of a bundle and about the installation target: the cluster, otherwise the installed
/// bundle.
fn image_facts<'s>(
    question: &FilterQuestion<'_, 's>,
    resolved: &Choice<'s>,
    installed: Option<&str>,
    install: InstallContext<'_>,
) -> ImageFacts<'s> {
    let contents = question.basis.snapshot.contents();
    let of_cluster = contents.cluster().map(InstallTarget::Cluster);
    let of_bundle = || {
        let installed = installed.filter(|_| !contents.is_empty());
        let mut images = images_of(installed?, question.offers());
        let installed = images.find_map(|image| contents.bundle(image));
        installed.map(InstallTarget::Installed)
    };
    ImageFacts {
        installed_crds: install.installed_crds(question.offers(), contents),
        ..ImageFacts::of(resolved, contents, of_cluster.or_else(of_bundle))
    }
}

/// The image of the bundle with this name, in each catalog that has it.
fn images_of<'s>(name: &str, offers: &[Offer<'s>]) -> impl Iterator<Item = &'s str> {
    offers.iter().filter_map(move |offer| {
        let bundle = offer.package.bundle(offer.find(name)?);
        Some(&*bundle.image).filter(|image| !image.is_empty())
    })
}

/// The images of the bundle with this name in the catalogs that a filter selects.
pub(crate) fn images_named(snapshot: &Snapshot, filter: &Filter, name: &str) -> BTreeSet<String> {
    let offers = Offer::of_package(snapshot, filter);
    images_of(name, &offers).map(str::to_owned).collect()
}

// === Row 16: the steps under an edit that guardrails forbid ===
//
// OLM does not know guardrails. It installs the best successor, and then the best successor of that bundle. So every
// step up to the end of the walk is compared with the guardrails.

/// Compares an edit that OLM applies with guardrails.
pub(super) fn put_guardrails<'s>(ruled: &mut RuledEdit<'s>, ahead: &mut StepsAhead<'_, 's>) {
    let Ruling::Allowed(AllowedChange::Resolved | AllowedChange::Bypassed(_), resolved) =
        ruled.ruling
    else {
        return;
    };
    let guards = ahead.question.guards();
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

/// The result of checking a walk against guardrails.
struct GuardedWalk<'a, 's> {
    guards: &'a Guards<'s>,
    resolved: Choice<'s>,
    /// The first forbidden step.
    refusal: Option<ForbiddenStep<'s>>,
    /// The steps before `refusal` that are allowed only because the bypass lifts a guardrail.
    lifted: Vec<ForbiddenStep<'s>>,
    not_applied: Option<UnjudgedSteps>,
}

impl<'s> GuardedWalk<'_, 's> {
    /// Checks the steps in order, up to the first forbidden one.
    fn at_steps(&mut self, ahead: &mut StepsAhead<'_, 's>) {
        let most = ahead.most_steps(self.guards.weight());
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

    /// Allows a step from an unknown version, because an edit is denied only on evidence. Notes the step if a guardrail
    /// could have forbidden it.
    fn not_compared(&mut self, to: Choice<'s>) {
        if self.guards.bind(&to) {
            self.not_applied.get_or_insert(UnjudgedSteps::First);
        }
    }
}

// === Rows 17 and 17a: the steps under an edit that upgrade policies forbid ===
//
// The first step, which is the edit itself, is compared with all rules of the policies. Each step that OLM takes
// automatically after it is compared only with the rules about a bundle, because no admission request exists for it.

/// Compares an edit that OLM applies, and that guardrails allow, with the upgrade policies.
pub(super) fn put_policies<'s>(
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
        policies: PoliciesAhead::of(matching, ahead),
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

/// The steps that OLM takes automatically from an installed bundle and that upgrade policies deny, in order. Each step
/// is given with the first rule about the bundle alone. No user makes these steps, so a condition that also reads the
/// user denies none of them.
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
    let start = ReadInstalled::Bundle(Origin::read(installed, basis.snapshot.rules()));
    let mut ahead = StepsAhead::of(&question, &start).installed_as(request.context.install);
    let policies = PoliciesAhead::of(matching, &ahead);
    let findings = (0..).map_while(|place| policies.at_step(&mut ahead, place));
    let denies = |found: &PolicyFinding<'_>| found.denies() && found.violation.rule.is_of_bundle();
    let denials = findings.filter_map(|found| found.into_iter().find(denies));
    denials.collect()
}

/// The most values that one step is compared with.
pub(super) fn weight(question: &FilterQuestion<'_, '_>, context: EditContext<'_>) -> usize {
    let guards = question.guards();
    let policies = matching(question, context).map_or(0, |matching| matching.weight());
    guards.weight().saturating_add(policies)
}

/// The policies that match the extension; `None` if no policy does.
fn matching<'q, 's>(
    question: &'q FilterQuestion<'q, 's>,
    context: EditContext<'q>,
) -> Option<MatchingPolicies<'q, 's>> {
    if question.basis.policies.upgrades.is_empty() {
        return None;
    }
    let matching = question.basis.policies_on(question.filter, context);
    (!matching.is_empty()).then_some(matching)
}

/// Row 17a, for an edit that all earlier rows allow: a policy that could not be listed may forbid it.
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

/// The result of checking a walk against upgrade policies.
struct PolicyWalk<'a, 's> {
    policies: PoliciesAhead<'a, 's>,
    /// The operation of the edit itself.
    operation: Operation,
    findings: Vec<PolicyFinding<'s>>,
    /// The rules that already warned about a step, by policy and field. One warning per rule is enough for a walk.
    warned: BTreeSet<(&'s str, String)>,
    /// The number of steps that were compared with all conditions, if not all steps were.
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

    /// Whether a denial concerns the step itself, rather than only the time, range or user of the edit.
    fn denies_step(&self) -> bool {
        let mut denials = self.findings.iter().filter(|found| found.denies());
        denials.any(|found| found.violation.rule.is_of_each_step())
    }

    /// Checks the later steps in order, up to the first that is denied.
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

/// The policies that match an extension, for the steps that OLM takes automatically. Conditions can be so expensive
/// that only the first steps are compared with them. The other rules are compared with all steps of any walk that was
/// not built to cost time.
struct PoliciesAhead<'a, 's> {
    matching: MatchingPolicies<'a, 's>,
    /// The number of steps that are compared with the rules.
    most: usize,
    /// The number of steps that are compared with the conditions.
    most_conditions: usize,
}

impl<'a, 's> PoliciesAhead<'a, 's> {
    fn of(matching: MatchingPolicies<'a, 's>, ahead: &StepsAhead<'_, 's>) -> Self {
        let most = ahead.most_steps(matching.weight_of_rules());
        let most_conditions = match matching.weight_of_conditions() {
            0 => most,
            weight => ahead.most_steps(weight).min(most),
        };
        Self {
            matching,
            most,
            most_conditions,
        }
    }

    /// Whether the conditions are not evaluated for this step.
    fn is_partial(&self, place: usize) -> bool {
        place >= self.most_conditions
    }

    /// The rules that a step violates; `None` if the walk has ended or no time is left.
    fn at_step(
        &self,
        ahead: &mut StepsAhead<'_, 's>,
        place: usize,
    ) -> Option<Vec<PolicyFinding<'s>>> {
        let to = ahead.step(place).filter(|_| place < self.most)?;
        let step = PolicyStep {
            maker: Maker::Olm,
            after: ahead.before(place),
            from: ahead.installed_before(place).start(),
            to,
            is_move: true,
            operation: Operation::Update,
            range: ahead.question.query.range(),
        };
        Some(if self.is_partial(place) {
            self.matching.findings_with(Conditions::Skipped, &step)
        } else {
            self.matching.findings(&step)
        })
    }
}

/// The identity of a rule: its policy and field.
fn rule_of<'s>(found: &PolicyFinding<'s>) -> (&'s str, String) {
    (found.policy.name(), found.violation.rule.path())
}
