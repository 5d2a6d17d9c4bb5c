//! From a filter to the catalogs that offer its package: the part of resolution that does not depend on the installed
//! bundle.

use smallvec::{SmallVec, smallvec};

use crate::extension::Filter;
use crate::resolve::{Choice, Origin};
use crate::snapshot::{
    Age, Availability, CatalogState, Content, OnOldCatalog, ServingState, Snapshot,
};
use olmguard_catalog::selector::{Selector, SelectorError};
use olmguard_catalog::version::{Constraint, ConstraintError, Membership};
use olmguard_catalog::{
    AskedChannels, BundleIndex, BundleSet, Catalog, EdgeStart, NameEdge, Package, PackageFault,
    WrittenEdge,
};

/// A filter whose selector and range compiled.
#[derive(Debug)]
pub struct Query<'a> {
    /// The filter that was compiled.
    pub filter: &'a Filter,
    selector: Option<Selector>,
    range: Option<Constraint>,
}

/// Why a filter does not compile; the selector is compiled first.
#[derive(Debug)]
pub enum QueryError {
    /// The selector does not compile.
    Selector(SelectorError),
    /// The version range does not compile.
    Range(ConstraintError),
}

/// The catalogs that a query selects.
#[derive(Debug)]
pub struct InPlay<'s> {
    /// The catalogs that match the selector and are not `Unavailable`, in byte order of their names.
    pub catalogs: SmallVec<[&'s CatalogState; 4]>,
    /// The number of catalogs that match the selector and are `Unavailable`.
    pub unavailable: usize,
}

/// A selected catalog that cannot answer. OLM then gives no answer at all.
#[derive(Clone, Copy, Debug)]
pub struct NotLoaded<'s> {
    /// The catalog.
    pub catalog: &'s CatalogState,
    /// Why it cannot answer.
    pub why: NotLoadedCause<'s>,
}

/// Why a catalog cannot answer.
#[derive(Clone, Copy, Debug)]
pub enum NotLoadedCause<'s> {
    /// The catalog is known not to be served.
    NotServing,
    /// The content of the catalog was not given.
    Missing,
    /// The content of the catalog could not be fetched.
    Unfetched(&'s str),
    /// The content of the catalog could not be read.
    Unreadable(&'s str),
    /// The package in the catalog cannot be decoded.
    Package(&'s PackageFault),
}

impl NotLoadedCause<'_> {
    /// Whether the catalog has content that cannot be read.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::Package(_))
    }
}

/// A selected catalog that has the package.
#[derive(Clone, Debug)]
pub struct Offer<'s> {
    /// The catalog.
    pub catalog: &'s CatalogState,
    /// The package in it.
    pub package: &'s Package,
    /// The requested channels that exist in the package.
    pub asked: AskedChannels,
    /// The bundles in the requested channels, regardless of the range.
    pub members: BundleSet,
    /// The bundles in the requested channels and in the range, regardless of the installed bundle.
    pub candidates: BundleSet,
}

impl<'a> Query<'a> {
    /// Compiles the selector of a filter, then its range.
    pub fn compile(filter: &'a Filter, snapshot: &Snapshot) -> Result<Self, QueryError> {
        let rules = snapshot.rules();
        let selector = filter
            .selector
            .as_ref()
            .map(|written| Selector::compile(written, rules.selector_texts));
        let selector = selector.transpose().map_err(QueryError::Selector)?;
        let range = filter
            .range()
            .map(|text| Constraint::parse(text, rules.masterminds));
        let range = range.transpose().map_err(QueryError::Range)?;
        Ok(Self {
            filter,
            selector,
            range,
        })
    }

    /// The compiled range; `None` if the filter has none.
    pub fn range(&self) -> Option<&Constraint> {
        self.range.as_ref()
    }

    /// The catalogs that this query selects.
    pub fn in_play<'s>(&self, snapshot: &'s Snapshot) -> InPlay<'s> {
        let selected = |catalog: &&CatalogState| {
            self.selector
                .as_ref()
                .is_none_or(|selector| catalog.may_match(selector))
        };
        let all = snapshot.catalogs();
        let mut in_play = InPlay {
            catalogs: SmallVec::with_capacity(all.len()),
            unavailable: 0,
        };
        for catalog in all.iter().filter(selected) {
            match catalog.availability {
                Availability::Available => in_play.catalogs.push(catalog),
                Availability::Unavailable => in_play.unavailable += 1,
            }
        }
        in_play
    }

    /// The offers of the selected catalogs that have the package, or an error for the first catalog that cannot answer.
    pub fn offers<'s>(&self, in_play: &InPlay<'s>) -> Result<Vec<Offer<'s>>, NotLoaded<'s>> {
        let mut offers = Vec::with_capacity(in_play.catalogs.len());
        for catalog in &in_play.catalogs {
            if let Some(package) = find(catalog, &self.filter.package)? {
                offers.push(self.offer(catalog, package));
            }
        }
        Ok(offers)
    }

    fn offer<'s>(&self, catalog: &'s CatalogState, package: &'s Package) -> Offer<'s> {
        let asked = package.ask_channels(&self.filter.channels);
        let members = package.members(&asked);
        let mut candidates = members.clone();
        self.keep_in_range(package, &mut candidates);
        Offer {
            catalog,
            package,
            asked,
            members,
            candidates,
        }
    }

    /// Removes the bundles whose version is unreadable or not in the range.
    pub fn keep_in_range(&self, package: &Package, bundles: &mut BundleSet) {
        if let Some(range) = &self.range {
            package.keep_in_range(range, bundles);
        }
    }
}

/// Selects a single catalog.
impl<'s> From<&'s CatalogState> for InPlay<'s> {
    fn from(catalog: &'s CatalogState) -> Self {
        Self {
            catalogs: smallvec![catalog],
            unavailable: 0,
        }
    }
}

impl<'s> InPlay<'s> {
    /// The catalogs whose content is too old for an answer, in byte order of their names.
    pub fn too_old(&self) -> Vec<&'s CatalogState> {
        let is_too_old = |catalog: &&CatalogState| catalog.age == TOO_OLD;
        self.catalogs.iter().copied().filter(is_too_old).collect()
    }
}

impl<'s> Offer<'s> {
    /// The offers of the package in the selected catalogs, in all channels and versions; empty if a selected catalog
    /// cannot answer.
    pub fn of_package(snapshot: &'s Snapshot, filter: &Filter) -> Vec<Self> {
        let anything = filter.without_version().without_channels();
        Self::of(snapshot, &anything).unwrap_or_default()
    }

    /// The offers of the package in the selected catalogs, as the filter requests them; `None` if a selected catalog
    /// cannot answer.
    pub fn of(snapshot: &'s Snapshot, filter: &Filter) -> Option<Vec<Self>> {
        let query = Query::compile(filter, snapshot).ok()?;
        query.offers(&query.in_play(snapshot)).ok()
    }

    /// One bundle of the offer.
    pub fn choice(&self, index: BundleIndex) -> Choice<'s> {
        Choice {
            catalog: self.catalog,
            package: self.package,
            index,
        }
    }
}

fn find<'s>(
    catalog: &'s CatalogState,
    package: &str,
) -> Result<Option<&'s Package>, NotLoaded<'s>> {
    let failed = |fault| NotLoaded {
        catalog,
        why: NotLoadedCause::Package(fault),
    };
    loaded(catalog)?
        .package(package)
        .transpose()
        .map_err(failed)
}

/// The content of a catalog.
///
/// # Errors
/// Fails if the content is not loaded.
pub fn loaded(catalog: &CatalogState) -> Result<&Catalog, NotLoaded<'_>> {
    let failed = |why| Err(NotLoaded { catalog, why });
    match (&catalog.content, catalog.serving) {
        (_, ServingState::KnownNot) => failed(NotLoadedCause::NotServing),
        (Content::Missing, _) => failed(NotLoadedCause::Missing),
        (Content::Unfetched(error), _) => failed(NotLoadedCause::Unfetched(error)),
        (Content::Unreadable(error), _) => failed(NotLoadedCause::Unreadable(error)),
        (Content::Loaded(content), _) => Ok(content),
    }
}

const TOO_OLD: Age = Age::Old(OnOldCatalog::Undecided);

// === The edges of an offer as they are written ===

/// An edge in an entry of an offer's package.
#[derive(Clone, Copy, Debug)]
pub struct OfferEdge<'s> {
    /// Start of the edge.
    pub from: EdgeStart<'s>,
    /// The bundle that the edge ends at.
    pub to: Choice<'s>,
    /// The channel of the entry.
    pub channel: &'s str,
    /// Whether the channel is requested, so its edges count.
    pub is_asked: bool,
}

impl<'s> Offer<'s> {
    /// Every edge, including edges in channels that are not requested.
    pub fn edges(&self) -> impl Iterator<Item = OfferEdge<'s>> {
        self.package.written_edges().map(|edge| {
            let WrittenEdge { channel, to, from } = edge;
            let known = self.package.channels().get(channel.get() as usize);
            OfferEdge {
                from,
                to: self.choice(to),
                channel: known.map_or("", |channel| &*channel.name),
                is_asked: self.asked.has(channel),
            }
        })
    }

    /// The index of the bundle with this name; the best one if there are several.
    pub fn find(&self, name: &str) -> Option<BundleIndex> {
        self.package
            .bundles_named(name)
            .map(|(index, _)| index)
            .next()
    }
}

impl OfferEdge<'_> {
    /// Whether the edge starts at an installed bundle. False for every edge if the successors are the versions of a
    /// caret range.
    pub fn starts_at(&self, origin: &Origin<'_>) -> bool {
        if origin.is_of_caret_range() {
            return false;
        }
        match self.from {
            EdgeStart::Name(from, _) => origin.name() == Some(from),
            EdgeStart::Range(range) => origin
                .version()
                .is_some_and(|read| range.takes(&read.version) == Membership::Holds),
            EdgeStart::UnreadRange(_) => false,
        }
    }

    /// The field of the entry that contains the edge.
    pub fn field(&self) -> &'static str {
        match self.from {
            EdgeStart::Name(_, NameEdge::Replaces) => "replaces",
            EdgeStart::Name(_, NameEdge::Skips) => "skips",
            EdgeStart::Range(_) | EdgeStart::UnreadRange(_) => "skipRange",
        }
    }
}
