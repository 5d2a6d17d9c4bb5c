//! The blobs of a catalog by package, with indexes that the checks share.
//!
//! If a blob occurs twice, the first counts, and a rule reports the second. Every package name in a blob is a package,
//! defined or not, because OLM v1 does not need the `olm.package`.

mod steps;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) use steps::{Step, Steps};

use super::written::{
    Bundle, Channel, Deprecations, Entry, Package, Spot, UnreadBlob, WrittenCatalog,
};
use crate::lint::written;
use crate::lint::written::Carrier;
use crate::see::written_release;
use olmguard_catalog::guardrail::{AuthorGuardrails, Guardrails, UnreadGuardrails};
use olmguard_catalog::version::{
    BundleReleaseSupport, SkipRange, SkipRangeError, Version, VersionRelease,
};

/// A catalog, by package.
#[derive(Debug)]
pub(super) struct View<'w> {
    pub(super) written: &'w WrittenCatalog,
    pub(super) packages: BTreeMap<&'w str, PackageView<'w>>,
    /// Packages that have a bundle of a given name.
    pub(super) homes: HashMap<&'w str, Vec<&'w str>>,
    /// Whether some blobs could not be read at all.
    has_lost: bool,
}

/// A package with its blobs.
#[derive(Debug, Default)]
pub(super) struct PackageView<'w> {
    pub(super) name: &'w str,
    pub(super) package: Option<&'w Package>,
    pub(super) channels: Vec<ChannelView<'w>>,
    pub(super) bundles: Vec<BundleView<'w>>,
    pub(super) deprecations: Option<&'w Deprecations>,
    pub(super) guardrails: GuardrailsView<'w>,
    pub(super) by_name: HashMap<&'w str, usize>,
    /// Blobs that could not be read. They do not count as missing.
    pub(super) unread: UnreadView<'w>,
    channels_by_name: HashMap<&'w str, usize>,
}

/// The blobs of a package that could not be read.
#[derive(Debug, Default)]
pub(super) struct UnreadView<'w> {
    /// Whether its `olm.package` is one of them.
    pub(super) package: bool,
    pub(super) channels: UnreadNames<'w>,
    pub(super) bundles: UnreadNames<'w>,
}

/// The names of blobs that could not be read.
#[derive(Debug, Default)]
pub(super) struct UnreadNames<'w> {
    pub(super) known: HashSet<&'w str>,
    /// Whether the unread blobs can have any name.
    is_open: bool,
}

impl UnreadNames<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && !self.is_open
    }

    pub(super) fn may_have(&self, name: &str) -> bool {
        self.is_open || self.known.contains(name)
    }
}

/// A bundle with its version.
#[derive(Debug)]
pub(super) struct BundleView<'w> {
    pub(super) bundle: &'w Bundle,
    pub(super) version: Option<Version>,
    /// Version and release, by which bundles are ordered.
    release: Option<VersionRelease>,
}

/// A channel with its entries by name.
#[derive(Debug)]
pub(super) struct ChannelView<'w> {
    pub(super) channel: &'w Channel,
    /// Entries of the channel. Of several with one name, only the first.
    pub(super) entries: Vec<EntryView<'w>>,
    by_name: HashMap<&'w str, usize>,
}

/// An entry of a channel.
#[derive(Debug)]
pub(super) struct EntryView<'w> {
    pub(super) entry: &'w Entry,
    /// Index of the bundle of the entry.
    pub(super) bundle: Option<usize>,
    /// The `skipRange`. `None` if the entry has none.
    pub(super) range: Option<Result<SkipRange, SkipRangeError>>,
}

impl<'w> View<'w> {
    pub(super) fn of(written: &'w WrittenCatalog) -> Self {
        let mut packages = BTreeMap::<&str, PackageView<'_>>::new();
        for package in &written.packages {
            let view = at(&mut packages, &package.name);
            view.package.get_or_insert(package);
        }
        for bundle in &written.bundles {
            at(&mut packages, &bundle.package).add_bundle(bundle);
        }
        for channel in &written.channels {
            at(&mut packages, &channel.package).add_channel(channel);
        }
        for deprecations in &written.deprecations {
            let view = at(&mut packages, &deprecations.package);
            view.deprecations.get_or_insert(deprecations);
        }
        for unread in &written.unread {
            add_unread(&mut packages, unread);
        }
        let has_lost = written.has_lost();
        for view in packages.values_mut().filter(|_| has_lost) {
            view.unread.channels.is_open = true;
            view.unread.bundles.is_open = true;
        }
        for guardrails in &written.guardrails {
            // Guardrails alone do not make a name a package.
            if let Some(view) = packages.get_mut(&*guardrails.package) {
                view.guardrails.add(guardrails);
            }
        }
        Self {
            written,
            homes: homes(&packages),
            packages,
            has_lost,
        }
    }
}

impl<'w> View<'w> {
    /// Whether there can be an `olm.package` of this name, readable or not.
    pub(super) fn defines(&self, package: &str) -> bool {
        let found = self.packages.get(package);
        let is_found = found.is_some_and(|found| found.package.is_some() || found.unread.package);
        !package.is_empty() && (is_found || self.has_lost)
    }

    /// The names of the packages whose `olm.package` can be read.
    pub(super) fn defined(&self) -> impl Iterator<Item = &'w str> + Clone {
        let packages = self.packages.values();
        let defined = packages.filter(|package| package.package.is_some());
        defined.map(|package| package.name)
    }
}

fn homes<'w>(packages: &BTreeMap<&'w str, PackageView<'w>>) -> HashMap<&'w str, Vec<&'w str>> {
    let mut homes = HashMap::<_, Vec<_>>::new();
    for (name, package) in packages {
        for bundle in &package.bundles {
            homes.entry(&*bundle.bundle.name).or_default().push(*name);
        }
    }
    homes
}

fn at<'v, 'w>(
    packages: &'v mut BTreeMap<&'w str, PackageView<'w>>,
    name: &'w str,
) -> &'v mut PackageView<'w> {
    let view = packages.entry(name).or_default();
    view.name = name;
    view
}

fn add_unread<'w>(packages: &mut BTreeMap<&'w str, PackageView<'w>>, unread: &'w UnreadBlob) {
    let (package, name) = (&*unread.package, &*unread.name);
    match &*unread.schema {
        "olm.package" => at(packages, name).unread.package = true,
        "olm.channel" => drop(at(packages, package).unread.channels.known.insert(name)),
        "olm.bundle" => drop(at(packages, package).unread.bundles.known.insert(name)),
        _ => {}
    }
}

impl<'w> PackageView<'w> {
    fn add_bundle(&mut self, bundle: &'w Bundle) {
        let index = self.bundles.len();
        if *self.by_name.entry(&bundle.name).or_insert(index) != index {
            return;
        }
        let property = bundle.versions.first();
        self.bundles.push(BundleView {
            bundle,
            version: property.and_then(|property| Version::parse(&property.version).ok()),
            release: property
                .and_then(|property| written_release(&property.version, &property.release)),
        });
    }

    fn add_channel(&mut self, channel: &'w Channel) {
        let index = self.channels.len();
        let first = *self.channels_by_name.entry(&channel.name).or_insert(index);
        if first == index {
            self.channels.push(ChannelView::of(channel, &self.by_name));
        }
    }

    /// Returns the bundle of this name.
    pub(super) fn bundle(&self, name: &str) -> Option<&BundleView<'w>> {
        let index = self.by_name.get(name)?;
        self.bundles.get(*index)
    }

    /// Returns the channel of this name.
    pub(super) fn channel(&self, name: &str) -> Option<&ChannelView<'w>> {
        let index = self.channels_by_name.get(name)?;
        self.channels.get(*index)
    }

    /// Returns the place where the package is mentioned first.
    pub(super) fn spot(&self) -> Spot {
        let blobs = self.bundles.iter().map(|view| view.bundle.spot);
        let blobs = blobs.chain(self.channels.iter().map(|view| view.channel.spot));
        let package = self.package.map(|package| package.spot);
        package.or_else(|| blobs.min()).unwrap_or_default()
    }

    /// Returns the version of a bundle.
    pub(super) fn version(&self, bundle: usize) -> Option<&Version> {
        self.bundles
            .get(bundle)
            .and_then(|view| view.version.as_ref())
    }

    /// Returns the version of a bundle with its release, as operator-controller records both; empty if there is none.
    pub(super) fn label(&self, bundle: usize) -> String {
        let read = self.bundles.get(bundle);
        let read = read.and_then(|view| view.release.as_ref());
        read.map(|read| read.recorded(BundleReleaseSupport::Disabled).version)
            .unwrap_or_default()
    }

    /// Compares the versions and releases of two bundles.
    pub(super) fn compare(&self, bundle: usize, other: usize) -> Option<Ordering> {
        let release = |bundle: usize| self.bundles.get(bundle)?.release.as_ref();
        Some(release(bundle)?.cmp_precedence(release(other)?))
    }
}

impl<'w> ChannelView<'w> {
    fn of(channel: &'w Channel, bundles: &HashMap<&'w str, usize>) -> Self {
        let mut view = Self {
            channel,
            entries: Vec::new(),
            by_name: HashMap::new(),
        };
        for entry in &channel.entries {
            let index = view.entries.len();
            if *view.by_name.entry(&entry.name).or_insert(index) != index {
                continue;
            }
            let range = &entry.skip_range.text;
            view.entries.push(EntryView {
                entry,
                bundle: bundles.get(&*entry.name).copied(),
                range: (!range.is_empty()).then(|| SkipRange::parse(range)),
            });
        }
        view
    }

    /// Returns the entry of this name.
    pub(super) fn entry(&self, name: &str) -> Option<&EntryView<'w>> {
        let index = self.by_name.get(name)?;
        self.entries.get(*index)
    }
}

impl EntryView<'_> {
    /// Returns the range, if it can be read.
    pub(super) fn readable_range(&self) -> Option<&SkipRange> {
        self.range.as_ref().and_then(|range| range.as_ref().ok())
    }
}

/// The blobs and properties of a package that contain guardrails of the known schema.
#[derive(Debug, Default)]
pub(in crate::lint) struct GuardrailsView<'w> {
    pub(in crate::lint) blobs: Vec<&'w written::Guardrails>,
    pub(in crate::lint) properties: Vec<&'w written::Guardrails>,
}

impl<'w> GuardrailsView<'w> {
    fn add(&mut self, written: &'w written::Guardrails) {
        match (&written.stated, written.carrier) {
            (None, _) => {}
            (Some(_), Carrier::Blob) => self.blobs.push(written),
            (Some(_), Carrier::Property) => self.properties.push(written),
        }
    }

    /// Returns why the guardrails cannot be read together.
    pub(in crate::lint) fn unread(&self) -> Option<UnreadGuardrails> {
        self.authored().stated()?.err().cloned()
    }

    /// Returns the guardrails in effect and their place, if all of them can be read together.
    pub(in crate::lint) fn read(&self) -> Option<(&'w written::Guardrails, &'w Guardrails)> {
        let first = *self.blobs.first().or(self.properties.first())?;
        let stated = first.stated.as_ref()?.as_ref().ok()?;
        self.unread().is_none().then_some((first, stated))
    }

    fn authored(&self) -> AuthorGuardrails {
        // Two are already too many.
        let stated = |all: &[&written::Guardrails]| {
            let stated = all.iter().filter_map(|written| written.stated.clone());
            stated.take(2).collect()
        };
        AuthorGuardrails::new(stated(&self.blobs), stated(&self.properties), Vec::new())
    }
}
