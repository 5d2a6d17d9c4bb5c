//! Rules about upgrade paths: versions that are cut off, cycles, several successors, skipped entries.
//!
//! In OLM v0, an installed version is upgraded to the first entry in the order of the channel that has an edge from it
//! and is not skipped. In OLM v1, every edge of every channel is a step. If opm finds no order in a channel, these
//! rules report nothing about OLM v0.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::lint::chain::{Chain, skipped};
use crate::lint::check::{ChannelCheck, Check, PackageCheck};
use crate::lint::finding::Report;
use crate::lint::rule::{RuleItem, rule};
use crate::lint::rules::reading::Omission;
use crate::lint::view::{EntryView, Step};
use crate::lint::words::{names, path, q};
use crate::lint::written::{Entry, Spot, Text};
use olmguard_catalog::graph::search;

pub(super) const CUT_OFF_VERSION: RuleItem =
    rule!("cut-off-version", Users, Warning).on(Check::Channel(|channel, report| {
        let facts = channel.facts;
        let can_follow = facts.has_all_edges() && facts.can_follow_paths();
        let chain = channel.chain().filter(|_| can_follow);
        if let Some(chain) = chain.filter(|chain| chain.circle_of_v0(channel.view).is_none()) {
            cut_off(channel, chain, report);
        }
    }));

fn cut_off(channel: &ChannelCheck<'_, '_>, chain: &Chain<'_, '_>, report: &mut Report<'_, '_>) {
    let facts = channel.facts;
    let Some((head, goal)) = chain.head().and_then(|head| Some((head, head.bundle?))) else {
        return;
    };
    let bundles = 0..facts.package.bundles.len();
    let goals = bundles.filter(|bundle| facts.is_higher(*bundle, goal));
    let reaching_in_v1 = facts.steps.leading_to(goals.chain([goal]));
    let reaching_in_v0 = leading_to_head(channel.steps, &order(chain));
    let mut ranges = channel.view.entries.iter();
    let has_ranges = ranges.any(|view| view.readable_range().is_some());
    for (node, spot) in known(channel) {
        // A range can match an unknown version.
        let can_match = has_ranges && facts.steps.is_unknown(node);
        if reaching_in_v0.contains(&node) || can_match {
            continue;
        }
        // Every path in OLM v0 is also a path in OLM v1.
        let generation = if reaching_in_v1.contains(&node) {
            "OLM v0"
        } else {
            "OLM v0 and OLM v1"
        };
        let message = format!(
            "{} has no upgrade path to {}, the head of channel {}, in {generation}; let an entry \
             on a path to the head replace it, skip it, or include it in its skipRange",
            q(facts.name(node)),
            q(&head.entry.name),
            q(channel.name())
        );
        report.say(spot, message);
    }
}

/// Returns the bundles of a channel in the order in which OLM v0 tries them.
fn order(chain: &Chain<'_, '_>) -> Vec<usize> {
    let entries = chain.entries.iter();
    let offered = entries.filter(|view| !chain.skipped.contains(&*view.entry.name));
    offered.filter_map(|view| view.bundle).collect()
}

/// Returns every name in a channel with its place: its entries, and the names that only edges mention.
fn known(channel: &ChannelCheck<'_, '_>) -> Vec<(usize, Spot)> {
    let views = channel.view.entries.iter();
    let targets = views.clone().flat_map(|view| targets(view.entry));
    let entries = views.filter_map(|view| Some((view.bundle?, view.entry.spot)));
    let removed = targets.filter_map(|target| {
        let node = channel.facts.steps.removed(&target.text)?;
        Some((node, target.spot))
    });
    let mut seen = HashSet::new();
    let all = entries.chain(removed);
    all.filter(|(node, _)| seen.insert(*node)).collect()
}

/// Returns the names that an entry skips and replaces.
fn targets(entry: &Entry) -> impl Iterator<Item = &Text> {
    entry.skips.iter().chain([&entry.replaces])
}

/// Returns the nodes from which OLM v0 reaches the head of a channel by its automatic steps.
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
        let from = places.get(&node).and_then(|place| before.get(place));
        from.into_iter().flatten()
    };
    let head = order.first().copied();
    let visits = search(head, None, |node| before(node).map(|from| ((), *from)));
    visits.as_slice().iter().map(|visit| visit.node).collect()
}

pub(super) const SEVERAL_SUCCESSORS: RuleItem =
    rule!("several-successors", Users, Note).on(Check::Channel(several_successors));

fn several_successors(channel: &ChannelCheck<'_, '_>, report: &mut Report<'_, '_>) {
    let Some(chain) = channel.chain() else {
        return;
    };
    let entries = channel.view.entries.iter().map(|view| view.entry);
    let mut counts = BTreeMap::<&str, usize>::new();
    for entry in entries.filter(|entry| !chain.skipped.contains(&*entry.name)) {
        let targets: HashSet<_> = targets(entry).map(|target| &*target.text).collect();
        for target in targets.into_iter().filter(|target| !target.is_empty()) {
            *counts.entry(target).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > 1);
    let Some((first, count)) = counts.first_key_value() else {
        return;
    };
    let rest = match counts.len() {
        1 => String::new(),
        2 => " (1 more name has several, too)".to_owned(),
        all => format!(" ({} more names have several, too)", all - 1),
    };
    let message = format!(
        "channel {} has {count} entries that replace or skip {}{rest}: expected one that is not \
         skipped itself",
        q(channel.name()),
        q(first)
    );
    report.say(channel.spot(), message);
}

pub(super) const UPGRADE_CYCLE: RuleItem =
    rule!("upgrade-cycle", Users, Warning).on(Check::Package(upgrade_cycles));

/// Reports cycles. Every cycle has an edge that does not go up, and the shortest path back from it closes the cycle.
/// Edges from removed versions are in no cycle, because steps only end at bundles.
fn upgrade_cycles(facts: &PackageCheck<'_, '_>, report: &mut Report<'_, '_>) {
    let mut known = HashSet::new();
    let bundles = facts.package.bundles.len();
    let flat = facts.steps.all().filter(|(from, _)| *from < bundles);
    let flat = flat.filter(|(from, step)| *from != step.to && !facts.is_higher(step.to, *from));
    for (at, (from, step)) in flat.enumerate() {
        if at == CYCLES {
            report.leave_out(facts.package.spot(), Omission::Cycles(CYCLES));
            break;
        }
        let Some(mut cycle) = facts.steps.shortest_path(step.to, from) else {
            continue;
        };
        let mut members = cycle.clone();
        members.sort_unstable();
        if !known.insert(members) {
            continue;
        }
        cycle.push(step.to);
        let names: Vec<_> = cycle.iter().map(|node| facts.name(*node)).collect();
        let message = format!(
            "upgrade edges form a cycle: {}; remove the edge that does not go to a higher version",
            path(&names)
        );
        report.say(facts.spot_of(&step), message);
    }
}

pub(super) const SKIPPED_CYCLE: RuleItem =
    rule!("skipped-cycle", Users, Error).on(Check::Channel(|channel, report| {
        let chain = channel.chain();
        if let Some(cycle) = chain.and_then(|chain| chain.circle_of_v0(channel.view)) {
            let message = format!(
                "skipped entries of channel {} replace each other in a cycle: {}; OLM v0 rejects \
                 the channel, so remove the replaces that names the same version or a higher one",
                q(channel.name()),
                path(&cycle)
            );
            report.say(channel.end_of_cycle(&cycle), message);
        }
    }));

pub(super) const SKIPPED_YET_INSTALLABLE: RuleItem =
    rule!("skipped-yet-installable", Users, Warning).on(Check::Channel(|channel, report| {
        let skipped = skipped(channel.view);
        let is_both = |view: &&EntryView<'_>| {
            let name = &*view.entry.name;
            let is_skipped = view.bundle.is_some() && skipped.contains(name);
            is_skipped && !channel.facts.is_deprecated("olm.bundle", name)
        };
        let both: Vec<_> = channel.view.entries.iter().filter(is_both).collect();
        if let Some(first) = both.first() {
            let message = format!(
                "channel {} skips entries that it still contains: {}; OLM v1 can still install \
                 them, so remove or deprecate them",
                q(channel.name()),
                names(both.iter().map(|view| &*view.entry.name))
            );
            report.say(first.entry.spot, message);
        }
    }));

impl PackageCheck<'_, '_> {
    /// Whether the paths to the head of each channel can be followed.
    pub(in crate::lint) fn can_follow_paths(&self) -> bool {
        let size = self.steps.count() + self.steps.names.len();
        size.saturating_mul(self.package.channels.len()) <= WORK
    }

    /// Whether one bundle has a higher version than another. False if a version is unknown.
    fn is_higher(&self, bundle: usize, than: usize) -> bool {
        let order = self.package.compare(bundle, than);
        order.is_some_and(Ordering::is_gt)
    }
}

/// Maximum number of edges in one package that are checked for a cycle.
const CYCLES: usize = 100;

/// Maximum work in one package to find versions that are cut off, in channels times edges. The largest known packages
/// need some ten thousand.
const WORK: usize = 50_000_000;
