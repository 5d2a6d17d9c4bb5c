//! The steps that the edges of a package allow, as OLM v1 reads them: of every channel, skipped or not.
//!
//! Upstream: operator-controller, `internal/operator-controller/catalogmetadata/filter/successors.go`.

use std::collections::{HashMap, HashSet, VecDeque};

use super::PackageView;
use crate::version::Membership;

/// What allows a step.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(in crate::lint) enum Kind {
    Replaces,
    Skips,
    SkipRange,
}

/// A step to a bundle.
#[derive(Clone, Copy, Debug)]
pub(in crate::lint) struct Step {
    /// The bundle that it leads to.
    pub(in crate::lint) to: usize,
    pub(in crate::lint) channel: usize,
    /// The entry of the channel that allows it.
    pub(in crate::lint) entry: usize,
    pub(in crate::lint) kind: Kind,
}

/// The steps of a package. Nodes are its bundles, and after them the names that only edges speak of.
#[derive(Debug)]
pub(in crate::lint) struct Steps<'w> {
    pub(in crate::lint) names: Vec<&'w str>,
    from: Vec<Vec<Step>>,
}

impl<'w> Steps<'w> {
    pub(in crate::lint) fn of(package: &PackageView<'w>) -> Self {
        let names = package.bundles.iter().map(|view| &*view.bundle.name);
        let mut steps = Self {
            names: names.collect(),
            from: vec![Vec::new(); package.bundles.len()],
        };
        let tries_ranges = package.tries_ranges();
        let mut nodes = package.by_name.clone();
        for (channel, view) in package.channels.iter().enumerate() {
            for (entry, view) in view.entries.iter().enumerate() {
                let Some(to) = view.bundle else { continue };
                let step = |kind| Step {
                    to,
                    channel,
                    entry,
                    kind,
                };
                let written = view.entry;
                steps.add(&mut nodes, &written.replaces.text, step(Kind::Replaces));
                for skip in &written.skips {
                    steps.add(&mut nodes, &skip.text, step(Kind::Skips));
                }
                if let Some(range) = view.readable_range().filter(|_| tries_ranges) {
                    let versions = package.bundles.iter().zip(&mut steps.from).enumerate();
                    for (node, (bundle, from)) in versions {
                        let version = bundle.version.as_ref();
                        let holds = version.is_some_and(|v| range.takes(v) == Membership::Holds);
                        if holds && node != to {
                            from.push(step(Kind::SkipRange));
                        }
                    }
                }
            }
        }
        steps
    }

    fn add(&mut self, nodes: &mut HashMap<&'w str, usize>, name: &'w str, step: Step) {
        if name.is_empty() {
            return;
        }
        let node = *nodes.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.from.push(Vec::new());
            self.from.len() - 1
        });
        if let Some(from) = self.from.get_mut(node) {
            from.push(step);
        }
    }

    /// The steps from a node.
    pub(in crate::lint) fn from(&self, node: usize) -> &[Step] {
        self.from.get(node).map_or(&[], Vec::as_slice)
    }

    /// How many steps there are.
    pub(in crate::lint) fn count(&self) -> usize {
        self.from.iter().map(Vec::len).sum()
    }

    /// Every step, with the node that it starts at.
    pub(in crate::lint) fn all(&self) -> impl Iterator<Item = (usize, Step)> {
        let from = self.from.iter().enumerate();
        from.flat_map(|(node, steps)| steps.iter().map(move |step| (node, *step)))
    }

    /// The nodes from which one of some bundles can be reached, themselves included.
    pub(in crate::lint) fn leading_to(
        &self,
        goals: impl IntoIterator<Item = usize>,
    ) -> HashSet<usize> {
        let mut into = vec![Vec::new(); self.from.len()];
        for (from, step) in self.all() {
            if let Some(into) = into.get_mut(step.to) {
                into.push(from);
            }
        }
        let mut ahead: Vec<usize> = goals.into_iter().collect();
        let mut seen: HashSet<usize> = ahead.iter().copied().collect();
        while let Some(node) = ahead.pop() {
            for from in into.get(node).into_iter().flatten() {
                if seen.insert(*from) {
                    ahead.push(*from);
                }
            }
        }
        seen
    }

    /// The shortest way from a bundle to another, both included.
    pub(in crate::lint) fn way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut before = HashMap::from([(from, from)]);
        let mut ahead = VecDeque::from([from]);
        while let Some(node) = ahead.pop_front() {
            if node == to {
                let mut way = vec![node];
                while let Some(last) = way.last()
                    && *last != from
                {
                    way.push(*before.get(last)?);
                }
                way.reverse();
                return Some(way);
            }
            for step in self.from(node) {
                before.entry(step.to).or_insert_with(|| {
                    ahead.push_back(step.to);
                    node
                });
            }
        }
        None
    }
}
