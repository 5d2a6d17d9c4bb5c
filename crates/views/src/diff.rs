//! What a change of a catalog does to those who use it.
//!
//! ```text
//! old, new --package by package--> installed (bundles and names of old) --prospect in each--> changes
//! ```
//!
//! Everyone who has a version of the old catalog installed is looked at in both: where edges lead, what
//! is picked by itself, whether a higher version is still in sight. With OLM v1 that is an extension
//! that asks for no channel and no range; with OLM v0 a Subscription to each channel.
//!
//! Invariants: the order of blobs changes nothing; a catalog differs in nothing from itself; changes
//! stand by kind, the most harmful first, then by channel and from the highest version down.

mod content;
mod prospect;
#[cfg(test)]
mod tests;
pub mod words;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use prospect::Prospects;
use serde::Serialize;

use crate::see::Generation;
use olmguard_catalog::graph::Graph;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, Package, word_set};
use olmguard_engine::extension::{Extension, Filter, Installed, InstalledBundle};
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section};
use olmguard_report::{Document, Tone};

/// What changed of one package; at least one thing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageDiff {
    /// Its name.
    pub name: Box<str>,
    /// What changed, the most harmful first.
    pub changes: Vec<Change>,
}

/// What uses the two catalogs that are compared: extensions of OLM v1, or Subscriptions of OLM v0.
#[derive(Clone, Copy, Debug)]
pub enum DiffUsers<'r> {
    /// Extensions that request no channel and no range, in an OLM v1 with these rules.
    V1(&'r Rules),
    /// Subscriptions to each channel.
    V0,
}

/// What changed from one catalog to another, package by package; of one package where one is named.
pub fn diff(
    old: &Catalog,
    new: &Catalog,
    only: Option<&str>,
    users: DiffUsers<'_>,
) -> Vec<PackageDiff> {
    let names: BTreeSet<_> = old.package_names().chain(new.package_names()).collect();
    let names = names.into_iter();
    let asked = names.filter(|name| only.is_none_or(|only| only == *name));
    let diffs = asked.map(|name| PackageDiff {
        name: name.into(),
        changes: of_package(name, old, new, users),
    });
    diffs.filter(|diff| !diff.changes.is_empty()).collect()
}

fn of_package(name: &str, old: &Catalog, new: &Catalog, users: DiffUsers<'_>) -> Vec<Change> {
    let kind = match (old.package(name), new.package(name)) {
        (Some(Ok(old)), Some(Ok(new))) => return compare(name, old, new, users),
        (Some(_), None) => ChangeKind::PackageRemoved,
        (None, Some(_)) => ChangeKind::PackageAdded,
        (Some(Ok(_)), Some(Err(_))) => ChangeKind::PackageUnreadable,
        (Some(Err(_)), Some(Ok(_))) => ChangeKind::PackageReadable,
        (Some(Err(_)), Some(Err(_))) | (None, None) => return Vec::new(),
    };
    vec![Change::of(kind)]
}

fn compare(name: &str, old: &Package, new: &Package, users: DiffUsers<'_>) -> Vec<Change> {
    let mut changes = content::compare(old, new);
    let (old, new) = (Graph::of(name, old), Graph::of(name, new));
    changes.extend(Prospects::of(&old, &new, users).changes());
    // Stable: within a kind the order in which they were found.
    changes.sort_by_key(|change| change.kind);
    changes
}

// === What changed as a document: a row for each change ===

/// The changes for the comment of a pull request.
pub fn document(packages: &[WeighedPackage<'_>], generation: Generation) -> Document {
    let mut heads = vec!["Level", "Package", "Change", "Details"];
    if words::concerning(packages).is_some() {
        heads.push("Installed extensions");
    }
    let rows = packages.iter().flat_map(|package| {
        let rows = package.rows.iter();
        rows.map(|one| row(package.name, one))
    });
    let section = Section {
        caption: "Changes",
        layout: Layout::List,
        heads: heads.into_iter().map(Head::from).collect(),
        rows: rows.collect(),
        details: ["list of details", "lists of details"],
    };
    Document {
        name: "olmguard diff",
        command: "olmguard diff",
        result: Content::words(words::summary(packages, generation)),
        faults: Vec::new(),
        totals: Vec::new(),
        sections: vec![section],
    }
}

fn row(package: &str, row: &WeighedChange<'_>) -> Row {
    let kind = row.change.kind;
    let mut cells = vec![
        Content::words(kind.level().as_str()),
        Content::foreign(package),
        Content::words(kind.as_str()),
        Content::foreign(words::sentence(row.change)),
    ];
    cells.extend(row.extensions.as_ref().map(|names| match names.len() {
        0 => Content::words("0"),
        count => Content::words(format!("{count}: ")).and_foreign(words::few(names)),
    }));
    Row {
        tone: Tone::Plain,
        findings: vec![kind.as_str()],
        cells,
        details: Details::default(),
    }
}

// === One thing that changed, as data ===

word_set! {
    /// A kind of change, the most harmful first.
    pub enum ChangeKind {
        /// The package is gone.
        PackageRemoved => "package-removed",
        /// OLM cannot decode the package any more.
        PackageUnreadable => "package-unreadable",
        /// An installed version had a higher one in sight, and has none now.
        NewlyStranded => "newly-stranded",
        /// A version is another bundle than before.
        OtherBundle => "other-bundle",
        /// A channel is gone.
        ChannelRemoved => "channel-removed",
        /// An installed version lost successors and, left to itself, ends lower than before.
        SuccessorsLost => "successors-lost",
        /// A bundle is gone.
        BundleRemoved => "bundle-removed",
        /// What an installed version goes to by itself.
        PickChanged => "pick-changed",
        /// Something is deprecated now.
        Deprecated => "deprecated",
        /// The default channel.
        DefaultChannelChanged => "default-channel-changed",
        /// Where an installed version can go in one step.
        SuccessorsChanged => "successors-changed",
        /// An installed version has a higher one in sight again.
        NoLongerStranded => "no-longer-stranded",
        /// Something is no longer deprecated.
        Undeprecated => "undeprecated",
        /// OLM can decode the package again.
        PackageReadable => "package-readable",
        /// A new package.
        PackageAdded => "package-added",
        /// A new channel.
        ChannelAdded => "channel-added",
        /// A new bundle.
        BundleAdded => "bundle-added",
    }
}

word_set! {
    /// What a change means to users.
    pub enum Level {
        /// Somebody loses something.
        Harmful => "harmful",
        /// Somebody will notice.
        Notice => "notice",
        /// Nobody minds.
        Good => "good",
    }
}

/// Installed version of affected users.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "InstalledReport")]
pub struct Who {
    /// Name of the installed bundle.
    pub name: Box<str>,
    /// Version of the installed bundle. Null if unknown.
    pub version: Option<Box<str>>,
    /// Channel of the Subscription. Only with OLM v0.
    pub channel: Option<Box<str>>,
}

/// A bundle of the catalog.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "HeldReport")]
pub struct ReportedBundle {
    /// Name of the bundle.
    pub name: Box<str>,
    /// Version of the bundle. Null if it cannot be read.
    pub version: Option<Box<str>>,
    /// Image of the bundle. Null if unknown.
    pub image: Option<Box<str>>,
}

impl ReportedBundle {
    /// A bundle by its name alone.
    fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            version: None,
            image: None,
        }
    }
}

/// One thing that changed.
///
/// Invariant: its kind decides which fields are set. [`ChangeKind::OtherBundle`] has both bundles.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// Its kind.
    pub kind: ChangeKind,
    /// The users that the change affects, if it is about an installed bundle.
    pub who: Option<Who>,
    /// The bundle that was added, removed or deprecated; with another content, the bundle before the change.
    pub bundle: Option<ReportedBundle>,
    /// The bundle after the change, if its content is another.
    pub other: Option<ReportedBundle>,
    /// The channel that was added, removed or deprecated.
    pub channel: Option<Box<str>>,
    /// Before the change: the lost successors, the automatic upgrade, or the default channel.
    pub before: Vec<Box<str>>,
    /// After the change: the new or remaining successors, the automatic upgrade, or the default channel.
    pub after: Vec<Box<str>>,
    /// The message of a deprecation.
    pub message: Box<str>,
}

impl Change {
    /// A change of this kind, without any other field.
    fn of(kind: ChangeKind) -> Self {
        Self {
            kind,
            who: None,
            bundle: None,
            other: None,
            channel: None,
            before: Vec::new(),
            after: Vec::new(),
            message: Box::default(),
        }
    }
}

impl ChangeKind {
    /// What it means to users.
    pub fn level(self) -> Level {
        if self <= Self::BundleRemoved {
            Level::Harmful
        } else if self <= Self::SuccessorsChanged {
            Level::Notice
        } else {
            Level::Good
        }
    }
}

// === Which installed extensions a change concerns ===
//
// ```text
// changes of a package, extensions of it --row by row--> those that have the version, or request the channel
// ```
//
// A version concerns the extensions that have it installed, a channel the ones that request it, and a package all of
// its own. What an extension requests besides is not read: that is the question of `olmguard audit`.

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
