//! What a row of the decision table found.

use crate::extension::schema::Finding;
use crate::extension::{FilterError, UnknownCause};
use crate::judge::UnlistedPolicies;
use crate::judge::{Exemption, ForbiddenStep, PolicyRefusal, Token, UnansweredReason};
use crate::resolve::{Choice, InstalledError, NotLoaded, NotLoadedCause};
use crate::snapshot::CatalogState;
use olmguard_catalog::selector::SelectorError;
use olmguard_catalog::version::{ConstraintError, Version};
use olmguard_catalog::{BundleVersionError, DependencyKind};

/// The row that answered, with what it found.
#[derive(Debug)]
pub enum Ruling<'s> {
    /// The edit is none that is judged.
    NotJudged(Exemption),
    /// Before any row: a server had no time or no room for it.
    Unanswered(UnansweredReason),
    /// Row 1, one fault or more.
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
        /// The catalogs in play.
        searched: Vec<&'s str>,
        /// Packages of theirs with a name like the one asked for, the likest first.
        nearest: Vec<&'s str>,
    },
    /// Row 7.
    InstalledVersionInvalid(InstalledError),
    /// Row 8.
    ChannelNotFound {
        /// The channels there are, those with names like the asked ones first.
        existing: Vec<&'s str>,
    },
    /// Row 9.
    NotInChannel {
        /// The channels that have a bundle in the range; none where it is in no channel.
        having: Vec<&'s str>,
    },
    /// Row 10.
    VersionNotFound {
        /// The versions nearest to what was asked, of the asked channels.
        nearest: Vec<&'s Version>,
    },
    /// Row 10a.
    BrokenSkipRange(Choice<'s>),
    /// Row 11: the best of the candidates, and how many there are.
    Downgrade(Choice<'s>, usize),
    /// Row 12: the best of the candidates, and how many there are.
    NotASuccessor(Choice<'s>, usize),
    /// Row 13: every candidate that is left, highest priority first.
    AmbiguousCatalogs(Vec<Choice<'s>>),
    /// Row 14.
    BundleVersionInvalid(Choice<'s>, &'s BundleVersionError),
    /// Row 15.
    UnsupportedDependency(Choice<'s>, DependencyKind),
    /// Row 16: the first step that OLM would take and that guardrails forbid.
    Guardrail(ForbiddenStep<'s>),
    /// Row 17: what upgrade policies deny of the edit, or of a step that OLM takes after it.
    Policy(Box<PolicyRefusal<'s>>),
    /// Row 17a.
    PoliciesUnknown(UnlistedPolicies<'s>),
    /// Row 18.
    Allowed(AllowedChange, Choice<'s>),
}

/// Which catalogs in play are outdated, in byte order of their names, and why that decides.
#[derive(Debug)]
pub enum OutdatedCatalogs<'s> {
    /// Row 5a: they were last known to be current too long ago.
    TooOld(Vec<&'s CatalogState>),
    /// Row 5b: they have newer content than what is loaded, by which this row would deny.
    Superseded {
        /// The catalogs.
        catalogs: Vec<&'s CatalogState>,
        /// One of rows 6 to 15.
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

/// One reason why a spec cannot be judged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SpecFault {
    /// The filter cannot be read.
    Filter(FilterError),
    /// The CRD would refuse the object.
    Schema(Finding),
}

/// Why no catalog is in play.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoCatalogs {
    /// No one said which there are.
    NoneGiven,
    /// There is none.
    NoneExist,
    /// The selector matches none.
    NoneMatch,
    /// Every one that matches is `Unavailable`.
    AllUnavailable,
}

/// How an edit that is allowed relates to what is installed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AllowedChange {
    /// It resolves to the very bundle that is installed.
    Unchanged,
    /// Only the bypass lets it through.
    Bypassed(Jump),
    /// Nothing stands against it.
    Resolved,
}

/// What a bypass jumps.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Jump {
    /// To a lower version.
    Downgrade,
    /// To a higher version that is no successor.
    Leap,
    /// To the same version in another bundle.
    Sideways,
    /// It cannot be told, since the installed version cannot be read.
    Unknown,
}

impl Ruling<'_> {
    /// Whether a rule of an author or administrator forbids the step that OLM takes under the edit, or one that is not
    /// known can: rows 16 to 17a.
    pub(super) fn forbids_move(&self) -> bool {
        match self {
            Self::Guardrail(_) => true,
            Self::Policy(refusal) => refusal.change != AllowedChange::Unchanged,
            Self::PoliciesUnknown(unlisted) => unlisted.change != AllowedChange::Unchanged,
            _ => false,
        }
    }

    /// Why the edit is not judged, if it is not.
    pub fn exemption(&self) -> Option<&Exemption> {
        match self {
            Self::NotJudged(exemption) => Some(exemption),
            _ => None,
        }
    }

    /// Whether the content of a catalog could not be read, and decides for that alone.
    pub fn rests_on_bad_input(&self) -> bool {
        let Self::CatalogNotLoaded(failed) = self else {
            return false;
        };
        matches!(
            failed.why,
            NotLoadedCause::Unreadable(_) | NotLoadedCause::Package(_)
        )
    }

    /// The row's word.
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
            Self::Guardrail(_) => Token::Guardrail,
            Self::Policy(_) => Token::Policy,
            Self::PoliciesUnknown(_) => Token::PoliciesUnknown,
            Self::Allowed(AllowedChange::Unchanged, _) => Token::Unchanged,
            Self::Allowed(AllowedChange::Bypassed(_), _) => Token::Bypassed,
            Self::Allowed(AllowedChange::Resolved, _) => Token::Resolved,
        }
    }
}

impl From<Exemption> for Ruling<'_> {
    fn from(exemption: Exemption) -> Self {
        Self::NotJudged(exemption)
    }
}

impl From<UnansweredReason> for Ruling<'_> {
    fn from(reason: UnansweredReason) -> Self {
        Self::Unanswered(reason)
    }
}
