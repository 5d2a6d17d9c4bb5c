//! The graph of each channel as opm validates it. Upstream: [`alpha/model/model.go`].
//!
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use std::collections::{BTreeMap, BTreeSet};

use super::{PackageCheck, or};
use crate::lint::Rule;
use crate::lint::chain::ChainFault;
use crate::lint::finding::Findings;
use crate::lint::view::{ChannelView, EntryView, PackageView};
use crate::lint::words;
use olmguard_catalog::version::{Release, ReleaseLimit};

pub(super) fn check(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let package = facts.package;
    default_channel(package, report);
    duplicate_versions(package, report);
    for (channel, chain) in package.channels.iter().zip(&facts.chains) {
        match chain {
            None => {
                let words = words::channel_without_entries(&channel.channel.name);
                let spot = channel.channel.spot;
                report.say(Rule::ChannelWithoutEntries, spot, package.name, words);
            }
            Some(Err(fault)) => graph(package.name, channel, fault, report),
            Some(Ok(_)) => {}
        }
        for entry in &channel.entries {
            edges(package.name, channel, entry, report);
        }
    }
}

fn default_channel(view: &PackageView<'_>, report: &mut Findings<'_>) {
    let Some(package) = view.package.filter(|package| !package.name.is_empty()) else {
        return;
    };
    let channels: Vec<_> = view
        .channels
        .iter()
        .map(|view| &*view.channel.name)
        .collect();
    let default = &package.default_channel;
    if default.text.is_empty() {
        let spot = or(default.spot, package.spot);
        let words = words::default_channel_missing(view.name, &channels);
        report.say(Rule::DefaultChannelMissing, spot, view.name, words);
        if channels.is_empty() && view.unread.channels.is_empty() {
            let words = words::package_without_channel(view.name);
            report.say(Rule::PackageWithoutChannel, package.spot, view.name, words);
        }
    } else if !channels.contains(&&*default.text) && !view.unread.channels.contains(&*default.text)
    {
        let near = report.guess(&default.text, channels.iter().copied());
        let words = words::default_channel_unknown(view.name, &default.text, near);
        report.say(Rule::DefaultChannelUnknown, default.spot, view.name, words);
    }
}

/// Two bundles of one version and release; build metadata tells them apart.
fn duplicate_versions(package: &PackageView<'_>, report: &mut Findings<'_>) {
    let mut by_version = BTreeMap::<String, BTreeSet<usize>>::new();
    let entries = package.channels.iter().flat_map(|view| &view.entries);
    for index in entries.filter_map(|view| view.bundle) {
        if let Some(version) = version_text(package, index) {
            by_version.entry(version).or_default().insert(index);
        }
    }
    let name = |index: &usize| package.bundles.get(*index).map(|view| &*view.bundle.name);
    let duplicates = by_version.into_iter().filter(|(_, all)| all.len() > 1);
    let duplicates: Vec<_> = duplicates
        .map(|(version, all)| {
            let mut names: Vec<_> = all.iter().filter_map(name).collect();
            names.sort_unstable();
            (version, names)
        })
        .collect();
    for (index, (version, names)) in duplicates.iter().enumerate() {
        let second = names.get(1).and_then(|name| package.by_name.get(name));
        let second = second.and_then(|index| package.bundles.get(*index));
        let spot = second.map_or_else(|| package.spot(), |view| view.bundle.spot);
        let all = (index == 0).then_some(&*duplicates);
        let words = words::duplicate_version(version, names, all);
        report.say(Rule::DuplicateVersion, spot, package.name, words);
    }
}

/// Version and release as opm compares them.
fn version_text(package: &PackageView<'_>, index: usize) -> Option<String> {
    let view = package.bundles.get(index)?;
    let version = view.version.as_ref()?;
    let property = view.bundle.versions.first()?;
    let release = Release::parse(&property.release, ReleaseLimit::Bytes20).ok()?;
    Some(if release.is_empty() {
        version.to_string()
    } else {
        format!("{version}-{release}")
    })
}

fn graph(
    package: &str,
    channel: &ChannelView<'_>,
    fault: &ChainFault<'_>,
    report: &mut Findings<'_>,
) {
    let name = &*channel.channel.name;
    let spot_of = |name: &str| channel.entry(name).map(|view| view.entry.spot);
    let whole = channel.channel.spot;
    match fault {
        ChainFault::NoHead => {
            report.say(
                Rule::NoChannelHead,
                whole,
                package,
                words::no_channel_head(name),
            );
        }
        ChainFault::SeveralHeads(heads) => {
            let words = words::several_channel_heads(name, heads);
            report.say(Rule::SeveralChannelHeads, whole, package, words);
        }
        ChainFault::Cycle(cycle) => {
            let last = cycle.iter().rev().nth(1);
            let spot = last.and_then(|name| spot_of(name)).unwrap_or(whole);
            report.say(
                Rule::ReplacesCycle,
                spot,
                package,
                words::replaces_cycle(name, cycle),
            );
        }
        ChainFault::Stranded(all) => {
            for (index, bundle) in all.iter().enumerate() {
                let spot = spot_of(bundle).unwrap_or(whole);
                let told = (index == 0).then_some(&**all);
                let words = words::stranded_bundle(name, bundle, told);
                report.say(Rule::StrandedBundle, spot, package, words);
            }
        }
    }
}

fn edges(
    package: &str,
    channel: &ChannelView<'_>,
    view: &EntryView<'_>,
    report: &mut Findings<'_>,
) {
    let entry = view.entry;
    if entry.name.is_empty() {
        let words = words::entry_without_name(&channel.channel.name, view.bundle.is_some());
        report.say(Rule::EntryWithoutName, entry.spot, package, words);
    }
    for (index, skip) in entry.skips.iter().enumerate() {
        if skip.text.is_empty() {
            let words = words::empty_skip(&entry.name, index);
            report.say(Rule::EmptySkip, or(skip.spot, entry.spot), package, words);
        }
    }
    if let Some(Err(error)) = &view.range {
        let range = &entry.skip_range;
        let words = words::invalid_skip_range(&entry.name, &range.text, error);
        report.say(Rule::InvalidSkipRange, range.spot, package, words);
    }
}
