//! The upgrade graph of one package of one catalog, as its author wrote it.
//!
//! Resolution asks where edges lead from an installed bundle and needs to know no more than that. People
//! ask what the author wrote: which entry replaces, which skips, which names are spoken of that no
//! bundle has. This is that view of the same index.
//!
//! ```text
//! channel "stable"    lantern.v1.0.0 <-- replaces -- lantern.v1.2.0 (head)
//!                     lantern.v1.1.0 <---- skips ----------'     lantern.v1.1.0 has no bundle: virtual
//! ```
//!
//! Upstream: operator-registry, [`alpha/declcfg/declcfg.go`] (what is written). An entry that names no
//! bundle is not in it: OLM v0 refuses such a catalog, OLM v1 does not see it.
//!
//! Invariants: the first nodes are the package's bundles in its order of preference, so the node of a
//! [`BundleIndex`] has the same number; the others are names without a bundle, in byte order, and last
//! those that were stated. Entries of a channel stand in the order of their nodes, so the best first.
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go

mod build;
mod channel;
mod name;
pub mod search;
#[cfg(test)]
mod tests;

pub use channel::{Channel, Edge, EdgeKind, Entry};
pub use name::version_in_name;

use crate::version::Version;
use crate::{Bundle, BundleIndex, Deprecation, Package};

/// The graph of one package.
#[derive(Clone, Debug)]
pub struct Graph<'p> {
    name: &'p str,
    package: &'p Package,
    /// Names that edges start at and no bundle has; after them those that [`Graph::state`] added.
    virtuals: Vec<&'p str>,
    /// Versions of names without a bundle, where one was stated.
    stated: Vec<(NodeIndex, &'p Version)>,
    channels: Vec<Channel<'p>>,
}

/// The place of a node in its graph.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeIndex(u32);

impl NodeIndex {
    /// The number: that of the bundle's place in its package, where it is one.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<'p> Graph<'p> {
    /// The graph of the package of this name.
    pub fn of(name: &'p str, package: &'p Package) -> Self {
        build::build(name, package)
    }

    /// States the version of something that no bundle of the package is, but that may be installed
    /// somewhere: a name that edges start at, or any other. Ranges that hold the version lead on from it.
    pub fn state(&mut self, name: &'p str, version: &'p Version) {
        let node = self.find(name).unwrap_or_else(|| {
            self.virtuals.push(name);
            NodeIndex(self.len().saturating_sub(1))
        });
        if self.bundle(node).is_none() {
            self.stated.push((node, version));
        }
    }

    /// The version of a node, where it can be read or was stated.
    pub fn version_of(&self, node: NodeIndex) -> Option<&'p Version> {
        if let Some(bundle) = self.bundle(node) {
            return bundle.version.as_ref().ok().map(|read| &read.version);
        }
        let mut stated = self.stated.iter();
        stated
            .find(|(of, _)| *of == node)
            .map(|(_, version)| *version)
    }

    /// The package's name.
    pub fn name(&self) -> &'p str {
        self.name
    }

    /// The package it was made from.
    pub fn package(&self) -> &'p Package {
        self.package
    }

    /// Every node: bundles, the best first, then names without a bundle.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + use<'p> {
        (0..self.len()).map(NodeIndex)
    }

    /// How many nodes there are.
    pub fn len(&self) -> u32 {
        let count = self.bundle_count() + self.virtuals.len();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a node.
    pub fn name_of(&self, node: NodeIndex) -> &'p str {
        match self.bundle(node) {
            Some(bundle) => &bundle.name,
            None => self.virtual_name(node).unwrap_or_default(),
        }
    }

    /// The bundle of a node; none for a name that no bundle has.
    pub fn bundle(&self, NodeIndex(node): NodeIndex) -> Option<&'p Bundle> {
        let index = BundleIndex::new(node);
        ((node as usize) < self.bundle_count()).then(|| self.package.bundle(index))
    }

    /// The bundle of a node by its place in the package.
    pub fn bundle_index(&self, NodeIndex(node): NodeIndex) -> Option<BundleIndex> {
        ((node as usize) < self.bundle_count()).then(|| BundleIndex::new(node))
    }

    /// The node of a bundle of the package.
    pub fn node_of(&self, bundle: BundleIndex) -> NodeIndex {
        NodeIndex(bundle.get())
    }

    /// The node of this name, the best of several.
    pub fn find(&self, name: &str) -> Option<NodeIndex> {
        self.nodes().find(|node| self.name_of(*node) == name)
    }

    /// The channels, in byte order of their names.
    pub fn channels(&self) -> &[Channel<'p>] {
        &self.channels
    }

    /// The channel of this name, the first of several.
    pub fn channel(&self, name: &str) -> Option<&Channel<'p>> {
        self.channels.iter().find(|channel| channel.name == name)
    }

    /// The `defaultChannel` of the package; none if nothing names one.
    pub fn default_channel(&self) -> Option<&'p str> {
        Some(self.package.default_channel()).filter(|name| !name.is_empty())
    }

    /// Whether the deprecations name the package itself.
    pub fn is_deprecated(&self) -> bool {
        matches!(self.package.deprecation(), Deprecation::OfPackage(_))
    }

    fn bundle_count(&self) -> usize {
        self.package.bundle_count()
    }

    fn virtual_name(&self, NodeIndex(node): NodeIndex) -> Option<&'p str> {
        let at = (node as usize).checked_sub(self.bundle_count())?;
        self.virtuals.get(at).copied()
    }
}
