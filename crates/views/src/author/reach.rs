//! Versions that users of a channel reach, and users who are left behind: before a change, and after it.
//!
//! Everyone who has a version of the package installed is put onto the channel: with OLM v1 by
//! `channels: [CHANNEL]`, with OLM v0 by a Subscription. They follow what is picked for them until
//! nothing follows.

use std::collections::BTreeSet;

use crate::author::written::{CatalogText, Format, WrittenError};
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::VersionRelease;
use olmguard_catalog::{BundleIndex, Catalog, CatalogBuilder, fbc};
use olmguard_engine::resolve::classic::{SubscribedChannel, SubscriptionOrder};
use olmguard_engine::resolve::{Unpinned, is_unsupported};

/// Versions that users reach in one channel of one catalog.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChannelReach {
    /// The head, if there is one.
    pub head: Option<Box<str>>,
    /// Every version that the package knows, the highest first; then the names without a bundle.
    pub rows: Vec<ReachRow>,
}

/// Versions that users of one installed version reach.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReachRow {
    /// The installed bundle.
    pub name: Box<str>,
    /// Version of the bundle; none for a name that no bundle has.
    pub version: Option<Box<str>>,
    /// With OLM v1; none for a name that no bundle has, whose version is not known.
    pub v1: Option<Course>,
    /// With OLM v0.
    pub v0: Course,
}

/// Versions that are installed one after another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Course {
    /// The version is the head.
    AtHead,
    /// These bundles, the last being the head.
    ToHead(Vec<Box<str>>),
    /// These bundles, and there it ends, below the head.
    EndsBelow(Vec<Box<str>>),
    /// These bundles, and there OLM v1 selects one that it does not install.
    Blocked {
        /// The bundles before, perhaps none.
        after: Vec<Box<str>>,
        /// The one that is not installed.
        by: Box<str>,
    },
    /// Nothing: no edge leads on.
    Stranded,
    /// OLM v1 fails: the installed version is not in the channel, and no edge leads into it.
    Fails,
}

impl Course {
    /// Whether it ends elsewhere than at the head.
    pub fn is_left_behind(&self) -> bool {
        !matches!(self, Self::AtHead | Self::ToHead(_))
    }
}

/// Versions that users reach in a channel of a catalog as written.
///
/// # Errors
/// If OLM would not read the catalog.
pub fn reach(
    catalog: &CatalogText,
    rules: &Rules,
    package: &str,
    channel: &str,
) -> Result<ChannelReach, WrittenError> {
    let catalog = index(catalog, rules)?;
    let Some(Ok(found)) = catalog.package(package) else {
        return Ok(ChannelReach {
            head: None,
            rows: Vec::new(),
        });
    };
    Ok(Walker::of(&Graph::of(package, found), channel, rules).reach())
}

fn index(catalog: &CatalogText, rules: &Rules) -> Result<Catalog, WrittenError> {
    let mut builder = CatalogBuilder::new(rules);
    let text = catalog.to_text(Format::Json);
    let file = "the catalog";
    let read = fbc::read(file, text.as_bytes(), &mut builder);
    let catalog = read.and_then(|()| Ok(builder.finish()?));
    catalog.map_err(|source| WrittenError::File {
        file: file.into(),
        source,
    })
}

/// Which bundle follows the one of a name and a version.
type NextOf<'p> = fn(&Unpinned<'p>, &str, Option<&VersionRelease>) -> Option<BundleIndex>;

/// Walks one channel.
struct Walker<'g, 'p> {
    graph: &'g Graph<'p>,
    /// What OLM v1 is asked for.
    asked: Unpinned<'p>,
    /// The order of OLM v0; none where it has none.
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
        let is_member = self
            .graph
            .bundle_index(node)
            .is_some_and(|own| self.asked.may_choose(own));
        match self.step(at, Unpinned::refused) {
            Some(by) => Course::Blocked {
                after: walked.iter().map(|node| self.name(*node)).collect(),
                by: self.name(by),
            },
            None if walked.is_empty() && !is_member => Course::Fails,
            None => self.course(node, &walked),
        }
    }

    /// What OLM v1 takes next, or selects and does not install.
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
