//! The question that the rows answer: a filter with the offers of the catalogs for it, and the installed bundle.

use crate::extension::{Filter, Installed, UnknownCause};
use crate::judge::ruling::{MatchedBundles, RuledEdit};
use crate::judge::{Basis, Ruling};
use crate::resolve::{
    Guards, InPlay, InstalledError, Match, NotLoaded, Offer, Origin, Query, QueryError, weigh,
};
use olmguard_catalog::olm::Rules;
use olmguard_policy::{Operation, PolicyOrigin};

/// A filter with the offers of the catalogs at one moment. The installed bundle is not part of it, because it changes
/// from step to step.
pub(super) struct FilterQuestion<'a, 's> {
    pub(super) basis: Basis<'s>,
    pub(super) filter: &'a Filter,
    pub(super) query: Query<'a>,
    pub(super) in_play: InPlay<'s>,
    pub(super) offers: Result<Vec<Offer<'s>>, NotLoaded<'s>>,
}

impl<'a, 's> FilterQuestion<'a, 's> {
    /// Compiles a filter and looks for its package.
    pub(super) fn of(basis: Basis<'s>, filter: &'a Filter) -> Result<Self, QueryError> {
        let query = Query::compile(filter, basis.snapshot)?;
        let in_play = query.in_play(basis.snapshot);
        let offers = query.offers(&in_play);
        Ok(Self {
            basis,
            filter,
            query,
            in_play,
            offers,
        })
    }

    /// The guardrails of the package.
    pub(super) fn guards(&self) -> Guards<'s> {
        self.basis.guards_on(&self.filter.package, self.offers())
    }

    /// The offers of the catalogs that have the package; empty if a selected catalog cannot answer.
    pub(super) fn offers(&self) -> &[Offer<'s>] {
        self.offers.as_deref().unwrap_or_default()
    }
}

/// The installed bundle, with its version parsed.
#[derive(Debug)]
pub(super) enum ReadInstalled<'a> {
    /// Nothing is installed.
    Nothing,
    /// The installed bundle is unknown, with the reason.
    Unknown(&'a UnknownCause),
    /// An installed bundle, or an error if its version cannot be read.
    Bundle(Result<Origin<'a>, InstalledError>),
}

impl<'a> ReadInstalled<'a> {
    /// Reads the installed bundle as this release of OLM does.
    pub(super) fn of(installed: &'a Installed, rules: &Rules) -> Self {
        match installed {
            Installed::Nothing => Self::Nothing,
            Installed::Unknown(cause) => Self::Unknown(cause),
            Installed::Bundle(bundle) | Installed::Inferred(bundle) => {
                Self::Bundle(Origin::read(bundle, rules))
            }
        }
    }

    /// The bundle that upgrade edges start from, if it can be read.
    pub(super) fn origin(&self) -> Option<&Origin<'a>> {
        match self {
            Self::Bundle(Ok(origin)) => Some(origin),
            Self::Nothing | Self::Unknown(_) | Self::Bundle(Err(_)) => None,
        }
    }

    /// The name of the installed bundle, if it is known.
    pub(super) fn name(&self) -> Option<&'a str> {
        self.origin().and_then(Origin::name)
    }

    /// The start of a step from the installed bundle.
    pub(super) fn start(&self) -> PolicyOrigin<'_> {
        match self {
            Self::Nothing => PolicyOrigin::Nothing,
            Self::Unknown(_) | Self::Bundle(Err(_)) => PolicyOrigin::Unknown,
            Self::Bundle(Ok(origin)) => origin.start(),
        }
    }

    /// The operation of an edit for the conditions of policies. If no earlier object is known, the installed bundle
    /// decides.
    pub(super) fn operation(&self, is_update: bool) -> Operation {
        match self {
            Self::Nothing if !is_update => Operation::Create,
            _ => Operation::Update,
        }
    }
}

/// A filter, an installed bundle, and the bundles that both allow: one case of the decision table.
pub(super) struct RowCase<'a, 's> {
    pub(super) question: &'a FilterQuestion<'a, 's>,
    pub(super) installed: &'a ReadInstalled<'a>,
    /// The bundles that the filter and the edges allow in each catalog that has the package.
    pub(super) matches: Vec<Match<'a, 's>>,
}

impl<'a, 's> RowCase<'a, 's> {
    pub(super) fn of(
        question: &'a FilterQuestion<'a, 's>,
        installed: &'a ReadInstalled<'a>,
    ) -> Self {
        let origin = installed.origin();
        let binding = origin.filter(|_| !question.filter.bypasses());
        Self {
            question,
            installed,
            matches: weigh(question.offers(), binding),
        }
    }

    /// The bundle that upgrade edges start from, if it can be read.
    pub(super) fn origin(&self) -> Option<&'a Origin<'a>> {
        self.installed.origin()
    }

    /// The catalogs that have the package.
    pub(super) fn offers(&self) -> impl Iterator<Item = &'a Offer<'s>> + Clone {
        self.matches.iter().map(|found| found.offer)
    }

    /// Whether the package has a bundle in the requested channels and in the range.
    pub(super) fn has_candidates(&self) -> bool {
        self.offers().any(|offer| !offer.candidates.is_empty())
    }

    /// A ruling with the evidence found up to it.
    pub(super) fn with_evidence(self, ruling: Ruling<'s>) -> RuledEdit<'s> {
        let is_bare = matches!(ruling, Ruling::InstalledVersionInvalid(_));
        let mut ruled = RuledEdit::from(ruling);
        if !is_bare {
            ruled.matched = self.matches.into_iter().map(MatchedBundles::of).collect();
        }
        ruled
    }
}
