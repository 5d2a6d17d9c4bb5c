//! The rules of a policy against one change.

use olmguard_catalog::version::Version;

use crate::change::{BypassPermission, Change};
use crate::condition::Scope;
use crate::policy::UpgradePolicy;
use crate::rules::{Bypass, Rules};
use crate::violation::{PolicyRule, PolicyViolation};
use crate::window::{self, State};
use crate::words::{Enforcement, RangeShape, Step};

/// Every violated rule, in the order of the rules.
pub(crate) fn violations(policy: &UpgradePolicy, scope: &mut Scope<'_>) -> Vec<PolicyViolation> {
    let change = scope.change;
    let first_fault = policy.faults().first().filter(|_| change.is_move);
    let unreadable = first_fault.map(|fault| PolicyRule::Unreadable(fault.clone()));
    let rules = &policy.rules;
    let mut found: Vec<(PolicyRule, Enforcement)> = Vec::new();
    let mut deny = |rule: Option<PolicyRule>| found.extend(rule.map(|rule| (rule, DENY)));
    deny(unreadable);
    deny(not_allowed(rules, change.to.version));
    deny(denied(rules, change.to.version));
    deny(step(rules, change));
    deny(prerelease(rules, change.to.version));
    found.extend(deprecated(rules, change));
    found.extend(range(rules, change).map(|rule| (rule, DENY)));
    found.extend(catalog(rules, change).map(|rule| (rule, DENY)));
    found.extend(bypass(rules, change));
    found.extend(closed(rules, change).map(|rule| (rule, DENY)));
    let conditions = rules.conditions.iter();
    let unmet = conditions.filter_map(|condition| condition.violated(scope));
    found.extend(unmet.map(|rule| (rule, DENY)));
    found
        .into_iter()
        .map(|(rule, own)| violation(policy, rule, own))
        .collect()
}

/// A policy that warns never denies, whatever its rules.
fn violation(policy: &UpgradePolicy, rule: PolicyRule, own: Enforcement) -> PolicyViolation {
    let enforcement = match policy.enforcement {
        Enforcement::Deny => own,
        Enforcement::Warn => Enforcement::Warn,
    };
    PolicyViolation { rule, enforcement }
}

fn not_allowed(rules: &Rules, version: &Version) -> Option<PolicyRule> {
    let allow = rules.allow.as_ref();
    let allow = allow.filter(|allow| !allow.matches(version))?;
    let allow = allow.as_str().to_owned();
    Some(PolicyRule::VersionNotAllowed { allow })
}

fn denied(rules: &Rules, version: &Version) -> Option<PolicyRule> {
    let deny = rules.deny.as_ref();
    let deny = deny.filter(|deny| deny.matches(version))?;
    let deny = deny.as_str().to_owned();
    Some(PolicyRule::VersionDenied { deny })
}

/// Only of a move from a known version: a first install is no step.
fn step(rules: &Rules, change: &Change<'_>) -> Option<PolicyRule> {
    let from = change.from.filter(|_| change.is_move)?;
    let found = Step::between(from.version, change.to.version);
    let largest = rules.step.filter(|largest| found > *largest)?;
    Some(PolicyRule::Step { found, largest })
}

fn prerelease(rules: &Rules, version: &Version) -> Option<PolicyRule> {
    let is_denied = rules.prereleases_denied && version.is_prerelease();
    is_denied.then_some(PolicyRule::Prerelease)
}

fn deprecated(rules: &Rules, change: &Change<'_>) -> Option<(PolicyRule, Enforcement)> {
    let own = rules.deprecated.filter(|_| change.deprecated)?;
    Some((PolicyRule::Deprecated, own))
}

fn range(rules: &Rules, change: &Change<'_>) -> Option<PolicyRule> {
    let found = RangeShape::of(change.range);
    let needed = rules.range.filter(|needed| found > *needed)?;
    Some(PolicyRule::Range { found, needed })
}

fn catalog(rules: &Rules, change: &Change<'_>) -> Option<PolicyRule> {
    let allowed = rules.catalogs.as_ref();
    let allowed = allowed.filter(|allowed| allowed.iter().all(|name| name != change.catalog))?;
    let allowed = allowed.clone();
    Some(PolicyRule::Catalog { allowed })
}

/// Without the API server's answer the permission is an open question, so it only warns.
fn bypass(rules: &Rules, change: &Change<'_>) -> Option<(PolicyRule, Enforcement)> {
    match (rules.bypass.filter(|_| change.bypass)?, change.permission) {
        (Bypass::Deny, _) => Some((PolicyRule::Bypass, DENY)),
        (Bypass::ByPermission, BypassPermission::Unknown) => {
            Some((PolicyRule::BypassPermission, Enforcement::Warn))
        }
        (Bypass::ByPermission, BypassPermission::AskedByApiServer) => None,
    }
}

/// Only of a move. `windows: []` is no rule; a list of which no window can be read is a fault.
fn closed(rules: &Rules, change: &Change<'_>) -> Option<PolicyRule> {
    if !change.is_move || rules.windows.is_empty() {
        return None;
    }
    match window::any(&rules.windows, change.now) {
        State::Open => None,
        State::Closed(opens) => Some(PolicyRule::Window {
            opens,
            is_unbounded: RangeShape::of(change.range) == RangeShape::Any,
        }),
    }
}

const DENY: Enforcement = Enforcement::Deny;
