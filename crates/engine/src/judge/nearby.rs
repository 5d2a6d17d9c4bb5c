//! Finds existing names, channels and versions that are close to a requested one that does not exist, for refusals.

use std::collections::BTreeSet;

use crate::extension::Filter;
use crate::nearest::nearest;
use crate::resolve::{Offer, Query};
use crate::snapshot::CatalogState;
use olmguard_catalog::Catalog;
use olmguard_catalog::version::{Masterminds, MastermindsVersion, Version};

/// The packages of these catalogs with a similar name, the most similar first.
pub(super) fn packages<'s>(wanted: &str, catalogs: &[&'s CatalogState]) -> Vec<&'s str> {
    let loaded = catalogs.iter().filter_map(|catalog| catalog.loaded());
    let names: BTreeSet<&str> = loaded.flat_map(Catalog::package_names).collect();
    nearest(wanted, names, MOST)
}

/// The channels of these offers. Channels with a name similar to a requested one are first.
pub(super) fn channels<'o, 's: 'o>(
    filter: &Filter,
    offers: impl Iterator<Item = &'o Offer<'s>>,
) -> Vec<&'s str> {
    let mut names: BTreeSet<&str> = offers
        .flat_map(|offer| offer.package.channels())
        .map(|channel| &*channel.name)
        .filter(|name| !name.is_empty())
        .collect();
    let mut ordered: Vec<&str> = Vec::new();
    for wanted in filter.channels.iter().take(MOST) {
        for name in nearest(wanted, names.iter().copied(), MOST) {
            names.remove(name);
            ordered.push(name);
        }
    }
    ordered.extend(names);
    ordered
}

/// The channels that have a bundle in the range although no requested channel has one. `None` if no bundle at all is in
/// the range. Empty if the bundles in the range are in no channel.
pub(super) fn elsewhere<'o, 's: 'o>(
    query: &Query<'_>,
    offers: impl Iterator<Item = &'o Offer<'s>>,
) -> Option<Vec<&'s str>> {
    let mut having = BTreeSet::new();
    let mut found = false;
    for offer in offers {
        let mut in_range = offer.package.every_bundle();
        query.keep_in_range(offer.package, &mut in_range);
        found |= !in_range.is_empty();
        for channel in offer.package.channels() {
            if channel.has_any_of(&in_range) && !channel.name.is_empty() {
                having.insert(&*channel.name);
            }
        }
    }
    found.then(|| having.into_iter().collect())
}

/// The versions of the requested channels that are nearest to the first version in the range, or the highest versions
/// if the range contains none. The order is below, above, and below again. Prereleases are listed only if the range
/// contains one, or if no release exists.
pub(super) fn versions<'o, 's: 'o>(
    filter: &Filter,
    offers: impl Iterator<Item = &'o Offer<'s>>,
) -> Vec<&'s Version> {
    let named = filter.range().and_then(first_version);
    let offers: Vec<_> = offers.collect();
    let wants_prerelease = named.as_ref().is_some_and(Version::is_prerelease);
    if !wants_prerelease {
        let releases = around(named.as_ref(), &offers, |version| !version.is_prerelease());
        if !releases.is_empty() {
            return releases;
        }
    }
    around(named.as_ref(), &offers, |_| true)
}

/// Like [`versions`], among the versions that pass a test.
fn around<'s>(
    named: Option<&Version>,
    offers: &[&Offer<'s>],
    is_meant: impl Fn(&Version) -> bool,
) -> Vec<&'s Version> {
    let is_above = |v: &Version| named.is_some_and(|named| v.cmp_precedence(named).is_gt());
    let of_each = offers.iter();
    let of_each = of_each.flat_map(|offer| around_in(offer, is_above, &is_meant));
    let mut there: Vec<&Version> = of_each.collect();
    there.sort_by(|a, b| b.cmp_precedence(a));
    there.dedup_by(|a, b| a.cmp_precedence(b).is_eq());
    let (above, below): (Vec<_>, Vec<_>) = there.into_iter().partition(|version| is_above(version));
    let mut below = below.into_iter();
    let around = below
        .next()
        .into_iter()
        .chain(above.into_iter().rev().take(1));
    around.chain(below).take(MOST).collect()
}

/// The lowest version of an offer above `named`, and the highest versions below it. No other version can be nearest.
fn around_in<'s>(
    offer: &Offer<'s>,
    is_above: impl Fn(&Version) -> bool,
    is_meant: impl Fn(&Version) -> bool,
) -> Vec<&'s Version> {
    let members = offer.members.iter();
    let versions = members.filter_map(|index| offer.choice(index).version());
    let mut found: Vec<&Version> = Vec::with_capacity(MOST);
    for version in versions.filter(|version| is_meant(version)) {
        let last = found.last();
        if last.is_some_and(|last| last.cmp_precedence(version).is_eq()) {
            continue;
        }
        if is_above(version) {
            found.clear();
        }
        found.push(version);
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// The first version in the text of a range. Missing parts count as zero.
fn first_version(range: &str) -> Option<Version> {
    let start = range.find(|c: char| c.is_ascii_digit())?;
    let rest = range.get(start..)?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".-+".contains(c)));
    let text = rest.get(..end.unwrap_or(rest.len()))?;
    let read = MastermindsVersion::parse(text, Masterminds::V3_5).ok()?;
    Version::parse(&read.to_string()).ok()
}

const MOST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_of_a_range_is_filled_up() {
        let first = |range| first_version(range).map(|version| version.to_string());
        assert_eq!(first(">=1.2, <2"), Some("1.2.0".to_owned()));
        assert_eq!(first("v4"), Some("4.0.0".to_owned()));
        assert_eq!(first("1.0.0-rc.1||2"), Some("1.0.0-rc.1".to_owned()));
        assert_eq!(first("latest"), None);
        assert_eq!(first("1.x"), None);
    }
}
