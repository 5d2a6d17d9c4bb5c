//! Rows 6 to 10: what the filter leaves of the catalogs before any edge counts.

use crate::judge::read_installed::ReadInstalled;
use crate::judge::rows::case::Case;
use crate::judge::{Ruling, nearby};
use olmguard_catalog::olm::EmptyPackage;

/// Row 7.
pub(super) fn installed_unreadable<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    match case.installed {
        ReadInstalled::Bundle(Err(error))
            if !case.question.filter.bypasses() && reads_installed(case) =>
        {
            Some(Ruling::InstalledVersionInvalid(error.clone()))
        }
        _ => None,
    }
}

/// Until v1.1 the installed version was read even where no catalog has the package.
fn reads_installed(case: &Case<'_, '_>) -> bool {
    let rules = case.question.basis.snapshot.rules();
    !case.matches.is_empty() || rules.empty_package == EmptyPackage::Walked
}

/// Row 6.
pub(super) fn no_package<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    let catalogs = &case.question.in_play.catalogs;
    case.matches.is_empty().then(|| Ruling::PackageNotFound {
        searched: catalogs.iter().map(|catalog| &*catalog.name).collect(),
        nearest: nearby::packages(&case.question.filter.package, catalogs),
    })
}

/// Row 8.
pub(super) fn no_channel<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    let filter = case.question.filter;
    if filter.channels.is_empty() || case.has_candidates() {
        return None;
    }
    let exists = |name: &String| case.offers().any(|offer| offer.package.has_channel(name));
    (!filter.channels.iter().any(exists)).then(|| Ruling::ChannelNotFound {
        existing: nearby::channels(filter, case.offers()),
    })
}

/// Row 9.
pub(super) fn in_other_channels<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    if case.has_candidates() {
        return None;
    }
    let having = nearby::elsewhere(&case.question.query, case.offers())?;
    Some(Ruling::NotInChannel { having })
}

/// Row 10.
pub(super) fn no_version<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    (!case.has_candidates()).then(|| Ruling::VersionNotFound {
        nearest: nearby::versions(case.question.filter, case.offers()),
    })
}
