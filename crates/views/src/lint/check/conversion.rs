//! How packages and channels go together. Upstream: `ConvertToModel`,
//! [`alpha/declcfg/declcfg_to_model.go`].
//!
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go

use std::collections::HashMap;

use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::{PackageView, View};
use crate::lint::words;
use olmguard_catalog::dns1123;

pub(super) fn check(view: &View<'_>, report: &mut Findings<'_>) {
    packages(view, report);
    channels(view, report);
    for package in view.packages.values() {
        entries(view, package, report);
    }
}

fn packages(view: &View<'_>, report: &mut Findings<'_>) {
    let mut seen = HashMap::new();
    for package in &view.written.packages {
        let (spot, name) = (package.spot, &*package.name);
        if name.is_empty() {
            report.say(
                Rule::PackageWithoutName,
                spot,
                name,
                words::package_without_name(),
            );
            continue;
        }
        let is_second = seen.contains_key(name);
        report.say_if_second(
            &mut seen,
            name,
            (Rule::DuplicatePackage, spot, name),
            || words::duplicate_package(name),
        );
        if is_second {
            continue;
        }
        let faults = label_faults(name);
        if !faults.is_empty() {
            let words = words::invalid_package_name(name, &faults);
            report.say(Rule::InvalidPackageName, spot, name, words);
        }
    }
}

/// What apimachinery's `IsDNS1123Label` says of a name.
fn label_faults(name: &str) -> Vec<&'static str> {
    let mut faults = Vec::new();
    if name.len() > LABEL_LIMIT {
        faults.push(words::LABEL_LENGTH);
    }
    if !dns1123::is_label(name) {
        faults.push(if dns1123::is_subdomain(name) {
            words::LABEL_DOTS
        } else {
            words::LABEL_FORM
        });
    }
    faults
}

fn channels(view: &View<'_>, report: &mut Findings<'_>) {
    let mut seen = HashMap::new();
    for channel in &view.written.channels {
        let (spot, package, name) = (channel.spot, &*channel.package, &*channel.name);
        if !is_defined(view, package) {
            let near = near(view, package, report);
            let words = words::channel_of_unknown_package(package, name, near);
            report.say(Rule::ChannelOfUnknownPackage, spot, package, words);
        }
        let key = channel.stray_key.as_ref();
        if name.is_empty() {
            let words = words::channel_without_name(package, key.map(|key| &*key.text));
            report.say(Rule::ChannelWithoutName, spot, package, words);
        } else {
            let place = (Rule::DuplicateChannel, spot, package);
            report.say_if_second(&mut seen, (package, name), place, || {
                words::duplicate_channel(package, name)
            });
            if let Some(key) = key {
                let words = words::channel_key(name, &key.text);
                report.say(Rule::ChannelKey, key.spot, package, words);
            }
        }
        let mut entries = HashMap::new();
        for entry in &channel.entries {
            let place = (Rule::DuplicateEntry, entry.spot, package);
            report.say_if_second(&mut entries, &*entry.name, place, || {
                words::duplicate_entry(package, name, &entry.name)
            });
        }
    }
}

/// Whether there is an `olm.package` of this name, readable or not.
pub(super) fn is_defined(view: &View<'_>, package: &str) -> bool {
    let found = view.packages.get(package);
    !package.is_empty()
        && found.is_some_and(|found| found.package.is_some() || found.unread.package)
}

/// The defined package whose name is nearest.
pub(super) fn near<'w>(
    view: &View<'w>,
    package: &str,
    report: &mut Findings<'_>,
) -> Option<&'w str> {
    let defined = view.packages.values();
    let defined = defined.filter(|found| found.package.is_some());
    report.guess(package, defined.map(|found| found.name))
}

/// Entries without a bundle. opm remembers the last channel of a package only, and finds those of
/// the others later, by what such a bundle lacks.
///
/// A bundle whose package is misspelt is told of itself, and so is one that cannot be read.
fn entries(view: &View<'_>, package: &PackageView<'_>, report: &mut Findings<'_>) {
    let is_misplaced = |name: &str| {
        let mut homes = view.homes.get(name).into_iter().flatten();
        homes.any(|home| !is_defined(view, home))
    };
    let last = package.channels.len().checked_sub(1);
    for (index, channel) in package.channels.iter().enumerate() {
        let without = channel.entries.iter().filter(|view| view.bundle.is_none());
        let without = without.filter(|view| !is_misplaced(&view.entry.name));
        let without = without.filter(|view| !package.unread.bundles.contains(&*view.entry.name));
        let without: Vec<_> = without.collect();
        let Some(first) = without.first() else {
            continue;
        };
        let mut names: Vec<_> = without.iter().map(|view| &*view.entry.name).collect();
        names.sort_unstable();
        let (spot, channel) = (first.entry.spot, &*channel.channel.name);
        let words = words::entry_without_bundle(package.name, channel, &names, Some(index) == last);
        report.say(Rule::EntryWithoutBundle, spot, package.name, words);
    }
}

const LABEL_LIMIT: usize = 63;
