//! The row of the decision table that answered, with its evidence.

use core::time::Duration;

use crate::extension::schema::Finding;
use crate::extension::{FilterError, UnknownCause};
use crate::judge::{Exemption, Token};
use crate::resolve::{
    Choice, InstallFault, InstallFaults, InstalledError, Match, NotLoaded, PolicyFinding, Violation,
};
use crate::snapshot::CatalogState;
use olmguard_catalog::selector::SelectorError;
use olmguard_catalog::version::{ConstraintError, Version};
use olmguard_catalog::{BundleSet, BundleVersionError, DependencyKind, Package};

/// The row that answered, with its own evidence.
#[derive(Debug)]
pub enum Ruling<'s> {
    /// The edit is not judged.
    NotJudged(Exemption),
    /// Before any row: the server had no time or no room for the edit.
    Unanswered(UnansweredReason),
    /// Row 1, with at least one fault.
    InvalidSpec(Vec<SpecFault>),
    /// Row 2.
    InvalidSelector(SelectorError),
    /// Row 3.
    InvalidVersionRange(ConstraintError),
    /// Row 4.
    NoCatalogs(NoCatalogs),
    /// Row 4a.
    InstalledUnknown(UnknownCause),
    /// Row 5.
    CatalogNotLoaded(NotLoaded<'s>),
    /// Rows 5a and 5b.
    CatalogOutdated(OutdatedCatalogs<'s>),
    /// Row 6.
    PackageNotFound {
        /// The selected catalogs.
        searched: Vec<&'s str>,
        /// Package names in those catalogs that are similar to the requested one, the most similar first.
        nearest: Vec<&'s str>,
    },
    /// Row 7.
    InstalledVersionInvalid(InstalledError),
    /// Row 8.
    ChannelNotFound {
        /// The existing channels, those with names like the requested ones first.
        existing: Vec<&'s str>,
    },
    /// Row 9.
    NotInChannel {
        /// The channels that have a bundle in the range; empty if such a bundle is in no channel.
        having: Vec<&'s str>,
    },
    /// Row 10.
    VersionNotFound {
        /// The versions of the requested channels that are nearest to the range.
        nearest: Vec<&'s Version>,
    },
    /// Row 10a.
    BrokenSkipRange(Choice<'s>),
    /// Row 11: the best of the candidates, and how many there are.
    Downgrade(Choice<'s>, usize),
    /// Row 12: the best of the candidates, and how many there are.
    NotASuccessor(Choice<'s>, usize),
    /// Row 13: every remaining candidate, the highest priority first.
    AmbiguousCatalogs(Vec<Choice<'s>>),
    /// Row 14.
    BundleVersionInvalid(Choice<'s>, &'s BundleVersionError),
    /// Row 15.
    UnsupportedDependency(Choice<'s>, DependencyKind),
    /// Row 15a: operator-controller cannot install the bundle.
    Preflight(Box<PreflightRefusal<'s>>),
    /// Row 16: the first step that OLM would take and that guardrails forbid.
    Guardrail(ForbiddenStep<'s>),
    /// Row 17: upgrade policies deny the edit, or a step that OLM takes after it.
    Policy(Box<PolicyRefusal<'s>>),
    /// Row 17a.
    PoliciesUnknown(UnknownPolicies<'s>),
    /// Row 18.
    Allowed(AllowedChange, Choice<'s>),
}

/// The selected catalogs that are outdated, in byte order of their names, and why this decides the edit.
#[derive(Debug)]
pub enum OutdatedCatalogs<'s> {
    /// Row 5a: their content was last confirmed current too long ago.
    TooOld(Vec<&'s CatalogState>),
    /// Row 5b: newer content exists than the loaded content, and another row would deny because of the loaded content.
    Superseded {
        /// The catalogs.
        catalogs: Vec<&'s CatalogState>,
        /// The denial by one of rows 6 to 15.
        denial: Box<Ruling<'s>>,
    },
}

impl<'s> OutdatedCatalogs<'s> {
    /// The catalogs.
    pub fn catalogs(&self) -> &[&'s CatalogState] {
        match self {
            Self::TooOld(catalogs) | Self::Superseded { catalogs, .. } => catalogs,
        }
    }
}

/// A step that OLM would take and that guardrails forbid.
#[derive(Debug)]
pub struct ForbiddenStep<'s> {
    /// The bundle that the edit resolves to, which the first step installs.
    pub resolved: Choice<'s>,
    /// The version that the step starts from.
    pub from: Version,
    /// The bundle that the step installs.
    pub to: Choice<'s>,
    /// Why it is forbidden: one reason or more.
    pub violations: Vec<Violation<'s>>,
}

impl<'s> ForbiddenStep<'s> {
    /// Returns the step if there are violations. `resolved` is the bundle that the first step of the walk installs.
    pub fn of(
        resolved: Choice<'s>,
        from: &Version,
        to: Choice<'s>,
        violations: Vec<Violation<'s>>,
    ) -> Option<Self> {
        (!violations.is_empty()).then(|| Self {
            resolved,
            from: from.clone(),
            to,
            violations,
        })
    }

    /// Whether the step is the one that the edit itself requests, rather than one that OLM takes automatically after
    /// it.
    pub fn is_first_step(&self) -> bool {
        self.resolved == self.to
    }
}

/// A bundle that operator-controller cannot install, or possibly cannot install.
#[derive(Clone, Debug)]
pub struct PreflightRefusal<'s> {
    /// The bundle.
    pub resolved: Choice<'s>,
    /// The version as operator-controller writes it. Includes the release if operator-controller records no separate
    /// release. Absent if the version cannot be read.
    pub version: Option<String>,
    /// Why the bundle cannot be installed.
    pub faults: InstallFaults,
}

impl PreflightRefusal<'_> {
    /// Whether another bundle could be installed with the same settings, because the first fault is in this bundle.
    pub(super) fn is_of_bundle(&self) -> bool {
        let first = self.faults.faults.first();
        let is_of_bundle = matches!(
            first,
            Some(InstallFault::Image(_) | InstallFault::Support(_))
        );
        // The images of other bundles are not known, so no other bundle is known to be installable.
        is_of_bundle && !self.faults.is_by_image
    }
}

/// An edit that upgrade policies deny.
#[derive(Debug)]
pub struct PolicyRefusal<'s> {
    /// How the resolved bundle relates to the installed one.
    pub change: AllowedChange,
    /// The bundle that the edit resolves to.
    pub resolved: Choice<'s>,
    /// The rules that deny the edit or the first forbidden step; at least one. Rules that deny the edit are first, in
    /// the order of the policies' names.
    pub findings: Vec<PolicyFinding<'s>>,
}

/// An edit that every known rule allows, although the cluster may have rules that are not known.
#[derive(Debug)]
pub struct UnknownPolicies<'s> {
    /// How the resolved bundle relates to the installed one.
    pub change: AllowedChange,
    /// The bundle that the edit resolves to.
    pub resolved: Choice<'s>,
    /// Why policies may be missing, in one line.
    pub why: &'s str,
}

/// One reason why a spec cannot be judged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SpecFault {
    /// The filter cannot be read.
    Filter(FilterError),
    /// The CRD would refuse the object.
    Schema(Finding),
}

/// Why no catalog is selected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoCatalogs {
    /// No catalog is given.
    NoneGiven,
    /// No catalog exists.
    NoneExist,
    /// The selector matches no catalog.
    NoneMatch,
    /// Every catalog that the selector matches is `Unavailable`.
    AllUnavailable,
}

/// How the bundle that an allowed edit resolves to relates to the installed one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AllowedChange {
    /// The edit resolves to the installed bundle.
    Unchanged,
    /// Only the bypass allows it.
    Bypassed(Jump),
    /// Upgrade edges allow it, or nothing is installed.
    Resolved,
}

/// The kind of a jump that only the bypass allows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Jump {
    /// A move to a lower version.
    Downgrade,
    /// A move to a higher version that is not a successor.
    Leap,
    /// A move to another bundle of the same version.
    Sideways,
    /// Unknown, because the installed version cannot be read.
    Unknown,
}

impl Ruling<'_> {
    /// Whether a rule of an author or administrator forbids the step that OLM takes under the edit, or an unknown rule
    /// may forbid it: rows 16 to 17a.
    pub(super) fn forbids_move(&self) -> bool {
        match self {
            Self::Guardrail(_) => true,
            Self::Policy(refusal) => refusal.change != AllowedChange::Unchanged,
            Self::PoliciesUnknown(unlisted) => unlisted.change != AllowedChange::Unchanged,
            _ => false,
        }
    }

    /// The reason why the edit is not judged, if it is exempt.
    pub fn exemption(&self) -> Option<&Exemption> {
        match self {
            Self::NotJudged(exemption) => Some(exemption),
            _ => None,
        }
    }

    /// Whether the only reason is that the content of a catalog could not be read.
    pub fn rests_on_bad_input(&self) -> bool {
        matches!(self, Self::CatalogNotLoaded(failed) if failed.why.is_bad_input())
    }

    /// The token of the row.
    pub fn token(&self) -> Token {
        match self {
            Self::NotJudged(_) => Token::NotJudged,
            Self::Unanswered(cause) => cause.token(),
            Self::InvalidSpec(_) => Token::InvalidSpec,
            Self::InvalidSelector(_) => Token::InvalidSelector,
            Self::InvalidVersionRange(_) => Token::InvalidVersionRange,
            Self::NoCatalogs(_) => Token::NoCatalogs,
            Self::InstalledUnknown(_) => Token::InstalledUnknown,
            Self::CatalogNotLoaded(_) => Token::CatalogNotLoaded,
            Self::CatalogOutdated(_) => Token::CatalogOutdated,
            Self::PackageNotFound { .. } => Token::PackageNotFound,
            Self::InstalledVersionInvalid(_) => Token::InstalledVersionInvalid,
            Self::ChannelNotFound { .. } => Token::ChannelNotFound,
            Self::NotInChannel { .. } => Token::NotInChannel,
            Self::VersionNotFound { .. } => Token::VersionNotFound,
            Self::BrokenSkipRange(_) => Token::BrokenSkipRange,
            Self::Downgrade(..) => Token::Downgrade,
            Self::NotASuccessor(..) => Token::NotASuccessor,
            Self::AmbiguousCatalogs(_) => Token::AmbiguousCatalogs,
            Self::BundleVersionInvalid(..) => Token::BundleVersionInvalid,
            Self::UnsupportedDependency(..) => Token::UnsupportedDependency,
            Self::Preflight(_) => Token::Preflight,
            Self::Guardrail(_) => Token::Guardrail,
            Self::Policy(_) => Token::Policy,
            Self::PoliciesUnknown(_) => Token::PoliciesUnknown,
            Self::Allowed(AllowedChange::Unchanged, _) => Token::Unchanged,
            Self::Allowed(AllowedChange::Bypassed(_), _) => Token::Bypassed,
            Self::Allowed(AllowedChange::Resolved, _) => Token::Resolved,
        }
    }
}

// === The ruling with its evidence ===

/// The row that answered, with all evidence found up to that row.
#[derive(Debug)]
pub struct RuledEdit<'s> {
    /// The row.
    pub ruling: Ruling<'s>,
    /// For each catalog with the package, the bundles that pass the filters. Empty if an earlier row answered.
    pub matched: Vec<MatchedBundles<'s>>,
    /// The catalog whose deprecations operator-controller copies into the conditions.
    pub deprecations_of: Option<&'s CatalogState>,
    /// The bundle whose image operator-controller would pull, if row 15a was checked for it.
    pub pulled: Option<Choice<'s>>,
    /// Faults that may keep operator-controller from installing the bundle, but that deny nothing.
    pub preflight: Option<PreflightRefusal<'s>>,
    /// The steps that guardrails would forbid if the bypass did not lift them.
    pub lifted: Vec<ForbiddenStep<'s>>,
    /// Why some steps were not compared with guardrails, if any guardrail applies.
    pub guardrails_not_applied: Option<UnjudgedSteps>,
    /// The rules of upgrade policies that only warn, and that the edit or a later step violates.
    pub policy_warnings: Vec<PolicyFinding<'s>>,
    /// How many steps were compared with upgrade policies, if not all.
    pub policies_not_applied: Option<usize>,
}

/// Why some steps that OLM would take were not compared with guardrails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnjudgedSteps {
    /// The version that the first step starts from is unknown or cannot be read.
    First,
    /// The walk has more steps than time allows.
    Later {
        /// The number of compared steps.
        looked_at: usize,
    },
}

/// The bundles of one catalog that pass the filters.
#[derive(Clone, Debug)]
pub struct MatchedBundles<'s> {
    /// The catalog.
    pub catalog: &'s CatalogState,
    /// The package in it.
    pub package: &'s Package,
    /// The bundles that are in the requested channels and in the range.
    pub candidates: BundleSet,
    /// The candidates that upgrade edges allow.
    pub left: BundleSet,
}

impl<'s> RuledEdit<'s> {
    /// The bundle that the edit resolves to, whether or not it is allowed.
    pub fn resolved(&self) -> Option<Choice<'s>> {
        match &self.ruling {
            Ruling::Allowed(_, choice) => Some(*choice),
            Ruling::Preflight(refusal) => Some(refusal.resolved),
            Ruling::Guardrail(forbidden) => Some(forbidden.resolved),
            Ruling::Policy(refusal) => Some(refusal.resolved),
            Ruling::PoliciesUnknown(unlisted) => Some(unlisted.resolved),
            _ => None,
        }
    }

    /// The reasons why the resolved bundle cannot be installed, or possibly cannot, whether or not the edit is denied.
    pub fn preflight(&self) -> Option<&PreflightRefusal<'s>> {
        match &self.ruling {
            Ruling::Preflight(refusal) => Some(refusal),
            _ => self.preflight.as_ref(),
        }
    }

    /// The catalog that the answer rests on: the catalog of the bundle in the ruling, otherwise the only catalog with
    /// matches.
    pub fn cited_catalog(&self) -> Option<&'s CatalogState> {
        match &self.ruling {
            Ruling::Allowed(_, choice)
            | Ruling::Downgrade(choice, _)
            | Ruling::NotASuccessor(choice, _)
            | Ruling::BrokenSkipRange(choice)
            | Ruling::BundleVersionInvalid(choice, _)
            | Ruling::UnsupportedDependency(choice, _) => Some(choice.catalog),
            Ruling::Preflight(refusal) => Some(refusal.resolved.catalog),
            Ruling::Guardrail(forbidden) => Some(forbidden.to.catalog),
            Ruling::Policy(refusal) => Some(refusal.resolved.catalog),
            Ruling::PoliciesUnknown(unlisted) => Some(unlisted.resolved.catalog),
            Ruling::CatalogNotLoaded(failed) => Some(failed.catalog),
            Ruling::CatalogOutdated(outdated) => match outdated.catalogs() {
                [only] => Some(only),
                _ => None,
            },
            _ => match self.matched.as_slice() {
                [only] => Some(only.catalog),
                _ => None,
            },
        }
    }

    /// The ruling on an edit that only turns the bypass off, from the ruling without the bypass. The edit passes,
    /// unless a rule forbids the step that OLM then takes. Warnings about that step are kept. If the edit also changes
    /// how the bundle is installed, that must be possible.
    pub(super) fn of_stricter(self, reconfigures: bool) -> Self {
        let is_kept = reconfigures && matches!(self.ruling, Ruling::Preflight(_));
        if is_kept || self.ruling.forbids_move() {
            return self;
        }
        let passed = Self {
            pulled: self.pulled,
            preflight: self.preflight,
            ..Ruling::NotJudged(Exemption::Stricter).into()
        };
        match self.ruling {
            Ruling::Allowed(change, _) if change != AllowedChange::Unchanged => Self {
                guardrails_not_applied: self.guardrails_not_applied,
                policy_warnings: self.policy_warnings,
                policies_not_applied: self.policies_not_applied,
                ..passed
            },
            _ => passed,
        }
    }

    /// The ruling on an edit that only changes how a bundle is installed, from the ruling on the whole edit. The edit
    /// passes, unless operator-controller cannot install the bundle with the new settings.
    pub(super) fn of_reconfigured(self) -> Self {
        if matches!(self.ruling, Ruling::Preflight(_)) {
            return self;
        }
        Self {
            pulled: self.pulled,
            preflight: self.preflight,
            ..Ruling::NotJudged(Exemption::Reconfigured).into()
        }
    }
}

impl<'s> From<Ruling<'s>> for RuledEdit<'s> {
    fn from(ruling: Ruling<'s>) -> Self {
        Self {
            ruling,
            matched: Vec::new(),
            deprecations_of: None,
            pulled: None,
            preflight: None,
            lifted: Vec::new(),
            guardrails_not_applied: None,
            policy_warnings: Vec::new(),
            policies_not_applied: None,
        }
    }
}

impl<'s> MatchedBundles<'s> {
    /// The bundles of a match.
    pub(super) fn of(found: Match<'_, 's>) -> Self {
        Self {
            catalog: found.offer.catalog,
            package: found.offer.package,
            candidates: found.offer.candidates.clone(),
            left: found.matched,
        }
    }
}

/// Why an edit was not judged against the catalogs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnansweredReason {
    /// The time for the answer is over.
    DeadlineExceeded {
        /// The last thing that the edit waited for.
        waited_for: Wait,
        /// The time limit, counted from the first byte of the request.
        within: Duration,
    },
    /// The queue is full.
    QueueFull {
        /// The number of edits that wait already.
        waiting: usize,
    },
    /// The edits that wait already would take longer than the time limit.
    QueueTooSlow {
        /// The number of edits that wait already.
        waiting: usize,
        /// The time limit.
        within: Duration,
    },
}

/// The thing that an edit waits for in a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wait {
    /// A free worker.
    Worker,
    /// The end of the judgement of the edit.
    Judge,
}

impl UnansweredReason {
    /// The token of the reason.
    pub fn token(self) -> Token {
        match self {
            Self::DeadlineExceeded { .. } => Token::DeadlineExceeded,
            Self::QueueFull { .. } | Self::QueueTooSlow { .. } => Token::Overloaded,
        }
    }
}
