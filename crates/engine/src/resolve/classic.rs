//! What OLM v0 does with a Subscription: which update it takes next, and where that ends.
//!
//! ```text
//! channel --line--> entries, head first --candidates(installed)--> first one is taken --walk--> ...
//! ```
//!
//! Versions are never compared: an edge to a lower version is followed like any other. What depends on
//! more than the graph is not told here: dependencies, two providers of one API, the property
//! `olm.deprecated`, approval of `InstallPlan`s, the `Upgradeable` condition. `olm.deprecations` changes
//! nothing in OLM v0.
//!
//! Upstream: operator-lifecycle-manager, [`pkg/controller/registry/resolver/resolver.go`] (`sortChannel`,
//! `getSubscriptionVariables`) and [`cache/predicates.go`].
//!
//! [`cache/predicates.go`]: https://github.com/operator-framework/operator-lifecycle-manager/blob/992bb0977/pkg/controller/registry/resolver/cache/predicates.go
//! [`pkg/controller/registry/resolver/resolver.go`]: https://github.com/operator-framework/operator-lifecycle-manager/blob/992bb0977/pkg/controller/registry/resolver/resolver.go

mod line;

pub use line::{LineError, SubscribedChannel, SubscriptionOrder};

use std::collections::HashSet;

use olmguard_catalog::graph::{Entry, Graph, NodeIndex};
use olmguard_catalog::version::{Membership, Version};

/// The installed `ClusterServiceVersion`.
#[derive(Clone, Copy, Debug)]
pub struct InstalledCsv<'a> {
    /// Its name, which `replaces` and `skips` are compared with.
    pub name: &'a str,
    /// Its `spec.version`, [`Version::zero`] where it has none; absent where nobody knows it here, which
    /// is in no range.
    pub version: Option<&'a Version>,
}

/// What an installed version can look forward to in a channel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outlook {
    /// It is the head of its channel.
    AtHead,
    /// This is installed next.
    Next(NodeIndex),
    /// No entry has an edge from it, or the first that has is itself. OLM v0 says nothing:
    /// `AtLatestKnown`, as at the head.
    Stranded,
}

impl<'a> InstalledCsv<'a> {
    /// A node of the graph, installed; the version of a name without a bundle is known where it was
    /// stated.
    pub fn node(graph: &Graph<'a>, node: NodeIndex) -> Self {
        Self {
            name: graph.name_of(node),
            version: graph.version_of(node),
        }
    }
}

impl<'p> SubscriptionOrder<'_, 'p> {
    /// The entries with an edge from what is installed, in the order in which they are tried.
    ///
    /// An entry whose range holds its own version is among its own candidates: nothing happens then.
    pub fn candidates(&self, installed: InstalledCsv<'_>) -> Vec<NodeIndex> {
        let entries = self.ordered().iter();
        let leading = entries.filter(|entry| has_edge(self.graph(), entry, installed));
        let mut candidates: Vec<_> = leading.map(|entry| entry.node).collect();
        let mut seen = HashSet::new();
        candidates.retain(|node| seen.insert(*node));
        candidates
    }

    /// What is installed next.
    pub fn outlook(&self, installed: InstalledCsv<'_>) -> Outlook {
        let is_installed = |node: &NodeIndex| self.graph().name_of(*node) == installed.name;
        match self.candidates(installed).first() {
            Some(next) if !is_installed(next) => Outlook::Next(*next),
            _ if self.head().is_some_and(|head| is_installed(&head)) => Outlook::AtHead,
            _ => Outlook::Stranded,
        }
    }

    /// What is installed one after another until nothing follows, what is installed left out.
    ///
    /// Edges can lead in a circle, which OLM v0 would walk for ever: the walk ends before it comes to
    /// a name for the second time.
    pub fn walk(&self, installed: InstalledCsv<'p>) -> Vec<NodeIndex> {
        let mut walked = Vec::new();
        let mut seen = HashSet::from([installed.name]);
        let mut at = installed;
        while let Outlook::Next(next) = self.outlook(at) {
            at = InstalledCsv::node(self.graph(), next);
            if !seen.insert(at.name) {
                break;
            }
            walked.push(next);
        }
        walked
    }
}

/// Whether an entry replaces, skips or ranges over what is installed.
fn has_edge(graph: &Graph<'_>, entry: &Entry<'_>, installed: InstalledCsv<'_>) -> bool {
    let mut nodes = entry.replaces.iter().chain(&entry.skips);
    let is_held = |version| {
        let mut ranges = entry.skip_ranges.iter();
        ranges.any(|range| range.takes(version) == Membership::Holds)
    };
    nodes.any(|node| graph.name_of(*node) == installed.name)
        || installed.version.is_some_and(is_held)
}
