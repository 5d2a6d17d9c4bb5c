//! What exists of what an extension requests, whatever its range and whatever is installed.

use crate::extension::Filter;
use crate::judge::Basis;
use crate::resolve::Query;

/// What exists of a request in the selected catalogs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requested<'s> {
    /// Whether one of them has the package.
    pub has_package: bool,
    /// The requested channels that exist, in byte order.
    pub channels: Vec<&'s str>,
}

impl<'s> Requested<'s> {
    /// What exists, if the catalogs can answer.
    pub(super) fn of(basis: Basis<'s>, filter: &Filter) -> Option<Self> {
        let anything = Filter {
            version: None,
            channels: Vec::new(),
            ..filter.clone()
        };
        let query = Query::compile(&anything, basis.snapshot).ok()?;
        let offers = query.offers(&query.in_play(basis.snapshot)).ok()?;
        let channels = offers.iter().flat_map(|offer| offer.package.channels());
        let mut channels: Vec<_> = channels
            .map(|channel| &*channel.name)
            .filter(|name| filter.channels.iter().any(|requested| requested == name))
            .collect();
        channels.sort_unstable();
        channels.dedup();
        Some(Self {
            has_package: !offers.is_empty(),
            channels,
        })
    }
}
