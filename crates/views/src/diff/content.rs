//! What there is: bundles, channels, deprecations, the default channel.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, ToldBundle, What};
use olmguard_catalog::{Bundle, BundleSet, Deprecation, Package};

/// Everything that changed of that.
pub(super) fn compare(old: &Package, new: &Package) -> Vec<Change> {
    let mut changes = bundles(old, new);
    changes.extend(channels(old, new));
    changes.extend(deprecations(old, new));
    let [before, after] = [old, new].map(|package| Box::from(package.default_channel()));
    if before != after {
        changes.push(Change::DefaultChannelChanged { before, after });
    }
    changes
}

/// Bundles by name; one that is gone under its name and there under another, of the same version, is
/// another bundle.
fn bundles(old: &Package, new: &Package) -> Vec<Change> {
    let [olds, news] = [old, new].map(by_name);
    let mut renamed = BTreeSet::new();
    let mut changes = Vec::new();
    for (_, bundle) in old.bundles() {
        let before = held(bundle);
        if let Some(same_name) = news.get(&*bundle.name) {
            let after = held(same_name);
            if before != after {
                changes.push(Change::OtherBundle { before, after });
            }
            continue;
        }
        let twins = bundle
            .version
            .as_ref()
            .ok()
            .map(|version| new.same_version(version));
        let twins = twins.iter().flat_map(BundleSet::iter);
        let mut twins = twins.map(|twin| new.bundle(twin));
        match twins.find(|twin| !olds.contains_key(&*twin.name)) {
            Some(twin) => {
                renamed.insert(&*twin.name);
                let after = held(twin);
                changes.push(Change::OtherBundle { before, after });
            }
            None => changes.push(Change::BundleRemoved { bundle: before }),
        }
    }
    let added = new.bundles().map(|(_, bundle)| bundle);
    let added = added.filter(|own| !olds.contains_key(&*own.name) && !renamed.contains(&*own.name));
    changes.extend(added.map(|own| Change::BundleAdded { bundle: held(own) }));
    changes
}

/// The bundles by name, of several the best.
fn by_name(package: &Package) -> BTreeMap<&str, &Bundle> {
    let bundles: Vec<_> = package.bundles().collect();
    let worst_first = bundles.into_iter().rev();
    worst_first
        .map(|(_, bundle)| (&*bundle.name, bundle))
        .collect()
}

fn held(bundle: &Bundle) -> ToldBundle {
    let version = bundle.version.as_ref().ok();
    ToldBundle {
        name: bundle.name.clone(),
        version: version.map(super::prospect::shown),
        image: bundle.image.clone(),
    }
}

fn channels(old: &Package, new: &Package) -> Vec<Change> {
    let [olds, news] = [old, new].map(channel_names);
    let removed = olds
        .difference(&news)
        .map(|channel| Change::ChannelRemoved {
            channel: (*channel).into(),
        });
    let added = news.difference(&olds).map(|channel| Change::ChannelAdded {
        channel: (*channel).into(),
    });
    removed.chain(added).collect()
}

fn channel_names(package: &Package) -> BTreeSet<&str> {
    let channels = package.channels().iter();
    channels.map(|channel| &*channel.name).collect()
}

/// What is deprecated now and was not, or the other way round, of what both have or the new one has.
fn deprecations(old: &Package, new: &Package) -> Vec<Change> {
    let [olds, news] = [old, new].map(deprecated);
    let mut changes = Vec::new();
    for (place, (what, message)) in &news {
        if !olds.contains_key(place) {
            let (what, message) = (what.clone(), message.clone());
            changes.push(Change::Deprecated { what, message });
        }
    }
    let is_there = |what: &What| match what {
        What::Package => true,
        What::Channel(name) => new.has_channel(name),
        What::Bundle(name) => new.bundles_named(name).next().is_some(),
    };
    for (place, (what, _)) in &olds {
        if !news.contains_key(place) && is_there(what) {
            changes.push(Change::Undeprecated { what: what.clone() });
        }
    }
    changes
}

/// What is deprecated, with the messages, in an order of its own: package, channels, bundles.
fn deprecated(package: &Package) -> BTreeMap<(u8, Box<str>), (What, Box<str>)> {
    let mut deprecated = BTreeMap::new();
    if let Deprecation::OfPackage(message) = package.deprecation() {
        let what = (What::Package, message.clone());
        deprecated.insert((0, Box::default()), what);
    }
    for channel in package.channels() {
        if let Some(message) = &channel.deprecated {
            let what = (What::Channel(channel.name.clone()), message.clone());
            deprecated.insert((1, channel.name.clone()), what);
        }
    }
    for (_, bundle) in package.bundles() {
        if let Some(message) = &bundle.deprecated {
            let what = (What::Bundle(bundle.name.clone()), message.clone());
            deprecated.insert((2, bundle.name.clone()), what);
        }
    }
    deprecated
}
