//! The effect of a catalog change on its users.
//!
//! ```text
//! old, new --package by package--> installed (bundles and names of old) --prospect in each--> changes
//! ```
//!
//! Every version of the old catalog is taken as installed and compared in both catalogs: its successors, the automatic
//! upgrade, and whether a higher version is still reachable. In OLM v1, the user is an extension that requests no
//! channel and no range; in OLM v0, a Subscription to each channel.
//!
//! Invariants: the order of blobs does not matter; a catalog does not differ from itself; changes are sorted by kind,
//! the most harmful first, then by channel, then from the highest version down.

mod content;
mod prospect;
#[cfg(test)]
mod tests;
pub mod words;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::see::Generation;
use olmguard_catalog::graph::Graph;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, Package, word_set};
use olmguard_engine::extension::{Extension, Filter, Installed, InstalledBundle};
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section};
use olmguard_report::{Document, Tone};

/// The changes of one package, at least one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageDiff {
    /// Name of the package.
    pub name: Box<str>,
    /// Changes, the most harmful first.
    pub changes: Vec<Change>,
}

/// Users of the two catalogs: extensions of OLM v1, or Subscriptions of OLM v0.
#[derive(Clone, Copy, Debug)]
pub enum DiffUsers<'r> {
    /// Extensions that request no channel and no range, in an OLM v1 with these rules.
    V1(&'r Rules),
    /// Subscriptions to each channel.
    V0,
}

/// Compares two catalogs package by package, or one package if `only` names it.
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
    changes.extend(prospect::changes(&old, &new, users));
    // A stable sort keeps the order of the changes of one kind.
    changes.sort_by_key(|change| change.kind);
    changes
}

// === The changes as a document: one row per change ===

/// Renders the changes as a comment on a pull request.
pub fn document(packages: &[PackageDiff], generation: Generation) -> Document {
    let mut heads = vec!["Level", "Package", "Change", "Details"];
    if words::concerning(packages).is_some() {
        heads.push("Installed extensions");
    }
    let rows = packages.iter().flat_map(|package| {
        let changes = package.changes.iter();
        changes.map(|change| row(&package.name, change))
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

fn row(package: &str, change: &Change) -> Row {
    let kind = change.kind;
    let mut cells = vec![
        Content::words(kind.level().as_str()),
        Content::foreign(package),
        Content::words(kind.as_str()),
        Content::foreign(words::sentence(change)),
    ];
    cells.extend(change.extensions.as_ref().map(|names| match names.len() {
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

// === A single change, as data ===

word_set! {
    /// A kind of change, the most harmful first.
    pub enum ChangeKind {
        /// The package was removed.
        PackageRemoved => "package-removed",
        /// OLM cannot decode the package any more.
        PackageUnreadable => "package-unreadable",
        /// An installed version could reach a higher one, and no longer can.
        NewlyStranded => "newly-stranded",
        /// A version has another bundle than before.
        OtherBundle => "other-bundle",
        /// A channel was removed.
        ChannelRemoved => "channel-removed",
        /// An installed version lost successors, and its automatic upgrades end at a lower version.
        SuccessorsLost => "successors-lost",
        /// A bundle was removed.
        BundleRemoved => "bundle-removed",
        /// The automatic upgrade of an installed version changed.
        PickChanged => "pick-changed",
        /// A package, channel or bundle is newly deprecated.
        Deprecated => "deprecated",
        /// The default channel changed.
        DefaultChannelChanged => "default-channel-changed",
        /// The successors of an installed version changed.
        SuccessorsChanged => "successors-changed",
        /// An installed version can reach a higher one again.
        NoLongerStranded => "no-longer-stranded",
        /// A package, channel or bundle is no longer deprecated.
        Undeprecated => "undeprecated",
        /// OLM can decode the package again.
        PackageReadable => "package-readable",
        /// The package was added.
        PackageAdded => "package-added",
        /// A channel was added.
        ChannelAdded => "channel-added",
        /// A bundle was added.
        BundleAdded => "bundle-added",
    }
}

word_set! {
    /// Effect of a change on users.
    pub enum Level {
        /// Some users lose something.
        Harmful => "harmful",
        /// Some users will notice.
        Notice => "notice",
        /// No user is at a disadvantage.
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
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, schemars::JsonSchema)]
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
    /// Creates a bundle with only its name.
    fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// A single change.
///
/// Invariant: the kind decides which fields are set. [`ChangeKind::OtherBundle`] has both bundles.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// Kind of the change.
    pub kind: ChangeKind,
    /// The users that the change affects, if it is about an installed bundle.
    pub who: Option<Who>,
    /// The bundle that was added, removed or deprecated. If the content changed, the bundle before the change.
    pub bundle: Option<ReportedBundle>,
    /// The bundle after the change, if the content changed.
    pub other: Option<ReportedBundle>,
    /// The channel that was added, removed or deprecated.
    pub channel: Option<Box<str>>,
    /// Before the change: the lost successors, the automatic upgrade, or the default channel.
    pub before: Vec<Box<str>>,
    /// After the change: the new or remaining successors, the automatic upgrade, or the default channel.
    pub after: Vec<Box<str>>,
    /// The message of a deprecation.
    pub message: Box<str>,
    /// Names of the installed extensions that the change concerns; `None` if it is not known what is installed.
    pub extensions: Option<Vec<Box<str>>>,
}

impl Change {
    /// Creates a change of this kind, without any other field.
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
            extensions: None,
        }
    }

    /// Returns how many installed extensions the change concerns.
    fn weight(&self) -> usize {
        self.extensions.as_ref().map_or(0, Vec::len)
    }

    /// Whether the change concerns an installed extension.
    fn is_concerning(&self) -> bool {
        self.weight() > 0
    }
}

impl ChangeKind {
    /// Returns the effect on users.
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
// A version concerns the extensions that have it installed. A channel concerns the extensions that request it. A
// package concerns all of its extensions. Other fields of an extension are ignored: `olmguard audit` checks them.

/// Installed extensions by package.
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

/// Finds the installed extensions that each change concerns. Changes that concern any come first, and so do their
/// packages. Of the changes of one kind, those that concern the most come first.
pub fn weigh(diffs: &mut [PackageDiff], installed: &InstalledExtensions<'_>) {
    for PackageDiff { name, changes } in &mut *diffs {
        for change in &mut *changes {
            change.extensions = Some(installed.concerned(name, change));
        }
        // A stable sort keeps the order of the rest.
        changes.sort_by_key(|one| (!one.is_concerning(), one.kind, Reverse(one.weight())));
    }
    // A stable sort keeps the order by name.
    diffs.sort_by_key(|diff| !diff.changes.iter().any(Change::is_concerning));
}

impl<'e> InstalledExtensions<'e> {
    /// Indexes extensions with a catalog source. No change concerns an extension that has nothing installed.
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

    /// Returns the names of extensions whose installed bundle is unknown, of one package if `only` names it.
    pub fn unknown(&self, only: Option<&str>) -> impl Iterator<Item = &'e str> {
        let unknown = self.unknown.iter();
        unknown
            .filter(move |(package, _)| only.is_none_or(|only| only == *package))
            .map(|(_, name)| *name)
    }

    fn concerned(&self, package: &str, change: &Change) -> Vec<Box<str>> {
        let extensions = self.by_package.get(package).into_iter().flatten();
        let concerned = extensions.filter(|extension| extension.is_concerned(change));
        concerned.map(|extension| extension.name.into()).collect()
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

    /// Whether this bundle is installed: by its name, or by its version if the status has no name.
    fn has(&self, name: &str, version: Option<&str>) -> bool {
        match &self.bundle.name {
            Some(installed) => installed == name,
            None => version.is_some_and(|version| self.bundle.version == version),
        }
    }
}
