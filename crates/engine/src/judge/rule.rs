//! Rows 2 to 18, for a request that can be read, in the order of the table; and what the successor rule accepts, for reports.

use std::collections::BTreeSet;

use crate::extension::{Filter, Installed, InstalledBundle, UnknownCause};
use crate::judge::identify::fitting_names;
use crate::judge::rows::resolve;
use crate::judge::ruling::{MatchedBundles, RuledEdit};
use crate::judge::walk::StepsAhead;
use crate::judge::{Basis, Ruling, Verdict, step_rows};
use crate::resolve::{
    Choice, EditContext, InPlay, InstalledError, Match, NotLoaded, Offer, Origin, Query,
    QueryError, StepStart, weigh,
};
use crate::snapshot::CatalogState;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{BundleSet, Package};
use olmguard_policy::{Conditions, Operation};

/// One request to resolve, with what is installed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The filter of the extension.
    pub filter: &'a Filter,
    /// What is installed.
    pub installed: &'a Installed,
    /// What upgrade policies also decide by.
    pub context: EditContext<'a>,
}

impl<'a> Request<'a> {
    /// The same request, with the conditions of upgrade policies evaluated as far as this.
    pub(super) fn with_conditions<'b>(self, conditions: Conditions<'b>) -> Request<'b>
    where
        'a: 'b,
    {
        let context = EditContext {
            conditions,
            ..self.context
        };
        Request { context, ..self }
    }
}

/// Rows 2 to 18.
pub fn rule<'s>(basis: Basis<'s>, request: &Request<'_>) -> RuledEdit<'s> {
    let question = match FilterQuestion::of(basis, request.filter) {
        Ok(question) => question,
        Err(error) => return Ruling::from(error).into(), // 2 and 3
    };
    match request.installed {
        Installed::Bundle(bundle) if bundle.name.is_none() && !request.filter.bypasses() => {
            of_any_name(&question, bundle, request.context)
        }
        installed => {
            let installed = ReadInstalled::of(installed, basis.snapshot.rules());
            rule_question(&question, &installed, request.context)
        }
    }
}

/// Rows 4 to 18, for a filter that was put to the catalogs: what OLM does, and what the rules of authors and
/// administrators forbid of it.
pub(super) fn rule_question<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
    context: EditContext<'_>,
) -> RuledEdit<'s> {
    let mut ruled = resolve(question, installed); // 4 to 15, and 18
    step_rows::put_preflight(&mut ruled, question, installed, context); // 15a
    let ahead = StepsAhead::of(question, installed).installed_as(context.install);
    let mut ahead = ahead.with_first(&ruled);
    step_rows::put_guardrails(&mut ruled, &mut ahead); // 16
    step_rows::put_policies(&mut ruled, &mut ahead, context); // 17
    step_rows::put_unlisted(&mut ruled, question.basis); // 17a
    ruled
}

/// Rows 4 to 18 for an installed bundle without a name: an answer counts if every name that an edge starts at gives it,
/// and one that no edge mentions.
///
/// OLM compares the name with `replaces` and `skips`, and the version with `skipRange`. So without the name, an upgrade
/// by its skipRange is known, and a missing upgrade is not.
fn of_any_name<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &InstalledBundle,
    context: EditContext<'_>,
) -> RuledEdit<'s> {
    let ruled_for = |name: Option<&str>| {
        let installed = Installed::Bundle(InstalledBundle {
            name: name.map(str::to_owned),
            ..installed.clone()
        });
        let rules = question.basis.snapshot.rules();
        rule_question(question, &ReadInstalled::of(&installed, rules), context)
    };
    let unmentioned = ruled_for(None);
    if unmentioned.ruling.token().verdict() == Verdict::Undecided {
        return unmentioned;
    }
    let offers = question.offers().iter();
    let names = offers.flat_map(|offer| offer.package.names_of_edges());
    // An entry without `replaces` is an edge of the empty name, which no bundle has.
    let names: BTreeSet<_> = names.filter(|name| !name.is_empty()).collect();
    let is_same = |name| comes_to(&ruled_for(Some(name))) == comes_to(&unmentioned);
    if names.len() <= MOST_NAMES && names.into_iter().all(is_same) {
        return unmentioned;
    }
    let names = fitting_names(installed, question.offers());
    let names = names.into_iter().map(str::to_owned).collect();
    Ruling::InstalledUnknown(UnknownCause::Nameless { names }).into()
}

/// The result of an edit, whatever row gives it.
fn comes_to<'s>(ruled: &RuledEdit<'s>) -> (Verdict, Option<Choice<'s>>, bool) {
    let ruling = &ruled.ruling;
    (
        ruling.token().verdict(),
        ruled.resolved(),
        ruling.forbids_move(),
    )
}

/// How many names are tried: each is a judgement of its own. No package recorded has more.
const MOST_NAMES: usize = 1024;

// === The bundles that the successor rule accepts, whatever the range and the policy ===
//
// In a large package these can be thousands, and no row needs them. So only a report that lists them asks for them.

/// The bundles of one catalog that the successor rule accepts.
#[derive(Clone, Debug)]
pub struct AcceptedBundles<'s> {
    /// The catalog.
    pub catalog: &'s CatalogState,
    /// The package in it.
    pub package: &'s Package,
    /// The bundles.
    pub bundles: BundleSet,
}

/// For each catalog that has the package, the bundles of the requested channels that the successor rule accepts.
///
/// `None` if nothing readable is installed, and if one of rows 1 to 7 or 10a answered.
pub fn successors<'s>(
    basis: Basis<'s>,
    request: &Request<'_>,
    ruling: &Ruling<'_>,
) -> Option<Vec<AcceptedBundles<'s>>> {
    if !lists_successors(ruling) {
        return None;
    }
    let question = FilterQuestion::of(basis, request.filter).ok()?;
    let installed = ReadInstalled::of(request.installed, basis.snapshot.rules());
    let origin = installed.origin()?;
    let accepted = question.offers().iter().map(|offer| AcceptedBundles {
        catalog: offer.catalog,
        package: offer.package,
        bundles: offer.accepted(origin).bundles,
    });
    Some(accepted.collect())
}

/// Whether none of rows 1 to 7 and 10a answered.
fn lists_successors(ruling: &Ruling<'_>) -> bool {
    match ruling {
        Ruling::ChannelNotFound { .. }
        | Ruling::NotInChannel { .. }
        | Ruling::VersionNotFound { .. }
        | Ruling::Downgrade(..)
        | Ruling::NotASuccessor(..)
        | Ruling::AmbiguousCatalogs(_)
        | Ruling::BundleVersionInvalid(..)
        | Ruling::UnsupportedDependency(..)
        | Ruling::Guardrail(_)
        | Ruling::Preflight(_)
        | Ruling::Policy(_)
        | Ruling::PoliciesUnknown(_)
        | Ruling::Allowed(..) => true,
        Ruling::NotJudged(_)
        | Ruling::Unanswered(_)
        | Ruling::InvalidSpec(_)
        | Ruling::InvalidSelector(_)
        | Ruling::InvalidVersionRange(_)
        | Ruling::NoCatalogs(_)
        | Ruling::InstalledUnknown(_)
        | Ruling::CatalogNotLoaded(_)
        | Ruling::CatalogOutdated(_)
        | Ruling::PackageNotFound { .. }
        | Ruling::InstalledVersionInvalid(_)
        | Ruling::BrokenSkipRange(_) => false,
    }
}

// === The question that the rows answer ===
//
// That is a filter with what the catalogs offer for it, and what is installed.

/// A filter with what the catalogs of a moment offer for it. What is installed is not part of it, and changes from step
/// to step.
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

    /// The offers of the catalogs that have the package; none if a selected catalog cannot answer.
    pub(super) fn offers(&self) -> &[Offer<'s>] {
        self.offers.as_deref().unwrap_or_default()
    }
}

/// The installed bundle, with its version read.
#[derive(Debug)]
pub(super) enum ReadInstalled<'a> {
    /// Nothing.
    Nothing,
    /// Unknown, with the reason.
    Unknown(&'a UnknownCause),
    /// A bundle; an error if its version cannot be read.
    Bundle(Result<Origin<'a>, InstalledError>),
}

impl<'a> ReadInstalled<'a> {
    /// Reads it as this OLM does.
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

    /// The start of a step from here.
    pub(super) fn start(&self) -> StepStart<'_> {
        match self {
            Self::Nothing => StepStart::Nothing,
            Self::Unknown(_) | Self::Bundle(Err(_)) => StepStart::Unknown,
            Self::Bundle(Ok(origin)) => StepStart::At(origin),
        }
    }

    /// The operation of an edit for the conditions of policies. If no object before it is known, what is installed decides.
    pub(super) fn operation(&self, is_update: bool) -> Operation {
        match self {
            Self::Nothing if !is_update => Operation::Create,
            _ => Operation::Update,
        }
    }
}

/// A filter, an installed bundle and the bundles that are left between them: one case of the decision table.
pub(super) struct RowCase<'a, 's> {
    pub(super) question: &'a FilterQuestion<'a, 's>,
    pub(super) installed: &'a ReadInstalled<'a>,
    /// The bundles that the filter and the edges leave in each catalog that has the package.
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

    /// A ruling with the evidence that was found before it.
    pub(super) fn with_evidence(self, ruling: Ruling<'s>) -> RuledEdit<'s> {
        let is_bare = matches!(ruling, Ruling::InstalledVersionInvalid(_));
        let mut ruled = RuledEdit::from(ruling);
        if !is_bare {
            ruled.matched = self.matches.into_iter().map(MatchedBundles::of).collect();
        }
        ruled
    }
}
