//! What a catalog says about how a bundle can be installed, beside its version.
//!
//! Upstream: operator-registry, [`alpha/property/property.go`] (`olm.csv.metadata`), which `opm` fills from the
//! CSV in the image. Empty lists are left out of it, so a bundle without `installModes` has none.
//!
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

use crate::heap::flat;

/// What the `olm.csv.metadata` of a bundle says about its installation.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct InstallFacts {
    /// The install modes that it supports.
    pub modes: InstallModes,
    /// Whether it owns an API service.
    pub owns_api_services: bool,
}

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

flat!(InstallFacts);

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

    /// The names of the supported modes, in byte order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = [
            ("AllNamespaces", self.all_namespaces),
            ("MultiNamespace", self.multi_namespace),
            ("OwnNamespace", self.own_namespace),
            ("SingleNamespace", self.single_namespace),
        ];
        named
            .into_iter()
            .filter_map(|(name, is_supported)| is_supported.then_some(name))
    }
}
