//! Row 5b: content that is known to be superseded does not deny for what it lacks.
//!
//! A ClusterCatalog that names another digest than that of the loaded content has newer content, which
//! may well have the package, channel, version or edge that rows 6 to 15 miss. So those rows deny only
//! if every catalog in play is current. What resolves is allowed, and rows 16 and 17 deny as ever: they
//! rest on what the loaded content has.

use crate::judge::{OutdatedCatalogs, RuledEdit, Verdict};
use crate::resolve::InPlay;
use crate::snapshot::{CatalogState, Currency};

/// What rows 6 to 15 found, unless they deny while a catalog in play is superseded.
pub(super) fn unless_superseded<'s>(ruled: RuledEdit<'s>, in_play: &InPlay<'s>) -> RuledEdit<'s> {
    let catalogs = superseded(in_play);
    if catalogs.is_empty() || ruled.ruling.token().verdict() != Verdict::Deny {
        return ruled;
    }
    let denial = Box::new(ruled.ruling);
    OutdatedCatalogs::Superseded { catalogs, denial }.into()
}

fn superseded<'s>(in_play: &InPlay<'s>) -> Vec<&'s CatalogState> {
    let catalogs = in_play.catalogs.iter().copied();
    let is_superseded = |catalog: &&CatalogState| catalog.currency == Currency::Superseded;
    catalogs.filter(is_superseded).collect()
}
