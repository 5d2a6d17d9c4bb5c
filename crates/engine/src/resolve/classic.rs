//! The behaviour of OLM v0 with a Subscription: the update that it installs next, and where the updates end.
//!
//! ```text
//! channel --line--> entries, head first --candidates(installed)--> first one is taken --walk--> ...
//! ```
//!
//! Versions are never compared: OLM v0 follows an edge to a lower version like any other edge. Anything that depends on
//! more than the graph is not covered: dependencies, two providers of one API, the property `olm.deprecated`, approval
//! of `InstallPlan`s, and the `Upgradeable` condition. `olm.deprecations` has no effect in OLM v0.
//!
//! Upstream: operator-lifecycle-manager, [`pkg/controller/registry/resolver/resolver.go`] (`sortChannel`,
//! `getSubscriptionVariables`) and [`cache/predicates.go`].
//!
//! [`cache/predicates.go`]: https://github.com/operator-framework/operator-lifecycle-manager/blob/992bb0977/pkg/controller/registry/resolver/cache/predicates.go
//! [`pkg/controller/registry/resolver/resolver.go`]: https://github.com/operator-framework/operator-lifecycle-manager/blob/992bb0977/pkg/controller/registry/resolver/resolver.go

use std::collections::HashSet;

use olmguard_catalog::graph::{Graph, GraphChannel, GraphEntry, NodeIndex};
use olmguard_catalog::version::{Membership, Version, go};

/// The installed `ClusterServiceVersion`.
#[derive(Clone, Copy, Debug)]
pub struct InstalledCsv<'a> {
    /// The name, which `replaces` and `skips` are compared with.
    pub name: &'a str,
    /// The `spec.version`, or [`Version::zero`] if it is not set. Absent if it is not known, which no range contains.
    pub version: Option<&'a Version>,
}

/// The next update of an installed version in a channel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outlook {
    /// The installed version is the head of its channel.
    AtHead,
    /// This entry is installed next.
    Next(NodeIndex),
    /// No entry has an edge from the installed version, or the first such entry is the installed version itself. OLM v0
    /// reports `AtLatestKnown`, as at the head.
    Stranded,
}

impl SubscriptionOrder<'_, '_> {
    /// The entries with an edge from the installed version, in the order in which OLM v0 tries them.
    ///
    /// The list ends before the installed entry if that entry's own range contains its version. OLM v0 can always
    /// choose that entry, so it [stays](Self::stays_before) there.
    pub fn candidates(&self, installed: InstalledCsv<'_>) -> Vec<NodeIndex> {
        let leading = self.leading(installed);
        let others = leading.take_while(|node| !self.is_installed(*node, installed));
        let mut candidates: Vec<_> = others.collect();
        let mut seen = HashSet::new();
        candidates.retain(|node| seen.insert(*node));
        candidates
    }

    /// Whether OLM v0 stays at the installed entry before it tries one of these nodes, which also has an edge from it.
    pub fn stays_before(&self, nodes: &[NodeIndex], installed: InstalledCsv<'_>) -> bool {
        let leading = self.leading(installed);
        let mut after = leading.skip_while(|node| !self.is_installed(*node, installed));
        after.any(|node| nodes.contains(&node))
    }

    /// The update that is installed next, if any.
    pub fn outlook(&self, installed: InstalledCsv<'_>) -> Outlook {
        let mut heads = self.heads.iter();
        match self.candidates(installed).first() {
            Some(next) => Outlook::Next(*next),
            None if heads.any(|head| self.is_installed(*head, installed)) => Outlook::AtHead,
            None => Outlook::Stranded,
        }
    }

    fn leading(&self, installed: InstalledCsv<'_>) -> impl Iterator<Item = NodeIndex> {
        let entries = self.order.iter();
        let leading = entries.filter(move |entry| has_edge(self.graph, entry, installed));
        leading.map(|entry| entry.node)
    }

    fn is_installed(&self, node: NodeIndex, installed: InstalledCsv<'_>) -> bool {
        self.graph.name_of(node) == installed.name
    }

    /// The update that is installed next after a node of the graph. A name without a bundle has its stated version,
    /// otherwise the version in the name.
    pub fn outlook_at(&self, node: NodeIndex) -> Outlook {
        self.outlook(InstalledCsv {
            name: self.graph().name_of(node),
            version: self.graph().likely_version(node).as_deref(),
        })
    }

    /// The updates that are installed one after another until none follows, without the installed entry.
    ///
    /// Edges can form a cycle, which OLM v0 would follow forever. The walk ends before it reaches a name for the second
    /// time.
    pub fn walk(&self, installed: InstalledCsv<'_>) -> Vec<NodeIndex> {
        self.walk_on(installed.name, self.outlook(installed))
    }

    /// The updates that follow a node of the graph.
    pub fn walk_from(&self, node: NodeIndex) -> Vec<NodeIndex> {
        self.walk_on(self.graph().name_of(node), self.outlook_at(node))
    }

    fn walk_on(&self, installed: &str, mut outlook: Outlook) -> Vec<NodeIndex> {
        let mut walked = Vec::new();
        let mut seen = HashSet::from([installed]);
        while let Outlook::Next(next) = outlook
            && seen.insert(self.graph().name_of(next))
        {
            walked.push(next);
            outlook = self.outlook_at(next);
        }
        walked
    }
}

/// Whether an entry replaces or skips the installed version, or has a range that contains it.
fn has_edge(graph: &Graph<'_>, entry: &GraphEntry<'_>, installed: InstalledCsv<'_>) -> bool {
    let mut nodes = entry.replaces.iter().chain(&entry.skips);
    let is_held = |version| {
        let mut ranges = entry.skip_ranges.iter();
        ranges.any(|range| range.takes(version) == Membership::Holds)
    };
    nodes.any(|node| graph.name_of(*node) == installed.name)
        || installed.version.is_some_and(is_held)
}

// === The entries of a channel in the order in which OLM v0 tries them (`sortChannel`) ===

/// The channel that a Subscription names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubscribedChannel<'a> {
    /// One channel.
    To(&'a str),
    /// No channel: the entries of all channels, those of the default channel first, then by the names of the channels.
    ToAny,
}

/// The entries that a Subscription can install, in the order in which OLM v0 tries them.
///
/// Only `replaces` determines the order. The chain of `replaces` is followed from the head, which is the only entry
/// that no entry replaces or skips. Skipped entries are followed but omitted. `skipRange` has no effect on the order.
#[derive(Debug)]
pub struct SubscriptionOrder<'g, 'p> {
    graph: &'g Graph<'p>,
    channels: Vec<&'g GraphChannel<'p>>,
    /// The entries on the chains from the heads.
    order: Vec<&'g GraphEntry<'p>>,
    /// The first entry of each channel.
    heads: Vec<NodeIndex>,
}

/// Why the entries have no order. OLM v0 then resolves nothing in the whole namespace.
///
/// `Display` prints OLM's own text. In OLM v0, the name of the Subscription follows the texts of the last two variants.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LineError {
    /// Every entry is replaced or skipped by another entry.
    #[error(
        "no channel heads (entries not replaced by another entry) found in channel {} of package {}",
        go::quote(channel),
        go::quote(package)
    )]
    NoHead {
        /// The channel.
        channel: Box<str>,
        /// The package.
        package: Box<str>,
    },
    /// A chain of `replaces` contains a cycle.
    #[error(
        "a cycle exists in the chain of replacement beginning with {} in channel {} of package {}",
        go::quote(head),
        go::quote(channel),
        go::quote(package)
    )]
    Cycle {
        /// The first entry of the chain.
        head: Box<str>,
        /// The channel.
        channel: Box<str>,
        /// The package.
        package: Box<str>,
    },
    /// The channel has several heads.
    #[error(
        "a unique replacement chain within a channel is required to determine the relative order \
        between channel entries, but {} replacement chains were found in channel {} of package {}: {}",
        chains.len(), go::quote(channel), go::quote(package), chains.join(", ")
    )]
    SeveralChains {
        /// The first and last entry of each chain, such as `a...c`, or the only entry.
        chains: Vec<String>,
        /// The channel.
        channel: Box<str>,
        /// The package.
        package: Box<str>,
    },
    /// The channel does not exist or has no entries.
    #[error("no operators found in channel {channel} of package {package} in the catalog")]
    NoChannel {
        /// The channel.
        channel: Box<str>,
        /// The package.
        package: Box<str>,
    },
    /// No channel has an entry.
    #[error("no operators found in package {package} in the catalog")]
    NoEntries {
        /// The package.
        package: Box<str>,
    },
}

impl<'g, 'p> SubscriptionOrder<'g, 'p> {
    /// The order of the entries of one channel, or of all channels in sequence.
    pub fn of(graph: &'g Graph<'p>, subscribed: SubscribedChannel<'_>) -> Result<Self, LineError> {
        let channels = channels(graph, subscribed)?;
        let (mut order, mut heads) = (Vec::new(), Vec::new());
        for channel in &channels {
            let chain = Chains::of(graph, channel).single()?;
            heads.extend(chain.first().map(|head| head.node));
            order.extend(chain);
        }
        Ok(Self {
            graph,
            channels,
            order,
            heads,
        })
    }

    /// The graph that the entries belong to.
    pub fn graph(&self) -> &'g Graph<'p> {
        self.graph
    }

    /// The channels of the order, in the order in which OLM v0 reads them.
    pub fn channels(&self) -> &[&'g GraphChannel<'p>] {
        &self.channels
    }

    /// The entry that is tried first, regardless of the installed version.
    pub fn head(&self) -> Option<NodeIndex> {
        self.heads.first().copied()
    }

    /// The entries, in the order in which they are tried.
    pub fn order(&self) -> impl Iterator<Item = NodeIndex> {
        self.order.iter().map(|entry| entry.node)
    }
}

/// The channels with entries, in the order in which OLM v0 reads them.
fn channels<'g, 'p>(
    graph: &'g Graph<'p>,
    subscribed: SubscribedChannel<'_>,
) -> Result<Vec<&'g GraphChannel<'p>>, LineError> {
    let package = || graph.name().into();
    let mut channels: Vec<_> = graph.channels().iter().collect();
    channels.retain(|channel| !channel.entries.is_empty());
    match subscribed {
        SubscribedChannel::To(name) => {
            channels.retain(|channel| channel.name == name);
            if channels.is_empty() {
                let (channel, package) = (name.into(), package());
                return Err(LineError::NoChannel { channel, package });
            }
        }
        SubscribedChannel::ToAny => {
            channels.sort_by_key(|channel| Some(channel.name) != graph.default_channel());
            if channels.is_empty() {
                return Err(LineError::NoEntries { package: package() });
            }
        }
    }
    Ok(channels)
}

/// The chains of `replaces` in one channel.
struct Chains<'g, 'p> {
    graph: &'g Graph<'p>,
    channel: &'g GraphChannel<'p>,
    skipped: HashSet<NodeIndex>,
    heads: Vec<&'g GraphEntry<'p>>,
}

impl<'g, 'p> Chains<'g, 'p> {
    fn of(graph: &'g Graph<'p>, channel: &'g GraphChannel<'p>) -> Self {
        let entries = || channel.entries.iter();
        let skipped: HashSet<_> = entries().flat_map(|entry| &entry.skips).copied().collect();
        let replaced: HashSet<_> = entries()
            .flat_map(|entry| &entry.replaces)
            .copied()
            .collect();
        let is_head = |entry: &&GraphEntry<'_>| {
            !skipped.contains(&entry.node) && !replaced.contains(&entry.node)
        };
        let heads = entries().filter(is_head).collect();
        Self {
            graph,
            channel,
            skipped,
            heads,
        }
    }

    /// The only chain.
    fn single(&self) -> Result<Vec<&'g GraphEntry<'p>>, LineError> {
        let (channel, package) = (self.channel.name.into(), self.graph.name().into());
        if self.heads.is_empty() {
            return Err(LineError::NoHead { channel, package });
        }
        let chains = self.heads.iter().map(|head| self.chain(head));
        let mut chains = chains.collect::<Result<Vec<_>, _>>()?;
        if chains.len() > 1 {
            let chains = chains.iter().map(|chain| self.ends(chain)).collect();
            return Err(LineError::SeveralChains {
                chains,
                channel,
                package,
            });
        }
        Ok(chains.pop().unwrap_or_default())
    }

    /// The entries from a head downwards, without skipped ones.
    fn chain(&self, head: &'g GraphEntry<'p>) -> Result<Vec<&'g GraphEntry<'p>>, LineError> {
        let mut chain = Vec::new();
        let mut visited = HashSet::new();
        let mut next = Some(head);
        while let Some(entry) = next {
            if !visited.insert(entry.node) {
                return Err(LineError::Cycle {
                    head: self.graph.name_of(head.node).into(),
                    channel: self.channel.name.into(),
                    package: self.graph.name().into(),
                });
            }
            if !self.skipped.contains(&entry.node) {
                chain.push(entry);
            }
            let mut replaced = entry.replaces.iter();
            next = replaced.find_map(|node| self.channel.entry(*node));
        }
        Ok(chain)
    }

    fn ends(&self, chain: &[&GraphEntry<'_>]) -> String {
        let name = |entry: &GraphEntry<'_>| self.graph.name_of(entry.node);
        match chain {
            [] => "[]".to_owned(),
            [only] => name(only).to_owned(),
            [first, .., last] => format!("{}...{}", name(first), name(last)),
        }
    }
}
