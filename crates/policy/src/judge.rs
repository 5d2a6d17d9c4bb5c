//! Checks one change against the rules of a policy.

use crate::change::{BypassPermission, Change, Maker, PolicyOrigin};
use crate::condition::{ConditionScope, Conditions};
use crate::policy::UpgradePolicy;
use crate::rules::{Bypass, RuleSet};
use crate::violation::{Enforcement, PolicyRule, PolicyViolation, RangeShape, Step};
use crate::window::{self, WindowState};

impl UpgradePolicy {
    /// Returns the rules that a change of a matched extension violates.
    ///
    /// The order is: the first fault, versions, step, prereleases, deprecated, range, catalogs, bypass, windows,
    /// conditions.
    pub fn violations(&self, change: &Change<'_>) -> Vec<PolicyViolation> {
        violations(self, &mut ConditionScope::of(change), Conditions::ALL)
    }

    /// Returns the rules that a change violates, in the order of the policies. All policies must match the extension.
    ///
    /// The result equals that of [`Self::violations`] for each policy, unless the evaluation of conditions is stopped.
    /// It costs less, because the policies share the values that conditions read.
    pub fn violations_of<'p>(
        policies: impl IntoIterator<Item = &'p Self>,
        change: &Change<'_>,
        conditions: Conditions<'_>,
    ) -> Vec<(&'p Self, PolicyViolation)> {
        let mut scope = ConditionScope::of(change);
        let mut found = Vec::new();
        for policy in policies {
            let violations = violations(policy, &mut scope, conditions).into_iter();
            found.extend(violations.map(|violation| (policy, violation)));
        }
        found
    }
}

/// Every violated rule, in the order of the rules.
fn violations(
    policy: &UpgradePolicy,
    scope: &mut ConditionScope<'_>,
    conditions: Conditions<'_>,
) -> Vec<PolicyViolation> {
    let change = scope.change;
    // The policy may be meant for other extensions, so it denies moves only.
    if !change.is_move && policy.matching.is_unread {
        return Vec::new();
    }
    let rules = &policy.rules;
    let mut found: Vec<Found> = unreadable(policy, change).into_iter().collect();
    let asked = RULES.iter().filter(|(asked, _)| asked.of(change));
    found.extend(asked.filter_map(|(_, rule)| rule(rules, change)));
    let asked = rules.conditions.iter().filter(|it| it.is_about(change));
    let unmet = asked.filter_map(|condition| condition.violated(scope, conditions));
    found.extend(unmet.map(deny));
    found
        .into_iter()
        .map(|(rule, own)| violation(policy, rule, own))
        .collect()
}

/// A violated rule, with its consequence in a policy whose enforcement is `Deny`.
type Found = (PolicyRule, Enforcement);

/// The changes that a rule applies to.
#[derive(Clone, Copy)]
enum Asked {
    /// Each step to another bundle, including automatic upgrades. The installed bundle can therefore always be pinned.
    OfMoves,
    /// An edit, once.
    OfEdits,
}

impl Asked {
    fn of(self, change: &Change<'_>) -> bool {
        match self {
            Self::OfMoves => change.is_move,
            Self::OfEdits => change.maker == Maker::User,
        }
    }
}

/// A rule: a function that returns its violation by a change.
type Rule = fn(&RuleSet, &Change<'_>) -> Option<Found>;

/// The rules in their order. The conditions follow them.
const RULES: [(Asked, Rule); 9] = [
    (Asked::OfMoves, not_allowed),
    (Asked::OfMoves, denied),
    (Asked::OfMoves, step),
    (Asked::OfMoves, prerelease),
    (Asked::OfMoves, deprecated),
    (Asked::OfEdits, range),
    (Asked::OfMoves, catalog),
    (Asked::OfEdits, bypass),
    (Asked::OfEdits, closed),
];

fn deny(rule: PolicyRule) -> Found {
    (rule, Enforcement::Deny)
}

/// Reported once for all steps of an edit: if any step is a move, the first one is.
fn unreadable(policy: &UpgradePolicy, change: &Change<'_>) -> Option<Found> {
    let is_asked = change.is_move && change.maker == Maker::User;
    let fault = policy.faults().first().filter(|_| is_asked)?;
    Some(deny(PolicyRule::Unreadable(fault.clone())))
}

/// A policy with enforcement `Warn` never denies, whatever its rules.
fn violation(policy: &UpgradePolicy, rule: PolicyRule, own: Enforcement) -> PolicyViolation {
    let enforcement = match policy.enforcement {
        Enforcement::Deny => own,
        Enforcement::Warn => Enforcement::Warn,
    };
    PolicyViolation { rule, enforcement }
}

fn not_allowed(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    let allow = rules.allow.as_ref();
    let allow = allow.filter(|allow| !allow.matches(change.to.version))?;
    let allow = allow.as_str().to_owned();
    Some(deny(PolicyRule::VersionNotAllowed { allow }))
}

fn denied(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    let range = rules.deny.as_ref();
    let range = range.filter(|range| range.matches(change.to.version))?;
    let range = range.as_str().to_owned();
    Some(deny(PolicyRule::VersionDenied { deny: range }))
}

/// A first install is not a step. A step from an unknown version could be of any size.
fn step(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    let largest = rules.step?;
    match change.from {
        PolicyOrigin::Nothing => None,
        PolicyOrigin::Unknown => Some(deny(PolicyRule::StepUnknown { largest })),
        PolicyOrigin::Bundle(from) => {
            let found = Step::between(from.version, change.to.version);
            (found > largest).then(|| deny(PolicyRule::Step { found, largest }))
        }
    }
}

fn prerelease(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    let is_denied = rules.prereleases_denied && change.to.version.is_prerelease();
    is_denied.then(|| deny(PolicyRule::Prerelease))
}

fn deprecated(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    let own = rules.deprecated.filter(|_| change.deprecated)?;
    Some((PolicyRule::Deprecated, own))
}

fn range(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    let found = RangeShape::of(change.range);
    let needed = rules.range.filter(|needed| found > *needed)?;
    Some(deny(PolicyRule::Range { found, needed }))
}

fn catalog(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    let allowed = rules.catalogs.as_ref();
    let allowed = allowed.filter(|allowed| allowed.iter().all(|name| name != change.catalog))?;
    let allowed = allowed.clone();
    Some(deny(PolicyRule::Catalog { allowed }))
}

/// Only warns if the permission is unknown, because the API server did not check it.
fn bypass(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    match (rules.bypass.filter(|_| change.bypass)?, change.permission) {
        (Bypass::Deny, _) => Some(deny(PolicyRule::Bypass)),
        (Bypass::ByPermission, BypassPermission::Unknown) => {
            Some((PolicyRule::BypassPermission, Enforcement::Warn))
        }
        (Bypass::ByPermission, BypassPermission::AskedByApiServer) => None,
    }
}

/// Applies to moves only. `windows: []` is no rule; a list without a readable window is a fault.
fn closed(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    if !change.is_move || rules.windows.is_empty() {
        return None;
    }
    match window::any(&rules.windows, change.now) {
        WindowState::Open => None,
        WindowState::Closed(opens) => Some(deny(PolicyRule::Window {
            opens,
            is_unbounded: RangeShape::of(change.range) == RangeShape::Any,
        })),
    }
}
