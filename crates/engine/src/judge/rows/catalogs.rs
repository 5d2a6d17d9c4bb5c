//! Rows 4 to 5a: which catalogs are in play, and whether they can answer.

use crate::judge::read_installed::ReadInstalled;
use crate::judge::rows::case::Case;
use crate::judge::{NoCatalogs, OutdatedCatalogs, Ruling};

/// Row 4.
pub(super) fn none_in_play<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    let in_play = &case.question.in_play;
    let snapshot = case.question.basis.snapshot;
    let why = match (snapshot.catalogs(), in_play.unavailable) {
        ([], _) if !snapshot.is_given() => NoCatalogs::NoneGiven,
        ([], _) => NoCatalogs::NoneExist,
        (_, 0) => NoCatalogs::NoneMatch,
        _ => NoCatalogs::AllUnavailable,
    };
    in_play
        .catalogs
        .is_empty()
        .then_some(Ruling::NoCatalogs(why))
}

/// Row 4a.
pub(super) fn installed_unknown<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    match case.installed {
        ReadInstalled::Unknown(why) if !case.question.filter.bypasses() => {
            Some(Ruling::InstalledUnknown((*why).clone()))
        }
        _ => None,
    }
}

/// Row 5.
pub(super) fn not_loaded<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    let failed = case.question.offers.as_ref().err()?;
    Some(Ruling::CatalogNotLoaded(*failed))
}

/// Row 5a.
pub(super) fn too_old<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    let old = case.question.in_play.too_old();
    (!old.is_empty()).then_some(Ruling::CatalogOutdated(OutdatedCatalogs::TooOld(old)))
}
