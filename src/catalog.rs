//! A file-based catalog, reduced to what decides and indexed for the questions of resolution.
//!
//! ```text
//! bytes --fbc--> blobs --builder--> Catalog { Package { bundles, channels, edges } }
//! ```
//!
//! The blobs are not kept. Versions and ranges are parsed once, here; nothing is parsed, cloned or
//! sorted while an edit waits.

pub mod blob;
mod builder;
mod bundle;
mod bundle_set;
mod channel;
mod edges;
pub mod fbc;
mod index;
mod owned;
mod package;
mod plausible;
mod written;

use std::collections::BTreeMap;

pub use blob::DependencyKind;
pub use builder::CatalogBuilder;
pub(crate) use builder::guardrails as read_guardrails;
pub use bundle::{Bundle, BundleVersionError};
pub use bundle_set::{BundleIndex, BundleSet};
pub use channel::{AskedChannels, Channel, ChannelIndex};
pub use edges::NameEdge;
pub use package::{Deprecation, Package, Successors};
pub use plausible::{Doubt, Glance, Remaining};
pub use written::WrittenEdge;

use crate::heap::Heap;
use blob::BlobFault;

/// The content of one catalog, immutable.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    packages: BTreeMap<Box<str>, Result<Package, PackageFault>>,
    counts: Counts,
    /// Whether its first value has no schema.
    is_foreign: bool,
}

/// How many blobs of a kind a catalog holds, of those that are filed under a package.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Packages: names that at least one blob is filed under.
    pub packages: usize,
    /// Channels.
    pub channels: usize,
    /// Bundles.
    pub bundles: usize,
    /// Blobs of a schema that OLM does not know.
    pub others: usize,
}

/// Why a package cannot be decoded; OLM then resolves nothing from the catalog for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageFault {
    /// The blobs that do not decode, in the order of their files; at least one.
    pub faults: Vec<BlobFault>,
}

impl Catalog {
    /// The package of this name, if at least one blob is filed under it.
    pub fn package(&self, name: &str) -> Option<Result<&Package, &PackageFault>> {
        self.packages.get(name).map(Result::as_ref)
    }

    /// The names under which blobs are filed, in byte order.
    pub fn package_names(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(|name| &**name)
    }

    /// How much there is in it.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How many bytes of memory it takes; every package is looked at for it.
    pub fn resident_bytes(&self) -> usize {
        size_of::<Self>() + self.packages.heap_bytes()
    }
}

impl Heap for PackageFault {
    /// About that of their texts.
    fn heap_bytes(&self) -> usize {
        let texts = self.faults.iter().map(|fault| fault.to_string().len());
        self.faults.capacity() * size_of::<BlobFault>() + texts.sum::<usize>()
    }
}
