//! The upgrades of each installed version, in the old catalog and in the new one.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, ChangeKind, DiffUsers, Who};
use olmguard_catalog::graph::{Graph, NodeIndex, version_in_name};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::VersionRelease;
use olmguard_catalog::{AskedChannels, BundleIndex, Package};
use olmguard_engine::resolve::classic::{self, Outlook, SubscribedChannel, SubscriptionOrder};
use olmguard_engine::resolve::{Unpinned, is_unsupported};

/// An installed bundle: one of the old catalog, or a name that only its edges mention.
struct InstalledNode<'p> {
    name: &'p str,
    version: Option<VersionRelease>,
}

/// Upgrades of one installed version.
#[derive(Debug, Default, Eq, PartialEq)]
struct Prospect {
    /// Names of the bundles that have an edge from it, the best first.
    successors: Vec<Box<str>>,
    /// Whether edits can upgrade it to a higher version, in one step or in several.
    can_rise: bool,
    /// Bundle of the automatic upgrade.
    pick: Option<Box<str>>,
    /// Version at which the automatic upgrades end.
    end: Option<Rank>,
}

/// The users of OLM v1 with one of the catalogs, who request no channel and no range.
struct V1Users<'g, 'p> {
    graph: &'g Graph<'p>,
    asked: Unpinned<'p>,
    peaks: Peaks,
    ends: Ends,
}

/// The highest bundle that edits can reach from each bundle of a package, which can be the bundle itself.
struct Peaks(BTreeMap<BundleIndex, BundleIndex>);

/// End of the automatic upgrades from each node that was visited.
#[derive(Default)]
struct Ends(BTreeMap<NodeIndex, NodeIndex>);

/// A version with its release, compared by precedence.
#[derive(Clone, Debug)]
struct Rank(VersionRelease);

/// Returns all changes that affect a bundle or a name that can be installed, as far as the old catalog knows.
pub(super) fn changes(old: &Graph<'_>, new: &Graph<'_>, users: DiffUsers<'_>) -> Vec<Change> {
    let installed = old.nodes().map(|node| installed(old, node));
    let installed = installed.filter(|installed| !installed.name.is_empty());
    match users {
        DiffUsers::V1(rules) => {
            let [mut old, mut new] = [old, new].map(|graph| V1Users::of(graph, rules));
            let changes = installed.flat_map(|installed| {
                let (before, after) = (old.prospect(&installed), new.prospect(&installed));
                changes_of(&installed, None, &before, &after)
            });
            changes.collect()
        }
        DiffUsers::V0 => v0_changes(old, new, &installed.collect::<Vec<_>>()),
    }
}

/// Compares each channel that both catalogs have. Added and removed channels are reported as such.
fn v0_changes(old: &Graph<'_>, new: &Graph<'_>, installed: &[InstalledNode<'_>]) -> Vec<Change> {
    let names = old.channels().iter().map(|channel| channel.name);
    let mut changes = Vec::new();
    for name in names.filter(|name| new.channel(name).is_some()) {
        let line = |graph| SubscriptionOrder::of(graph, SubscribedChannel::To(name)).ok();
        let (old, new) = (line(old), line(new));
        let (mut old_ends, mut new_ends) = (Ends::default(), Ends::default());
        for installed in installed {
            let before = v0(old.as_ref(), installed, &mut old_ends);
            let after = v0(new.as_ref(), installed, &mut new_ends);
            changes.extend(changes_of(installed, Some(name), &before, &after));
        }
    }
    changes
}

fn installed<'p>(graph: &Graph<'p>, node: NodeIndex) -> InstalledNode<'p> {
    let name = graph.name_of(node);
    let bundle = graph.bundle(node);
    let version = match bundle {
        Some(bundle) => bundle.version.as_ref().ok().cloned(),
        None => version_in_name(name).map(|version| VersionRelease {
            version,
            release: None,
        }),
    };
    InstalledNode { name, version }
}

impl<'g, 'p> V1Users<'g, 'p> {
    fn of(graph: &'g Graph<'p>, rules: &Rules) -> Self {
        let package = graph.package();
        let asked = Unpinned::of(package, AskedChannels::All);
        let asked = asked.refusing(|bundle| is_unsupported(bundle, rules));
        Self {
            graph,
            peaks: Peaks::of(package, &asked),
            asked,
            ends: Ends::default(),
        }
    }

    /// Finds the upgrades from an installed version.
    fn prospect(&mut self, installed: &InstalledNode<'_>) -> Prospect {
        let (graph, asked) = (self.graph, &self.asked);
        let successors = asked.successors(installed.name, installed.version.as_ref());
        let mut reached = successors.iter().filter_map(|to| self.peaks.0.get(&to));
        let can_rise = reached.any(|peak| is_above(graph, graph.node_of(*peak), installed));
        let pick = |from: &InstalledNode<'_>| {
            let next = asked.next(from.name, from.version.as_ref())?;
            Some(graph.node_of(next))
        };
        let next = |node| pick(&self::installed(graph, node));
        let pick = pick(installed);
        let end = pick.map(|pick| self.ends.from(pick, next));
        let nodes: Vec<_> = successors.iter().map(|to| graph.node_of(to)).collect();
        prospect(graph, &nodes, can_rise, pick, end)
    }
}

impl Peaks {
    /// Follows the steps backwards from each bundle, the highest first. A step takes one bit: a package of 10,000
    /// bundles can have 50 million.
    fn of(package: &Package, asked: &Unpinned<'_>) -> Self {
        let mut before: Vec<_> = package.bundles().map(|_| package.no_bundle()).collect();
        for (from, bundle) in package.bundles() {
            for to in asked
                .successors(&bundle.name, bundle.version.as_ref().ok())
                .iter()
            {
                if let Some(before) = before.get_mut(to.get() as usize) {
                    before.insert(from);
                }
            }
        }
        let (mut peaks, mut reached) = (BTreeMap::new(), package.no_bundle());
        // The bundles of a package are sorted by version, the highest first.
        for (peak, _) in package.bundles() {
            let mut left = vec![peak];
            while let Some(to) = left.pop() {
                reached.insert(to);
                peaks.entry(to).or_insert(peak);
                let before = before.get_mut(to.get() as usize).map(std::mem::take);
                let mut before = before.unwrap_or_default();
                before.subtract(&reached);
                reached.unite(&before);
                left.extend(before.iter());
            }
        }
        Self(peaks)
    }
}

/// Whether the version of a bundle is above the installed one. If that version is unknown, every version is.
fn is_above(graph: &Graph<'_>, node: NodeIndex, installed: &InstalledNode<'_>) -> bool {
    let read = graph
        .bundle(node)
        .and_then(|bundle| bundle.version.as_ref().ok());
    read.is_some_and(|version| {
        let installed = installed.version.as_ref();
        installed.is_none_or(|installed| version.cmp_precedence(installed).is_gt())
    })
}

/// Finds the upgrades in OLM v0 with a Subscription to the channel of this order.
fn v0(
    line: Option<&SubscriptionOrder<'_, '_>>,
    installed: &InstalledNode<'_>,
    ends: &mut Ends,
) -> Prospect {
    let Some(line) = line else {
        return Prospect::default();
    };
    let csv = classic::InstalledCsv {
        name: installed.name,
        version: installed.version.as_ref().map(|read| &read.version),
    };
    let nodes = line.candidates(csv);
    let pick = v0_pick(line.outlook(csv));
    let next = |node| v0_pick(line.outlook_at(node));
    let end = pick.map(|pick| ends.from(pick, next));
    let mut goals = nodes.iter().copied().chain(end);
    let can_rise = goals.any(|node| is_above(line.graph(), node, installed));
    prospect(line.graph(), &nodes, can_rise, pick, end)
}

fn v0_pick(outlook: Outlook) -> Option<NodeIndex> {
    match outlook {
        Outlook::Next(next) => Some(next),
        Outlook::AtHead | Outlook::Stranded => None,
    }
}

impl Ends {
    /// Returns where the automatic upgrades from a node end. A cycle ends where it closes.
    fn from(
        &mut self,
        node: NodeIndex,
        next: impl Fn(NodeIndex) -> Option<NodeIndex>,
    ) -> NodeIndex {
        let mut way = BTreeSet::new();
        let mut at = node;
        let end = loop {
            if let Some(end) = self.0.get(&at) {
                break *end;
            }
            if !way.insert(at) {
                break at;
            }
            match next(at) {
                Some(next) => at = next,
                None => break at,
            }
        };
        self.0.extend(way.into_iter().map(|node| (node, end)));
        end
    }
}

fn prospect(
    graph: &Graph<'_>,
    successors: &[NodeIndex],
    can_rise: bool,
    pick: Option<NodeIndex>,
    end: Option<NodeIndex>,
) -> Prospect {
    let name = |node: &NodeIndex| Box::from(graph.name_of(*node));
    let end = end.and_then(|end| graph.bundle(end));
    let end = end.and_then(|bundle| bundle.version.clone().ok());
    Prospect {
        successors: successors.iter().map(name).collect(),
        can_rise,
        pick: pick.as_ref().map(name),
        end: end.map(Rank),
    }
}

/// Returns what changed for one installed version.
fn changes_of(
    installed: &InstalledNode<'_>,
    channel: Option<&str>,
    before: &Prospect,
    after: &Prospect,
) -> Vec<Change> {
    if before == after {
        return Vec::new();
    }
    let who = Who {
        name: installed.name.into(),
        version: installed.version.as_ref().map(shown),
        channel: channel.map(Box::from),
    };
    let change = |kind, before, after| Change {
        who: Some(who.clone()),
        before,
        after,
        ..Change::of(kind)
    };
    let lost = only_in(before, after);
    let new = only_in(after, before);
    let (had, has) = (before.successors.clone(), after.successors.clone());
    let of_successors = match (before.can_rise, after.can_rise) {
        (true, false) => return vec![change(ChangeKind::NewlyStranded, had, Vec::new())],
        (false, true) => Some(change(ChangeKind::NoLongerStranded, Vec::new(), has)),
        _ if !lost.is_empty() && ends_lower(before, after) => {
            Some(change(ChangeKind::SuccessorsLost, lost, has))
        }
        _ if lost.is_empty() && new.is_empty() => None,
        _ => Some(change(ChangeKind::SuccessorsChanged, lost, new)),
    };
    let of_pick = (before.pick != after.pick).then(|| {
        let [before, after] =
            [before, after].map(|prospect| prospect.pick.iter().cloned().collect());
        change(ChangeKind::PickChanged, before, after)
    });
    of_successors.into_iter().chain(of_pick).collect()
}

/// Whether the new end is below the old one. No upgrade at all counts as the lowest end.
fn ends_lower(before: &Prospect, after: &Prospect) -> bool {
    match (&before.end, &after.end) {
        (Some(Rank(was)), Some(Rank(is))) => is.cmp_precedence(was).is_lt(),
        (was, is) => was.is_some() && is.is_none(),
    }
}

fn only_in(here: &Prospect, there: &Prospect) -> Vec<Box<str>> {
    let there: BTreeSet<_> = there.successors.iter().collect();
    let here = here.successors.iter();
    here.filter(|name| !there.contains(name)).cloned().collect()
}

/// Formats a version with its release as the controller records it.
pub(super) fn shown(version: &VersionRelease) -> Box<str> {
    let gate = olmguard_catalog::version::BundleReleaseSupport::Disabled;
    version.recorded(gate).version.into()
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.0.cmp_precedence(&other.0).is_eq()
    }
}

impl Eq for Rank {}
