//! A catalog in memory.

use crate::blob::BlobFault;
use crate::memory::{Account, heap_of};
use crate::package::Package;

/// The content of one catalog, immutable.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// In byte order of their names.
    pub(crate) packages: Vec<(Box<str>, Result<Package, PackageFault>)>,
    pub(crate) counts: BlobCounts,
    /// Whether the first value of the catalog has no schema.
    pub(crate) is_foreign: bool,
    /// Account that its memory is taken from.
    pub(crate) account: Account,
}

/// Numbers of the blobs of a catalog by kind, as far as they are filed under a package.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct BlobCounts {
    /// Packages: names that at least one blob is filed under.
    pub packages: usize,
    /// Channels.
    pub channels: usize,
    /// Bundles.
    pub bundles: usize,
    /// Blobs of a schema that OLM does not know.
    pub others: usize,
}

/// Faults of a package that cannot be decoded. OLM then resolves nothing from the catalog for the package.
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

    pub(crate) fn entry(&self, name: &str) -> Option<&Result<Package, PackageFault>> {
        let found = self
            .packages
            .binary_search_by(|(known, _)| (**known).cmp(name));
        self.packages.get(found.ok()?).map(|(_, package)| package)
    }

    /// The names under which blobs are filed, in byte order.
    pub fn package_names(&self) -> impl Iterator<Item = &str> {
        self.packages.iter().map(|(name, _)| &**name)
    }

    /// Numbers of its packages, channels and bundles.
    pub fn counts(&self) -> BlobCounts {
        self.counts
    }

    /// Bytes of memory that the catalog takes, as an allocator rounds them.
    pub fn resident_bytes(&self) -> usize {
        size_of::<Self>() + self.account.taken()
    }
}

impl PackageFault {
    /// Fault of the first blob that does not decode.
    pub fn first(&self) -> String {
        self.faults
            .first()
            .map(ToString::to_string)
            .unwrap_or_default()
    }
}

heap_of!(PackageFault: faults);
