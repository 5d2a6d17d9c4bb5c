//! The rows, in their order: the first that fits answers.

use crate::extension::{Filter, FilterError, FilterProblem, Installed};
use crate::judge::guarded::guarded;
use crate::judge::ruled::{Accepted, Matched, Ruled};
use crate::judge::superseded::unless_superseded;
use crate::judge::{Allowed, Basis, Edit, Jump, NoCatalogs, Outdated, Ruling, SpecFault, nearby};
use crate::resolve::{
    Choice, ChoiceError, InPlay, Match, NotLoaded, Offer, Origin, Query, QueryError, choose, weigh,
};
use olmguard_catalog::olm::EmptyPackage;

/// What resolution is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What the extension asks for.
    pub filter: &'a Filter,
    /// What is installed.
    pub installed: &'a Installed,
}

/// Row 1: the filter cannot be read or is too large, or the CRD would refuse the object.
pub(super) fn spec_row<'s>(edit: &Edit<'_>) -> Option<Ruled<'s>> {
    let unreadable = match &edit.new.filter {
        Err(error) => Some(SpecFault::Filter(error.clone())),
        Ok(filter) => too_large(edit, filter),
    };
    let named: Vec<&str> = match &unreadable {
        Some(SpecFault::Filter(error)) => vec![&error.field],
        _ => Vec::new(),
    };
    let schema = edit
        .schema
        .iter()
        .filter(|finding| !named.contains(&finding.path.as_str()));
    let faults: Vec<_> = unreadable
        .iter()
        .cloned()
        .chain(schema.cloned().map(SpecFault::Schema))
        .collect();
    (!faults.is_empty()).then(|| Ruling::InvalidSpec(faults).into())
}

/// Ours, not OLM's: a filter that only costs time.
fn too_large(edit: &Edit<'_>, filter: &Filter) -> Option<SpecFault> {
    let most = Filter::MOST_ENTRIES;
    (filter.entries() > most).then(|| {
        SpecFault::Filter(FilterError {
            field: edit.new.fields.prefix().to_owned(),
            problem: FilterProblem::TooLarge { most },
        })
    })
}

/// Rows 2 to 18.
pub fn rule<'s>(basis: Basis<'s>, request: &Request<'_>) -> Ruled<'s> {
    match Asking::of(basis, request.filter) {
        Ok(asking) => guarded(&asking, request.installed),
        Err(error) => Ruling::from(error).into(),
    }
}

/// A filter, put to the catalogs of a moment. What is installed comes afterwards, and may change from
/// step to step while this stays.
pub(super) struct Asking<'a, 's> {
    pub(super) basis: Basis<'s>,
    pub(super) filter: &'a Filter,
    query: Query<'a>,
    in_play: InPlay<'s>,
    offers: Result<Vec<Offer<'s>>, NotLoaded<'s>>,
}

impl<'a, 's> Asking<'a, 's> {
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

    /// The catalogs that have the package, where all that are in play can answer.
    pub(super) fn offers(&self) -> &[Offer<'s>] {
        self.offers.as_deref().unwrap_or_default()
    }

    /// Rows 4 to 15, and 18 for what they let through: what OLM does.
    pub(super) fn resolve(&self, installed: &Installed) -> Ruled<'s> {
        let asked = Asked {
            asking: self,
            installed,
        };
        match asked.before_offers() {
            Some(ruling) => ruling.into(),
            None => match &self.offers {
                Err(not_loaded) => Ruling::CatalogNotLoaded(*not_loaded).into(),
                Ok(offers) => match self.in_play.too_old() {
                    old if old.is_empty() => {
                        unless_superseded(asked.of_offers(offers), &self.in_play)
                    }
                    old => Outdated::TooOld(old).into(),
                },
            },
        }
    }
}

/// Rows 2 and 3.
impl From<QueryError> for Ruling<'_> {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Selector(error) => Self::InvalidSelector(error),
            QueryError::Range(error) => Self::InvalidVersionRange(error),
        }
    }
}

/// A filter that was put to the catalogs, with what is installed.
struct Asked<'a, 's> {
    asking: &'a Asking<'a, 's>,
    installed: &'a Installed,
}

impl<'s> Asked<'_, 's> {
    /// Rows 4 and 4a.
    fn before_offers(&self) -> Option<Ruling<'s>> {
        let in_play = &self.asking.in_play;
        if in_play.catalogs.is_empty() {
            return Some(Ruling::NoCatalogs(
                match (self.asking.basis.snapshot.catalogs(), in_play.unavailable) {
                    ([], _) => NoCatalogs::NoneExist,
                    (_, 0) => NoCatalogs::NoneMatch,
                    _ => NoCatalogs::AllUnavailable,
                },
            ));
        }
        match self.installed {
            Installed::Unknown(cause) if !self.asking.filter.bypasses() => {
                Some(Ruling::InstalledUnknown(cause.clone()))
            }
            _ => None,
        }
    }

    /// Rows 6 and 7, and with what is left of them the others.
    fn of_offers(&self, offers: &[Offer<'s>]) -> Ruled<'s> {
        let olm = self.asking.basis.snapshot.rules();
        let installed = self.installed.bundle();
        let origin = installed.map(|bundle| Origin::read(bundle, olm));
        let bypasses = self.asking.filter.bypasses();
        let origin = match origin {
            Some(Err(error)) if !bypasses && self.reads_installed(offers) => {
                return Ruling::InstalledVersionInvalid(error).into();
            }
            origin => origin.and_then(Result::ok),
        };
        let asked_origin = origin.as_ref().filter(|_| !bypasses);
        let matches = weigh(offers, asked_origin);
        let accepted = origin.as_ref().map(|origin| accepted(&matches, origin));
        let mut ruled = self.of_matches(&matches, origin.as_ref());
        let has_successors = !matches!(
            ruled.ruling,
            Ruling::BrokenSkipRange(_) | Ruling::PackageNotFound { .. }
        );
        ruled.successors = accepted.filter(|_| has_successors);
        ruled.matched = matches.into_iter().map(Matched::from).collect();
        ruled
    }

    /// Until v1.1 the installed version was read even where no catalog has the package.
    fn reads_installed(&self, offers: &[Offer<'s>]) -> bool {
        !offers.is_empty()
            || self.asking.basis.snapshot.rules().empty_package == EmptyPackage::Walked
    }

    /// Rows 6 and 8 to 18.
    fn of_matches(&self, matches: &[Match<'_, 's>], origin: Option<&Origin<'_>>) -> Ruled<'s> {
        if let Some(ruling) = self.without_candidates(matches) {
            return ruling.into();
        }
        if let Some(crashing) = crashing(matches) {
            return Ruling::BrokenSkipRange(crashing).into();
        }
        match choose(matches) {
            Ok(resolved) => Ruled {
                deprecations_of: resolved.deprecations_of,
                ..Ruling::Allowed(
                    self.allowed(resolved.choice, matches, origin),
                    resolved.choice,
                )
                .into()
            },
            Err(ChoiceError::Nothing) => Self::no_successor(matches, origin).into(),
            Err(ChoiceError::Ambiguous(left)) => Ruling::AmbiguousCatalogs(left).into(),
            Err(ChoiceError::BundleVersion(choice, error)) => {
                Ruling::BundleVersionInvalid(choice, error).into()
            }
            Err(ChoiceError::Dependency(choice, kind)) => {
                Ruling::UnsupportedDependency(choice, kind).into()
            }
        }
    }

    /// Rows 6 and 8 to 10.
    fn without_candidates(&self, matches: &[Match<'_, 's>]) -> Option<Ruling<'s>> {
        if matches
            .iter()
            .any(|found| !found.offer.candidates.is_empty())
        {
            return None;
        }
        let filter = self.asking.filter;
        let offers = || matches.iter().map(|found| found.offer);
        if matches.is_empty() {
            let in_play = &self.asking.in_play;
            let searched = in_play
                .catalogs
                .iter()
                .map(|catalog| catalog.name.as_str())
                .collect();
            let nearest = nearby::packages(&filter.package, &in_play.catalogs);
            return Some(Ruling::PackageNotFound { searched, nearest });
        }
        let exists = |name: &String| offers().any(|offer| offer.package.has_channel(name));
        if !filter.channels.is_empty() && !filter.channels.iter().any(exists) {
            return Some(Ruling::ChannelNotFound {
                existing: nearby::channels(filter, offers()),
            });
        }
        match nearby::elsewhere(&self.asking.query, offers()) {
            Some(having) => Some(Ruling::NotInChannel { having }),
            None => Some(Ruling::VersionNotFound {
                nearest: nearby::versions(filter, offers()),
            }),
        }
    }

    /// Rows 11 and 12. Only an origin takes candidates away, so there is one.
    fn no_successor(matches: &[Match<'_, 's>], origin: Option<&Origin<'_>>) -> Ruling<'s> {
        let candidates = || {
            matches.iter().flat_map(|found| {
                let offer = found.offer;
                offer
                    .candidates
                    .iter()
                    .map(move |index| offer.choice(index))
            })
        };
        let older = |choice: Choice<'s>| {
            origin.is_some_and(|origin| origin.is_newer_than(choice.package, choice.index))
        };
        let count = candidates().count();
        match foremost(matches) {
            Some(best) if candidates().all(older) => Ruling::Downgrade(best, count),
            Some(best) => Ruling::NotASuccessor(best, count),
            None => Ruling::VersionNotFound {
                nearest: Vec::new(),
            },
        }
    }

    /// Row 18.
    fn allowed(
        &self,
        choice: Choice<'s>,
        matches: &[Match<'_, 's>],
        origin: Option<&Origin<'_>>,
    ) -> Allowed {
        match (self.installed, origin) {
            (Installed::Nothing, _) => Allowed::Resolved,
            (_, None) => Allowed::Bypassed(Jump::Unknown),
            (_, Some(origin)) if origin.is_at(choice.bundle()) => Allowed::Unchanged,
            (_, Some(origin)) if self.is_successor(choice, matches, origin) => Allowed::Resolved,
            (_, Some(origin)) => Allowed::Bypassed(jump(choice, origin)),
        }
    }

    /// Without a bypass nothing else is left to choose from.
    fn is_successor(
        &self,
        choice: Choice<'s>,
        matches: &[Match<'_, 's>],
        origin: &Origin<'_>,
    ) -> bool {
        let from = |found: &&Match<'_, 's>| std::ptr::eq(found.offer.catalog, choice.catalog);
        let offer = matches.iter().find(from).map(|found| found.offer);
        !self.asking.filter.bypasses()
            || offer.is_some_and(|offer| offer.accepted(origin).bundles.contains(choice.index))
    }
}

/// The bundle to name for all candidates: the one that would be chosen if no edge counted; failing
/// that, the best of the first catalog.
fn foremost<'s>(matches: &[Match<'_, 's>]) -> Option<Choice<'s>> {
    let free: Vec<_> = matches
        .iter()
        .map(|found| Match {
            offer: found.offer,
            accepted: None,
            matched: found.offer.candidates.clone(),
        })
        .collect();
    match choose(&free) {
        Ok(resolved) => Some(resolved.choice),
        Err(_) => free.iter().find_map(|found| {
            let best = found.offer.package.preferred(&found.matched)?;
            Some(found.offer.choice(best))
        }),
    }
}

/// A candidate on which OLM crashes before it finds an edge.
fn crashing<'s>(matches: &[Match<'_, 's>]) -> Option<Choice<'s>> {
    matches.iter().find_map(|found| {
        let crashes = &found.accepted.as_ref()?.successors.crashes;
        let mut tested = found.offer.candidates.clone();
        tested.intersect(crashes);
        tested.first().map(|index| found.offer.choice(index))
    })
}

fn accepted<'s>(matches: &[Match<'_, 's>], origin: &Origin<'_>) -> Vec<Accepted<'s>> {
    let accept = |found: &Match<'_, 's>| {
        let (offer, known) = (found.offer, found.accepted.as_ref());
        let bundles = known.map(|accepted| accepted.bundles.clone());
        Accepted {
            catalog: offer.catalog,
            package: offer.package,
            bundles: bundles.unwrap_or_else(|| offer.accepted(origin).bundles),
        }
    };
    matches.iter().map(accept).collect()
}

fn jump(choice: Choice<'_>, origin: &Origin<'_>) -> Jump {
    let (Some(here), Ok(there)) = (origin.version(), &choice.bundle().version) else {
        return Jump::Unknown;
    };
    match there.version.cmp_precedence(&here.version) {
        std::cmp::Ordering::Less => Jump::Downgrade,
        std::cmp::Ordering::Equal => Jump::Sideways,
        std::cmp::Ordering::Greater => Jump::Leap,
    }
}
