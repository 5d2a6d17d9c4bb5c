//! The upgrade policies of administrators that match an extension, compared with one step.
//!
//! A policy only restricts. The first step of an edit is compared with all of its rules. A step that OLM then makes
//! automatically is compared with the rules about a bundle, because no admission sees it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use olmguard_catalog::Deprecation;
use olmguard_catalog::version::{Constraint, Masterminds, Version};
use olmguard_policy::{
    BypassPermission, Change, Conditions, Enforcement, Maker, Moment, Operation, PolicyBundle,
    PolicyIndex, PolicyOrigin, PolicyViolation, Subject, UpgradePolicy, User,
};

use crate::extension::{Filter, PolicySubject};
use crate::resolve::{Choice, InstallContext, Origin};

/// The upgrade policies of a cluster, in byte order of their names.
#[derive(Clone, Debug)]
pub struct UpgradePolicies {
    policies: Vec<UpgradePolicy>,
    index: PolicyIndex,
    permission: BypassPermission,
    /// Whether one of them has conditions.
    have_conditions: bool,
}

/// The user and the time of an edit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requester {
    /// The user; absent if it is no one in particular, as in an audit: then no condition that reads the user is evaluated.
    pub user: Option<UserInfo>,
    /// When the edit is made.
    pub at: Moment,
}

/// A user, as an API server knows one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UserInfo {
    /// The name; empty if it is not known.
    pub name: String,
    /// The groups.
    pub groups: Vec<String>,
}

/// The facts that rows read, apart from the request of an edit and what is installed.
#[derive(Clone, Copy, Debug)]
pub struct EditContext<'a> {
    /// The labels and the namespace of the extension, which policies match.
    pub subject: &'a PolicySubject,
    /// The user and the time of the edit.
    pub requester: &'a Requester,
    /// Whether an object is known that the edit changes: then it creates none, even if nothing is installed yet.
    pub is_update: bool,
    /// Whether, and for how long, conditions are evaluated.
    pub conditions: Conditions<'a>,
    /// How the bundle is to be installed; `None` if that is not checked.
    pub install: Option<InstallContext<'a>>,
}

/// One rule that an edit violates, and its policy.
#[derive(Clone, Debug)]
pub struct PolicyFinding<'s> {
    /// The policy.
    pub policy: &'s UpgradePolicy,
    /// The bundle that OLM takes the step from automatically; absent if the edit itself makes it.
    pub after: Option<Choice<'s>>,
    /// The bundle that the step installs.
    pub to: Choice<'s>,
    /// The rule, with its evidence.
    pub violation: PolicyViolation,
}

/// The upgrade policies that match one extension.
#[derive(Debug)]
pub struct MatchingPolicies<'a, 's> {
    policies: Vec<&'s UpgradePolicy>,
    permission: BypassPermission,
    filter: &'a Filter,
    context: EditContext<'a>,
    masterminds: Masterminds,
}

/// One step as policies judge it: an edit makes it, or OLM after the edit.
#[derive(Clone, Copy, Debug)]
pub struct PolicyStep<'a, 's> {
    /// The maker of the step.
    pub maker: Maker,
    /// The bundle that the step before it installs; absent for the first step.
    pub after: Option<Choice<'s>>,
    /// The start of the step.
    pub from: StepStart<'a>,
    /// The bundle that it installs.
    pub to: Choice<'s>,
    /// Whether it is another bundle than the installed one.
    pub is_move: bool,
    /// Whether it creates the extension or updates it.
    pub operation: Operation,
    /// The compiled range.
    pub range: Option<&'a Constraint>,
}

/// The start of a step.
#[derive(Clone, Copy, Debug)]
pub enum StepStart<'a> {
    /// Nothing is installed.
    Nothing,
    /// The installed bundle is not known, or its version cannot be read.
    Unknown,
    /// This bundle is installed.
    At(&'a Origin<'a>),
}

impl UpgradePolicies {
    /// These policies; whether users have the permission `bypass` is not known.
    ///
    /// Those whose conditions are too costly together get a fault: [`UpgradePolicy::bound_together`].
    pub fn of(policies: impl IntoIterator<Item = UpgradePolicy>) -> Self {
        let mut policies: Vec<_> = policies.into_iter().collect();
        policies.sort_by(|one, other| one.name().cmp(other.name()));
        UpgradePolicy::bound_together(&mut policies);
        Self {
            index: PolicyIndex::of(&policies),
            have_conditions: policies.iter().any(UpgradePolicy::has_conditions),
            policies,
            permission: BypassPermission::Unknown,
        }
    }

    /// The same in a cluster whose API server asks for the permission `bypass` itself.
    pub fn with_permission_asked(self) -> Self {
        Self {
            permission: BypassPermission::AskedByApiServer,
            ..self
        }
    }

    /// The names of the policies that are too costly together once this one is written: the written one first if it is
    /// one of them, then those that fit without it, in byte order.
    pub fn too_costly_with<'p>(&'p self, written: &'p UpgradePolicy) -> Vec<&'p str> {
        let is_other = |one: &&UpgradePolicy| one.name() != written.name();
        let after = self.iter().filter(is_other).chain([written]);
        let before = UpgradePolicy::too_costly_together(self.iter());
        let before: BTreeSet<_> = before.into_iter().map(UpgradePolicy::name).collect();
        let (own, others): (Vec<_>, Vec<_>) = UpgradePolicy::too_costly_together(after)
            .into_iter()
            .map(UpgradePolicy::name)
            .partition(|name| *name == written.name());
        let others = others.into_iter().filter(|name| !before.contains(name));
        own.into_iter().chain(others).collect()
    }

    /// Removes the policies that match by label or namespace, if only the package is known. Returns the names of the removed
    /// policies that can apply to the package.
    pub fn leave_out_by_extension(&mut self, package: &str) -> Vec<String> {
        let (out, rest): (Vec<_>, Vec<_>) = self
            .policies
            .iter()
            .cloned()
            .partition(UpgradePolicy::matches_by_extension);
        let permission = self.permission;
        *self = Self {
            permission,
            ..Self::of(rest)
        };
        let out = out.iter().filter(|policy| policy.is_about(package));
        out.map(|policy| policy.name().to_owned()).collect()
    }

    /// Every policy, in byte order of the names.
    pub fn iter(&self) -> impl Iterator<Item = &UpgradePolicy> {
        self.policies.iter()
    }

    /// Whether there are no policies.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Whether one of them has conditions.
    pub fn have_conditions(&self) -> bool {
        self.have_conditions
    }

    /// The policies that match a subject, in byte order of the names.
    fn matching(&self, subject: &Subject<'_>) -> Vec<&UpgradePolicy> {
        let candidates = self.index.candidates(subject).into_iter();
        candidates
            .filter_map(|place| self.policies.get(place))
            .filter(|policy| policy.matches(subject))
            .collect()
    }
}

impl Default for UpgradePolicies {
    fn default() -> Self {
        Self::of([])
    }
}

impl Requester {
    /// No user in particular, at the Unix epoch.
    pub fn unknown() -> &'static Self {
        &UNKNOWN
    }
}

static UNKNOWN: Requester = Requester {
    user: None,
    at: Moment::EPOCH,
};

impl<'a> EditContext<'a> {
    /// The context of an edit for whose answer there is time, and whose installation is not checked.
    pub fn of(subject: &'a PolicySubject, requester: &'a Requester) -> Self {
        Self {
            subject,
            requester,
            is_update: false,
            conditions: Conditions::ALL,
            install: None,
        }
    }
}

impl EditContext<'static> {
    /// The context of an edit that no policy judges.
    pub fn unknown() -> Self {
        Self::of(&NO_SUBJECT, &UNKNOWN)
    }
}

static NO_SUBJECT: PolicySubject = PolicySubject {
    namespace: String::new(),
    labels: BTreeMap::new(),
};

impl PolicyFinding<'_> {
    /// Whether it denies the edit.
    pub fn denies(&self) -> bool {
        self.violation.enforcement == Enforcement::Deny
    }
}

impl<'a, 's> MatchingPolicies<'a, 's> {
    /// The policies that match an extension with this filter.
    pub fn of(
        policies: &'s UpgradePolicies,
        filter: &'a Filter,
        context: EditContext<'a>,
        masterminds: Masterminds,
    ) -> Self {
        let subject = subject(filter, context);
        Self {
            policies: policies.matching(&subject),
            permission: policies.permission,
            filter,
            context,
            masterminds,
        }
    }

    /// Whether no policy matches.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Whether the API server admits the bypass only with the permission `bypass`.
    pub fn need_permission(&self) -> bool {
        let mut policies = self.policies.iter();
        policies
            .any(|policy| policy.asks_for_permission() && policy.enforcement() == Enforcement::Deny)
    }

    /// About how many values are compared for one step and all policies.
    pub fn weight(&self) -> usize {
        self.policies.iter().map(|policy| policy.weight()).sum()
    }

    /// How many of the values are compared for the conditions on steps that OLM makes automatically.
    pub fn weight_of_conditions(&self) -> usize {
        let weights = self
            .policies
            .iter()
            .map(|policy| policy.weight_of_each_step());
        weights.fold(0, usize::saturating_add)
    }

    /// How many of the values are compared for the other rules.
    pub fn weight_of_rules(&self) -> usize {
        self.policies.len().saturating_mul(RULES)
    }

    /// The same policies, without their conditions.
    pub fn without_conditions(&self) -> Self {
        let context = EditContext {
            conditions: Conditions::Skipped,
            ..self.context
        };
        Self {
            policies: self.policies.clone(),
            context,
            ..*self
        }
    }

    /// Every rule that a step violates, in the order of the policies; none if the version it resolves to cannot be
    /// read.
    pub fn findings(&self, step: &PolicyStep<'_, 's>) -> Vec<PolicyFinding<'s>> {
        if self.is_empty() {
            return Vec::new();
        }
        let Ok(to) = &step.to.bundle().version else {
            return Vec::new();
        };
        let to = PolicyBundle {
            name: &step.to.bundle().name,
            version: &to.version,
        };
        let change = self.change(step, to);
        let policies = self.policies.iter().copied();
        let found = UpgradePolicy::violations_of(policies, &change, self.context.conditions);
        let found = found.into_iter();
        let found = found.map(|(policy, violation)| PolicyFinding {
            policy,
            after: step.after,
            to: step.to,
            violation,
        });
        found.collect()
    }

    /// Whether they allow an edit from here that pins the version of this bundle.
    pub fn allow_pin(&self, from: &Origin<'_>, to: &Choice<'s>) -> bool {
        self.denials_of_pin(from, to).is_empty()
    }

    /// The rules that deny an edit from here that pins the version of this bundle.
    pub fn denials_of_pin(&self, from: &Origin<'_>, to: &Choice<'s>) -> Vec<PolicyFinding<'s>> {
        if self.is_empty() {
            return Vec::new();
        }
        let version = to.bundle().version.as_ref().ok();
        let pin = version.and_then(|read| pin(&read.version, self.masterminds));
        let step = PolicyStep {
            maker: Maker::User,
            after: None,
            from: StepStart::At(from),
            to: *to,
            is_move: !from.is_at(to.bundle()),
            operation: Operation::Update,
            range: pin.as_ref(),
        };
        let mut findings = self.findings(&step);
        findings.retain(PolicyFinding::denies);
        findings
    }

    fn change<'c>(&'c self, step: &'c PolicyStep<'_, '_>, to: PolicyBundle<'c>) -> Change<'c> {
        let requester = self.context.requester;
        Change {
            subject: subject(self.filter, self.context),
            maker: step.maker,
            from: step.from.bundle(),
            to,
            is_move: step.is_move,
            catalog: &step.to.catalog.name,
            channels: &self.filter.channels,
            range: step.range,
            bypass: self.filter.bypasses(),
            permission: self.permission,
            deprecated: is_deprecated(step.to, self.filter),
            operation: step.operation,
            user: requester.user.as_ref().map(|user| User {
                name: &user.name,
                groups: &user.groups,
            }),
            now: requester.at,
        }
    }
}

impl<'a> StepStart<'a> {
    /// The same as policies read it.
    fn bundle(self) -> PolicyOrigin<'a> {
        let origin = match self {
            Self::Nothing => return PolicyOrigin::Nothing,
            Self::Unknown => return PolicyOrigin::Unknown,
            Self::At(origin) => origin,
        };
        match origin.version() {
            None => PolicyOrigin::Unknown,
            Some(read) => PolicyOrigin::Bundle(PolicyBundle {
                name: origin.name().unwrap_or_default(),
                version: &read.version,
            }),
        }
    }
}

/// The subject of an extension, which policies match.
fn subject<'a>(filter: &'a Filter, context: EditContext<'a>) -> Subject<'a> {
    Subject {
        package: &filter.package,
        namespace: &context.subject.namespace,
        labels: &context.subject.labels,
    }
}

/// About how many values the rules of one policy besides its conditions are compared with.
const RULES: usize = 64;

/// Whether the bundle, its package, or a requested channel that has it is deprecated.
fn is_deprecated(choice: Choice<'_>, filter: &Filter) -> bool {
    let package = choice.package;
    let mut channels = package.channels().iter();
    let requested = |name: &str| filter.channels.iter().any(|channel| channel == name);
    choice.is_deprecated()
        || matches!(package.deprecation(), Deprecation::OfPackage(_))
        || channels.any(|channel| {
            channel.deprecated.is_some() && requested(&channel.name) && channel.has(choice.index)
        })
}

fn pin(version: &Version, masterminds: Masterminds) -> Option<Constraint> {
    Constraint::parse(&version.without_build().to_string(), masterminds).ok()
}
