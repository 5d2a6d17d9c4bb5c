//! Edges one by one: those that go down, to prereleases, and across incompatible versions.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::lint::check::{ChannelCheck, Check};
use crate::lint::finding::Report;
use crate::lint::rule::{RuleItem, rule};
use crate::lint::view::{PackageView, Step};
use crate::lint::words::{NAMED, escaped, names, q};
use crate::see::EdgeField;
use olmguard_catalog::version::Version;
use olmguard_engine::resolve::semver;

/// A step from a bundle whose version is known.
#[derive(Clone, Copy)]
pub(in crate::lint) struct KnownStep<'f> {
    from: usize,
    old: &'f Version,
    step: Step,
}

/// The steps to one entry of a channel, and the version of the entry.
pub(in crate::lint) type StepsTo<'f> = (&'f Version, Vec<KnownStep<'f>>);

/// The steps of a channel between versions that are known, by entry.
pub(in crate::lint) fn known_steps<'f>(
    package: &'f PackageView<'_>,
    steps: &[(usize, Step)],
) -> Vec<StepsTo<'f>> {
    let mut by_entry = BTreeMap::<usize, StepsTo<'_>>::new();
    for (from, step) in steps {
        let versions = (package.version(*from), package.version(step.to));
        if let (Some(old), Some(new)) = versions {
            let (from, step) = (*from, *step);
            let (_, steps) = by_entry.entry(step.entry).or_insert((new, Vec::new()));
            steps.push(KnownStep { from, old, step });
        }
    }
    by_entry.into_values().collect()
}

pub(super) const EDGE_GOES_DOWN: RuleItem =
    rule!("edge-goes-down", Users, Warning).on(Check::Channel(|channel, report| {
        for (to, steps) in &channel.known_steps {
            for field in [EdgeField::Replaces, EdgeField::Skips, EdgeField::SkipRange] {
                let of_field = steps.iter().filter(|known| known.step.kind == field);
                let is_down = |known: &&KnownStep<'_>| known.old.cmp_precedence(to).is_gt();
                let down: Vec<_> = of_field.filter(is_down).copied().collect();
                goes_down(channel, to, &down, report);
            }
        }
    }));

fn goes_down(
    channel: &ChannelCheck<'_, '_>,
    to: &Version,
    down: &[KnownStep<'_>],
    report: &mut Report<'_, '_>,
) {
    let Some((first, others)) = down.split_first() else {
        return;
    };
    let (facts, field) = (channel.facts, first.step.kind.as_str());
    let others = match others {
        [] => String::new(),
        others => format!(
            ", {}",
            names(others.iter().map(|known| facts.name(known.from)))
        ),
    };
    let message = format!(
        "{field} of entry {} ({}) makes an edge from a higher version: {} ({}){others}; remove the \
         edge, or fix the versions",
        q(facts.name(first.step.to)),
        escaped(to),
        q(facts.name(first.from)),
        escaped(first.old)
    );
    report.say(facts.spot_of(&first.step), message);
}

pub(super) const PRERELEASE_EDGE: RuleItem =
    rule!("prerelease-edge", Users, Warning).on(Check::Channel(|channel, report| {
        for (to, steps) in &channel.known_steps {
            let from_release = steps.iter().filter(|known| {
                let is_up = known.old.cmp_precedence(to) == Ordering::Less;
                is_up && to.is_prerelease() && !known.old.is_prerelease()
            });
            to_prerelease(channel, to, from_release.copied().collect(), report);
        }
    }));

fn to_prerelease(
    channel: &ChannelCheck<'_, '_>,
    to: &Version,
    mut from_release: Vec<KnownStep<'_>>,
    report: &mut Report<'_, '_>,
) {
    let Some(first) = from_release.first().map(|known| known.step) else {
        return;
    };
    let (facts, spot) = (channel.facts, channel.facts.spot_of(&first));
    from_release.sort_by(|a, b| b.old.cmp_precedence(a.old));
    from_release.dedup_by_key(|known| known.from);
    let edges = format!(
        "entry {} ({}) is a prerelease and has edges from releases: {}",
        q(facts.name(first.to)),
        escaped(to),
        names(from_release.iter().map(|known| facts.name(known.from)))
    );
    if is_of_prereleases(channel) {
        let message = format!(
            "{edges}; channel {} is for prereleases, but OLM v1 also uses the edge for extensions \
             without channels",
            q(channel.name())
        );
        report.note(spot, message);
    } else {
        report.say(spot, format!("{edges}; keep it in a separate channel"));
    }
}

/// Whether a channel is for prereleases: its head is one, and it is not the default channel.
fn is_of_prereleases(channel: &ChannelCheck<'_, '_>) -> bool {
    let package = channel.facts.package;
    let head = channel
        .head()
        .and_then(|view| package.version(view.bundle?));
    let default = package.package.map(|own| &*own.default_channel.text);
    head.is_some_and(Version::is_prerelease) && default != Some(channel.name())
}

pub(super) const MAJOR_EDGE: RuleItem =
    rule!("major-edge", Users, Warning).on(Check::Channel(major_edges));

/// Steps that semver calls incompatible, of each entry the first.
fn major_edges(channel: &ChannelCheck<'_, '_>, report: &mut Report<'_, '_>) {
    let facts = channel.facts;
    let steps = channel.known_steps.iter().filter_map(|(new, steps)| {
        let mut steps = steps.iter();
        steps.find(|known| {
            let is_up = known.old.cmp_precedence(new) == Ordering::Less;
            is_up && semver::line_left(known.old, new).is_some()
        })
    });
    let steps: Vec<_> = steps.collect();
    let Some(first) = steps.first() else {
        return;
    };
    let shown = steps.iter().take(NAMED).map(|known| {
        let (from, to) = (facts.name(known.from), facts.name(known.step.to));
        format!("from {} to {}", q(from), q(to))
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let rest = match steps.len().saturating_sub(NAMED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let message = format!(
        "channel {} has upgrades between incompatible versions: {shown}{rest}",
        q(channel.name())
    );
    report.say(facts.spot_of(&first.step), message);
}
