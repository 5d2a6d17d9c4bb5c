//! Who gets where: versions that are cut off, circles, several ways at once, skipped entries.
//!
//! In OLM v0 an installed version goes to the first entry of the channel's order that has an edge from
//! it and is not skipped, and so on; in OLM v1 any edge of any channel is one. Where a channel has no
//! order for opm, nothing is told of OLM v0.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::PackageCheck;
use crate::edge_field::EdgeField;
use crate::lint::Rule;
use crate::lint::chain::{Chain, skipped};
use crate::lint::finding::Findings;
use crate::lint::view::{ChannelView, EntryView, Step};
use crate::lint::words::{self, CutOffIn};
use crate::lint::written::Spot;
use olmguard_catalog::graph::search::search;

pub(super) fn check(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let is_worked_out = facts.has_all_edges() && may_follow(facts);
    let by_channel = facts.steps.by_channel(facts.package.channels.len());
    for (index, (channel, chain)) in facts.package.channels.iter().zip(&facts.chains).enumerate() {
        if let Some(Ok(chain)) = chain {
            if let Some(circle) = chain.circle_of_v0(channel) {
                skipped_cycle(facts, channel, &circle, report);
            } else if is_worked_out {
                let steps = by_channel.get(index).map_or(&[][..], Vec::as_slice);
                cut_off(facts, steps, channel, chain, report);
            }
            several_successors(facts, channel, chain, report);
        }
        skipped_yet_installable(facts, channel, report);
    }
    cycles(facts, report);
}

fn skipped_cycle(
    facts: &PackageCheck<'_, '_>,
    channel: &ChannelView<'_>,
    circle: &[&str],
    report: &mut Findings<'_>,
) {
    let last = circle.iter().rev().nth(1);
    let entry = last.and_then(|name| channel.entry(name));
    let spot = entry.map_or(channel.channel.spot, |view| view.entry.spot);
    let words = words::skipped_cycle(&channel.channel.name, circle);
    report.say(Rule::SkippedCycle, spot, facts.package.name, words);
}

/// Whether the ways to the head of each channel can be followed.
pub(super) fn may_follow(facts: &PackageCheck<'_, '_>) -> bool {
    let size = facts.steps.count() + facts.steps.names.len();
    size.saturating_mul(facts.package.channels.len()) <= WORK
}

fn cut_off(
    facts: &PackageCheck<'_, '_>,
    steps: &[(usize, Step)],
    channel: &ChannelView<'_>,
    chain: &Chain<'_, '_>,
    report: &mut Findings<'_>,
) {
    let package = facts.package;
    let Some(head) = chain.head() else { return };
    let Some(goal) = head.bundle else { return };
    let order = order(chain);
    let above = package.bundles.iter().enumerate();
    let above = above.filter(|(bundle, _)| is_higher(facts, *bundle, goal));
    let goals = above.map(|(bundle, _)| bundle).chain([goal]);
    let reaching = facts.steps.leading_to(goals);
    let leading = leading_to_head(steps, &order);
    let mut ranges = channel.entries.iter().filter_map(EntryView::readable_range);
    let has_ranges = ranges.next().is_some();
    for (node, spot) in known(facts, channel) {
        let in_v0 = leading.contains(&node);
        let in_v1 = reaching.contains(&node);
        let generation = match (in_v0, in_v1) {
            (true, _) => continue,
            // Its version is not known: a range may take it.
            _ if has_ranges && facts.steps.is_unknown(node) => continue,
            (false, true) => CutOffIn::V0,
            (false, false) => CutOffIn::Both,
        };
        let (name, head) = (facts.name(node), &*head.entry.name);
        let words = words::cut_off(name, &channel.channel.name, head, generation);
        report.say(Rule::CutOffVersion, spot, package.name, words);
    }
}

/// The bundles of a channel in the order in which OLM v0 tries them.
fn order(chain: &Chain<'_, '_>) -> Vec<usize> {
    let is_offered = |name: &str| !chain.skipped.contains(name);
    let offered = chain
        .entries
        .iter()
        .filter(|view| is_offered(&view.entry.name));
    offered.filter_map(|view| view.bundle).collect()
}

/// Every name that a channel knows, with its place: entries, and what only edges speak of.
fn known(facts: &PackageCheck<'_, '_>, channel: &ChannelView<'_>) -> Vec<(usize, Spot)> {
    let entries = channel.entries.iter();
    let mut known: Vec<_> = entries
        .filter_map(|view| Some((view.bundle?, view.entry.spot)))
        .collect();
    let mut seen: HashSet<_> = known.iter().map(|(node, _)| *node).collect();
    for view in &channel.entries {
        let targets = view.entry.skips.iter().chain([&view.entry.replaces]);
        for target in targets {
            if let Some(node) = facts.steps.removed(&target.text)
                && seen.insert(node)
            {
                known.push((node, target.spot));
            }
        }
    }
    known
}

/// The nodes from which OLM v0, following the steps of a channel one by one, ends at its head.
fn leading_to_head(steps: &[(usize, Step)], order: &[usize]) -> HashSet<usize> {
    let places = order.iter().enumerate();
    let places: HashMap<_, _> = places.map(|(place, node)| (*node, place)).collect();
    let mut next = BTreeMap::<usize, usize>::new();
    for (from, step) in steps {
        if let Some(place) = places.get(&step.to) {
            let first = next.entry(*from).or_insert(*place);
            *first = (*first).min(*place);
        }
    }
    let mut before = HashMap::<usize, Vec<usize>>::new();
    for (from, place) in next {
        before.entry(place).or_default().push(from);
    }
    let before = |node| {
        let place = places.get(&node);
        place
            .and_then(|place| before.get(place))
            .into_iter()
            .flatten()
    };
    let head = order.first().copied();
    let visits = search(head, None, |node| before(node).map(|from| ((), *from)));
    visits.as_slice().iter().map(|visit| visit.node).collect()
}

fn several_successors(
    facts: &PackageCheck<'_, '_>,
    channel: &ChannelView<'_>,
    chain: &Chain<'_, '_>,
    report: &mut Findings<'_>,
) {
    let mut counts = BTreeMap::<&str, usize>::new();
    for view in &channel.entries {
        let entry = view.entry;
        if chain.skipped.contains(&*entry.name) {
            continue;
        }
        let targets = entry.skips.iter().chain([&entry.replaces]);
        let targets: HashSet<_> = targets.map(|target| &*target.text).collect();
        for target in targets.into_iter().filter(|target| !target.is_empty()) {
            *counts.entry(target).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > 1);
    if !counts.is_empty() {
        let several: Vec<_> = counts.into_iter().collect();
        let words = words::several_successors(&channel.channel.name, &several);
        let spot = channel.channel.spot;
        report.say(Rule::SeveralSuccessors, spot, facts.package.name, words);
    }
}

fn skipped_yet_installable(
    facts: &PackageCheck<'_, '_>,
    channel: &ChannelView<'_>,
    report: &mut Findings<'_>,
) {
    let skipped = skipped(channel);
    let is_deprecated = |name| facts.deprecated.contains(&("olm.bundle", name));
    let both = channel.entries.iter().filter(|view| {
        let name = &*view.entry.name;
        view.bundle.is_some() && skipped.contains(name) && !is_deprecated(name)
    });
    let both: Vec<_> = both.collect();
    if let Some(first) = both.first() {
        let names: Vec<_> = both.iter().map(|view| &*view.entry.name).collect();
        let words = words::skipped_yet_installable(&channel.channel.name, &names);
        let spot = first.entry.spot;
        report.say(Rule::SkippedYetInstallable, spot, facts.package.name, words);
    }
}

/// A circle has an edge that does not go up; from each of those its way back is looked for.
fn cycles(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let package = facts.package;
    let mut told = HashSet::new();
    let steps = facts.steps.all();
    let flat = steps.filter(|(from, step)| *from != step.to && !is_higher(facts, step.to, *from));
    for (at, (from, step)) in flat.enumerate() {
        if at == CIRCLES {
            let words = words::too_many_circles(package.name, CIRCLES);
            report.say(Rule::LintLimit, package.spot(), package.name, words);
            break;
        }
        let Some(mut way) = facts.steps.shortest_path(step.to, from) else {
            continue;
        };
        let mut members = way.clone();
        members.sort_unstable();
        if !told.insert(members) {
            continue;
        }
        way.push(step.to);
        let names: Vec<_> = way.iter().map(|node| facts.name(*node)).collect();
        let spot = spot_of(facts, &step);
        report.say(
            Rule::UpgradeCycle,
            spot,
            package.name,
            words::upgrade_cycle(&names),
        );
    }
}

/// Where the edge of a step stands.
pub(super) fn spot_of(facts: &PackageCheck<'_, '_>, step: &Step) -> Spot {
    let channel = facts.package.channels.get(step.channel);
    let Some(view) = channel.and_then(|channel| channel.entries.get(step.entry)) else {
        return facts.package.spot();
    };
    let part = match step.kind {
        EdgeField::Replaces => view.entry.replaces.spot,
        EdgeField::SkipRange => view.entry.skip_range.spot,
        EdgeField::Skips => {
            let skip = view.entry.skips.get(step.skip);
            skip.map_or(view.entry.spot, |skip| skip.spot)
        }
    };
    super::or(part, view.entry.spot)
}

/// Whether one bundle is of a higher version than another; where that cannot be told it is not.
fn is_higher(facts: &PackageCheck<'_, '_>, bundle: usize, than: usize) -> bool {
    let versions = (facts.package.version(bundle), facts.package.version(than));
    let (Some(here), Some(there)) = versions else {
        return false;
    };
    here.cmp_precedence(there) == Ordering::Greater
}

/// How many edges that do not go up are followed back in one package.
const CIRCLES: usize = 100;

/// How much is looked at for versions that are cut off, in one package: channels times edges. The largest
/// known ones have some ten thousand.
const WORK: usize = 50_000_000;
