//! The entries of a channel in the order in which OLM v0 tries them.
//!
//! Only `replaces` orders. From the head, the one entry that no entry replaces or skips, the chain of
//! `replaces` is walked; skipped entries are walked through and left out. `skipRange` plays no part.
//!
//! Upstream: operator-lifecycle-manager, [`pkg/controller/registry/resolver/resolver.go`], `sortChannel`.
//!
//! [`pkg/controller/registry/resolver/resolver.go`]: https://github.com/operator-framework/operator-lifecycle-manager/blob/992bb0977/pkg/controller/registry/resolver/resolver.go

use std::collections::HashSet;

use olmguard_catalog::graph::{Channel, Entry, Graph, NodeIndex};
use olmguard_catalog::version::go;

/// The channel that a Subscription names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubscribedChannel<'a> {
    /// This one.
    To(&'a str),
    /// None: the entries of all channels, the default channel's first, then by the channels' names.
    ToAny,
}

/// The entries that a Subscription can be given, in the order in which they are tried.
#[derive(Debug)]
pub struct SubscriptionOrder<'g, 'p> {
    graph: &'g Graph<'p>,
    channels: Vec<&'g Channel<'p>>,
    /// Those on the chains from the heads.
    order: Vec<&'g Entry<'p>>,
}

/// Why entries have no order; OLM v0 then resolves nothing in the whole namespace.
///
/// `Display` is OLM's own text; the last two are followed there by the name of the Subscription.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LineError {
    /// Every entry is replaced or skipped by another.
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
    /// A chain of `replaces` comes back to an entry.
    #[error(
        "a cycle exists in the chain of replacement beginning with {} in channel {} of package {}",
        go::quote(head),
        go::quote(channel),
        go::quote(package)
    )]
    Cycle {
        /// Where the chain begins.
        head: Box<str>,
        /// The channel.
        channel: Box<str>,
        /// The package.
        package: Box<str>,
    },
    /// There are several heads.
    #[error(
        "a unique replacement chain within a channel is required to determine the relative order \
        between channel entries, but {} replacement chains were found in channel {} of package {}: {}",
        chains.len(), go::quote(channel), go::quote(package), chains.join(", ")
    )]
    SeveralChains {
        /// First and last entry of each, such as `a...c`, or one name.
        chains: Vec<String>,
        /// The channel.
        channel: Box<str>,
        /// The package.
        package: Box<str>,
    },
    /// There is no such channel, or nothing is in it.
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
    /// The line of a channel, or of all of them one after another.
    pub fn of(graph: &'g Graph<'p>, subscribed: SubscribedChannel<'_>) -> Result<Self, LineError> {
        let channels = channels(graph, subscribed)?;
        let mut order = Vec::new();
        for channel in &channels {
            order.extend(Chains::of(graph, channel).single()?);
        }
        Ok(Self {
            graph,
            channels,
            order,
        })
    }

    /// The graph that it is a line of.
    pub fn graph(&self) -> &'g Graph<'p> {
        self.graph
    }

    /// The channels that it is made of, in the order in which they are looked at.
    pub fn channels(&self) -> &[&'g Channel<'p>] {
        &self.channels
    }

    /// What is tried first, whatever is installed.
    pub fn head(&self) -> Option<NodeIndex> {
        self.order.first().map(|entry| entry.node)
    }

    /// The entries, in the order in which they are tried.
    pub fn order(&self) -> impl Iterator<Item = NodeIndex> {
        self.order.iter().map(|entry| entry.node)
    }

    /// The entries themselves, in that order.
    pub(super) fn ordered(&self) -> &[&'g Entry<'p>] {
        &self.order
    }
}

/// The channels with entries, in the order in which they are looked at.
fn channels<'g, 'p>(
    graph: &'g Graph<'p>,
    subscribed: SubscribedChannel<'_>,
) -> Result<Vec<&'g Channel<'p>>, LineError> {
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
    channel: &'g Channel<'p>,
    skipped: HashSet<NodeIndex>,
    heads: Vec<&'g Entry<'p>>,
}

impl<'g, 'p> Chains<'g, 'p> {
    fn of(graph: &'g Graph<'p>, channel: &'g Channel<'p>) -> Self {
        let entries = || channel.entries.iter();
        let skipped: HashSet<_> = entries().flat_map(|entry| &entry.skips).copied().collect();
        let replaced: HashSet<_> = entries()
            .flat_map(|entry| &entry.replaces)
            .copied()
            .collect();
        let is_head =
            |entry: &&Entry<'_>| !skipped.contains(&entry.node) && !replaced.contains(&entry.node);
        let heads = entries().filter(is_head).collect();
        Self {
            graph,
            channel,
            skipped,
            heads,
        }
    }

    /// The only chain.
    fn single(&self) -> Result<Vec<&'g Entry<'p>>, LineError> {
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

    /// The entries from a head down, skipped ones left out.
    fn chain(&self, head: &'g Entry<'p>) -> Result<Vec<&'g Entry<'p>>, LineError> {
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

    fn ends(&self, chain: &[&Entry<'_>]) -> String {
        let name = |entry: &Entry<'_>| self.graph.name_of(entry.node);
        match chain {
            [] => "[]".to_owned(),
            [only] => name(only).to_owned(),
            [first, .., last] => format!("{}...{}", name(first), name(last)),
        }
    }
}
