//! Which bundle it is that only a version is known of.

use std::collections::BTreeSet;

use crate::extension::{Filter, Installed, InstalledBundle, UnknownCause};
use crate::resolve::{Origin, Query};
use crate::snapshot::Snapshot;

/// An installed bundle of this version and release, with the name that the catalogs in play give it.
///
/// Where they agree on none, the name stays unknown; where they disagree, so does the bundle.
pub fn identify(
    snapshot: &Snapshot,
    filter: &Filter,
    version: &str,
    release: Option<&str>,
) -> Installed {
    let nameless = InstalledBundle {
        name: None,
        version: version.to_owned(),
        release: release.map(str::to_owned),
    };
    let names = names(snapshot, filter, &nameless);
    let mut names = names.into_iter();
    match (names.next(), names.next()) {
        (Some(first), Some(second)) => {
            let bundles = [first, second].into_iter().chain(names).collect();
            Installed::Unknown(UnknownCause::Several { bundles })
        }
        (name, _) => Installed::Bundle(InstalledBundle { name, ..nameless }),
    }
}

/// The names of all bundles of this version and release, in any channel and any range.
fn names(snapshot: &Snapshot, filter: &Filter, installed: &InstalledBundle) -> BTreeSet<String> {
    let Ok(origin) = Origin::read(installed, snapshot.rules()) else {
        return BTreeSet::new();
    };
    let anything = Filter {
        version: None,
        channels: Vec::new(),
        ..filter.clone()
    };
    let query = Query::compile(&anything, snapshot).ok();
    let offers = query.and_then(|query| query.offers(&query.in_play(snapshot)).ok());
    let offers = offers.unwrap_or_default();
    offers
        .iter()
        .flat_map(|offer| {
            let same = origin.same(offer.package);
            same.iter()
                .map(|index| offer.package.bundle(index).name.to_string())
                .collect::<Vec<_>>()
        })
        .collect()
}
