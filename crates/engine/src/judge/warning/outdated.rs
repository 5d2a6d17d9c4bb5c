//! Which catalogs were judged on content that is not, or may not be, what they hold by now.
//!
//! Only those that the answer rests on are told of: the ones that have the package; where none has
//! it, all in play, for newer content of any may have it. A catalog that stands in the verdict
//! itself (rows 5, 5a and 5b) is no warning besides.

use crate::judge::{RuledEdit, Ruling, Warning};
use crate::snapshot::{Age, CatalogState, Currency, Snapshot};

/// One warning for all that are known to be superseded, and one for all others that are old.
pub(super) fn outdated<'s>(
    snapshot: &'s Snapshot,
    ruled: &RuledEdit<'s>,
) -> impl Iterator<Item = Warning<'s>> {
    let (superseded, others): (Vec<_>, Vec<_>) = asked(snapshot, ruled)
        .into_iter()
        .partition(|catalog| catalog.currency == Currency::Superseded);
    let is_old = |catalog: &&CatalogState| catalog.age != Age::Allowed;
    let old: Vec<_> = others.into_iter().filter(is_old).collect();
    let superseded = (!superseded.is_empty()).then_some(Warning::CatalogsSuperseded(superseded));
    let old = (!old.is_empty()).then_some(Warning::CatalogsOld(old));
    superseded.into_iter().chain(old)
}

/// The catalogs that the answer rests on, in byte order of their names.
fn asked<'s>(snapshot: &'s Snapshot, ruled: &RuledEdit<'s>) -> Vec<&'s CatalogState> {
    match &ruled.ruling {
        Ruling::PackageNotFound { searched, .. } => searched
            .iter()
            .filter_map(|name| snapshot.catalog(name))
            .collect(),
        _ => ruled
            .matched
            .iter()
            .map(|matched| matched.catalog)
            .collect(),
    }
}
