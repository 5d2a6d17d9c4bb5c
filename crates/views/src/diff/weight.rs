//! Which installed extensions a change concerns.
//!
//! ```text
//! changes of a package, extensions of it --row by row--> those that have the version, or request the channel
//! ```
//!
//! A version concerns the extensions that have it installed, a channel the ones that request it, and a package all of
//! its own. What an extension requests besides is not read: that is the question of `olmguard audit`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Change, ChangeKind, PackageDiff};
use olmguard_engine::extension::{Extension, Filter, Installed, InstalledBundle};

/// What is installed, by package.
#[derive(Clone, Debug, Default)]
pub struct InstalledExtensions<'e> {
    by_package: BTreeMap<&'e str, Vec<InstalledExtension<'e>>>,
    unknown: Vec<(&'e str, &'e str)>,
}

#[derive(Clone, Debug)]
struct InstalledExtension<'e> {
    name: &'e str,
    channels: &'e [String],
    bundle: &'e InstalledBundle,
}

/// The changes of a package, in the order in which people are shown them.
#[derive(Clone, Debug)]
pub struct WeighedPackage<'d> {
    /// Its name.
    pub name: &'d str,
    /// Its changes: first those that concern installed extensions, each part the most harmful first.
    pub rows: Vec<WeighedChange<'d>>,
}

/// A change, and the extensions that it concerns.
#[derive(Clone, Debug)]
pub struct WeighedChange<'d> {
    /// The change.
    pub change: &'d Change,
    /// Names of the installed extensions that it concerns, in byte order; none if it is not known what is installed.
    pub extensions: Option<Vec<&'d str>>,
}

/// The changes with the extensions that they concern; in the order in which they come if it is not known what is
/// installed.
pub fn weigh<'d>(
    diffs: &'d [PackageDiff],
    installed: Option<&InstalledExtensions<'d>>,
) -> Vec<WeighedPackage<'d>> {
    let mut packages: Vec<_> = diffs
        .iter()
        .map(|diff| WeighedPackage::of(diff, installed))
        .collect();
    // Stable: otherwise by name.
    packages.sort_by_key(|package| !package.rows.iter().any(WeighedChange::is_concerning));
    packages
}

impl<'e> InstalledExtensions<'e> {
    /// These extensions, of catalogs only. One that has nothing installed concerns no change.
    pub fn of(extensions: impl IntoIterator<Item = &'e Extension>) -> Self {
        let mut all = Self::default();
        for extension in extensions {
            let Ok(filter) = &extension.filter else {
                continue;
            };
            let name = extension.identity.name.as_deref().unwrap_or("(no name)");
            match &extension.installed {
                Installed::Bundle(bundle) | Installed::Inferred(bundle) => {
                    all.add(name, filter, bundle);
                }
                Installed::Unknown(_) => all.unknown.push((&filter.package, name)),
                Installed::Nothing => {}
            }
        }
        for extensions in all.by_package.values_mut() {
            extensions.sort_by_key(|extension| extension.name);
        }
        all
    }

    fn add(&mut self, name: &'e str, filter: &'e Filter, bundle: &'e InstalledBundle) {
        let package = self.by_package.entry(&filter.package).or_default();
        package.push(InstalledExtension {
            name,
            channels: &filter.channels,
            bundle,
        });
    }

    /// The names of extensions of which it is not known what is installed, of one package where one is named.
    pub fn unknown(&self, only: Option<&str>) -> impl Iterator<Item = &'e str> {
        let unknown = self.unknown.iter();
        unknown
            .filter(move |(package, _)| only.is_none_or(|only| only == *package))
            .map(|(_, name)| *name)
    }

    fn concerned(&self, package: &str, change: &Change) -> Vec<&'e str> {
        let extensions = self.by_package.get(package).into_iter().flatten();
        let concerned = extensions.filter(|extension| extension.is_concerned(change));
        concerned.map(|extension| extension.name).collect()
    }
}

impl InstalledExtension<'_> {
    fn is_concerned(&self, change: &Change) -> bool {
        if let Some(who) = &change.who {
            self.has(&who.name, who.version.as_deref())
        } else if let Some(bundle) = &change.bundle {
            self.has(&bundle.name, bundle.version.as_deref())
        } else if let Some(channel) = &change.channel {
            self.channels
                .iter()
                .any(|requested| **requested == **channel)
        } else {
            // OLM v1 has no default channel.
            change.kind != ChangeKind::DefaultChannelChanged
        }
    }

    /// Whether this bundle is installed: by its name, or by its version if a status names none.
    fn has(&self, name: &str, version: Option<&str>) -> bool {
        match &self.bundle.name {
            Some(installed) => installed == name,
            None => version.is_some_and(|version| self.bundle.version == version),
        }
    }
}

impl<'d> WeighedPackage<'d> {
    fn of(diff: &'d PackageDiff, installed: Option<&InstalledExtensions<'d>>) -> Self {
        let rows = diff.changes.iter().map(|change| WeighedChange {
            change,
            extensions: installed.map(|installed| installed.concerned(&diff.name, change)),
        });
        let mut rows: Vec<_> = rows.collect();
        // Stable: otherwise in their order.
        rows.sort_by_key(|row| (!row.is_concerning(), row.change.kind, Reverse(row.weight())));
        Self {
            name: &diff.name,
            rows,
        }
    }
}

impl WeighedChange<'_> {
    /// How many installed extensions it concerns.
    pub fn weight(&self) -> usize {
        self.extensions.as_ref().map_or(0, Vec::len)
    }

    /// Whether it concerns an installed extension.
    pub fn is_concerning(&self) -> bool {
        self.weight() > 0
    }
}
