//! What `replaces` and `skips` name that the package does not have.
//!
//! A name of the same pattern as one that is there, but for its digits, is taken for a version that was
//! removed; one of almost the same pattern for a slip of the hand, and so is the version of a bundle that is there.

use std::collections::{HashMap, HashSet};

use super::PackageCheck;
use crate::lint::Rule;
use crate::lint::chain::ChainFault;
use crate::lint::finding::Findings;
use crate::lint::view::{ChannelView, PackageView, View};
use crate::lint::words;
use crate::lint::written::{Entry, Text};

pub(super) fn check(facts: &PackageCheck<'_, '_>, view: &View<'_>, report: &mut Findings<'_>) {
    let package = facts.package;
    let mut known: HashSet<_> = package.by_name.keys().copied().collect();
    known.extend(&package.unread.bundles);
    let mut sorted: Vec<_> = known.iter().copied().collect();
    sorted.sort_unstable();
    let patterns: HashSet<_> = known.iter().map(|name| pattern(name)).collect();
    let versions = Versions::of(&sorted);
    let mut guessed = HashMap::new();
    for channel in &package.channels {
        let mut unknown = Vec::<&Text>::new();
        for (entry, field, target) in targets(channel) {
            if known.contains(&*target.text) {
                continue;
            }
            if let Some(homes) = view.homes.get(&*target.text) {
                // A bundle whose package is misspelt is told of itself.
                let mut homes = homes.iter();
                if let Some(home) = homes.find(|home| super::conversion::is_defined(view, home)) {
                    let words = words::other_package_target(field, &entry.name, &target.text, home);
                    report.say(Rule::OtherPackageTarget, target.spot, package.name, words);
                }
            } else if let Some(meant) = *guessed.entry(&*target.text).or_insert_with(|| {
                let is_removed = patterns.contains(&pattern(&target.text));
                let same = versions.same(&target.text, package.name);
                let mut guess = || report.guess(&target.text, sorted.iter().copied());
                same.or_else(|| if is_removed { None } else { guess() })
            }) {
                let words = words::misspelt_target(field, &entry.name, &target.text, meant);
                report.say(Rule::MisspeltTarget, target.spot, package.name, words);
            } else {
                unknown.push(target);
            }
        }
        told(package, channel, &unknown, report);
    }
    for (channel, chain) in package.channels.iter().zip(&facts.chains) {
        if let Some(Err(ChainFault::SeveralHeads(_) | ChainFault::Stranded(_))) = chain {
            elsewhere(package, channel, report);
        }
    }
}

/// Targets of a broken channel that are entries of other channels: their edges are not this channel's.
fn elsewhere(package: &PackageView<'_>, channel: &ChannelView<'_>, report: &mut Findings<'_>) {
    let mut seen = HashSet::new();
    for (entry, field, target) in targets(channel) {
        let name = &*target.text;
        let others = package
            .channels
            .iter()
            .filter(|other| other.entry(name).is_some());
        let others: Vec<_> = others.map(|other| &*other.channel.name).collect();
        let own = &*channel.channel.name;
        if !others.is_empty() && !others.contains(&own) && seen.insert(name) {
            let words = words::target_in_other_channel((field, &entry.name, name), own, &others);
            report.say(Rule::TargetInOtherChannel, target.spot, package.name, words);
        }
    }
}

fn targets<'c>(
    channel: &'c ChannelView<'_>,
) -> impl Iterator<Item = (&'c Entry, &'static str, &'c Text)> {
    channel.entries.iter().flat_map(|view| {
        let entry = view.entry;
        let replaces = std::iter::once((entry, "replaces", &entry.replaces));
        let skips = entry.skips.iter().map(move |skip| (entry, "skips", skip));
        let all = replaces.chain(skips);
        all.filter(|(_, _, target)| !target.text.is_empty())
    })
}

fn told(
    package: &PackageView<'_>,
    channel: &ChannelView<'_>,
    unknown: &[&Text],
    report: &mut Findings<'_>,
) {
    let Some(first) = unknown.first() else { return };
    let mut seen = HashSet::new();
    let names = unknown.iter().map(|target| &*target.text);
    let names: Vec<_> = names.filter(|name| seen.insert(*name)).collect();
    let words = words::unknown_target(&channel.channel.name, &names);
    report.say(Rule::UnknownTarget, first.spot, package.name, words);
}

/// The bundles by the version in their names, for targets that write only the version as it is.
struct Versions<'n>(HashMap<String, Vec<(String, &'n str)>>);

impl<'n> Versions<'n> {
    fn of(names: &[&'n str]) -> Self {
        let mut versions = HashMap::<_, Vec<_>>::new();
        for name in names {
            let (stem, version) = stem_and_version(name);
            versions.entry(version).or_default().push((stem, *name));
        }
        Self(versions)
    }

    /// The bundle whose name differs only in the prefix, in a `v` or in case.
    fn same(&self, target: &str, package: &str) -> Option<&'n str> {
        let (stem, version) = stem_and_version(target);
        if version.is_empty() {
            return None;
        }
        let is_prefix = stem.is_empty() || stem == package.to_lowercase();
        let mut bundles = self.0.get(&version)?.iter();
        let bundle = bundles.find(|(own, _)| is_prefix || *own == stem);
        bundle.map(|(_, name)| *name)
    }
}

/// The two parts of the name of a bundle in lower case, without a `v` and what joins them.
fn stem_and_version(name: &str) -> (String, String) {
    let name = name.to_lowercase();
    let (stem, version) = name.split_at(pattern(&name).len());
    let joints = ['.', '-', '_'];
    let bare = stem
        .strip_suffix('v')
        .filter(|stem| stem.is_empty() || stem.ends_with(joints));
    let stem = bare.unwrap_or(stem).trim_end_matches(joints);
    let version = version.trim_start_matches(".v");
    (stem.to_owned(), version.to_owned())
}

/// A name without what follows its version's first digit.
fn pattern(name: &str) -> &str {
    let digit = name
        .find(".v")
        .or_else(|| name.find(|c: char| c.is_ascii_digit()));
    name.get(..digit.unwrap_or(name.len())).unwrap_or(name)
}
