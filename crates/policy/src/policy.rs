//! One `UpgradePolicy` as read.

use std::ops::Deref;

use olmguard_catalog::guardrail::API_VERSION;
use olmguard_catalog::members::{Members, TextRule, WordRule};
use serde_json::Value;

use crate::change::Subject;
use crate::condition::PolicyCondition;
use crate::fault::{FaultList, PolicyFault, PolicyProblem};
use crate::matching::Matching;
use crate::rules::{Bypass, RuleSet};
use crate::violation::Enforcement;
use crate::{KIND, limits};
use olmguard_catalog::dns1123;

/// An `UpgradePolicy`, and what cannot be read of it.
///
/// Invariant: a policy with faults is never weaker than its text. What is readable is enforced, a
/// match that is not matches everything, and every move of what it matches is a violation.
#[derive(Clone, Debug)]
pub struct UpgradePolicy {
    pub(crate) name: Box<str>,
    pub(crate) enforcement: Enforcement,
    pub(crate) matching: Matching,
    pub(crate) rules: RuleSet,
    pub(crate) faults: FaultList,
    /// The cost of its conditions, if they are refused as too costly together with those of other policies.
    pub(crate) refused_steps: u64,
}

impl UpgradePolicy {
    /// The field of the conditions. It has the fault of a policy that is too costly together with others.
    pub const CONDITIONS: &'static str = "spec.rules.conditions";

    /// Reads the whole object: `apiVersion`, `kind`, `metadata` and `spec`; `status` is not read.
    ///
    /// Never fails: what cannot be read is in [`Self::faults`].
    pub fn read(object: &Value) -> Self {
        let mut faults = FaultList::default();
        let mut policy = empty();
        if let Some(members) = Members::of(object, "", OBJECT, &mut faults) {
            head(&members, &mut faults);
            policy.name = name(&members, &mut faults).unwrap_or_default().into();
            spec(&members, &mut policy, &mut faults);
        }
        policy.faults = faults;
        policy
    }

    /// A policy in the place of a file that cannot be read: it has this fault, and denies every move of every extension.
    pub fn unread(file: &str, why: &str) -> Self {
        let mut policy = empty();
        policy.name = file.into();
        let problem = PolicyProblem::File(why.to_owned());
        policy.faults.report(String::new(), problem);
        policy
    }

    /// `metadata.name`; empty if it cannot be read.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `spec.enforcement`; `Deny` if it is absent or cannot be read.
    pub fn enforcement(&self) -> Enforcement {
        self.enforcement
    }

    /// What cannot be read, in the order of the fields; empty if the policy is accepted.
    pub fn faults(&self) -> &[PolicyFault] {
        self.faults.as_slice()
    }

    /// Whether the policy applies to an extension.
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        self.matching.holds(subject)
    }

    /// Whether `spec.match` cannot be read: then the policy matches everything, and refuses moves only.
    pub fn is_match_unread(&self) -> bool {
        self.matching.is_unread
    }

    /// Whether labels or the namespace of an extension decide whether the policy applies to it.
    pub fn matches_by_extension(&self) -> bool {
        self.matching.is_by_extension()
    }

    /// Whether the policy can apply to an extension of a package.
    pub fn is_about(&self, package: &str) -> bool {
        self.matching.is_about(package)
    }

    /// Whether there are windows.
    pub fn has_windows(&self) -> bool {
        !self.rules.windows.is_empty()
    }

    /// The only packages that the policy can match, if they are named without a wildcard.
    pub fn exact_packages(&self) -> Option<&[Box<str>]> {
        let packages = self.matching.packages()?;
        let is_exact = packages.iter().all(|pattern| !pattern.contains('*'));
        is_exact.then_some(packages)
    }

    /// How many steps a judgement of one change takes at most, about.
    pub fn weight(&self) -> usize {
        let conditions = usize::try_from(self.condition_steps()).unwrap_or(usize::MAX);
        conditions.saturating_add(OWN_WEIGHT)
    }

    /// How many steps those conditions take at most that are evaluated for each automatic upgrade.
    pub fn weight_of_each_step(&self) -> usize {
        let conditions = self.rules.conditions.iter();
        let steps = conditions
            .filter(|it| it.is_of_each_step())
            .map(PolicyCondition::steps);
        usize::try_from(steps.fold(0, u64::saturating_add)).unwrap_or(usize::MAX)
    }

    /// How many steps the conditions take at most.
    fn condition_steps(&self) -> u64 {
        let steps = self.rules.conditions.iter().map(PolicyCondition::steps);
        steps.fold(0, u64::saturating_add)
    }

    /// Whether there are conditions.
    pub fn has_conditions(&self) -> bool {
        !self.rules.conditions.is_empty()
    }

    /// The fault of a policy that is [bounded](Self::bound_together) and does not fit beside the others.
    pub fn too_costly(&self) -> Option<&PolicyFault> {
        let mut faults = self.faults().iter();
        faults.find(|fault| fault.problem == PolicyProblem::TooCostlyTogether)
    }

    /// The policies of a cluster whose conditions do not fit: in byte order of the names, each takes its cost from
    /// [`limits::ALL_EXPRESSION_STEPS`], unless that exceeds what is left.
    ///
    /// The order in which they are given matters only between policies of one name.
    pub fn too_costly_together<P>(policies: impl IntoIterator<Item = P>) -> Vec<P>
    where
        P: Deref<Target = Self>,
    {
        let mut policies: Vec<_> = policies.into_iter().collect();
        policies.sort_by(|one, other| one.name.cmp(&other.name));
        let mut left = limits::ALL_EXPRESSION_STEPS;
        policies.retain(|policy| match left.checked_sub(policy.stated_steps()) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
        policies
    }

    /// Bounds what the conditions of all policies of a cluster take together.
    ///
    /// Each that is [too costly](Self::too_costly_together) gets a fault in the place of its conditions, and denies every
    /// move of what it matches. A second call changes nothing.
    pub fn bound_together<'p>(policies: impl IntoIterator<Item = &'p mut Self>) {
        Self::too_costly_together(policies)
            .into_iter()
            .for_each(Self::refuse_conditions);
    }

    /// How many steps the conditions of its text take at most, also if they are refused.
    fn stated_steps(&self) -> u64 {
        self.condition_steps().saturating_add(self.refused_steps)
    }

    fn refuse_conditions(&mut self) {
        if !self.has_conditions() {
            return;
        }
        self.refused_steps = self.condition_steps();
        self.rules.conditions.clear();
        let path = Self::CONDITIONS.to_owned();
        self.faults.report(path, PolicyProblem::TooCostlyTogether);
    }

    /// Whether the policy needs a check of the permission to bypass.
    pub fn asks_for_permission(&self) -> bool {
        self.rules.bypass == Some(Bypass::ByPermission)
    }

    /// Makes `bypass: ByPermission` a fault, and refuses every bypass.
    ///
    /// For a cluster in which the API server does not check the verb `bypass`. A second call changes
    /// nothing.
    pub fn require_permission_check(&mut self) {
        if self.asks_for_permission() {
            self.rules.bypass = Some(Bypass::Deny);
            let path = "spec.rules.bypass".to_owned();
            self.faults
                .report(path, PolicyProblem::PermissionNotChecked);
        }
    }
}

// === From JSON. Strict: an unknown key or word could change what the others mean ===

fn empty() -> UpgradePolicy {
    UpgradePolicy {
        name: Box::default(),
        enforcement: Enforcement::Deny,
        matching: Matching::default(),
        rules: RuleSet::default(),
        faults: FaultList::default(),
        refused_steps: 0,
    }
}

/// Reports an object of another kind, which must not count as a policy without rules.
fn head(members: &Members<'_>, faults: &mut FaultList) {
    for (key, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        let rule = TextRule::filled(expected, limits::NAME_BYTES);
        members.needed(key, expected, faults);
        if let Some(found) = members
            .text(key, rule, faults)
            .filter(|found| *found != expected)
        {
            let found = limits::beginning(found, limits::ECHOED_BYTES);
            faults.report(
                key.to_owned(),
                PolicyProblem::OtherObject { found, expected },
            );
        }
    }
}

fn name<'v>(members: &Members<'v>, faults: &mut FaultList) -> Option<&'v str> {
    let metadata = members.needed("metadata", "a mapping with a name", faults)?;
    let metadata = Members::any(metadata, "metadata", faults)?;
    metadata.needed("name", NAME.expected, faults)?;
    let name = metadata.text("name", NAME, faults)?;
    if !dns1123::is_subdomain(name) {
        let problem = PolicyProblem::name(name, NAME.expected);
        faults.report("metadata.name".to_owned(), problem);
        return None;
    }
    Some(name)
}

fn spec(members: &Members<'_>, policy: &mut UpgradePolicy, faults: &mut FaultList) {
    let expected = "a mapping with match and rules";
    let spec = members.needed("spec", expected, faults);
    let before = faults.count();
    let Some(spec) = spec.and_then(|spec| Members::of(spec, "spec", SPEC, faults)) else {
        return;
    };
    let has_unknown_keys = faults.count() > before;
    let enforcement = spec.word("enforcement", &ENFORCEMENT, faults);
    policy.enforcement = enforcement.unwrap_or(Enforcement::Deny);
    policy.matching = match spec.get("match") {
        Some(value) => Matching::read(value, faults),
        // One of them is perhaps meant.
        None if has_unknown_keys => Matching::unread(),
        None => Matching::default(),
    };
    if let Some(value) = spec.get("rules") {
        policy.rules = RuleSet::read(value, faults);
    }
}

const OBJECT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];
const SPEC: &[&str] = &["enforcement", "match", "rules"];

const NAME: TextRule = TextRule::filled(
    "a name of lower-case letters, digits, - and .",
    limits::NAME_BYTES,
);

const ENFORCEMENT: WordRule<Enforcement> = WordRule {
    rule: TextRule::filled("Deny or Warn", limits::NAME_BYTES),
    known: &["Deny", "Warn"],
    meant: &[Enforcement::Deny, Enforcement::Warn],
};

/// About what the rules take apart from the conditions.
const OWN_WEIGHT: usize = 64;
