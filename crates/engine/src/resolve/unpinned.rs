//! The bundle that OLM v1 takes from one package if the request names no version.
//!
//! It is the decision of [`crate::resolve`] for a caller that has the edges of one package and nothing
//! else: one catalog, and channels as the only filter.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/filter/successors.go`] and
//! [`internal/operator-controller/resolve/catalog.go`].
//!
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/filter/successors.go
//! [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

use olmguard_catalog::version::{Version, VersionRelease};
use olmguard_catalog::{AskedChannels, BundleIndex, BundleSet, Package};

/// A request for any version out of some channels of a package.
#[derive(Clone, Debug)]
pub struct Unpinned<'p> {
    package: &'p Package,
    channels: AskedChannels,
    /// What may be chosen from them.
    members: BundleSet,
}

impl<'p> Unpinned<'p> {
    /// Out of these channels.
    pub fn of(package: &'p Package, channels: AskedChannels) -> Self {
        Self {
            members: package.members(&channels),
            package,
            channels,
        }
    }

    /// Whether a bundle may be chosen.
    pub fn may_choose(&self, bundle: BundleIndex) -> bool {
        self.members.contains(bundle)
    }

    /// The successors of what is installed, without itself. A version that is not known counts as 0.0.0
    /// in ranges.
    pub fn successors(&self, name: &str, version: Option<&VersionRelease>) -> BundleSet {
        let zero = Version::zero();
        let at = version.map_or(&zero, |read| &read.version);
        let mut successors = self
            .package
            .successors(Some(name), at, &self.channels)
            .edges;
        successors.retain(|index| *self.package.bundle(index).name != *name);
        successors.intersect(&self.members);
        successors
    }

    /// The bundle that is taken next: the best of the successors and of the bundles of the installed
    /// version. None if that is the installed one.
    pub fn next(&self, name: &str, version: Option<&VersionRelease>) -> Option<BundleIndex> {
        let mut candidates = self.successors(name, version);
        if let Some(version) = version {
            candidates.unite(&self.package.same_version(version));
            candidates.intersect(&self.members);
        }
        let best = self.package.preferred(&candidates)?;
        (*self.package.bundle(best).name != *name).then_some(best)
    }
}
