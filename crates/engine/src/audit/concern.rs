//! The concerns about an extension, a closed set of words: metrics and reports label by them.

use crate::audit::place::version;
use crate::audit::{Audit, Deprecations, NextEdit, Onward, Place};
use crate::judge::{Ruling, Token, Verdict, Walk};
use olmguard_catalog::word_set;

word_set! {
    /// One concern about an extension, the worst first.
    pub enum Concern {
        /// OLM resolves nothing for the spec.
        Unresolvable => "unresolvable",
        /// OLM takes a step automatically that guardrails forbid.
        ForbiddenMove => "forbidden_move",
        /// Guardrails or upgrade policies forbid what the spec resolves to.
        Forbidden => "forbidden",
        /// OLM cannot install what the spec resolves to, or perhaps cannot.
        NotInstallable => "not_installable",
        /// OLM upgrades it automatically from a release to a prerelease.
        MovesToPrerelease => "moves_to_prerelease",
        /// A fact is missing: one of the verdict, or what is installed.
        Undecided => "undecided",
        /// Newer versions exist, and no upgrade path leads to any of them.
        Stranded => "stranded",
        /// No catalog has the installed bundle any more.
        NotInCatalog => "not_in_catalog",
        /// The installed bundle violates upgrade policies.
        AgainstPolicy => "against_policy",
        /// The package is deprecated.
        PackageDeprecated => "package_deprecated",
        /// The installed bundle is deprecated.
        BundleDeprecated => "bundle_deprecated",
        /// A requested channel is deprecated.
        ChannelDeprecated => "channel_deprecated",
        /// Guardrails or upgrade policies forbid each path to a newer version.
        PathForbidden => "path_forbidden",
        /// OLM does not install a bundle on the path to a newer version, and there is no path around it.
        PathNotInstallable => "path_not_installable",
        /// Only a change of channels leads to a newer version.
        ChannelEnds => "channel_ends",
        /// The bypass of the upgrade edges is still set.
        Bypass => "bypass",
        /// OLM upgrades it automatically.
        Moves => "moves",
        /// The range has no upper bound.
        Unbounded => "unbounded",
        /// A newer version is within reach, and OLM does not upgrade to it automatically.
        Behind => "behind",
    }
}

impl Concern {
    /// Whether an audit found it.
    pub(super) fn is_of(self, audit: &Audit<'_>) -> bool {
        match self {
            Self::Unresolvable => {
                let is_resolved = audit.judgement.token() == Token::Preflight;
                denies(audit) && !is_by_rule(audit) && !is_resolved
            }
            Self::Forbidden => denies(audit) && is_by_rule(audit),
            Self::Undecided => {
                audit.judgement.verdict() == Verdict::Undecided || audit.unknown.is_some()
            }
            Self::NotInstallable => audit.not_installable().is_some(),
            Self::ForbiddenMove => walks(audit, |walk| !walk.forbidden.is_empty()),
            Self::MovesToPrerelease => audit.to_prerelease.is_some(),
            Self::Moves => walks(audit, |walk| !walk.steps.is_empty()),
            Self::Bypass => audit.bypass.is_some(),
            Self::Unbounded => audit.is_unbounded == Some(true),
            Self::NotInCatalog => is_at(audit, |place| place.installed.is_empty()),
            Self::AgainstPolicy => is_at(audit, |place| !place.violations.is_empty()),
            Self::PackageDeprecated => deprecates(audit, |all| all.of_package.is_some()),
            Self::BundleDeprecated => deprecates(audit, |all| all.is_of_bundle),
            Self::ChannelDeprecated => deprecates(audit, |all| !all.of_channels.is_empty()),
            Self::Stranded
            | Self::PathForbidden
            | Self::PathNotInstallable
            | Self::ChannelEnds
            | Self::Behind => Self::of_path(audit) == Some(self),
        }
    }

    /// The concern about the path onward, if there is one.
    fn of_path(audit: &Audit<'_>) -> Option<Self> {
        match &audit.place.as_ref()?.onward {
            Onward::Now(next) | Onward::Later(next, _) => {
                let arrives = walks(audit, |walk| arrives(walk, next));
                // No edit is needed for a version that OLM reaches automatically along edges.
                let is_idle = arrives && audit.bypass.is_none();
                (!is_idle).then_some(Self::Behind)
            }
            Onward::Forbidden(_) => Some(Self::PathForbidden),
            Onward::NotInstallable(_) => Some(Self::PathNotInstallable),
            Onward::OtherChannels(_) => Some(Self::ChannelEnds),
            Onward::Stranded => Some(Self::Stranded),
            // What OLM cannot choose is a concern of the request.
            Onward::Newest | Onward::Tied | Onward::NotFound => None,
        }
    }
}

fn denies(audit: &Audit<'_>) -> bool {
    audit.judgement.verdict() == Verdict::Deny
}

/// Whether rules of authors or administrators decided, and not OLM.
fn is_by_rule(audit: &Audit<'_>) -> bool {
    let ruling = &audit.judgement.ruled.ruling;
    matches!(ruling, Ruling::Guardrail(_) | Ruling::Policy(_))
}

fn walks(audit: &Audit<'_>, is: impl Fn(&Walk<'_>) -> bool) -> bool {
    audit.automatic.as_ref().is_some_and(is)
}

/// Whether automatic upgrades that no guardrail forbids reach the version that edits can reach, perhaps from another
/// catalog, or a newer one, such as a prerelease.
fn arrives(walk: &Walk<'_>, next: &NextEdit<'_>) -> bool {
    let Some(end) = next.path.last().and_then(|last| version(*last)) else {
        return false;
    };
    let steps = walk.steps.iter();
    let mut steps = steps.filter_map(|step| version(*step));
    walk.forbidden.is_empty() && steps.any(|step| step.cmp_precedence(end).is_ge())
}

fn deprecates(audit: &Audit<'_>, is: impl Fn(&Deprecations<'_>) -> bool) -> bool {
    is_at(audit, |place| is(&place.deprecations))
}

fn is_at(audit: &Audit<'_>, is: impl Fn(&Place<'_>) -> bool) -> bool {
    audit.place.as_ref().is_some_and(is)
}
