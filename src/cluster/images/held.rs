//! A loaded image, and whether the cluster still has the state it was compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use crate::cluster::WatchEvent;
use crate::cluster::object::{self, Names};
use olmguard_catalog::memory::Loan;
use olmguard_preflight::KubernetesVersion;
use olmguard_preflight::content::{BundleContents, owned};
use olmguard_preflight::owner::is_same_owner;

/// The kind of custom resource definitions.
pub(super) const CRDS: &Names = &[("apiextensions.k8s.io", "v1", "CustomResourceDefinition")];

/// Returns the name of a CRD, with the fields that show its owner and its version.
pub(super) fn marks(crd: &Value) -> (String, Value) {
    (object::name(crd).to_owned(), owned(crd))
}

/// Returns the version of a CRD.
fn version(marks: &Value) -> Option<&str> {
    marks.pointer("/metadata/resourceVersion")?.as_str()
}

/// The relevant fields of all CRDs of the cluster, once they are listed.
#[derive(Debug, Default)]
pub(super) struct WatchedCrds {
    marks: Arc<BTreeMap<String, Value>>,
    pub(super) is_listed: bool,
    /// The number of changes of CRD owners.
    owner_changes: u64,
    /// The number of CRD changes in each API group. After a change, the group may serve other
    /// kinds.
    changes: Arc<BTreeMap<String, u64>>,
}

/// The state at the time of a read.
#[derive(Clone, Debug)]
pub(super) struct ReadStamp {
    /// The number of the read.
    pub(super) read: u64,
    /// The time of the read.
    pub(super) at: Instant,
    /// The versions in the cluster.
    pub(super) versions: ClusterVersions,
    /// The number of CRD changes in each API group.
    pub(super) changes: Arc<BTreeMap<String, u64>>,
}

/// The versions in a cluster that affect how a bundle is checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct ClusterVersions {
    /// The release 1.x of operator-controller.
    pub(super) minor: u8,
    /// The version of Kubernetes, which determines its built-in kinds.
    pub(super) kubernetes: Option<KubernetesVersion>,
}

impl WatchedCrds {
    /// Processes an event. Returns true if anything has changed.
    pub(super) fn take(&mut self, event: WatchEvent<(String, Value)>) -> bool {
        match event {
            WatchEvent::Listed(all) => self.listed(all.into_iter().collect()),
            WatchEvent::Applied((name, marks)) => {
                let before = self.marks.get(&name);
                let is_other = before != Some(&marks);
                let is_same = before.is_some_and(|before| is_same_owner(before, &marks));
                self.owner_changes += u64::from(!is_same);
                Arc::make_mut(&mut self.marks).insert(name.clone(), marks);
                self.count(is_other.then_some(name))
            }
            WatchEvent::Deleted((name, _)) => {
                let was_there = Arc::make_mut(&mut self.marks).remove(&name).is_some();
                self.owner_changes += u64::from(was_there);
                self.count(was_there.then_some(name))
            }
            WatchEvent::Lost(_) | WatchEvent::Absent => mem::take(&mut self.is_listed),
            WatchEvent::Alive | WatchEvent::Found => false,
        }
    }

    /// Replaces all CRDs. Changes while the watch was lost count as one change.
    fn listed(&mut self, all: BTreeMap<String, Value>) -> bool {
        let names = self.marks.keys().chain(all.keys());
        let names: BTreeSet<String> = names
            .filter(|name| self.marks.get(*name) != all.get(*name))
            .cloned()
            .collect();
        self.owner_changes += u64::from(!names.is_empty());
        self.marks = Arc::new(all);
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

    /// Returns the number of owner changes, if the CRDs are listed.
    pub(super) fn owner_changes(&self) -> Option<u64> {
        self.is_listed.then_some(self.owner_changes)
    }

    /// Returns the fields of each CRD by its name, if the CRDs are listed.
    pub(super) fn known(&self) -> Option<&Arc<BTreeMap<String, Value>>> {
        self.is_listed.then_some(&self.marks)
    }

    /// Returns the number of CRD changes in each API group.
    pub(super) fn changes(&self) -> Arc<BTreeMap<String, u64>> {
        Arc::clone(&self.changes)
    }
}

/// A loaded image.
#[derive(Debug)]
pub(super) struct HeldImage {
    pub(super) contents: BundleContents,
    pub(super) stamp: ReadStamp,
    /// The CRDs of the bundle, each with its version in the cluster if it exists there.
    crds: BTreeMap<String, Option<String>>,
    /// The API groups of its objects.
    groups: BTreeSet<String>,
    /// The memory that it occupies.
    _memory: Loan,
}

impl HeldImage {
    /// Creates a loaded image from contents that were compared with the cluster.
    pub(super) fn of(contents: BundleContents, stamp: ReadStamp, memory: Loan) -> Self {
        let cluster = contents.cluster();
        let there = |name: &str| version(cluster?.crds.get(name)?).map(str::to_owned);
        let names = contents.crd_names().into_iter();
        let crds = names.map(|name| (name.to_owned(), there(name)));
        let required = contents.required_kinds().into_iter();
        let kinds = contents.kinds().into_iter().chain(required);
        let groups = kinds.filter_map(|kind| Some(kind.api_version.split_once('/')?.0.to_owned()));
        Self {
            crds: crds.collect(),
            groups: groups.collect(),
            stamp,
            contents,
            _memory: memory,
        }
    }

    /// Whether the cluster and its OLM have not changed since the image was read.
    pub(super) fn is_current(&self, crds: &WatchedCrds, versions: ClusterVersions) -> bool {
        let mut each = self.crds.iter();
        let are_same =
            each.all(|(name, held)| crds.marks.get(name).and_then(version) == held.as_deref());
        let mut groups = self.groups.iter();
        let has_kinds =
            groups.all(|group| self.stamp.changes.get(group) == crds.changes.get(group));
        are_same && has_kinds && crds.is_listed && self.stamp.versions == versions
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_second_list_is_news_if_it_differs() {
        let list = |all: &[(&str, &str)]| {
            let all = all.iter().map(|(name, version)| {
                marks(&json!({"metadata": {"name": name, "resourceVersion": version}}))
            });
            WatchEvent::Listed(all.collect())
        };
        let mut crds = WatchedCrds::default();
        assert!(crds.take(list(&[("a.x.y", "1"), ("b.z", "1")])));
        let before = crds.changes();
        assert!(!crds.take(list(&[("a.x.y", "1"), ("b.z", "1")])));
        assert!(crds.take(list(&[("a.x.y", "2"), ("b.z", "1")])));
        let after = crds.changes();
        assert_ne!(before.get("x.y"), after.get("x.y"));
        assert_eq!(before.get("z"), after.get("z"));
    }
}
