//! The rules of a policy against one change.

use crate::change::{BypassPermission, Change, Maker, PolicyOrigin};
use crate::condition::{ConditionScope, Conditions};
use crate::policy::UpgradePolicy;
use crate::rules::{Bypass, RuleSet};
use crate::violation::{Enforcement, PolicyRule, PolicyViolation, RangeShape, Step};
use crate::window::{self, WindowState};

impl UpgradePolicy {
    /// The rules that a change of a matched extension violates.
    ///
    /// In this order: the first fault, versions, step, prereleases, deprecated, range, catalogs,
    /// bypass, windows, conditions.
    pub fn violations(&self, change: &Change<'_>) -> Vec<PolicyViolation> {
        violations(self, &mut ConditionScope::of(change), Conditions::ALL)
    }

    /// The rules that a change violates, for policies that all match the extension, in their order.
    ///
    /// The same as [`Self::violations`] of each if the conditions come to their end, at a lower cost: they share the
    /// values that conditions read.
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
    // It is perhaps about other extensions, so it refuses moves, and nothing else.
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

/// A violated rule, with its consequence in a policy that denies.
type Found = (PolicyRule, Enforcement);

/// The changes that a rule is about.
#[derive(Clone, Copy)]
enum Asked {
    /// Each step to another bundle, also one that OLM makes automatically. So what is installed can always be pinned.
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

/// A rule, which returns its violation by a change.
type Rule = fn(&RuleSet, &Change<'_>) -> Option<Found>;

/// The rules in their order; conditions come after them.
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

/// Once for all steps of an edit: the first of them is one as well.
fn unreadable(policy: &UpgradePolicy, change: &Change<'_>) -> Option<Found> {
    let is_asked = change.is_move && change.maker == Maker::User;
    let fault = policy.faults().first().filter(|_| is_asked)?;
    Some(deny(PolicyRule::Unreadable(fault.clone())))
}

/// A policy that warns never denies, whatever its rules.
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

/// A first install is no step. A step from an unknown version could be any.
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

/// Without the API server's answer the permission is an open question, so it only warns.
fn bypass(rules: &RuleSet, change: &Change<'_>) -> Option<Found> {
    match (rules.bypass.filter(|_| change.bypass)?, change.permission) {
        (Bypass::Deny, _) => Some(deny(PolicyRule::Bypass)),
        (Bypass::ByPermission, BypassPermission::Unknown) => {
            Some((PolicyRule::BypassPermission, Enforcement::Warn))
        }
        (Bypass::ByPermission, BypassPermission::AskedByApiServer) => None,
    }
}

/// Only of a move. `windows: []` is no rule; a list of which no window can be read is a fault.
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
