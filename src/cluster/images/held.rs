//! What was read of an image, and whether the cluster is still as it was then.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::WatchEvent;
use crate::cluster::object::{self, Names};
use olmguard_catalog::memory::Loan;
use olmguard_preflight::content::BundleContents;

/// The kind of the definitions.
pub(super) const CRDS: &Names = &[("apiextensions.k8s.io", "v1", "CustomResourceDefinition")];

/// The name of a CRD and the version of the object.
pub(super) fn version(crd: Value) -> (String, String) {
    let version = crd.pointer("/metadata/resourceVersion");
    let version = version.and_then(Value::as_str).unwrap_or_default();
    (object::name(&crd).to_owned(), version.to_owned())
}

/// The versions of all CRDs of the cluster, once they are listed.
#[derive(Debug, Default)]
pub(super) struct CrdVersions {
    known: Option<BTreeMap<String, String>>,
    /// How often a CRD came or went: then other kinds can be served.
    names: u64,
}

/// When an image is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Moment {
    /// Which read it is.
    pub(super) read: u64,
    /// The release 1.x of operator-controller.
    pub(super) minor: u8,
    /// How often a CRD had come or gone.
    pub(super) names: u64,
}

impl CrdVersions {
    /// Takes an event; whether anything is different.
    pub(super) fn take(&mut self, event: WatchEvent<(String, String)>) -> bool {
        match event {
            WatchEvent::Listed(all) => self.listed(all.into_iter().collect()),
            WatchEvent::Applied((name, version)) => self.applied(name, version),
            WatchEvent::Deleted((name, _)) => {
                let known = self.known.as_mut();
                let was_there = known.is_some_and(|known| known.remove(&name).is_some());
                self.names += u64::from(was_there);
                was_there
            }
            WatchEvent::Lost(_) | WatchEvent::Absent => self.known.take().is_some(),
            WatchEvent::Alive | WatchEvent::Found => false,
        }
    }

    fn listed(&mut self, all: BTreeMap<String, String>) -> bool {
        // What came and went unseen is not known.
        self.names += 1;
        let is_other = self.known.as_ref() != Some(&all);
        self.known = Some(all);
        is_other
    }

    fn applied(&mut self, name: String, version: String) -> bool {
        let Some(known) = &mut self.known else {
            return false;
        };
        let before = known.insert(name, version.clone());
        self.names += u64::from(before.is_none());
        before != Some(version)
    }

    pub(super) fn is_listed(&self) -> bool {
        self.known.is_some()
    }

    /// How often a CRD came or went.
    pub(super) fn names(&self) -> u64 {
        self.names
    }

    fn has(&self, name: &str, version: Option<&String>) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.get(name) == version)
    }
}

/// An image that was read.
#[derive(Debug)]
pub(super) struct HeldImage {
    contents: BundleContents,
    moment: Moment,
    /// The CRDs of the bundle, each with its version in the cluster if it is there.
    crds: BTreeMap<String, Option<String>>,
    /// Whether a kind was missing.
    lacks_kinds: bool,
    /// What it takes.
    _memory: Loan,
}

impl HeldImage {
    /// The contents of one image that were compared with the cluster.
    pub(super) fn of(contents: BundleContents, moment: Moment, memory: Loan) -> Self {
        let cluster = contents.cluster();
        let there = |name: &str| {
            let crd = cluster?.crds.get(name)?;
            Some(version(crd.clone()).1)
        };
        let names = contents.crd_names().into_iter();
        let crds = names.map(|name| (name.to_owned(), there(name)));
        Self {
            crds: crds.collect(),
            lacks_kinds: cluster.is_some_and(|cluster| !cluster.unserved.is_empty()),
            moment,
            contents,
            _memory: memory,
        }
    }

    /// Whether the cluster and its OLM are as they were when it was read.
    pub(super) fn is_current(&self, crds: &CrdVersions, now: Moment) -> bool {
        let mut each = self.crds.iter();
        let are_same = each.all(|(name, version)| crds.has(name, version.as_ref()));
        let kinds = !self.lacks_kinds || self.moment.names == now.names;
        are_same && kinds && crds.is_listed() && self.moment.minor == now.minor
    }

    pub(super) fn read(&self) -> u64 {
        self.moment.read
    }

    pub(super) fn contents(&self) -> &BundleContents {
        &self.contents
    }
}
