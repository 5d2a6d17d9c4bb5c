//! A filter that was put to the catalogs of a moment.

use crate::extension::Filter;
use crate::judge::Basis;
use crate::resolve::{InPlay, NotLoaded, Offer, Query, QueryError};

/// A filter, put to the catalogs of a moment. What is installed comes afterwards, and may change from
/// step to step while this stays.
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

    /// The catalogs that have the package, where all that are in play can answer.
    pub(super) fn offers(&self) -> &[Offer<'s>] {
        self.offers.as_deref().unwrap_or_default()
    }
}
