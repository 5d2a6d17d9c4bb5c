//! A parsed `UpgradePolicy`.

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

/// An `UpgradePolicy`, with the faults found while reading it.
///
/// Invariant: a policy with faults is never weaker than its text. The readable part is enforced. If `spec.match` is
/// invalid, the policy matches everything, and every move of a matched extension is a violation.
#[derive(Clone, Debug, Default)]
pub struct UpgradePolicy {
    pub(crate) name: Box<str>,
    pub(crate) enforcement: Enforcement,
    pub(crate) matching: Matching,
    pub(crate) rules: RuleSet,
    pub(crate) faults: FaultList,
    /// The cost of the conditions, if they are refused because all policies together are too costly.
    pub(crate) refused_steps: u64,
}

impl UpgradePolicy {
    /// The path of the conditions. It carries the fault of a policy whose conditions do not fit together with others.
    pub const CONDITIONS: &'static str = "spec.rules.conditions";

    /// Reads the whole object: `apiVersion`, `kind`, `metadata` and `spec`; `status` is not read.
    ///
    /// Never fails: problems are recorded in [`Self::faults`].
    pub fn read(object: &Value) -> Self {
        let mut faults = FaultList::default();
        let mut policy = Self::default();
        if let Some(members) = Members::of(object, "", OBJECT, &mut faults) {
            head(&members, &mut faults);
            policy.name = name(&members, &mut faults).unwrap_or_default().into();
            spec(&members, &mut policy, &mut faults);
        }
        policy.faults = faults;
        policy
    }

    /// Returns a stand-in for a file that cannot be read. It has this fault, and denies every move of every extension.
    pub fn unread(file: &str, why: &str) -> Self {
        let mut policy = Self {
            name: file.into(),
            ..Self::default()
        };
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

    /// The faults in the order of the fields; empty if the policy is accepted.
    pub fn faults(&self) -> &[PolicyFault] {
        self.faults.as_slice()
    }

    /// Whether the policy applies to an extension.
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        self.matching.holds(subject)
    }

    /// Whether `spec.match` is invalid: then the policy matches everything, but denies moves only.
    pub fn is_match_unread(&self) -> bool {
        self.matching.is_unread
    }

    /// Whether the labels or the namespace of an extension affect the match, in addition to its package.
    pub fn matches_by_extension(&self) -> bool {
        self.matching.is_by_extension()
    }

    /// Whether the policy can apply to an extension of a package.
    pub fn is_about(&self, package: &str) -> bool {
        self.matching.is_about(package)
    }

    /// Whether the policy has windows.
    pub fn has_windows(&self) -> bool {
        !self.rules.windows.is_empty()
    }

    /// The only packages that the policy can match, if all are named without a wildcard.
    pub fn exact_packages(&self) -> Option<&[Box<str>]> {
        let packages = self.matching.packages()?;
        let is_exact = packages.iter().all(|pattern| !pattern.contains('*'));
        is_exact.then_some(packages)
    }

    /// The approximate maximum number of steps to check one change.
    pub fn weight(&self) -> usize {
        let conditions = usize::try_from(self.condition_steps()).unwrap_or(usize::MAX);
        conditions.saturating_add(OWN_WEIGHT)
    }

    /// The maximum number of steps of the conditions that are evaluated for each automatic upgrade.
    pub fn weight_of_each_step(&self) -> usize {
        let conditions = self.rules.conditions.iter();
        let steps = conditions
            .filter(|it| it.is_of_each_step())
            .map(PolicyCondition::steps);
        usize::try_from(steps.fold(0, u64::saturating_add)).unwrap_or(usize::MAX)
    }

    /// The maximum number of steps of all conditions.
    fn condition_steps(&self) -> u64 {
        let steps = self.rules.conditions.iter().map(PolicyCondition::steps);
        steps.fold(0, u64::saturating_add)
    }

    /// Whether the policy has conditions.
    pub fn has_conditions(&self) -> bool {
        !self.rules.conditions.is_empty()
    }

    /// The fault of a policy that was [bounded](Self::bound_together) and did not fit together with the others.
    pub fn too_costly(&self) -> Option<&PolicyFault> {
        let mut faults = self.faults().iter();
        faults.find(|fault| fault.problem == PolicyProblem::TooCostlyTogether)
    }

    /// Returns the policies of a cluster whose conditions do not fit. In byte order of the names, each policy takes
    /// its cost from [`limits::ALL_EXPRESSION_STEPS`], unless the cost exceeds the rest.
    ///
    /// The input order matters only between policies with the same name.
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

    /// Bounds the total cost of the conditions of all policies of a cluster.
    ///
    /// Each policy that is [too costly](Self::too_costly_together) gets a fault instead of its conditions, and denies
    /// every move of the extensions that it matches. A second call changes nothing.
    pub fn bound_together<'p>(policies: impl IntoIterator<Item = &'p mut Self>) {
        Self::too_costly_together(policies)
            .into_iter()
            .for_each(Self::refuse_conditions);
    }

    /// The maximum number of steps of the conditions as written, also if they are refused.
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

    /// Whether the policy needs a check of the permission to bypass the upgrade edges.
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

// === From JSON. Strict: an unknown key or word could change the meaning of the others ===

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
        // One of the unknown keys may be a misspelt `match`.
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

/// The approximate number of steps of all rules except the conditions.
const OWN_WEIGHT: usize = 64;
