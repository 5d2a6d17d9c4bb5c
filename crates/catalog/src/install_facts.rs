//! Facts from a catalog about the installation of a bundle.
//!
//! Upstream: operator-registry, [`alpha/property/property.go`] (`olm.csv.metadata`), which `opm`
//! fills from the CSV in the image. It omits empty lists, so a bundle without `installModes` has
//! none. Older catalogs have the manifests of a bundle instead, each in an `olm.bundle.object`.
//!
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

use std::sync::Arc;

use crate::dns1123::is_subdomain;
use crate::memory::{Heap, allocated, heap_of};

/// Facts about the installation, from the CSV of a bundle.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct InstallFacts {
    /// The install modes that the bundle supports.
    pub modes: InstallModes,
    /// Whether the bundle owns an API service.
    pub owns_api_services: bool,
    /// Whether the bundle has webhooks; `None` if that is unknown, as it is from an
    /// `olm.csv.metadata`.
    pub has_webhooks: Option<bool>,
    /// The CRDs that the bundle owns.
    pub crds: CrdNames,
}

/// Names of CRDs, in the order of a bundle. Most versions of a package have the same CRDs, so
/// clones share the names.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CrdNames(Arc<str>);

/// The OLM install modes that a bundle supports. One entry that declares support is sufficient,
/// whatever other entries for the same mode declare.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mode")]
pub struct InstallModes {
    /// `AllNamespaces`: the operator watches every namespace.
    pub all_namespaces: bool,
    /// `SingleNamespace`: the operator watches one namespace other than its own.
    pub single_namespace: bool,
    /// `OwnNamespace`: the operator watches the namespace that it runs in.
    pub own_namespace: bool,
    /// `MultiNamespace`: the operator watches several namespaces. OLM v1 does not use this mode.
    pub multi_namespace: bool,
}

heap_of!(InstallFacts: crds; modes, owns_api_services, has_webhooks);

impl Heap for CrdNames {
    /// Counts as if nothing was shared, because clones can be dropped in any order.
    fn heap_bytes(&self) -> usize {
        allocated(self.0.len() + COUNTS)
    }
}

impl CrdNames {
    /// Collects these names, without names that no CRD can have.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().filter(|name| is_subdomain(name));
        let names: Vec<_> = names.collect();
        Self(names.join(SEPARATOR).into())
    }

    /// Iterates over the names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split(SEPARATOR).filter(|name| !name.is_empty())
    }
}

/// A separator that no CRD name contains.
const SEPARATOR: &str = " ";

/// Size of the reference counts in front of a shared text.
const COUNTS: usize = 2 * size_of::<usize>();

impl InstallModes {
    /// Adds a mode by its name. Unknown names are ignored.
    pub fn add(&mut self, name: &str) {
        match name {
            "AllNamespaces" => self.all_namespaces = true,
            "SingleNamespace" => self.single_namespace = true,
            "OwnNamespace" => self.own_namespace = true,
            "MultiNamespace" => self.multi_namespace = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_crd_can_have_are_left_out() {
        let names = [
            "b.example.com",
            "",
            "a b.example.com",
            "../x",
            "a.example.com",
        ];
        let names = CrdNames::of(names);
        let kept: Vec<_> = names.iter().collect();
        assert_eq!(kept, ["b.example.com", "a.example.com"]);
        assert_eq!(CrdNames::default().iter().next(), None);
    }
}
