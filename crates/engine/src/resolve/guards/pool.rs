//! The versions that an offer has in the asked channels, laid out for what rules ask of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::resolve::Offer;
use olmguard_catalog::version::Version;

/// Major and minor.
type Minor = (u64, u64);

/// What can be asked of the bundles of an offer, whatever the range.
#[derive(Debug, Default)]
pub(super) struct Pool<'s> {
    /// The minors with a version that is no prerelease.
    stable: BTreeSet<Minor>,
    /// The highest versions of each minor that are not deprecated.
    highest: BTreeMap<Minor, Highest<'s>>,
}

/// The highest versions of one minor.
#[derive(Debug, Default)]
struct Highest<'s> {
    any: Option<&'s Version>,
    stable: Option<&'s Version>,
}

impl<'s> Pool<'s> {
    /// Of the bundles in the asked channels whose versions can be read.
    pub(super) fn of(offer: &Offer<'s>) -> Self {
        let package = offer.package;
        Self::of_versions(offer.members.iter().filter_map(|index| {
            let read = package.bundle(index).version.as_ref().ok()?;
            Some((&read.version, package.is_deprecated(index)))
        }))
    }

    /// Of versions, and whether each is deprecated.
    pub(super) fn of_versions(versions: impl IntoIterator<Item = (&'s Version, bool)>) -> Self {
        let mut pool = Self::default();
        for (version, is_deprecated) in versions {
            pool.add(version, is_deprecated);
        }
        pool
    }

    fn add(&mut self, version: &'s Version, is_deprecated: bool) {
        if !version.is_prerelease() {
            self.stable.insert(minor(version));
        }
        if is_deprecated {
            return;
        }
        let highest = self.highest.entry(minor(version)).or_default();
        raise(&mut highest.any, version);
        if !version.is_prerelease() {
            raise(&mut highest.stable, version);
        }
    }

    /// Whether the minor of a version has a higher one that is not deprecated; a prerelease counts
    /// where the version is one itself.
    pub(super) fn has_later_patch(&self, version: &Version) -> bool {
        let highest = self.highest.get(&minor(version));
        let latest = highest.and_then(|highest| {
            if version.is_prerelease() {
                highest.any
            } else {
                highest.stable
            }
        });
        latest.is_some_and(|latest| latest.cmp_precedence(version).is_gt())
    }

    /// Whether so many minors of one major, or more, have a version that is no prerelease and lie
    /// strictly between two versions.
    pub(super) fn has_minors_between(&self, from: &Version, to: &Version, least: usize) -> bool {
        if from.major() != to.major() || from.minor() >= to.minor() {
            return false;
        }
        let above = (from.major(), from.minor().saturating_add(1));
        let mut between = self.stable.range(above..minor(to));
        between.nth(least.saturating_sub(1)).is_some()
    }
}

fn minor(version: &Version) -> Minor {
    (version.major(), version.minor())
}

fn raise<'s>(highest: &mut Option<&'s Version>, version: &'s Version) {
    if highest.is_none_or(|highest| version.cmp_precedence(highest).is_gt()) {
        *highest = Some(version);
    }
}
