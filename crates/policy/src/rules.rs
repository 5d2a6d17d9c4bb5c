//! `rules`: what a policy restricts. An absent rule restricts nothing. And what they say of one change.

use serde_json::Value;

use crate::change::{BypassPermission, Change, Maker, PolicyOrigin};
use crate::condition::{self, ConditionScope, Conditions, PolicyCondition};
use crate::fault::{FaultList, PolicyProblem};
use crate::limits;
use crate::policy::UpgradePolicy;
use crate::violation::{Enforcement, PolicyRule, PolicyViolation, RangeShape, Step};
use crate::window::{self, PolicyWindow, WindowState};
use olmguard_catalog::dns1123;
use olmguard_catalog::members::{self, FieldFaults, FieldProblem, Members, TextRule, WordRule};
use olmguard_catalog::version::{Constraint, Masterminds};

/// The rules of one policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSet {
    pub(crate) allow: Option<Constraint>,
    pub(crate) deny: Option<Constraint>,
    pub(crate) step: Option<Step>,
    pub(crate) prereleases_denied: bool,
    pub(crate) deprecated: Option<Enforcement>,
    pub(crate) range: Option<RangeShape>,
    pub(crate) catalogs: Option<Vec<String>>,
    pub(crate) bypass: Option<Bypass>,
    /// Any open one is enough; none is no rule.
    pub(crate) windows: Vec<PolicyWindow>,
    pub(crate) conditions: Vec<PolicyCondition>,
}

/// Who can bypass the upgrade edges.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Bypass {
    Deny,
    ByPermission,
}

impl RuleSet {
    /// Reads `spec.rules`; a rule with a fault keeps what is readable of it.
    pub(crate) fn read(value: &Value, faults: &mut FaultList) -> Self {
        let Some(members) = Members::of(value, "spec.rules", KEYS, faults) else {
            return Self::default();
        };
        let (allow, deny) = versions(&members, faults);
        Self {
            allow,
            deny,
            step: members.word("step", &STEP, faults),
            prereleases_denied: members.word("prereleases", &PRERELEASES, faults) == Some(true),
            deprecated: members.word("deprecated", &DEPRECATED, faults).flatten(),
            range: members.word("range", &RANGE, faults),
            catalogs: catalogs(&members, faults),
            bypass: members.word("bypass", &BYPASS, faults).flatten(),
            windows: window::read(&members, faults),
            conditions: condition::read(&members, faults),
        }
    }
}

fn versions(
    rules: &Members<'_>,
    faults: &mut FaultList,
) -> (Option<Constraint>, Option<Constraint>) {
    let Some(value) = rules.get("versions") else {
        return (None, None);
    };
    let path = rules.path_of("versions");
    let Some(members) = Members::of(value, &path, VERSIONS, faults) else {
        return (None, None);
    };
    if VERSIONS.iter().all(|key| members.get(key).is_none()) {
        let expected = "allow, deny or both";
        faults.report_field(path, FieldProblem::Empty { expected });
    }
    let allow = constraint(&members, "allow", faults);
    (allow, constraint(&members, "deny", faults))
}

fn constraint(members: &Members<'_>, key: &str, faults: &mut FaultList) -> Option<Constraint> {
    let text = members.text(key, A_RANGE, faults)?;
    match Constraint::parse(text, NEWEST) {
        Ok(range) => Some(range),
        Err(error) => {
            faults.report(members.path_of(key), PolicyProblem::Range(error));
            None
        }
    }
}

fn catalogs(members: &Members<'_>, faults: &mut FaultList) -> Option<Vec<String>> {
    let items = members.some_items("catalogs", "a list of catalog names", faults)?;
    let mut names = Vec::new();
    for (path, item) in items {
        let name = members::text(item, path.clone(), A_CATALOG, faults);
        if let Some(name) = name.filter(|name| !dns1123::is_subdomain(name)) {
            faults.report(path, PolicyProblem::name(name, A_CATALOG.expected));
        }
        names.extend(name.map(str::to_owned));
    }
    Some(names)
}

/// The release that OLM's own newest release reads `spec.version` with.
const NEWEST: Masterminds = Masterminds::V3_5;

const KEYS: &[&str] = &[
    "versions",
    "step",
    "prereleases",
    "deprecated",
    "range",
    "catalogs",
    "bypass",
    "windows",
    "conditions",
];

const VERSIONS: &[&str] = &["allow", "deny"];

const STEP: WordRule<Step> = WordRule {
    rule: TextRule::filled("Patch, Minor or Major", limits::NAME_BYTES),
    known: &["Patch", "Minor", "Major"],
    meant: &[Step::Patch, Step::Minor, Step::Major],
};

const PRERELEASES: WordRule<bool> = WordRule {
    rule: TextRule::filled("Deny or Allow", limits::NAME_BYTES),
    known: &["Deny", "Allow"],
    meant: &[true, false],
};

const DEPRECATED: WordRule<Option<Enforcement>> = WordRule {
    rule: TextRule::filled("Deny, Warn or Allow", limits::NAME_BYTES),
    known: &["Deny", "Warn", "Allow"],
    meant: &[Some(Enforcement::Deny), Some(Enforcement::Warn), None],
};

const RANGE: WordRule<RangeShape> = WordRule {
    rule: TextRule::filled("Pinned, Bounded or Any", limits::NAME_BYTES),
    known: &["Pinned", "Bounded", "Any"],
    meant: &[RangeShape::Pinned, RangeShape::Bounded, RangeShape::Any],
};

const BYPASS: WordRule<Option<Bypass>> = WordRule {
    rule: TextRule::filled("Deny, ByPermission or Allow", limits::NAME_BYTES),
    known: &["Deny", "ByPermission", "Allow"],
    meant: &[Some(Bypass::Deny), Some(Bypass::ByPermission), None],
};

const A_RANGE: TextRule =
    TextRule::filled("a version range such as \">=1.2 <3\"", limits::RANGE_BYTES);

const A_CATALOG: TextRule = TextRule::filled("the name of a ClusterCatalog", limits::NAME_BYTES);

// === The rules of a policy against one change ===

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
