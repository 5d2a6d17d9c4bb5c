//! The successor rule without an index: every entry is tried.

use std::collections::{BTreeSet, HashMap};

use olmguard_catalog::Package;
use olmguard_catalog::version::{Membership, SkipRange, Version};

use crate::drawn::{Drawn, DrawnEntry};

/// The entries of a package, as its author writes them.
pub(crate) struct Scan<'d>(Vec<ScannedEntry<'d>>);

struct ScannedEntry<'d> {
    entry: &'d DrawnEntry,
    /// The place of the bundle that the entry names.
    to: u32,
    /// The range, if it can be read.
    range: Option<SkipRange>,
}

impl<'d> Scan<'d> {
    /// The entries that name a bundle. OLM knows no other successors.
    pub(crate) fn of(drawn: &'d Drawn, package: &Package) -> Self {
        let bundles = package.bundles();
        let places: HashMap<&str, u32> = bundles
            .map(|(index, bundle)| (&*bundle.name, index.get()))
            .collect();
        let entries = drawn.entries.iter().filter_map(|entry| {
            let to = *places.get(&*entry.name)?;
            let range = entry.range.as_ref();
            let range = range.and_then(|text| SkipRange::parse(text).ok());
            Some(ScannedEntry { entry, to, range })
        });
        Self(entries.collect())
    }

    /// The places of the successors, and of the bundles over which OLM crashes. No channel is every channel.
    pub(crate) fn successors(
        &self,
        name: Option<&str>,
        version: &Version,
        channels: &[String],
    ) -> [Vec<u32>; 2] {
        let (mut edges, mut crashes) = (BTreeSet::new(), BTreeSet::new());
        let is_asked = |one: &&ScannedEntry<'_>| {
            channels.is_empty() || channels.iter().any(|name| name == one.entry.channel)
        };
        for one in self.0.iter().filter(is_asked) {
            let range = one.range.as_ref().map(|range| range.takes(version));
            if name.is_some_and(|name| one.entry.starts_at(name))
                || range == Some(Membership::Holds)
            {
                edges.insert(one.to);
            } else if range == Some(Membership::Crashes) {
                crashes.insert(one.to);
            }
        }
        let crashes = crashes.difference(&edges).copied().collect();
        [edges.into_iter().collect(), crashes]
    }
}

impl DrawnEntry {
    /// Whether `replaces` or `skips` names it. An entry without `replaces` replaces the empty name.
    fn starts_at(&self, name: &str) -> bool {
        self.replaces.as_deref().unwrap_or_default() == name
            || self.skips.iter().any(|skipped| skipped == name)
    }
}
