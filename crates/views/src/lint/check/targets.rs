//! What `replaces` and `skips` name that the package does not have.
//!
//! A name of the same pattern as one that is there, but for its digits, is taken for a version that was
//! removed; one of almost the same pattern for a slip of the hand.

use std::collections::{HashMap, HashSet};

use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::{ChannelView, PackageView, View};
use crate::lint::words;
use crate::lint::written::{Entry, Text};

pub(super) fn check(package: &PackageView<'_>, view: &View<'_>, report: &mut Findings<'_>) {
    let mut known: HashSet<_> = package.by_name.keys().copied().collect();
    known.extend(&package.unread.bundles);
    let mut sorted: Vec<_> = known.iter().copied().collect();
    sorted.sort_unstable();
    let patterns: HashSet<_> = known.iter().map(|name| pattern(name)).collect();
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
            } else if !patterns.contains(&pattern(&target.text))
                && let Some(meant) = *guessed
                    .entry(&*target.text)
                    .or_insert_with(|| report.guess(&target.text, sorted.iter().copied()))
            {
                let words = words::misspelt_target(field, &entry.name, &target.text, meant);
                report.say(Rule::MisspeltTarget, target.spot, package.name, words);
            } else {
                unknown.push(target);
            }
        }
        told(package, channel, &unknown, report);
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

/// A name without what follows its version's first digit.
fn pattern(name: &str) -> &str {
    let digit = name
        .find(".v")
        .or_else(|| name.find(|c: char| c.is_ascii_digit()));
    name.get(..digit.unwrap_or(name.len())).unwrap_or(name)
}
