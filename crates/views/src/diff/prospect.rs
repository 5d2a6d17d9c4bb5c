//! The upgrades of each installed version, in the old catalog and in the new one.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, ChangeKind, DiffUsers, Who};
use olmguard_catalog::AskedChannels;
use olmguard_catalog::graph::{Graph, NodeIndex, version_in_name};
use olmguard_catalog::version::VersionRelease;
use olmguard_engine::resolve::classic::{self, Outlook, SubscribedChannel, SubscriptionOrder};
use olmguard_engine::resolve::{Unpinned, is_unsupported};

/// The graphs of one package in both catalogs.
pub(super) struct Prospects<'g, 'p> {
    old: &'g Graph<'p>,
    new: &'g Graph<'p>,
    users: DiffUsers<'g>,
}

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

/// The highest bundle that edits can reach from each bundle of a package, which can be the bundle itself.
struct Peaks(BTreeMap<NodeIndex, NodeIndex>);

/// End of the automatic upgrades from each node that was visited.
#[derive(Default)]
struct Ends(BTreeMap<NodeIndex, NodeIndex>);

/// A version with its release, compared by precedence.
#[derive(Clone, Debug)]
struct Rank(VersionRelease);

impl<'g, 'p> Prospects<'g, 'p> {
    pub(super) fn of(old: &'g Graph<'p>, new: &'g Graph<'p>, users: DiffUsers<'g>) -> Self {
        Self { old, new, users }
    }

    /// Returns all changes that affect an installed version.
    pub(super) fn changes(&self) -> Vec<Change> {
        let installed: Vec<_> = self.installed().collect();
        match self.users {
            DiffUsers::V1(rules) => {
                let asked = |graph: &Graph<'p>| {
                    let asked = Unpinned::of(graph.package(), AskedChannels::All);
                    asked.refusing(|bundle| is_unsupported(bundle, rules))
                };
                let (old, new) = (asked(self.old), asked(self.new));
                let old_peaks = Peaks::of(self.old, &old);
                let new_peaks = Peaks::of(self.new, &new);
                let (mut old_ends, mut new_ends) = (Ends::default(), Ends::default());
                let mut changes = Vec::new();
                for installed in &installed {
                    let before = v1(self.old, &old, installed, &old_peaks, &mut old_ends);
                    let after = v1(self.new, &new, installed, &new_peaks, &mut new_ends);
                    changes.extend(changes_of(installed, None, &before, &after));
                }
                changes
            }
            DiffUsers::V0 => self.v0_changes(&installed),
        }
    }

    /// Compares each channel that both catalogs have. Added and removed channels are reported as such.
    fn v0_changes(&self, installed: &[InstalledNode<'p>]) -> Vec<Change> {
        let names = self.old.channels().iter().map(|channel| channel.name);
        let mut changes = Vec::new();
        for name in names.filter(|name| self.new.channel(name).is_some()) {
            let line = |graph| SubscriptionOrder::of(graph, SubscribedChannel::To(name)).ok();
            let (old, new) = (line(self.old), line(self.new));
            let (mut old_ends, mut new_ends) = (Ends::default(), Ends::default());
            for installed in installed {
                let before = v0(old.as_ref(), installed, &mut old_ends);
                let after = v0(new.as_ref(), installed, &mut new_ends);
                changes.extend(changes_of(installed, Some(name), &before, &after));
            }
        }
        changes
    }

    /// Returns all bundles and names that can be installed, as far as the old catalog knows.
    fn installed(&self) -> impl Iterator<Item = InstalledNode<'p>> {
        let nodes = self.old.nodes();
        let installed = nodes.map(|node| installed(self.old, node));
        installed.filter(|installed| !installed.name.is_empty())
    }
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

/// Finds the upgrades in OLM v1 if no channel and no range is requested.
fn v1(
    graph: &Graph<'_>,
    asked: &Unpinned<'_>,
    installed: &InstalledNode<'_>,
    peaks: &Peaks,
    ends: &mut Ends,
) -> Prospect {
    let nodes = successors(graph, asked, installed);
    let mut reached = nodes.iter().filter_map(|node| peaks.0.get(node));
    let can_rise = reached.any(|node| is_above(graph, *node, installed));
    let pick = |from: &InstalledNode<'_>| {
        let next = asked.next(from.name, from.version.as_ref())?;
        Some(graph.node_of(next))
    };
    let next = |node| pick(&self::installed(graph, node));
    let pick = pick(installed);
    let end = pick.map(|pick| ends.from(pick, next));
    prospect(graph, &nodes, can_rise, pick, end)
}

fn successors(graph: &Graph<'_>, asked: &Unpinned<'_>, from: &InstalledNode<'_>) -> Vec<NodeIndex> {
    let successors = asked.successors(from.name, from.version.as_ref());
    let nodes = successors.iter().map(|index| graph.node_of(index));
    nodes.collect()
}

impl Peaks {
    /// Follows the steps backwards from each bundle, the highest first. Each step is followed once.
    fn of(graph: &Graph<'_>, asked: &Unpinned<'_>) -> Self {
        let bundles = || graph.nodes().filter(|node| graph.bundle(*node).is_some());
        let mut before = BTreeMap::<NodeIndex, Vec<NodeIndex>>::new();
        for from in bundles() {
            for to in successors(graph, asked, &installed(graph, from)) {
                before.entry(to).or_default().push(from);
            }
        }
        let mut peaks = BTreeMap::new();
        // The bundles of a package are sorted by version, the highest first.
        for peak in bundles() {
            let mut left = vec![peak];
            while let Some(node) = left.pop() {
                peaks.entry(node).or_insert(peak);
                left.extend(before.remove(&node).unwrap_or_default());
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
