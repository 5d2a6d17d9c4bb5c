//! What is worth knowing about an extension, as a closed set of words: metrics and reports label by them.

use crate::audit::{Audit, Deprecations, Onward};
use crate::judge::{Ruling, Verdict, Walk};

macro_rules! concerns {
    ($($(#[$doc:meta])* $concern:ident => $word:literal,)+) => {
        /// One thing worth knowing, the worst first.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Concern {
            $($(#[$doc])* $concern,)+
        }

        impl Concern {
            /// Every concern, the worst first.
            pub const ALL: &'static [Self] = &[$(Self::$concern),+];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$concern => $word,)+
                }
            }
        }
    };
}

concerns! {
    /// OLM resolves nothing for the spec.
    Unresolvable => "unresolvable",
    /// OLM takes a step automatically that guardrails forbid.
    ForbiddenMove => "forbidden_move",
    /// Guardrails or upgrade policies forbid what the spec resolves to.
    Forbidden => "forbidden",
    /// A fact is missing.
    Undecided => "undecided",
    /// Newer versions exist, and no upgrade path leads to any of them.
    Stranded => "stranded",
    /// No catalog has the installed bundle any more.
    NotInCatalog => "not_in_catalog",
    /// The package is deprecated.
    PackageDeprecated => "package_deprecated",
    /// The installed bundle is deprecated.
    BundleDeprecated => "bundle_deprecated",
    /// A requested channel is deprecated.
    ChannelDeprecated => "channel_deprecated",
    /// Guardrails or upgrade policies forbid each path to a newer version.
    PathForbidden => "path_forbidden",
    /// Only a change of channels leads to a newer version.
    ChannelEnds => "channel_ends",
    /// The bypass of the upgrade edges is still set.
    Bypass => "bypass",
    /// OLM upgrades it automatically.
    Moves => "moves",
    /// The range has no upper bound.
    Unbounded => "unbounded",
    /// A newer version is within reach.
    Behind => "behind",
}

impl Concern {
    /// Whether an audit found it.
    pub(super) fn is_of(self, audit: &Audit<'_>) -> bool {
        match self {
            Self::Unresolvable => denies(audit) && !is_by_rule(audit),
            Self::Forbidden => denies(audit) && is_by_rule(audit),
            Self::Undecided => audit.judgement.verdict() == Verdict::Undecided,
            Self::ForbiddenMove => walks(audit, |walk| !walk.forbidden.is_empty()),
            Self::Moves => walks(audit, |walk| !walk.steps.is_empty()),
            Self::Bypass => audit.bypass.is_some(),
            Self::Unbounded => audit.is_unbounded == Some(true),
            Self::NotInCatalog => {
                let place = audit.place.as_ref();
                place.is_some_and(|place| place.installed.is_empty())
            }
            Self::PackageDeprecated => deprecates(audit, |all| all.of_package.is_some()),
            Self::BundleDeprecated => deprecates(audit, |all| all.is_of_bundle),
            Self::ChannelDeprecated => deprecates(audit, |all| !all.of_channels.is_empty()),
            Self::Stranded | Self::PathForbidden | Self::ChannelEnds | Self::Behind => {
                let place = audit.place.as_ref();
                place.is_some_and(|place| Self::of_path(&place.onward) == Some(self))
            }
        }
    }

    /// What a path onward is, if it is a concern.
    fn of_path(onward: &Onward<'_>) -> Option<Self> {
        match onward {
            Onward::Now(_) | Onward::Later(..) => Some(Self::Behind),
            Onward::Forbidden(_) => Some(Self::PathForbidden),
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

fn deprecates(audit: &Audit<'_>, is: impl Fn(&Deprecations<'_>) -> bool) -> bool {
    let place = audit.place.as_ref();
    place.is_some_and(|place| is(&place.deprecations))
}
