//! The channels of one package, and a request's choice among them.
//!
//! A channel keeps its members as a list: a set has a bit for every bundle of the package, and a
//! package can have as many channels as bundles.

use smallvec::SmallVec;

use crate::bundle_set::{BundleIndex, BundleSet};
use crate::heap::{Heap, allocated};

/// The place of a channel among those of its package.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ChannelIndex(pub(super) u32);

impl ChannelIndex {
    /// The number: 0 for the first in byte order of the names.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// A channel of one package, as an `olm.channel` blob describes it.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name; empty where the blob has none.
    pub name: Box<str>,
    /// The bundles that its entries name, each once, best first.
    pub(super) members: Box<[BundleIndex]>,
    /// The message of its `olm.channel` entry in the package's deprecations, perhaps empty.
    pub deprecated: Option<Box<str>>,
}

impl Heap for Channel {
    fn heap_bytes(&self) -> usize {
        let Self {
            name,
            members,
            deprecated,
        } = self;
        name.heap_bytes() + allocated(size_of_val(&**members)) + deprecated.heap_bytes()
    }
}

impl Channel {
    /// Whether an entry names a bundle of this set.
    pub fn has_any_of(&self, bundles: &BundleSet) -> bool {
        self.members.iter().any(|member| bundles.contains(*member))
    }
}

/// The channels of one package that a request looks at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AskedChannels {
    /// None are named: every edge counts, and bundles in no channel too.
    All,
    /// The named channels that exist, each once, in the order of the package: nearly always one.
    Some(SmallVec<[ChannelIndex; 4]>),
}

impl AskedChannels {
    /// Whether edges written in a channel count.
    pub fn has(&self, channel: ChannelIndex) -> bool {
        match self {
            Self::All => true,
            Self::Some(channels) => channels.binary_search(&channel).is_ok(),
        }
    }
}
