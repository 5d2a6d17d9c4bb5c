//! A catalog in memory.

use crate::blob::BlobFault;
use crate::memory::{Account, heap_of};
use crate::package::Package;

/// The content of one catalog, immutable.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Sorted by name, in byte order.
    pub(crate) packages: Vec<(Box<str>, Result<Package, PackageFault>)>,
    pub(crate) counts: BlobCounts,
    /// Whether the first value of the catalog has no schema.
    pub(crate) is_foreign: bool,
    /// The account that the memory of this catalog is charged to.
    pub(crate) account: Account,
}

/// Numbers of a catalog's blobs by kind. Only blobs that are filed under a package count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct BlobCounts {
    /// Packages: names that have at least one blob.
    pub packages: usize,
    /// Channels.
    pub channels: usize,
    /// Bundles.
    pub bundles: usize,
    /// Blobs of a schema that OLM does not know.
    pub others: usize,
}

/// The reasons why a package cannot be decoded. OLM then resolves nothing for the package from this
/// catalog.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageFault {
    /// Errors of the blobs that cannot be decoded, in the order of their files; at least one.
    pub faults: Vec<BlobFault>,
}

impl Catalog {
    /// Returns the package with this name, if at least one blob is filed under it.
    pub fn package(&self, name: &str) -> Option<Result<&Package, &PackageFault>> {
        self.entry(name).map(Result::as_ref)
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Result<Package, PackageFault>> {
        let found = self
            .packages
            .binary_search_by(|(known, _)| (**known).cmp(name));
        self.packages.get(found.ok()?).map(|(_, package)| package)
    }

    /// The names that blobs are filed under, in byte order.
    pub fn package_names(&self) -> impl Iterator<Item = &str> {
        self.packages.iter().map(|(name, _)| &**name)
    }

    /// Numbers of packages, channels, bundles and other blobs.
    pub fn counts(&self) -> BlobCounts {
        self.counts
    }

    /// Memory that the catalog uses, in bytes, as an allocator rounds them.
    pub fn resident_bytes(&self) -> usize {
        size_of::<Self>() + self.account.taken()
    }
}

impl PackageFault {
    /// The error of the first blob that cannot be decoded.
    pub fn first(&self) -> String {
        self.faults
            .first()
            .map(ToString::to_string)
            .unwrap_or_default()
    }
}

heap_of!(PackageFault: faults);
