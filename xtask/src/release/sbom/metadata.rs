//! The part of `cargo metadata` that is used.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
pub(super) struct Package {
    id: String,
    pub(super) name: String,
    pub(super) version: String,
    license: Option<String>,
    /// The source; `None` for the packages of this repository.
    source: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

impl Metadata {
    /// For each package, the packages with which it is built, without those that only its tests
    /// use.
    pub(super) fn used(&self) -> BTreeMap<String, BTreeSet<String>> {
        let packages = self.packages.iter();
        let names: BTreeMap<_, _> = packages
            .map(|package| (package.id.as_str(), package.reference()))
            .collect();
        let name = |id: &str| names.get(id).cloned();
        let nodes = self.resolve.nodes.iter();
        let used = nodes.filter_map(|node| {
            let used = node.deps.iter().filter(|dependency| dependency.is_built());
            let used = used.filter_map(|dependency| name(&dependency.pkg));
            Some((name(&node.id)?, used.collect()))
        });
        used.collect()
    }
}

impl Package {
    /// Whether this is the package of this repository with that name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.source.is_none() && self.name == name
    }

    /// The identity of the package in `Cargo.lock`.
    pub(super) fn reference(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// The licence in the grammar of SPDX. Older packages separate licences with a slash.
    pub(super) fn licence(&self) -> Option<String> {
        let licence = self.license.as_deref()?;
        let choices: Vec<_> = licence.split('/').map(str::trim).collect();
        Some(choices.join(" OR "))
    }

    /// The URL of the package, if it is published.
    pub(super) fn url(&self) -> Option<String> {
        self.source.as_ref()?;
        let version = self.version.replace('+', "%2B");
        Some(format!("pkg:cargo/{}@{version}", self.name))
    }
}

impl Dependency {
    fn is_built(&self) -> bool {
        let mut kinds = self.dep_kinds.iter();
        kinds.any(|kind| kind.kind.as_deref() != Some("dev"))
    }
}
