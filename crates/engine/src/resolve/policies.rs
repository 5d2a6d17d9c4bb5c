//! The upgrade policies of administrators that match an extension, applied to one step.
//!
//! A policy only restricts. The first step of an edit is compared with all of its rules. A step that OLM takes
//! automatically afterwards is compared only with the rules about a bundle, because no admission request exists for it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use olmguard_catalog::Deprecation;
use olmguard_catalog::version::{Constraint, Masterminds, Version};
use olmguard_policy::{
    BypassPermission, Change, Conditions, Enforcement, Maker, Moment, Operation, PolicyBundle,
    PolicyIndex, PolicyOrigin, PolicyViolation, Subject, UpgradePolicy, UserInfo,
};

use crate::extension::{Filter, PolicySubject};
use crate::resolve::{Choice, InstallContext, Origin};

/// The upgrade policies of a cluster, in byte order of their names.
#[derive(Clone, Debug)]
pub struct UpgradePolicies {
    policies: Vec<UpgradePolicy>,
    index: PolicyIndex,
    permission: BypassPermission,
}

/// The user and the time of an edit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requester {
    /// The user; absent if the edit is not made by a particular user, as in an audit. Conditions that read the user are
    /// then not evaluated.
    pub user: Option<UserInfo>,
    /// The time of the edit.
    pub at: Moment,
}

/// The facts that the rows read, apart from the filter and the installed bundle.
#[derive(Clone, Copy, Debug)]
pub struct EditContext<'a> {
    /// The labels and the namespace of the extension, by which policies match it.
    pub subject: &'a PolicySubject,
    /// The user and the time of the edit.
    pub requester: &'a Requester,
    /// Whether the edit changes an existing object. Such an edit is an update even if nothing is installed yet.
    pub is_update: bool,
    /// Whether, and for how long, conditions are evaluated.
    pub conditions: Conditions<'a>,
    /// The installation settings; `None` if the installation is not checked.
    pub install: Option<InstallContext<'a>>,
}

/// A rule that an edit violates, with its policy.
#[derive(Clone, Debug)]
pub struct PolicyFinding<'s> {
    /// The policy.
    pub policy: &'s UpgradePolicy,
    /// The bundle from which OLM takes the step automatically; absent if the edit itself is the step.
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

/// A step as policies evaluate it, made by an edit or by OLM afterwards.
#[derive(Clone, Copy, Debug)]
pub struct PolicyStep<'a, 's> {
    /// The maker of the step.
    pub maker: Maker,
    /// The bundle that the previous step installs; absent for the first step.
    pub after: Option<Choice<'s>>,
    /// The start of the step.
    pub from: PolicyOrigin<'a>,
    /// The bundle that the step installs.
    pub to: Choice<'s>,
    /// Whether the step installs another bundle than the installed one.
    pub is_move: bool,
    /// Whether the step creates or updates the extension.
    pub operation: Operation,
    /// The compiled range.
    pub range: Option<&'a Constraint>,
}

impl UpgradePolicies {
    /// Collects policies for a cluster in which it is not known whether users have the permission `bypass`.
    ///
    /// Policies whose conditions are too costly in total get a fault: see [`UpgradePolicy::bound_together`].
    pub fn of(policies: impl IntoIterator<Item = UpgradePolicy>) -> Self {
        let mut policies: Vec<_> = policies.into_iter().collect();
        policies.sort_by(|one, other| one.name().cmp(other.name()));
        UpgradePolicy::bound_together(&mut policies);
        Self {
            index: PolicyIndex::of(&policies),
            policies,
            permission: BypassPermission::Unknown,
        }
    }

    /// The same policies in a cluster whose API server checks the permission `bypass` itself.
    pub fn with_permission_asked(self) -> Self {
        Self {
            permission: BypassPermission::AskedByApiServer,
            ..self
        }
    }

    /// The names of the policies that become too costly in total when `written` is added. The name of `written` comes
    /// first if it is one of them. The others, which fit without it, are in byte order.
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

    /// Removes the policies that match by label or namespace, for a caller that knows only the package. Returns the
    /// names of the removed policies that can apply to the package.
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

    /// Whether no policies exist.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Whether a policy has conditions.
    pub fn have_conditions(&self) -> bool {
        self.policies.iter().any(UpgradePolicy::has_conditions)
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
    /// No particular user, at the Unix epoch.
    pub fn unknown() -> &'static Self {
        &UNKNOWN
    }
}

static UNKNOWN: Requester = Requester {
    user: None,
    at: Moment::EPOCH,
};

impl<'a> EditContext<'a> {
    /// The context of an edit whose conditions are all evaluated and whose installation is not checked.
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
    /// The context of an edit that no policy applies to.
    pub fn unknown() -> Self {
        Self::of(&NO_SUBJECT, &UNKNOWN)
    }
}

static NO_SUBJECT: PolicySubject = PolicySubject {
    namespace: String::new(),
    labels: BTreeMap::new(),
};

impl PolicyFinding<'_> {
    /// Whether the rule denies the edit.
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

    /// Whether the API server allows the bypass only with the permission `bypass`.
    pub fn need_permission(&self) -> bool {
        let mut policies = self.policies.iter();
        policies
            .any(|policy| policy.asks_for_permission() && policy.enforcement() == Enforcement::Deny)
    }

    /// The approximate number of values that are compared for one step with all policies.
    pub fn weight(&self) -> usize {
        self.policies.iter().map(|policy| policy.weight()).sum()
    }

    /// The number of values compared for the conditions on steps that OLM takes automatically.
    pub fn weight_of_conditions(&self) -> usize {
        let weights = self
            .policies
            .iter()
            .map(|policy| policy.weight_of_each_step());
        weights.fold(0, usize::saturating_add)
    }

    /// The number of values compared for the other rules.
    pub fn weight_of_rules(&self) -> usize {
        self.policies.len().saturating_mul(RULES)
    }

    /// Every rule that a step violates, in the order of the policies; empty if the version of the resolved bundle
    /// cannot be read.
    pub fn findings(&self, step: &PolicyStep<'_, 's>) -> Vec<PolicyFinding<'s>> {
        self.findings_with(self.context.conditions, step)
    }

    /// Like [`Self::findings`], with the conditions evaluated as far as these allow.
    pub fn findings_with(
        &self,
        conditions: Conditions<'_>,
        step: &PolicyStep<'_, 's>,
    ) -> Vec<PolicyFinding<'s>> {
        if self.is_empty() {
            return Vec::new();
        }
        let Some(version) = step.to.version() else {
            return Vec::new();
        };
        let to = PolicyBundle {
            name: &step.to.bundle().name,
            version,
        };
        let change = self.change(step, to);
        let policies = self.policies.iter().copied();
        let found = UpgradePolicy::violations_of(policies, &change, conditions);
        let found = found.into_iter();
        let found = found.map(|(policy, violation)| PolicyFinding {
            policy,
            after: step.after,
            to: step.to,
            violation,
        });
        found.collect()
    }

    /// Whether the policies allow an edit from this origin that pins the version of the bundle.
    pub fn allow_pin(&self, from: &Origin<'_>, to: &Choice<'s>) -> bool {
        self.denials_of_pin(from, to).is_empty()
    }

    /// The rules that deny an edit from this origin that pins the version of the bundle.
    pub fn denials_of_pin(&self, from: &Origin<'_>, to: &Choice<'s>) -> Vec<PolicyFinding<'s>> {
        if self.is_empty() {
            return Vec::new();
        }
        let pin = to
            .version()
            .and_then(|version| pin(version, self.masterminds));
        let step = PolicyStep {
            maker: Maker::User,
            after: None,
            from: from.start(),
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
            from: step.from,
            to,
            is_move: step.is_move,
            catalog: &step.to.catalog.name,
            channels: &self.filter.channels,
            range: step.range,
            bypass: self.filter.bypasses(),
            permission: self.permission,
            deprecated: is_deprecated(step.to, self.filter),
            operation: step.operation,
            user: requester.user.as_ref(),
            now: requester.at,
        }
    }
}

impl Origin<'_> {
    /// The start of a step from this bundle, as policies read it.
    pub(crate) fn start(&self) -> PolicyOrigin<'_> {
        match self.version() {
            None => PolicyOrigin::Unknown,
            Some(read) => PolicyOrigin::Bundle(PolicyBundle {
                name: self.name().unwrap_or_default(),
                version: &read.version,
            }),
        }
    }
}

/// The subject by which policies match an extension.
fn subject<'a>(filter: &'a Filter, context: EditContext<'a>) -> Subject<'a> {
    Subject {
        package: &filter.package,
        namespace: &context.subject.namespace,
        labels: &context.subject.labels,
    }
}

/// The approximate number of values that the rules of one policy are compared with, without its conditions.
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
