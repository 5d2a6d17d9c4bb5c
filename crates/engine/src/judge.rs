//! The decision table: turns an edit and the facts into a judgement with its evidence.
//!
//! ```text
//! Edit --exempt?--> row 1 --> Request --rows 2 to 15--> 16: guardrails --> 17: policies --> Ruling --> Judgement
//!                                ^                                                           |
//!                                '------ advice: the same rows, asked again about each suggestion
//! ```
//!
//! The rows and their order are part of the project's contract, and `rule` evaluates them in this order. If a row is a
//! refusal by the resolver, `ruling` keeps the resolver's text. Rows 16 and 17 are checked for each step that OLM takes
//! under the edit (`walk`).
//!
//! This file defines the input of a judgement ([`Basis`]), the names of its results ([`Token`], [`Verdict`]) and the
//! edits that are exempt from it ([`Exemption`]). It produces no text; `explain` does.
//!
//! Invariant: the same facts give the same judgement, in every command and on every replica.

mod advice;
mod earlier;
mod identify;
mod nearby;
mod question;
mod rows;
mod rule;
mod ruling;
mod step_rows;
mod walk;
mod warning;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::extension::schema::Finding;
use crate::extension::{Extension, Filter, Installed, SourceType};
use crate::resolve::{EditContext, Guards, InstallContext, MatchingPolicies, Occasion, Offer};
use crate::snapshot::{CatalogState, Snapshot};
use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_catalog::{Package, word_set};
use olmguard_policy::Conditions;
use olmguard_preflight::content::NeededObject;

pub use crate::resolve::{
    CrdRefusal, InstallFault, InstallFaults, NameTooLong, PolicyFinding, Requester, Stop,
    UpgradePolicies,
};
pub use advice::{
    Advice, BypassHelps, DeadEnd, Fix, FixValue, FoundAdvice, OneEdit, PathInOneCatalog, advise,
    pin,
};
pub use earlier::{BaseDoubt, EarlierObject, SchemaRefusal, pinned, resolved};
pub use identify::{
    CatalogKnowledge, IdentifiedInstalled, NamingError, StatedInstalled, identify,
    nearest_versions, target,
};
pub use olmguard_policy::UserInfo;
pub use rule::{Request, rule, successors};
pub use ruling::{
    AllowedChange, ForbiddenStep, Jump, MatchedBundles, NoCatalogs, OutdatedCatalogs,
    PolicyRefusal, PreflightRefusal, RuledEdit, Ruling, SpecFault, UnansweredReason, UnjudgedSteps,
    UnknownPolicies, Wait,
};
pub use step_rows::denied_steps;
pub use walk::{
    MOST_FORBIDDEN, Walk, WalkEnd, affordable_steps, most_steps, recorded, steps_of, walk,
};
pub use warning::{Continuation, OldKubernetes, ShortWebhookNames, Warning};

pub(crate) use crate::judge::step_rows::images_named;

/// One edit of an extension, with the facts that the caller knows about it.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// The object after the edit.
    pub new: &'a Extension,
    /// The object before the edit; absent for a creation, and offline.
    pub old: Option<&'a Extension>,
    /// The installed bundle.
    pub installed: &'a Installed,
    /// Everything that the CRD would refuse. Empty behind an API server, which has already validated the object.
    pub schema: &'a [Finding],
    /// The user and the time of the edit.
    pub requester: &'a Requester,
}

/// The judgement on an edit: the row that answered, and the warnings.
#[derive(Debug)]
pub struct Judgement<'s> {
    /// The row that answered, with its evidence.
    pub ruled: RuledEdit<'s>,
    /// The warnings, the most important first.
    pub warnings: Vec<Warning<'s>>,
}

impl Judgement<'_> {
    /// The row that answered.
    pub fn token(&self) -> Token {
        self.ruled.ruling.token()
    }

    /// The outcome of the edit.
    pub fn verdict(&self) -> Verdict {
        self.token().verdict()
    }
}

impl<'a> Edit<'a> {
    /// The filter and the installed bundle; `None` if the filter cannot be read.
    pub fn request(&self) -> Option<Request<'a>> {
        let filter = self.new.filter.as_ref().ok()?;
        Some(Request {
            filter,
            installed: self.installed,
            context: EditContext {
                is_update: self.old.is_some(),
                install: self.install(),
                ..EditContext::of(&self.new.subject, self.requester)
            },
        })
    }

    /// Whether the edit changes how a bundle is installed, or whether a bundle can be installed at all.
    fn reconfigures(&self) -> bool {
        let old = self.old.and_then(|old| old.install.as_ref());
        let both = self.new.install.as_ref().zip(old);
        both.is_some_and(|(new, old)| new.decides_otherwise_than(old))
    }

    /// The installation settings of the extension, if its shape has them.
    fn install(&self) -> Option<InstallContext<'a>> {
        let request = self.new.install.as_ref()?;
        let old = self.old.and_then(|old| old.install.as_ref());
        let occasion = match (exemption(self), old) {
            (Some(Exemption::Reconfigured), Some(old)) if request.differs_from(old) => {
                Occasion::ConfigurationAlone
            }
            (Some(Exemption::Reconfigured), Some(_)) => Occasion::EnforcementAlone,
            (Some(Exemption::Stricter), _) if !self.reconfigures() => Occasion::BypassEnd,
            (_, Some(old)) if request.differs_from(old) => Occasion::Reconfiguration,
            (_, None) if matches!(self.installed, Installed::Nothing) => Occasion::Creation,
            _ => Occasion::Move,
        };
        Some(InstallContext {
            request,
            occasion,
            installed: self.installed,
        })
    }

    /// The objects that must exist before OLM can install a bundle as the edit requests. Objects whose existence
    /// follows from the installed bundle are not listed.
    pub(crate) fn needs(&self) -> BTreeSet<NeededObject> {
        let Some(InstallContext {
            request, occasion, ..
        }) = self.install()
        else {
            return BTreeSet::new();
        };
        let is_first = matches!(self.installed, Installed::Nothing);
        let namespace = is_first.then(|| NeededObject::Namespace(request.namespace.clone()));
        let watched = request.watched().filter(|watched| {
            let is_other = *watched != request.namespace;
            is_other && (is_first || occasion.reconfigures())
        });
        let watched = watched.map(|name| NeededObject::WatchedNamespace(name.to_owned()));
        let has_account = is_first && !request.service_account.is_empty();
        let account = has_account.then(|| NeededObject::ServiceAccount {
            namespace: request.namespace.clone(),
            name: request.service_account.clone(),
        });
        namespace
            .into_iter()
            .chain(watched)
            .chain(account)
            .collect()
    }

    /// The filter of the old object, if its source was a catalog.
    fn old_filter(&self) -> Option<&'a Filter> {
        let old = self
            .old
            .filter(|old| old.source_type == SourceType::Catalog);
        old.and_then(|old| old.filter.as_ref().ok())
    }
}

/// The edit that sets the spec of an extension as it is now. An API server would accept the object.
pub fn as_set_now<'a>(extension: &'a Extension, requester: &'a Requester) -> Edit<'a> {
    Edit {
        new: extension,
        old: None,
        installed: &extension.installed,
        schema: &[],
        requester,
    }
}

/// Judges one edit.
pub fn judge<'s>(basis: Basis<'s>, edit: &Edit<'_>) -> Judgement<'s> {
    judge_with(basis, edit, Conditions::ALL)
}

/// Like [`judge`], but evaluates the conditions of upgrade policies only as far as `conditions` allows.
pub fn judge_with<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    conditions: Conditions<'_>,
) -> Judgement<'s> {
    let ruled = ruled(basis, edit, conditions);
    let warnings = warning::warnings(basis, edit, &ruled);
    Judgement { ruled, warnings }
}

fn ruled<'s>(basis: Basis<'s>, edit: &Edit<'_>, conditions: Conditions<'_>) -> RuledEdit<'s> {
    let rule = |request: Request<'_>| rule(basis, &request.with_conditions(conditions));
    match (exemption(edit), rows::spec_row(edit)) {
        (Some(Exemption::Stricter), Ok(request)) => rule(request).of_stricter(edit.reconfigures()),
        (Some(Exemption::Reconfigured), Ok(request)) => rule(request).of_reconfigured(),
        (Some(exemption), _) => Ruling::NotJudged(exemption).into(),
        (None, Ok(request)) => rule(request),
        (None, Err(faults)) => Ruling::InvalidSpec(faults).into(),
    }
}

// === The facts and rules for judging an edit ===

/// The facts and rules at one moment. The facts are replaced when the catalogs change, the rules when the policies
/// change. Neither is copied for an edit.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'s> {
    /// The facts: the catalogs, and the release of OLM that resolves from them.
    pub snapshot: &'s Snapshot,
    /// The rules of administrators.
    pub policies: &'s Policies,
}

/// The upgrade rules of a cluster's administrators.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// Guardrails of administrators, in addition to those of package authors.
    pub guardrails: AdministratorGuardrails,
    /// Upgrade policies.
    pub upgrades: UpgradePolicies,
    /// Why the cluster may have more guardrails or policies than these, in one line; `None` if the list is complete.
    pub unlisted: Option<Box<str>>,
}

impl<'s> Basis<'s> {
    /// The facts alone, without rules from administrators.
    pub fn without_policies(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            policies: &NONE,
        }
    }

    /// The upgrade policies that match an extension with this filter.
    pub(crate) fn policies_on<'a>(
        self,
        filter: &'a Filter,
        context: EditContext<'a>,
    ) -> MatchingPolicies<'a, 's> {
        let masterminds = self.snapshot.rules().masterminds;
        MatchingPolicies::of(&self.policies.upgrades, filter, context, masterminds)
    }

    /// The guardrails of a package on steps to the bundles of these offers.
    pub(crate) fn guards_on(self, package: &str, offers: &[Offer<'s>]) -> Guards<'s> {
        Guards::of(&self.policies.guardrails, package, offers)
    }
}

static NONE: LazyLock<Policies> = LazyLock::new(Policies::default);

impl Basis<'_> {
    /// Whether an edit with this filter is judged within some tenths of a millisecond, advice included. This is so if
    /// the package has few bundles, and no guardrail or policy must be compared with each step. A package that does not
    /// exist is not quick, because its name is compared with all package names. Nor is an edit whose installed bundle
    /// has no name, because it is judged for each name that an edge mentions.
    pub fn is_quick_on(&self, filter: &Filter, installed: &Installed) -> bool {
        if matches!(installed, Installed::Bundle(bundle) if bundle.name.is_none()) {
            return false;
        }
        let catalogs = self.snapshot.catalogs().iter();
        let loaded = catalogs.filter_map(CatalogState::loaded);
        let mut packages = loaded.filter_map(|catalog| catalog.package(&filter.package)?.ok());
        let bundles = packages.try_fold(0, |bundles, package: &Package| {
            let is_free = package.guardrails().stated().is_none();
            is_free.then(|| bundles + package.bundle_count())
        });
        bundles.is_some_and(|bundles| (1..=MOST_BUNDLES).contains(&bundles))
            && self.policies.upgrades.is_empty()
            && self
                .policies
                .guardrails
                .on(&filter.package)
                .next()
                .is_none()
            && filter.entries() <= MOST_ENTRIES
            && filter.range().is_none_or(|range| range.len() <= MOST_BYTES)
    }
}

/// The most bundles of the package, in all catalogs together.
const MOST_BUNDLES: usize = 256;

/// The most channels and selector entries that are compared.
const MOST_ENTRIES: usize = 32;

/// The longest text of a range, which is also the limit of the CRD.
const MOST_BYTES: usize = 64;

// === The names of results in every command, metric and log ===

word_set! {
    /// The outcome of an edit.
    pub enum Verdict {
        /// OLM would apply the edit.
        Allow => "allow",
        /// OLM would not apply the edit, or a rule forbids it.
        Deny => "deny",
        /// The facts are not sufficient to decide.
        Undecided => "undecided",
        /// The edit is not judged.
        NotJudged => "not_judged",
    }
}

macro_rules! tokens {
    ($($(#[$about:meta])* $token:ident => $verdict:ident,)+) => {
        /// The row of the decision table that answered.
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Token {
            $($(#[$about])* $token,)+
        }

        impl Token {
            /// Every token, in the order of the rows.
            pub const ALL: [Self; [$(stringify!($token)),+].len()] = [$(Self::$token),+];

            /// The name of the token.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$token => stringify!($token),)+
                }
            }

            /// Whether only a cluster, or a snapshot of one, gives this answer. Files alone never do.
            pub fn takes_a_cluster(self) -> bool {
                matches!(
                    self,
                    Self::DeadlineExceeded
                        | Self::Overloaded
                        | Self::CatalogOutdated
                        | Self::PoliciesUnknown
                )
            }

            /// The verdict of the row.
            pub fn verdict(self) -> Verdict {
                match self {
                    $(Self::$token => Verdict::$verdict,)+
                }
            }
        }
    };
}

tokens! {
    /// The edit is not judged.
    #[default]
    NotJudged => NotJudged,
    /// Before any row, in a server only: the time for the answer is over.
    DeadlineExceeded => Undecided,
    /// Before any row, in a server only: too many edits wait already.
    Overloaded => Undecided,
    /// Row 1: the filter cannot be read, or the CRD would refuse it.
    InvalidSpec => Deny,
    /// Row 2: the selector does not compile.
    InvalidSelector => Deny,
    /// Row 3: the version range does not compile.
    InvalidVersionRange => Deny,
    /// Row 4: no catalog is selected.
    NoCatalogs => Undecided,
    /// Row 4a: the installed bundle is not known.
    InstalledUnknown => Undecided,
    /// Row 5: a selected catalog is not loaded, or the package in it cannot be decoded.
    CatalogNotLoaded => Undecided,
    /// Rows 5a and 5b: the content of a selected catalog was last confirmed current too long ago, or it is superseded
    /// and a later row would deny because of it.
    CatalogOutdated => Undecided,
    /// Row 6: no selected catalog has the package.
    PackageNotFound => Deny,
    /// Row 7: the installed version or release cannot be read.
    InstalledVersionInvalid => Deny,
    /// Row 8: no requested channel exists.
    ChannelNotFound => Deny,
    /// Row 9: the bundles in the range are in other channels.
    NotInChannel => Deny,
    /// Row 10: no bundle is in the range.
    VersionNotFound => Deny,
    /// Row 10a: OLM crashes on a `skipRange`.
    BrokenSkipRange => Deny,
    /// Row 11: every bundle in the range is older than the installed one.
    Downgrade => Deny,
    /// Row 12: no bundle in the range is a successor.
    NotASuccessor => Deny,
    /// Row 13: several catalogs tie for the bundle.
    AmbiguousCatalogs => Deny,
    /// Row 14: the version of the resolved bundle cannot be read.
    BundleVersionInvalid => Deny,
    /// Row 15: the resolved bundle declares a dependency.
    UnsupportedDependency => Deny,
    /// Row 15a: operator-controller cannot install the resolved bundle.
    Preflight => Deny,
    /// Row 16: guardrails forbid a step that OLM would take.
    Guardrail => Deny,
    /// Row 17: an upgrade policy of the cluster forbids the edit.
    Policy => Deny,
    /// Row 17a: nothing known forbids the edit, but not all policies of the cluster are known.
    PoliciesUnknown => Undecided,
    /// Row 18: the edit resolves to the installed bundle.
    Unchanged => Allow,
    /// Row 18: the edit resolves to a bundle that only the bypass allows.
    Bypassed => Allow,
    /// Row 18: the edit resolves.
    Resolved => Allow,
}

// === Edits that are never judged ===

/// Why an edit is not judged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Exemption {
    /// An operation other than a creation or an update, or an operation on a subresource.
    Operation,
    /// An object of another kind.
    Kind,
    /// An extension in an `apiVersion` that this program does not know.
    UnknownVersion {
        /// The version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The object is being deleted.
    Deleting,
    /// An update that does not change the filter.
    Unchanged,
    /// The content of the extension does not come from a catalog.
    Source(String),
    /// An update whose only change to the filter is to turn the bypass off. Rows 16 and 17 are checked for the step
    /// that OLM then takes, if it takes one.
    Stricter,
    /// An update that only changes how the bundle is configured: `spec.config`. Row 15a is checked for it.
    Reconfigured,
}

word_set! {
    /// The kind of an exemption.
    pub enum ExemptionKind {
        /// [`Exemption::Operation`].
        Operation => "operation",
        /// [`Exemption::Kind`].
        Kind => "kind",
        /// [`Exemption::UnknownVersion`].
        UnknownVersion => "unknown_version",
        /// [`Exemption::Deleting`].
        Deleting => "deleting",
        /// [`Exemption::Unchanged`].
        Unchanged => "unchanged",
        /// [`Exemption::Source`].
        Source => "source",
        /// [`Exemption::Stricter`].
        Stricter => "stricter",
        /// [`Exemption::Reconfigured`].
        Reconfigured => "reconfigured",
    }
}

impl Exemption {
    /// The kind of the exemption.
    pub fn kind(&self) -> ExemptionKind {
        match self {
            Self::Operation => ExemptionKind::Operation,
            Self::Kind => ExemptionKind::Kind,
            Self::UnknownVersion { .. } => ExemptionKind::UnknownVersion,
            Self::Deleting => ExemptionKind::Deleting,
            Self::Unchanged => ExemptionKind::Unchanged,
            Self::Source(_) => ExemptionKind::Source,
            Self::Stricter => ExemptionKind::Stricter,
            Self::Reconfigured => ExemptionKind::Reconfigured,
        }
    }

    /// Whether the exemption needs the catalogs: a rule may forbid what OLM then does, or a warning may be due.
    pub fn takes_catalogs(&self) -> bool {
        matches!(self, Self::Stricter | Self::Reconfigured)
    }
}

/// The first exemption that applies. The catalogs are not read, so an exemption that [`Exemption::takes_catalogs`] is
/// not final.
pub fn exemption(edit: &Edit<'_>) -> Option<Exemption> {
    if edit.new.deleting {
        return Some(Exemption::Deleting);
    }
    let new = edit.new.filter.as_ref().ok();
    let both = new.zip(edit.old_filter());
    let is_unchanged = both.is_some_and(|(new, old)| new.asks_the_same_as(old));
    if is_unchanged && !edit.reconfigures() {
        return Some(Exemption::Unchanged);
    }
    if let SourceType::Other(other) = &edit.new.source_type {
        return Some(Exemption::Source(other.clone()));
    }
    if is_unchanged {
        return Some(Exemption::Reconfigured);
    }
    both.filter(|(new, old)| !new.bypasses() && old.bypasses() && new.selects_the_same_as(old))
        .map(|_| Exemption::Stricter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_decision_table() {
        let words: Vec<_> = Token::ALL.iter().map(|token| token.as_str()).collect();
        assert_eq!(words.first(), Some(&"NotJudged"));
        assert_eq!(words.len(), 28);
        assert!(Token::ALL.iter().is_sorted());
        assert_eq!(Token::NotASuccessor.verdict().as_str(), "deny");
        assert_eq!(Token::NoCatalogs.verdict().as_str(), "undecided");
        assert_eq!(Token::NotJudged.verdict().as_str(), "not_judged");
        assert_eq!(Token::Bypassed.verdict().as_str(), "allow");
    }
}
