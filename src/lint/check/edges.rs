//! Edges one by one: those that go down, to prereleases, across majors; and heads that are not the
//! highest version.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Facts, ways};
use crate::lint::Rule;
use crate::lint::finding::Report;
use crate::lint::view::{Kind, Step};
use crate::lint::words;
use crate::version::Version;

pub(super) fn check(facts: &Facts<'_, '_>, report: &mut Report<'_>) {
    let mut by_entry = BTreeMap::<(usize, usize), Vec<(usize, Step)>>::new();
    for (from, step) in facts.steps.all() {
        by_entry.entry((step.channel, step.entry)).or_default().push((from, step));
    }
    for steps in by_entry.values() {
        entry(facts, steps, report);
    }
    heads(facts, report);
}

/// The steps to one entry.
fn entry(facts: &Facts<'_, '_>, steps: &[(usize, Step)], report: &mut Report<'_>) {
    let Some((_, first)) = steps.first() else { return };
    let Some(to) = facts.package.version(first.to) else {
        return;
    };
    let known = steps.iter().filter_map(|(from, step)| {
        let version = facts.package.version(*from)?;
        Some((*from, version, *step))
    });
    let known: Vec<_> = known.collect();
    for kind in [Kind::Replaces, Kind::Skips, Kind::SkipRange] {
        let of_kind = known.iter().filter(|(_, _, step)| step.kind == kind);
        let down = of_kind.filter(|(_, from, _)| from.cmp_precedence(to) == Ordering::Greater);
        let down: Vec<_> = down.collect();
        if let Some((_, _, step)) = down.first() {
            let from = down.iter().map(|(from, version, _)| (facts.name(*from), version.to_string()));
            let from: Vec<_> = from.collect();
            let entry = (facts.name(step.to), &*to.to_string());
            let words = words::edge_goes_down(field(kind), entry, &from);
            let spot = ways::spot_of(facts, step);
            report.say(Rule::EdgeGoesDown, spot, facts.package.name, words);
        }
    }
    let up = |from: &Version| from.cmp_precedence(to) == Ordering::Less;
    told(facts, to, &known, Rule::PrereleaseEdge, |from| {
        up(from) && to.is_prerelease() && !from.is_prerelease()
    }, report);
    told(facts, to, &known, Rule::MajorEdge, |from| up(from) && !is_compatible(from, to), report);
}

/// Tells of the steps to a version that start at versions of some kind.
fn told(
    facts: &Facts<'_, '_>,
    to: &Version,
    steps: &[(usize, &Version, Step)],
    rule: Rule,
    is_such: impl Fn(&Version) -> bool,
    report: &mut Report<'_>,
) {
    let mut such: Vec<_> = steps.iter().filter(|(_, from, _)| is_such(from)).collect();
    let Some((_, _, step)) = such.first().copied() else {
        return;
    };
    such.sort_by(|(_, a, _), (_, b, _)| b.cmp_precedence(a));
    such.dedup_by_key(|(from, ..)| *from);
    let names: Vec<_> = such.iter().map(|(from, ..)| facts.name(*from)).collect();
    let entry = (facts.name(step.to), &*to.to_string());
    let words = match rule {
        Rule::PrereleaseEdge => words::prerelease_edge(entry, &names),
        _ => words::major_edge(entry, &names),
    };
    report.say(rule, ways::spot_of(facts, step), facts.package.name, words);
}

/// Whether a version stays on the line of compatibility: its major, in 0.y.z also its minor, in
/// 0.0.z the version itself.
fn is_compatible(from: &Version, to: &Version) -> bool {
    let same_major = from.major() == to.major();
    let same_minor = same_major && from.minor() == to.minor();
    match (from.major(), from.minor()) {
        (0, 0) => same_minor && from.patch() == to.patch(),
        (0, _) => same_minor,
        _ => same_major,
    }
}

fn heads(facts: &Facts<'_, '_>, report: &mut Report<'_>) {
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

fn field(kind: Kind) -> &'static str {
    match kind {
        Kind::Replaces => "replaces",
        Kind::Skips => "skips",
        Kind::SkipRange => "skipRange",
    }
}
