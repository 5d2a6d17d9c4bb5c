//! The steps that the edges of a package allow in OLM v1: of all channels, including skipped entries.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/filter/successors.go`].
//!
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/filter/successors.go

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{EntryView, PackageView};
use crate::see::EdgeField;
use olmguard_catalog::graph::search;
use olmguard_catalog::graph::version_in_name;
use olmguard_catalog::version::{Membership, Version};

/// A step to a bundle.
#[derive(Clone, Copy, Debug)]
pub(in crate::lint) struct Step {
    /// Index of the target bundle.
    pub(in crate::lint) to: usize,
    pub(in crate::lint) channel: usize,
    /// Index of the entry in the channel.
    pub(in crate::lint) entry: usize,
    pub(in crate::lint) kind: EdgeField,
    /// Index in the `skips` of the entry, for a step of this kind.
    pub(in crate::lint) skip: usize,
}

/// The steps of a package. The first nodes are its bundles, followed by names that only edges mention.
#[derive(Debug)]
pub(in crate::lint) struct Steps<'w> {
    pub(in crate::lint) names: Vec<&'w str>,
    /// Whether the steps of ranges are included. They are omitted if a package has more ranges and versions than
    /// any real one.
    pub(in crate::lint) has_ranges: bool,
    /// Number of nodes that are bundles.
    bundles: usize,
    nodes: HashMap<&'w str, usize>,
    from: Vec<Vec<Step>>,
    /// Start nodes of the steps to each node.
    into: Vec<Vec<usize>>,
}

impl<'w> Steps<'w> {
    pub(in crate::lint) fn of(package: &PackageView<'w>) -> Self {
        let names = package.bundles.iter().map(|view| &*view.bundle.name);
        let mut steps = Self {
            names: names.collect(),
            has_ranges: true,
            bundles: package.bundles.len(),
            nodes: package.by_name.clone(),
            from: vec![Vec::new(); package.bundles.len()],
            into: Vec::new(),
        };
        steps.add_names(package);
        steps.add_ranges(package);
        steps.into = steps.turned();
        steps
    }

    fn add_names(&mut self, package: &PackageView<'w>) {
        for (view, step) in entries(package) {
            let written = view.entry;
            self.add(&written.replaces.text, step(EdgeField::Replaces, 0));
            for (at, skip) in written.skips.iter().enumerate() {
                self.add(&skip.text, step(EdgeField::Skips, at));
            }
        }
    }

    fn add(&mut self, name: &'w str, step: Step) {
        if name.is_empty() {
            return;
        }
        let node = *self.nodes.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.from.push(Vec::new());
            self.from.len() - 1
        });
        if let Some(from) = self.from.get_mut(node) {
            from.push(step);
        }
    }

    /// Returns the version of each node. The version of a name that only edges mention is the one in the name.
    pub(in crate::lint) fn versions<'v>(
        &self,
        package: &'v PackageView<'_>,
    ) -> Vec<Option<Cow<'v, Version>>> {
        let bundles = package.bundles.iter().map(|view| view.version.as_ref());
        let bundles = bundles.map(|version| version.map(Cow::Borrowed));
        let removed = self.names.iter().skip(self.bundles);
        let removed = removed.map(|name| version_in_name(name).map(Cow::Owned));
        bundles.chain(removed).collect()
    }

    fn add_ranges(&mut self, package: &PackageView<'w>) {
        self.has_ranges = may_try(package, self.names.len());
        if !self.has_ranges {
            return;
        }
        let versions = self.versions(package);
        for (view, step) in entries(package) {
            let Some(range) = view.readable_range() else {
                continue;
            };
            let step = step(EdgeField::SkipRange, 0);
            for (node, (version, from)) in versions.iter().zip(&mut self.from).enumerate() {
                let version = version.as_deref();
                let holds = version.is_some_and(|v| range.takes(v) == Membership::Holds);
                if holds && node != step.to {
                    from.push(step);
                }
            }
        }
    }

    /// Whether the node is a name without a bundle and without a known version.
    pub(in crate::lint) fn is_unknown(&self, node: usize) -> bool {
        let name = self.names.get(node).filter(|_| node >= self.bundles);
        name.is_some_and(|name| version_in_name(name).is_none())
    }

    fn turned(&self) -> Vec<Vec<usize>> {
        let mut into = vec![Vec::new(); self.from.len()];
        for (from, step) in self.all() {
            if let Some(into) = into.get_mut(step.to) {
                into.push(from);
            }
        }
        into
    }

    /// Returns the node of a name that no bundle has.
    pub(in crate::lint) fn removed(&self, name: &str) -> Option<usize> {
        let node = self.nodes.get(name).copied();
        node.filter(|node| *node >= self.bundles)
    }

    /// Returns the number of steps.
    pub(in crate::lint) fn count(&self) -> usize {
        self.from.iter().map(Vec::len).sum()
    }

    /// Returns every step, with its start node.
    pub(in crate::lint) fn all(&self) -> impl Iterator<Item = (usize, Step)> {
        let from = self.from.iter().enumerate();
        from.flat_map(|(node, steps)| steps.iter().map(move |step| (node, *step)))
    }

    /// Returns the steps of each channel, with their start nodes.
    pub(in crate::lint) fn by_channel(&self, channels: usize) -> Vec<Vec<(usize, Step)>> {
        let mut all = vec![Vec::new(); channels];
        for (from, step) in self.all() {
            if let Some(steps) = all.get_mut(step.channel) {
                steps.push((from, step));
            }
        }
        all
    }

    /// Returns the nodes from which at least one of some bundles can be reached, including these bundles.
    pub(in crate::lint) fn leading_to(
        &self,
        goals: impl IntoIterator<Item = usize>,
    ) -> HashSet<usize> {
        let into = |node: usize| self.into.get(node).into_iter().flatten();
        let visits = search(goals, None, |node| into(node).map(|from| ((), *from)));
        visits.as_slice().iter().map(|visit| visit.node).collect()
    }

    /// Returns the steps from a node.
    fn from(&self, node: usize) -> &[Step] {
        self.from.get(node).map_or(&[], Vec::as_slice)
    }

    /// Returns the shortest path from a bundle to another, including both.
    pub(in crate::lint) fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let steps = |node| self.from(node).iter().map(|step| ((), step.to));
        let visits = search([from], Some(to), steps);
        let path = visits.shortest_path(to)?;
        Some(path.iter().map(|visit| visit.node).collect())
    }
}

/// Returns the entries with a bundle, each with a function that creates its steps.
fn entries<'v, 'w>(
    package: &'v PackageView<'w>,
) -> impl Iterator<Item = (&'v EntryView<'w>, impl Fn(EdgeField, usize) -> Step)> {
    let channels = package.channels.iter().enumerate();
    let all = channels.flat_map(|(channel, view)| {
        let entries = view.entries.iter().enumerate();
        entries.map(move |(entry, view)| (channel, entry, view))
    });
    all.filter_map(|(channel, entry, view)| {
        let to = view.bundle?;
        let step = move |kind, skip| Step {
            to,
            channel,
            entry,
            kind,
            skip,
        };
        Some((view, step))
    })
}

/// Whether every range can be compared with the version of every name within the limits.
fn may_try(package: &PackageView<'_>, names: usize) -> bool {
    let entries = package.channels.iter().flat_map(|view| &view.entries);
    let ranges = entries.filter_map(EntryView::readable_range);
    let (count, bytes) = ranges.fold((0_usize, 0_usize), |(count, bytes), range| {
        (count + 1, bytes.saturating_add(range.as_str().len()))
    });
    count.saturating_mul(names) <= PAIRS && bytes.saturating_mul(names) <= PAIR_BYTES
}

/// Maximum number of pairs of a range and a name in one package: a hundred times as many as in the largest known
/// package.
const PAIRS: usize = 1_000_000;

/// Maximum number of pairs in which each range counts by its length in bytes.
const PAIR_BYTES: usize = 50_000_000;
