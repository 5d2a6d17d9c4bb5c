//! Versions that users of a channel reach, and users who are left behind, before and after a change.
//!
//! For every version of the package, the report assumes a user who has it installed and requests the channel: with
//! OLM v1 by `channels: [CHANNEL]`, with OLM v0 by a Subscription. It follows the automatic upgrades to their end.

use std::collections::BTreeSet;

use crate::author::written::{CatalogText, Format, WrittenError, index};
use olmguard_catalog::BundleIndex;
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::VersionRelease;
use olmguard_engine::resolve::classic::{SubscribedChannel, SubscriptionOrder};
use olmguard_engine::resolve::{Unpinned, is_unsupported};

/// Versions that users reach in one channel of one catalog.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChannelReach {
    /// The head, if there is one.
    pub head: Option<Box<str>>,
    /// Every version of the package, the highest first, followed by names without a bundle.
    pub rows: Vec<ReachRow>,
}

/// Versions that users reach from one installed version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReachRow {
    /// Name of the installed bundle.
    pub name: Box<str>,
    /// Version of the bundle. `None` for a name without a bundle.
    pub version: Option<Box<str>>,
    /// Upgrades in OLM v1. `None` for a name without a bundle, because its version is unknown.
    pub v1: Option<Course>,
    /// Upgrades in OLM v0.
    pub v0: Course,
}

/// Versions that are installed one after another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Course {
    /// The version is the head.
    AtHead,
    /// The upgrades install these bundles. The last one is the head.
    ToHead(Vec<Box<str>>),
    /// The upgrades install these bundles. The last one is below the head and has no upgrade.
    EndsBelow(Vec<Box<str>>),
    /// The upgrades install some bundles, until OLM v1 selects one that it does not install.
    Blocked {
        /// The bundles before, possibly none.
        after: Vec<Box<str>>,
        /// The bundle that OLM v1 does not install.
        by: Box<str>,
    },
    /// The upgrades install these bundles, possibly none. Then OLM v1 panics on a `skipRange`.
    Crashes(Vec<Box<str>>),
    /// The version has no upgrade edge.
    Stranded,
    /// OLM v1 fails: the installed version is not in the channel, and has no edge into it.
    Fails,
}

impl Course {
    /// Whether the upgrades end anywhere but at the head.
    pub fn is_left_behind(&self) -> bool {
        !matches!(self, Self::AtHead | Self::ToHead(_))
    }
}

/// Computes the versions that users reach in a channel of a catalog as written.
///
/// # Errors
/// If OLM would not read the catalog.
pub fn reach(
    catalog: &CatalogText,
    rules: &Rules,
    package: &str,
    channel: &str,
) -> Result<ChannelReach, WrittenError> {
    let catalog = index("the catalog", &catalog.to_text(Format::Json), rules)?;
    let Some(Ok(found)) = catalog.package(package) else {
        return Ok(ChannelReach {
            head: None,
            rows: Vec::new(),
        });
    };
    Ok(Walker::of(&Graph::of(package, found), channel, rules).reach())
}

/// Selects the next bundle for an installed name and version.
type NextOf<'p> = fn(&Unpinned<'p>, &str, Option<&VersionRelease>) -> Option<BundleIndex>;

/// Walks one channel.
struct Walker<'g, 'p> {
    graph: &'g Graph<'p>,
    /// Request in OLM v1.
    asked: Unpinned<'p>,
    /// Order in OLM v0. `None` if the channel has none.
    line: Option<SubscriptionOrder<'g, 'p>>,
}

impl<'g, 'p> Walker<'g, 'p> {
    fn of(graph: &'g Graph<'p>, channel: &str, rules: &Rules) -> Self {
        let package = graph.package();
        let channels = package.ask_channels(&[channel.to_owned()]);
        let asked = Unpinned::of(package, channels);
        Self {
            graph,
            asked: asked.refusing(|bundle| is_unsupported(bundle, rules)),
            line: SubscriptionOrder::of(graph, SubscribedChannel::To(channel)).ok(),
        }
    }

    fn reach(&self) -> ChannelReach {
        let rows = self
            .graph
            .nodes()
            .filter(|node| !self.graph.name_of(*node).is_empty());
        ChannelReach {
            head: self.head().map(|head| self.name(head)),
            rows: rows.map(|node| self.row(node)).collect(),
        }
    }

    fn head(&self) -> Option<NodeIndex> {
        self.line.as_ref().and_then(SubscriptionOrder::head)
    }

    fn row(&self, node: NodeIndex) -> ReachRow {
        let bundle = self.graph.bundle(node);
        let version = bundle.and_then(|bundle| bundle.version.as_ref().ok());
        ReachRow {
            name: self.name(node),
            version: version.map(|read| read.version.to_string().into()),
            v1: version.map(|_| self.v1(node)),
            v0: self.v0(node),
        }
    }

    fn v0(&self, node: NodeIndex) -> Course {
        let line = self.line.as_ref();
        let walked = line.map(|line| line.walk_from(node));
        self.course(node, &walked.unwrap_or_default())
    }

    fn v1(&self, node: NodeIndex) -> Course {
        let mut walked = Vec::new();
        let mut seen = BTreeSet::from([node]);
        let mut at = node;
        while let Some(next) = self.step(at, Unpinned::next) {
            if !seen.insert(next) {
                break;
            }
            walked.push(next);
            at = next;
        }
        let index = self.graph.bundle_index(node);
        let is_member = index.is_some_and(|own| self.asked.may_choose(own));
        let names = || walked.iter().map(|node| self.name(*node)).collect();
        match self.step(at, Unpinned::refused) {
            Some(by) => Course::Blocked {
                after: names(),
                by: self.name(by),
            },
            None if self.crashes(at) => Course::Crashes(names()),
            None if walked.is_empty() && !is_member => Course::Fails,
            None => self.course(node, &walked),
        }
    }

    /// Whether OLM v1 panics when a bundle is installed.
    fn crashes(&self, node: NodeIndex) -> bool {
        let bundle = self.graph.bundle(node);
        bundle.is_some_and(|own| self.asked.crashes(&own.name, own.version.as_ref().ok()))
    }

    /// Returns the bundle that `next` selects: the one that OLM v1 installs next, or one that it refuses to install.
    fn step(&self, node: NodeIndex, next: NextOf<'p>) -> Option<NodeIndex> {
        let bundle = self.graph.bundle(node)?;
        let version = bundle.version.as_ref().ok()?;
        let next = next(&self.asked, &bundle.name, Some(version))?;
        Some(self.graph.node_of(next))
    }

    fn course(&self, node: NodeIndex, walked: &[NodeIndex]) -> Course {
        let end = walked.last().copied().unwrap_or(node);
        let names = || walked.iter().map(|node| self.name(*node)).collect();
        match (Some(end) == self.head(), walked.is_empty()) {
            (true, true) => Course::AtHead,
            (true, false) => Course::ToHead(names()),
            (false, true) => Course::Stranded,
            (false, false) => Course::EndsBelow(names()),
        }
    }

    fn name(&self, node: NodeIndex) -> Box<str> {
        self.graph.name_of(node).into()
    }
}
