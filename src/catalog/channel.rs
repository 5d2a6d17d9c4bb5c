//! The channels of one package, and a request's choice among them.

use crate::catalog::bundle_set::BundleSet;

/// The place of a channel among those of its package.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ChannelIndex(pub(super) u32);

/// A channel of one package, as an `olm.channel` blob describes it.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name; empty where the blob has none.
    pub name: Box<str>,
    /// The bundles that its entries name.
    pub members: BundleSet,
    /// The message of its `olm.channel` entry in the package's deprecations, perhaps empty.
    pub deprecated: Option<Box<str>>,
}

/// The channels of one package that a request looks at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AskedChannels {
    /// None are named: every edge counts, and bundles in no channel too.
    All,
    /// Those of the named ones that exist.
    Some(Vec<ChannelIndex>),
}

impl AskedChannels {
    /// Whether edges written in a channel count.
    pub fn has(&self, channel: ChannelIndex) -> bool {
        match self {
            Self::All => true,
            Self::Some(channels) => channels.contains(&channel),
        }
    }
}
