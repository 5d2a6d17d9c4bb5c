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
pub mod memory;
mod owned;
mod package;
mod plausible;
mod written;

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
use memory::Account;

/// The content of one catalog, immutable.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// In byte order of their names.
    packages: Vec<(Box<str>, Result<Package, PackageFault>)>,
    counts: Counts,
    /// Whether its first value has no schema.
    is_foreign: bool,
    /// What it takes of memory, and what that is taken from.
    account: Account,
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
        self.entry(name).map(Result::as_ref)
    }

    fn entry(&self, name: &str) -> Option<&Result<Package, PackageFault>> {
        let found = self
            .packages
            .binary_search_by(|(known, _)| (**known).cmp(name));
        self.packages.get(found.ok()?).map(|(_, package)| package)
    }

    /// The names under which blobs are filed, in byte order.
    pub fn package_names(&self) -> impl Iterator<Item = &str> {
        self.packages.iter().map(|(name, _)| &**name)
    }

    /// How much there is in it.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How many bytes of memory it takes, as an allocator rounds them.
    pub fn resident_bytes(&self) -> usize {
        size_of::<Self>() + self.account.taken()
    }
}

impl Heap for PackageFault {
    fn heap_bytes(&self) -> usize {
        self.faults.heap_bytes()
    }
}
