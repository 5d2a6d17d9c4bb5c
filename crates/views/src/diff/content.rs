//! Changes of content: bundles, channels, deprecations, and the default channel.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, ChangeKind, ReportedBundle};
use olmguard_catalog::{Bundle, BundleSet, Deprecation, Package};

/// Returns all changes of content.
pub(super) fn compare(old: &Package, new: &Package) -> Vec<Change> {
    let mut changes = bundles(old, new);
    changes.extend(channels(old, new));
    changes.extend(deprecations(old, new));
    let [before, after] = [old, new].map(|package| Box::from(package.default_channel()));
    if before != after {
        changes.push(Change {
            before: vec![before],
            after: vec![after],
            ..Change::of(ChangeKind::DefaultChannelChanged)
        });
    }
    changes
}

/// Compares bundles by name. If a bundle was removed and another name has the same version, it counts as
/// another bundle of that version.
fn bundles(old: &Package, new: &Package) -> Vec<Change> {
    let [olds, news] = [old, new].map(by_name);
    let mut renamed = BTreeSet::new();
    let mut changes = Vec::new();
    for (_, bundle) in old.bundles() {
        let before = reported(bundle);
        if let Some(same_name) = news.get(&*bundle.name) {
            let after = reported(same_name);
            if before != after {
                changes.push(other_bundle(before, after));
            }
            continue;
        }
        let version = bundle.version.as_ref().ok();
        let twins = version.map(|version| new.same_version(version));
        let twins = twins.iter().flat_map(BundleSet::iter);
        let mut twins = twins.map(|twin| new.bundle(twin));
        match twins.find(|twin| !olds.contains_key(&*twin.name)) {
            Some(after) => {
                renamed.insert(&*after.name);
                changes.push(other_bundle(before, reported(after)));
            }
            None => changes.push(of_bundle(ChangeKind::BundleRemoved, before)),
        }
    }
    let added = new.bundles().map(|(_, bundle)| bundle);
    let added = added.filter(|own| !olds.contains_key(&*own.name) && !renamed.contains(&*own.name));
    changes.extend(added.map(|own| of_bundle(ChangeKind::BundleAdded, reported(own))));
    changes
}

fn of_bundle(kind: ChangeKind, bundle: ReportedBundle) -> Change {
    Change {
        bundle: Some(bundle),
        ..Change::of(kind)
    }
}

fn other_bundle(before: ReportedBundle, after: ReportedBundle) -> Change {
    Change {
        other: Some(after),
        ..of_bundle(ChangeKind::OtherBundle, before)
    }
}

/// Indexes the bundles by name. If several have one name, the best counts.
fn by_name(package: &Package) -> BTreeMap<&str, &Bundle> {
    let bundles: Vec<_> = package.bundles().collect();
    let worst_first = bundles.into_iter().rev();
    worst_first
        .map(|(_, bundle)| (&*bundle.name, bundle))
        .collect()
}

fn reported(bundle: &Bundle) -> ReportedBundle {
    let version = bundle.version.as_ref().ok();
    ReportedBundle {
        name: bundle.name.clone(),
        version: version.map(super::prospect::shown),
        image: Some(bundle.image.clone()).filter(|image| !image.is_empty()),
    }
}

fn channels(old: &Package, new: &Package) -> Vec<Change> {
    let [olds, news] = [old, new].map(channel_names);
    let change = |kind| {
        move |channel: &&str| Change {
            channel: Some((*channel).into()),
            ..Change::of(kind)
        }
    };
    let removed = olds
        .difference(&news)
        .map(change(ChangeKind::ChannelRemoved));
    let added = news.difference(&olds).map(change(ChangeKind::ChannelAdded));
    removed.chain(added).collect()
}

fn channel_names(package: &Package) -> BTreeSet<&str> {
    let channels = package.channels().iter();
    channels.map(|channel| &*channel.name).collect()
}

/// Compares deprecations. Removed bundles and channels do not count as no longer deprecated.
fn deprecations(old: &Package, new: &Package) -> Vec<Change> {
    let [olds, news] = [old, new].map(deprecated);
    let added = news.iter().filter(|(place, _)| !olds.contains_key(place));
    let added = added.map(|(_, change)| change.clone());
    let is_there = |change: &Change| match (&change.channel, &change.bundle) {
        (Some(name), _) => new.has_channel(name),
        (None, Some(bundle)) => new.bundles_named(&bundle.name).next().is_some(),
        (None, None) => true,
    };
    let gone = olds.iter().filter(|(place, _)| !news.contains_key(place));
    let gone = gone
        .filter(|(_, change)| is_there(change))
        .map(|(_, change)| Change {
            kind: ChangeKind::Undeprecated,
            message: Box::default(),
            ..change.clone()
        });
    added.chain(gone).collect()
}

/// Collects the deprecations and their messages, in the order package, channels, bundles.
fn deprecated(package: &Package) -> BTreeMap<(u8, Box<str>), Change> {
    let change = |message: &str| Change {
        message: message.into(),
        ..Change::of(ChangeKind::Deprecated)
    };
    let mut deprecated = BTreeMap::new();
    if let Deprecation::OfPackage(message) = package.deprecation() {
        deprecated.insert((0, Box::default()), change(message));
    }
    for channel in package.channels() {
        if let Some(message) = &channel.deprecated {
            let mut change = change(message);
            change.channel = Some(channel.name.clone());
            deprecated.insert((1, channel.name.clone()), change);
        }
    }
    for (_, bundle) in package.bundles() {
        if let Some(message) = &bundle.deprecated {
            let mut change = change(message);
            change.bundle = Some(ReportedBundle::named(&bundle.name));
            deprecated.insert((2, bundle.name.clone()), change);
        }
    }
    deprecated
}
