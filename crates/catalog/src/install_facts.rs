//! What a catalog says about how a bundle can be installed, beside its version.
//!
//! Upstream: operator-registry, [`alpha/property/property.go`] (`olm.csv.metadata`), which `opm` fills from the
//! CSV in the image. Empty lists are left out of it, so a bundle without `installModes` has none. Older catalogs have
//! the manifests of a bundle instead, each in an `olm.bundle.object`.
//!
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

use std::sync::Arc;

use crate::dns1123::is_subdomain;
use crate::memory::{Heap, allocated, heap_of};

/// The facts of an installation in the CSV of a bundle.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct InstallFacts {
    /// The install modes that it supports.
    pub modes: InstallModes,
    /// Whether it owns an API service.
    pub owns_api_services: bool,
    /// Whether it has webhooks; `None` if that is not known, as by an `olm.csv.metadata`.
    pub has_webhooks: Option<bool>,
    /// The CRDs that it owns.
    pub crds: CrdNames,
}

/// Names of CRDs, in the order of a bundle. The versions of a package have mostly the same, so clones share them.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CrdNames(Arc<str>);

/// The install modes of OLM that a bundle supports: those with an entry that says so, whatever other entries of the
/// same mode say.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mode")]
pub struct InstallModes {
    /// `AllNamespaces`: the operator watches every namespace.
    pub all_namespaces: bool,
    /// `SingleNamespace`: it watches one namespace, which is not its own.
    pub single_namespace: bool,
    /// `OwnNamespace`: it watches the namespace that it runs in.
    pub own_namespace: bool,
    /// `MultiNamespace`: it watches several. OLM v1 has no use for it.
    pub multi_namespace: bool,
}

heap_of!(InstallFacts: crds; modes, owns_api_services, has_webhooks);

impl Heap for CrdNames {
    /// As if nothing was shared: clones can be dropped in any order.
    fn heap_bytes(&self) -> usize {
        allocated(self.0.len() + COUNTS)
    }
}

impl CrdNames {
    /// These names, without those that no CRD can have.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().filter(|name| is_subdomain(name));
        let names: Vec<_> = names.collect();
        Self(names.join(SEPARATOR).into())
    }

    /// Each name.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split(SEPARATOR).filter(|name| !name.is_empty())
    }
}

/// No name of a CRD has one.
const SEPARATOR: &str = " ";

/// The counts of references before a shared text.
const COUNTS: usize = 2 * size_of::<usize>();

impl InstallModes {
    /// Adds a mode by its name; an unknown one says nothing.
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
