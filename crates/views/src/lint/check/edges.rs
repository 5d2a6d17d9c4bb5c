//! Edges one by one: those that go down, to prereleases, across majors; and heads that are not the
//! highest version.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{PackageCheck, ways};
use crate::edge_field::EdgeField;
use crate::lint::finding::Findings;
use crate::lint::view::Step;
use crate::lint::words;
use crate::lint::{Rule, Severity};
use olmguard_engine::resolve::semver;

pub(super) fn check(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let mut by_entry = BTreeMap::<(usize, usize), Vec<(usize, Step)>>::new();
    for (from, step) in facts.steps.all() {
        by_entry
            .entry((step.channel, step.entry))
            .or_default()
            .push((from, step));
    }
    for steps in by_entry.values() {
        entry(facts, steps, report);
    }
    majors(facts, report);
    heads(facts, report);
}

/// The steps to one entry.
fn entry(facts: &PackageCheck<'_, '_>, steps: &[(usize, Step)], report: &mut Findings<'_>) {
    let Some((_, first)) = steps.first() else {
        return;
    };
    let Some(to) = facts.package.version(first.to) else {
        return;
    };
    let known = steps.iter().filter_map(|(from, step)| {
        let version = facts.package.version(*from)?;
        Some((*from, version, *step))
    });
    let known: Vec<_> = known.collect();
    for kind in [EdgeField::Replaces, EdgeField::Skips, EdgeField::SkipRange] {
        let of_kind = known.iter().filter(|(_, _, step)| step.kind == kind);
        let down = of_kind.filter(|(_, from, _)| from.cmp_precedence(to) == Ordering::Greater);
        let down: Vec<_> = down.collect();
        if let Some((_, first, step)) = down.first() {
            let from: Vec<_> = down.iter().map(|(from, ..)| facts.name(*from)).collect();
            let entry = (facts.name(step.to), &*to.to_string());
            let words = words::edge_goes_down(kind.as_str(), entry, &from, &first.to_string());
            let spot = ways::spot_of(facts, step);
            report.say(Rule::EdgeGoesDown, spot, facts.package.name, words);
        }
    }
    let stable = known.iter().filter(|(_, from, _)| {
        to.is_prerelease() && !from.is_prerelease() && from.cmp_precedence(to) == Ordering::Less
    });
    let mut stable: Vec<_> = stable.collect();
    if let Some((_, _, step)) = stable.first().copied() {
        stable.sort_by(|(_, a, _), (_, b, _)| b.cmp_precedence(a));
        stable.dedup_by_key(|(from, ..)| *from);
        let names: Vec<_> = stable.iter().map(|(from, ..)| facts.name(*from)).collect();
        let entry = (facts.name(step.to), &*to.to_string());
        let spot = ways::spot_of(facts, step);
        let (rule, package) = (Rule::PrereleaseEdge, facts.package.name);
        if let Some(channel) = channel_of_prereleases(facts, step.channel) {
            let words = words::prerelease_edge_apart(entry, &names, channel);
            report.say_as(rule, Severity::Note, spot, package, words);
        } else {
            report.say(rule, spot, package, words::prerelease_edge(entry, &names));
        }
    }
}

/// The name of a channel that is one of prereleases: its head is one, and nobody follows it by default.
fn channel_of_prereleases<'w>(facts: &PackageCheck<'_, 'w>, channel: usize) -> Option<&'w str> {
    let name = &*facts.package.channels.get(channel)?.channel.name;
    let chain = facts.chains.get(channel)?.as_ref()?.as_ref().ok()?;
    let head = facts.package.version(chain.head()?.bundle?)?;
    let package = facts.package.package;
    let is_default = package.is_some_and(|package| *package.default_channel.text == *name);
    (head.is_prerelease() && !is_default).then_some(name)
}

/// Steps that semver calls incompatible, told together for each channel.
fn majors(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let mut by_channel = BTreeMap::<usize, BTreeMap<usize, (usize, Step)>>::new();
    for (from, step) in facts.steps.all() {
        let versions = (facts.package.version(from), facts.package.version(step.to));
        let (Some(old), Some(new)) = versions else {
            continue;
        };
        let is_up = old.cmp_precedence(new) == Ordering::Less;
        if is_up && semver::line_left(old, new).is_some() {
            let entries = by_channel.entry(step.channel).or_default();
            entries.entry(step.entry).or_insert((from, step));
        }
    }
    for (channel, entries) in by_channel {
        let Some(view) = facts.package.channels.get(channel) else {
            continue;
        };
        let pairs = entries.values();
        let pairs = pairs.map(|(from, step)| (facts.name(step.to), facts.name(*from)));
        let pairs: Vec<_> = pairs.collect();
        let spot = entries.values().next();
        let spot = spot.map_or(view.channel.spot, |(_, step)| ways::spot_of(facts, step));
        let words = words::major_edge(&view.channel.name, &pairs);
        report.say(Rule::MajorEdge, spot, facts.package.name, words);
    }
}

fn heads(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    for (channel, chain) in facts.package.channels.iter().zip(&facts.chains) {
        let Some(Ok(chain)) = chain else { continue };
        let Some(head) = chain.head().and_then(|view| view.bundle) else {
            continue;
        };
        let bundles = channel.entries.iter().filter_map(|view| view.bundle);
        let versions = bundles.filter_map(|index| Some((index, facts.package.version(index)?)));
        let highest = versions.max_by(|(_, a), (_, b)| a.cmp_precedence(b));
        let (Some((index, version)), Some(own)) = (highest, facts.package.version(head)) else {
            continue;
        };
        if version.cmp_precedence(own) == Ordering::Greater {
            let head = (facts.name(head), &*own.to_string());
            let higher = (facts.name(index), &*version.to_string());
            let words = words::head_not_highest(&channel.channel.name, head, higher);
            let spot = channel.channel.spot;
            report.say(Rule::HeadNotHighest, spot, facts.package.name, words);
        }
    }
}
