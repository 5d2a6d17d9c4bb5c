//! What was read of an image, and whether the cluster is still as it was then.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use crate::cluster::WatchEvent;
use crate::cluster::object::{self, Names};
use olmguard_catalog::memory::Loan;
use olmguard_preflight::content::BundleContents;
use olmguard_preflight::kubernetes::KubernetesVersion;

/// The kind of the definitions.
pub(super) const CRDS: &Names = &[("apiextensions.k8s.io", "v1", "CustomResourceDefinition")];

/// The name of a CRD and the version of the object.
pub(super) fn version(crd: &Value) -> (String, String) {
    let version = crd.pointer("/metadata/resourceVersion");
    let version = version.and_then(Value::as_str).unwrap_or_default();
    (object::name(crd).to_owned(), version.to_owned())
}

/// The versions of all CRDs of the cluster, once they are listed.
#[derive(Debug, Default)]
pub(super) struct CrdVersions {
    versions: BTreeMap<String, String>,
    is_listed: bool,
    /// How often a CRD of each API group has changed: then other kinds of the group can be served.
    changes: Arc<BTreeMap<String, u64>>,
}

/// What is known when an image is read.
#[derive(Clone, Debug)]
pub(super) struct ReadStamp {
    /// Which read it is.
    pub(super) read: u64,
    /// When it is.
    pub(super) at: Instant,
    /// What runs in the cluster.
    pub(super) versions: ClusterVersions,
    /// How often a CRD of each API group had changed.
    pub(super) changes: Arc<BTreeMap<String, u64>>,
}

/// What runs in a cluster and decides how a bundle is checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct ClusterVersions {
    /// The release 1.x of operator-controller.
    pub(super) minor: u8,
    /// The version of Kubernetes, which serves kinds of its own.
    pub(super) kubernetes: Option<KubernetesVersion>,
}

impl CrdVersions {
    /// Takes an event; whether anything is different.
    pub(super) fn take(&mut self, event: WatchEvent<(String, String)>) -> bool {
        match event {
            WatchEvent::Listed(all) => self.listed(all.into_iter().collect()),
            WatchEvent::Applied((name, version)) => {
                let before = self.versions.insert(name.clone(), version.clone());
                let is_other = before.as_ref() != Some(&version);
                self.count(is_other.then_some(name))
            }
            WatchEvent::Deleted((name, _)) => {
                let was_there = self.versions.remove(&name).is_some();
                self.count(was_there.then_some(name))
            }
            WatchEvent::Lost(_) | WatchEvent::Absent => mem::take(&mut self.is_listed),
            WatchEvent::Alive | WatchEvent::Found => false,
        }
    }

    /// What changed while nothing was heard counts as one change.
    fn listed(&mut self, all: BTreeMap<String, String>) -> bool {
        let names = self.versions.keys().chain(all.keys());
        let names: BTreeSet<String> = names
            .filter(|name| self.versions.get(*name) != all.get(*name))
            .cloned()
            .collect();
        self.versions = all;
        let was_listed = mem::replace(&mut self.is_listed, true);
        self.count(names) || !was_listed
    }

    fn count(&mut self, changed: impl IntoIterator<Item = String>) -> bool {
        let mut is_other = false;
        for name in changed {
            let (_, group) = name.split_once('.').unwrap_or_default();
            let counts = Arc::make_mut(&mut self.changes);
            *counts.entry(group.to_owned()).or_default() += 1;
            is_other = true;
        }
        is_other
    }

    pub(super) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// How often a CRD of each API group has changed.
    pub(super) fn changes(&self) -> Arc<BTreeMap<String, u64>> {
        Arc::clone(&self.changes)
    }
}

/// An image that was read.
#[derive(Debug)]
pub(super) struct HeldImage {
    contents: BundleContents,
    stamp: ReadStamp,
    /// The CRDs of the bundle, each with its version in the cluster if it is there.
    crds: BTreeMap<String, Option<String>>,
    /// The API groups of its objects.
    groups: BTreeSet<String>,
    /// What it takes.
    _memory: Loan,
}

impl HeldImage {
    /// The contents of one image that were compared with the cluster.
    pub(super) fn of(contents: BundleContents, stamp: ReadStamp, memory: Loan) -> Self {
        let cluster = contents.cluster();
        let there = |name: &str| Some(version(cluster?.crds.get(name)?).1);
        let names = contents.crd_names().into_iter();
        let crds = names.map(|name| (name.to_owned(), there(name)));
        let kinds = contents.kinds().into_iter();
        let groups = kinds.filter_map(|kind| Some(kind.api_version.split_once('/')?.0.to_owned()));
        Self {
            crds: crds.collect(),
            groups: groups.collect(),
            stamp,
            contents,
            _memory: memory,
        }
    }

    /// Whether the cluster and its OLM are as they were when it was read.
    pub(super) fn is_current(&self, crds: &CrdVersions, versions: ClusterVersions) -> bool {
        let mut each = self.crds.iter();
        let are_same = each.all(|(name, version)| crds.versions.get(name) == version.as_ref());
        let mut groups = self.groups.iter();
        let has_kinds =
            groups.all(|group| self.stamp.changes.get(group) == crds.changes.get(group));
        are_same && has_kinds && crds.is_listed && self.stamp.versions == versions
    }

    pub(super) fn stamp(&self) -> &ReadStamp {
        &self.stamp
    }

    pub(super) fn contents(&self) -> &BundleContents {
        &self.contents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_list_is_news_if_it_differs() {
        let list = |all: &[(&str, &str)]| {
            let all = all
                .iter()
                .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()));
            WatchEvent::Listed(all.collect())
        };
        let mut crds = CrdVersions::default();
        assert!(crds.take(list(&[("a.x.y", "1"), ("b.z", "1")])));
        let before = crds.changes();
        assert!(!crds.take(list(&[("a.x.y", "1"), ("b.z", "1")])));
        assert!(crds.take(list(&[("a.x.y", "2"), ("b.z", "1")])));
        let after = crds.changes();
        assert_ne!(before.get("x.y"), after.get("x.y"));
        assert_eq!(before.get("z"), after.get("z"));
    }
}
