//! Which bundle it is that only a version is known of.

use std::collections::BTreeSet;

use crate::extension::{Filter, Installed, InstalledBundle, UnknownCause};
use crate::resolve::{Offer, Origin, Query};
use crate::snapshot::Snapshot;
use olmguard_catalog::graph::version_in_name;
use olmguard_catalog::olm::Rules;

/// What is installed, with the name of its bundle if only its version is known: the name of the bundle of this version
/// and release in the catalogs in play, else the only name in their edges that fits the version.
///
/// If the catalogs have several such bundles, it is not known which one is installed. If no name fits, or several do,
/// the name stays unknown: then an answer counts only if every name gives it.
pub fn identify(snapshot: &Snapshot, filter: &Filter, installed: Installed) -> Installed {
    match installed {
        Installed::Bundle(bundle) if bundle.name.is_none() => {
            named(bundle, &offers(snapshot, filter), snapshot.rules())
        }
        known => known,
    }
}

fn named(nameless: InstalledBundle, offers: &[Offer<'_>], rules: &Rules) -> Installed {
    let mut bundles: Vec<_> = bundles(&nameless, offers, rules).into_iter().collect();
    let with = |name: String| InstalledBundle {
        name: Some(name),
        ..nameless.clone()
    };
    match (bundles.pop(), bundles.is_empty()) {
        (Some(only), true) => Installed::Bundle(with(only)),
        (Some(last), false) => {
            bundles.push(last);
            Installed::Unknown(UnknownCause::Several { bundles })
        }
        (None, _) => match fitting_names(&nameless, offers).as_slice() {
            [only] => Installed::Inferred(with((*only).to_owned())),
            _ => Installed::Bundle(nameless),
        },
    }
}

/// What all channels of the package offer, in any range.
pub(super) fn offers<'s>(snapshot: &'s Snapshot, filter: &Filter) -> Vec<Offer<'s>> {
    let anything = Filter {
        version: None,
        channels: Vec::new(),
        ..filter.clone()
    };
    let query = Query::compile(&anything, snapshot).ok();
    let offers = query.and_then(|query| query.offers(&query.in_play(snapshot)).ok());
    offers.unwrap_or_default()
}

/// The names of all bundles of this version and release.
fn bundles(installed: &InstalledBundle, offers: &[Offer<'_>], rules: &Rules) -> BTreeSet<String> {
    let Ok(origin) = Origin::read(installed, rules) else {
        return BTreeSet::new();
    };
    let same = offers.iter().flat_map(|offer| {
        let same = origin.same(offer.package);
        let names = same.iter().map(|index| &offer.package.bundle(index).name);
        names.map(ToString::to_string).collect::<Vec<_>>()
    });
    same.collect()
}

/// The names that edges start at, that no bundle has, and from which this version can be read. A release is in no name.
pub(super) fn fitting_names<'s>(installed: &InstalledBundle, offers: &[Offer<'s>]) -> Vec<&'s str> {
    let has = |name: &str| offers.iter().any(|offer| offer.find(name).is_some());
    let fits = |name: &&str| {
        let read = version_in_name(name);
        read.is_some_and(|version| version.to_string() == installed.version)
    };
    let names = offers
        .iter()
        .flat_map(|offer| offer.package.names_of_edges());
    let names: BTreeSet<_> = names.filter(fits).filter(|name| !has(name)).collect();
    let counts = installed.release.is_none();
    names.into_iter().filter(|_| counts).collect()
}
