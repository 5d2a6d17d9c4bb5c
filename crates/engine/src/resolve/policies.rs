//! The upgrade policies of administrators that match an extension, put to one edit.
//!
//! A policy only restricts. It judges the bundle that an edit resolves to, not what OLM installs later: that passes
//! no admission.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use olmguard_catalog::Deprecation;
use olmguard_catalog::version::{Constraint, Masterminds, Release, Version};
use olmguard_policy::{
    BypassPermission, Change, Enforcement, Moment, Operation, PolicyBundle, PolicyIndex,
    PolicyViolation, Subject, UpgradePolicy, User,
};

use crate::extension::{Filter, PolicySubject};
use crate::resolve::{Choice, Origin};

/// The upgrade policies of a cluster, in byte order of their names.
#[derive(Clone, Debug)]
pub struct UpgradePolicies {
    policies: Vec<UpgradePolicy>,
    index: PolicyIndex,
    permission: BypassPermission,
}

/// Who makes an edit, and when.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requester {
    /// The name of the user; empty if it is not known.
    pub user: String,
    /// The groups of the user.
    pub groups: Vec<String>,
    /// When the edit is made.
    pub at: Moment,
}

/// What upgrade policies decide by besides what an edit requests.
#[derive(Clone, Copy, Debug)]
pub struct EditContext<'a> {
    /// What they match the extension by.
    pub subject: &'a PolicySubject,
    /// Who makes the edit, and when.
    pub requester: &'a Requester,
}

/// One rule that an edit violates, and its policy.
#[derive(Clone, Debug)]
pub struct PolicyFinding<'s> {
    /// The policy.
    pub policy: &'s UpgradePolicy,
    /// What the edit resolves to.
    pub to: Choice<'s>,
    /// The rule, and what it found.
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

/// What an edit does, as policies judge it.
#[derive(Clone, Copy, Debug)]
pub struct PolicyStep<'a, 's> {
    /// Where it starts, if something is installed that can be read.
    pub from: Option<&'a Origin<'a>>,
    /// What it resolves to.
    pub to: Choice<'s>,
    /// Whether that is another bundle than the installed one.
    pub is_move: bool,
    /// Whether it installs what was not installed before.
    pub operation: Operation,
    /// The compiled range.
    pub range: Option<&'a Constraint>,
}

impl UpgradePolicies {
    /// These policies; whether users have the permission `bypass` is not known.
    pub fn of(policies: impl IntoIterator<Item = UpgradePolicy>) -> Self {
        let mut policies: Vec<_> = policies.into_iter().collect();
        policies.sort_by(|one, other| one.name().cmp(other.name()));
        Self {
            index: PolicyIndex::of(&policies),
            policies,
            permission: BypassPermission::Unknown,
        }
    }

    /// The same in a cluster whose API server asks for the permission `bypass` itself.
    #[must_use]
    pub fn with_permission_asked(self) -> Self {
        Self {
            permission: BypassPermission::AskedByApiServer,
            ..self
        }
    }

    /// Every policy, in byte order of the names.
    pub fn iter(&self) -> impl Iterator<Item = &UpgradePolicy> {
        self.policies.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Those that match a subject, in byte order of the names.
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
    /// A user who is not known, at the Unix epoch.
    pub fn unknown() -> &'static Self {
        &UNKNOWN
    }
}

static UNKNOWN: Requester = Requester {
    user: String::new(),
    groups: Vec::new(),
    at: Moment::EPOCH,
};

impl EditContext<'static> {
    /// The context of an edit that no policy judges.
    pub fn unknown() -> Self {
        Self {
            subject: &NO_SUBJECT,
            requester: &UNKNOWN,
        }
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

    /// Whether none matches.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// About how many values are compared to put one step to all of them.
    pub fn weight(&self) -> usize {
        self.policies.iter().map(|policy| policy.weight()).sum()
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
        let releases = (
            step.from
                .and_then(Origin::version)
                .map(|read| text(read.release.as_ref())),
            text(to.release.as_ref()),
        );
        let from = step.from.and_then(Origin::version);
        let from = from
            .zip(releases.0.as_deref())
            .map(|(read, release)| PolicyBundle {
                name: step.from.and_then(Origin::name).unwrap_or_default(),
                version: &read.version,
                release,
            });
        let to = PolicyBundle {
            name: &step.to.bundle().name,
            version: &to.version,
            release: &releases.1,
        };
        self.put(step.to, &self.change(step, from, to))
    }

    /// Whether they let an edit pass that pins the version of this bundle, from here.
    pub fn allow_pin(&self, from: &Origin<'_>, to: &Choice<'s>) -> bool {
        self.denials_of_pin(from, to).is_empty()
    }

    /// What denies an edit that pins the version of this bundle, from here.
    pub fn denials_of_pin(&self, from: &Origin<'_>, to: &Choice<'s>) -> Vec<PolicyFinding<'s>> {
        if self.is_empty() {
            return Vec::new();
        }
        let version = to.bundle().version.as_ref().ok();
        let pin = version.and_then(|read| pin(&read.version, self.masterminds));
        let step = PolicyStep {
            from: Some(from),
            to: *to,
            is_move: !from.is_at(to.bundle()),
            operation: Operation::Update,
            range: pin.as_ref(),
        };
        let mut findings = self.findings(&step);
        findings.retain(PolicyFinding::denies);
        findings
    }

    fn put(&self, to: Choice<'s>, change: &Change<'_>) -> Vec<PolicyFinding<'s>> {
        let policies = self.policies.iter().copied();
        let found = UpgradePolicy::violations_of(policies, change).into_iter();
        let found = found.map(|(policy, violation)| PolicyFinding {
            policy,
            to,
            violation,
        });
        found.collect()
    }

    fn change<'c>(
        &'c self,
        step: &'c PolicyStep<'_, '_>,
        from: Option<PolicyBundle<'c>>,
        to: PolicyBundle<'c>,
    ) -> Change<'c> {
        let requester = self.context.requester;
        Change {
            subject: subject(self.filter, self.context),
            from,
            to,
            is_move: step.is_move,
            catalog: &step.to.catalog.name,
            channels: &self.filter.channels,
            range: step.range,
            bypass: self.filter.bypasses(),
            permission: self.permission,
            deprecated: is_deprecated(step.to, self.filter),
            operation: step.operation,
            user: User {
                name: &requester.user,
                groups: &requester.groups,
            },
            now: requester.at,
        }
    }
}

/// What policies match an extension by.
fn subject<'a>(filter: &'a Filter, context: EditContext<'a>) -> Subject<'a> {
    Subject {
        package: &filter.package,
        namespace: &context.subject.namespace,
        labels: &context.subject.labels,
    }
}

/// Whether the bundle, its package, or a requested channel of it is deprecated.
fn is_deprecated(choice: Choice<'_>, filter: &Filter) -> bool {
    let package = choice.package;
    let mut channels = package.channels().iter();
    let requested = |name: &str| filter.channels.iter().any(|channel| channel == name);
    choice.is_deprecated()
        || matches!(package.deprecation(), Deprecation::OfPackage(_))
        || channels.any(|channel| channel.deprecated.is_some() && requested(&channel.name))
}

fn pin(version: &Version, masterminds: Masterminds) -> Option<Constraint> {
    Constraint::parse(&version.without_build().to_string(), masterminds).ok()
}

fn text(release: Option<&Release>) -> String {
    release.map(Release::to_string).unwrap_or_default()
}
